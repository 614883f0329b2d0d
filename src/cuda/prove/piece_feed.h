// The points of a query's pieces: views of resident points, or uploads into two blocks, shared with
// the other proofs that stream the query at the time (shared_pass.h).
//
// The host stays two pieces ahead of the device, so that what it finds uploaded is what the device
// works on: while one piece is summed, the host decodes the next and its copy runs on the lane's
// other stream.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "cuda/prove/loaded_circuit.h"
#include "cuda/prove/streamed_bytes.h"

namespace cuzk::cuda::prove {

// Where pieces come from that are not resident: a pass and the proof's own blocks for it. No pass
// where the query is resident, or has no pieces.
struct PieceSource {
  PiecePass* pass = nullptr;
  device::DeviceSpan<std::byte> blocks[kBlockCount];
  StreamedCounter* counter = nullptr;
};

// States: outside the pass (no member_), inside between pieces, inside and reading (is_reading_:
// the last piece's block may not be written again before end_reading()). next() and end() move
// between them; the destructor takes out whoever an error left inside, so that nobody waits for it.
// For one thread, with the lane's device current.
template <class G>
class PieceFeed {
 public:
  using Point = cuzk::curve::Affine<G>;
  struct Range {
    std::size_t first = 0, count = 0;
  };
  // Piece number `index` of all, for what is queued on the lane's compute stream until next() is
  // called again.
  struct Piece {
    std::size_t index = 0;
    device::DeviceSpan<const Point> points;
  };

  PieceFeed(Lane& lane, const PointStore<G>& store, const PieceSource& source,
            std::vector<Range> pieces)
      : lane_(lane), store_(store), source_(source), pieces_(std::move(pieces)) {
    CUZK_ASSERT(source_.pass == nullptr || source_.pass->piece_count() == pieces_.size());
    CUZK_ASSERT(source_.pass == nullptr || source_.counter != nullptr);
  }
  PieceFeed(const PieceFeed&) = delete;
  ~PieceFeed() {
    if (!member_) return;
    // What was queued still reads somebody's block: its owner is told of an end in any case.
    // An event that cannot be recorded marks nothing, so the stream is waited for instead, and any
    // event that was passed will do as a mark.
    if (is_reading_ && !end_reading().ok()) {
      (void)lane_.compute.synchronize();
      source_.pass->end_reading(*member_, lane_.pass_entered);
    }
    (void)leave();
  }

  // Each piece once, in any order; none after the last. The first call joins the pass, and what the
  // compute stream was given before should be done by then: other proofs wait for this one's reads.
  base::Result<std::optional<Piece>> next(std::stop_token stop) {
    if (source_.pass == nullptr) {
      if (given_ == pieces_.size()) return std::optional<Piece>();
      const Range range = pieces_[given_];
      return std::optional<Piece>(
          {given_++, {store_.device_points_from(range.first), range.count}});
    }
    if (!member_) CUZK_TRY_STATUS(join());
    if (is_reading_) CUZK_TRY_STATUS(end_reading());
    // Not further ahead of the device than its blocks reach.
    if (given_ >= kBlockCount) CUZK_TRY_STATUS(read_event(given_ - kBlockCount)->synchronize());
    CUZK_TRY(const auto piece, source_.pass->next(*member_, std::move(stop)));
    if (!piece) return std::optional<Piece>();
    CUZK_ASSERT(piece->index < pieces_.size());
    const Range range = pieces_[piece->index];
    const std::uint64_t bytes = range.count * sizeof(Point);
    if (piece->is_upload) {
      if (const auto status = upload(*piece, range); !status.ok()) {
        source_.pass->failed(*member_, status.error());
        return status.error();
      }
      // Queued is enough: readers wait for the block's event on their own streams.
      source_.pass->uploaded(*member_);
      source_.counter->add_uploaded(bytes);
    } else {
      source_.counter->add_shared(bytes);
    }
    // Before what may fail: from here on the pass counts this proof as a reader.
    is_reading_ = true;
    CUZK_TRY_STATUS(lane_.compute.wait(*piece->block.filled));
    return std::optional<Piece>(
        {piece->index, {reinterpret_cast<const Point*>(piece->block.bytes), range.count}});
  }

  // After the last piece; work that reads no points may have been queued since. What the compute
  // stream is given from here on may use the blocks for other things.
  base::Status end() {
    if (!member_) return base::ok_status();
    // The device is still busy with the last pieces, which others may yet take.
    if (given_ > 0 && !source_.pass->is_alone()) {
      CUZK_TRY_STATUS(read_event(given_ - 1)->synchronize());
    }
    return leave();
  }

 private:
  // The event of the piece that was given as number `place`; they come round by turns, later than
  // anybody looks back (next() looks kBlockCount back, end() one).
  const SharedEvent& read_event(std::size_t place) const {
    static_assert(std::extent_v<decltype(Lane::piece_read)> > kBlockCount);
    return lane_.piece_read[place % std::size(lane_.piece_read)];
  }

  // The blocks may still be used by what the compute stream was given before: pass_entered marks
  // its end for whoever writes them.
  base::Status join() {
    CUZK_ASSERT(!member_ && !is_reading_);
    CUZK_TRY_STATUS(lane_.compute.record(*lane_.pass_entered));
    std::vector<PieceBlock> blocks;
    for (int i = 0; i < kBlockCount; ++i) {
      blocks.push_back({source_.blocks[i].data, lane_.block_filled[i]});
    }
    member_ = source_.pass->join(blocks, lane_.pass_entered);
    return base::ok_status();
  }

  // Behind all who read the block last, the copy stream brings the piece's points.
  base::Status upload(const PiecePass::Piece& piece, const Range& range) {
    for (const SharedEvent& mark : piece.marks) CUZK_TRY_STATUS(lane_.copy.wait(*mark));
    CUZK_TRY_STATUS(upload_points<G>(lane_, store_, range.first, range.count,
                                     reinterpret_cast<Point*>(piece.block.bytes)));
    return lane_.copy.record(*piece.block.filled);
  }

  // What was queued on the compute stream so far reads the block, nothing later does.
  base::Status end_reading() {
    CUZK_ASSERT(member_ && is_reading_);
    const SharedEvent& event = read_event(given_);
    CUZK_TRY_STATUS(lane_.compute.record(*event));
    source_.pass->end_reading(*member_, event);
    is_reading_ = false;
    ++given_;
    return base::ok_status();
  }

  // Others may still read this proof's blocks: its compute stream is held back until they have. The
  // status is that of holding it back; out of the pass it is in any case.
  base::Status leave() {
    CUZK_ASSERT(member_);
    const auto marks = source_.pass->leave(*member_);
    member_.reset();
    base::Status status = base::ok_status();
    for (const SharedEvent& mark : marks) {
      auto waits = lane_.compute.wait(*mark);
      // What cannot be ordered is waited for here.
      if (!waits.ok()) waits = mark->synchronize();
      if (status.ok()) status = std::move(waits);
    }
    return status;
  }

  Lane& lane_;
  const PointStore<G>& store_;
  const PieceSource source_;
  const std::vector<Range> pieces_;
  std::optional<PiecePass::Member> member_;
  bool is_reading_ = false;
  std::size_t given_ = 0;  // pieces whose readers are queued; of a resident query, given out
};

}  // namespace cuzk::cuda::prove
