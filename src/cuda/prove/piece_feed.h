// The points of a query's pieces in turn: views of resident points, or uploads into two buffers.
//
// Nothing here waits for the device: while it sums one piece, the host decodes the next and its
// copy runs on the lane's other stream.
#pragma once

#include <utility>
#include <vector>

#include "cuda/prove/loaded_circuit.h"

namespace cuzk::cuda::prove {

template <class G>
class PieceFeed {
 public:
  using Point = cuzk::curve::Affine<G>;
  struct Piece {
    std::size_t first = 0, count = 0;
  };

  PieceFeed(Lane& lane, const PointStore<G>& store,
            const device::DeviceSpan<std::byte> (&buffers)[2], std::vector<Piece> pieces)
      : lane_(lane), store_(store), pieces_(std::move(pieces)) {
    for (int i = 0; i < 2; ++i) buffers_[i] = reinterpret_cast<Point*>(buffers[i].data);
  }
  PieceFeed(const PieceFeed&) = delete;

  // The next piece's points, for what is queued on the lane's compute stream until next() is called
  // again, which tells the piece before it apart from what follows.
  base::Result<device::DeviceSpan<const Point>> next() {
    const Piece piece = pieces_[index_];
    const std::size_t turn = index_ % 2;
    ++index_;
    if (store_.is_resident()) {
      return device::DeviceSpan<const Point>{store_.device_points_from(piece.first), piece.count};
    }
    // The copy waits for whatever used the buffer: an earlier stage, or the piece before last.
    if (index_ == 1) {
      CUZK_TRY_STATUS(lane_.compute.record(lane_.buffer_free[0]));
      CUZK_TRY_STATUS(lane_.compute.record(lane_.buffer_free[1]));
    } else {
      CUZK_TRY_STATUS(lane_.compute.record(lane_.buffer_free[1 - turn]));
    }
    CUZK_TRY_STATUS(lane_.copy.wait(lane_.buffer_free[turn]));
    CUZK_TRY_STATUS(upload_points<G>(lane_, store_, piece.first, piece.count, buffers_[turn]));
    CUZK_TRY_STATUS(lane_.compute.wait(lane_.ready));
    return device::DeviceSpan<const Point>{buffers_[turn], piece.count};
  }

 private:
  Lane& lane_;
  const PointStore<G>& store_;
  Point* buffers_[2] = {};
  std::vector<Piece> pieces_;
  std::size_t index_ = 0;
};

}  // namespace cuzk::cuda::prove
