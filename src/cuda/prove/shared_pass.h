// One upload of each piece of a streamed query for all proofs that are in it at the time.
//
// The shared ("elevator") scan of databases: a sum does not care for the order of its pieces, so a
// proof that comes takes first what lies on the device now, goes on with the others, and then takes
// what it missed. Each proof brings its own blocks of device memory and its own permit for them;
// a block is lent to whoever else needs the piece in it. So a proof that is alone runs as if there
// were no others, nothing is taken while something else is held, and the memory of one that is
// gone is missed by nobody: what it had is uploaded again by who needs it.
//
// PassOrder is who does what next, without threads; SharedPass adds a lock and the waiting. Neither
// knows CUDA: what a block is and what marks a reader's end are the caller's types.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/result.h"

namespace cuzk::cuda::prove {

// Who takes which piece when. A piece that was uploaded stays until every member that needs it has
// taken it or its owner leaves; at most one piece is on its way at a time; each member gets each
// piece once. Not thread-safe.
class PassOrder {
 public:
  using Member = std::uint64_t;
  // Block number `index` of those that `owner` brought.
  struct BlockId {
    Member owner = 0;
    std::size_t index = 0;
    bool operator==(const BlockId&) const = default;
  };
  enum class Move {
    kRead,    // piece `piece` lies in `block`; reading begins
    kUpload,  // `block` is the member's own and free; its upload of `piece` begins
    kWait,    // for another member's move
    kEnd,     // it has taken all pieces
  };
  struct Step {
    Move move = Move::kEnd;
    std::size_t piece = 0;
    BlockId block;
  };

  explicit PassOrder(std::size_t piece_count) : piece_count_(piece_count) {
    CUZK_ASSERT(piece_count > 0);
  }

  // A member that needs all pieces and brings blocks, at least one.
  Member join(std::size_t block_count);
  // What the member does now; it neither reads nor uploads. The oldest piece that it needs, else
  // the upload of the one that follows the last upload, first again after the last.
  Step next(Member member);
  // The member's upload is queued: others may read it, and the member reads it.
  void uploaded(Member member);
  // The upload did not come about; its block is empty.
  void give_up_upload(Member member);
  // All that reads the member's piece is queued.
  void end_reading(Member member);
  // It takes no more, and nothing is taken from its blocks; it neither reads nor uploads.
  void withdraw(Member member);
  // Whether others read from its blocks.
  bool is_read(Member member) const;
  // After withdraw(), when nobody reads from its blocks.
  void leave(Member member);

  bool is_reading(Member member) const { return state(member).reading.has_value(); }
  bool is_uploading(Member member) const { return filling_ && filling_->owner == member; }
  std::size_t member_count() const { return members_.size(); }

 private:
  // Empty, filled (is_full), or on its way (filling_ names it). Read by reader_count members; it
  // may be written again when that is zero and nobody who stays needs its piece.
  struct Block {
    bool is_full = false;
    std::size_t piece = 0;
    std::size_t reader_count = 0;
    std::uint64_t filled_at = 0;  // number of the upload
  };
  // A member: between pieces, uploading (filling_), reading, or leaving. needed_count is the number
  // of `needs` that are set; a piece is no longer needed once reading of it began.
  struct State {
    std::vector<bool> needs;
    std::size_t needed_count = 0;
    std::vector<Block> blocks;
    std::optional<BlockId> reading;
    bool is_leaving = false;
  };

  const State& state(Member member) const;
  State& state(Member member) { return const_cast<State&>(std::as_const(*this).state(member)); }
  Block& block(const BlockId& id) { return state(id.owner).blocks[id.index]; }
  void begin_reading(State& reader, const BlockId& id);
  std::optional<BlockId> oldest_needed(const State& reader) const;
  std::optional<std::size_t> free_block(const State& owner) const;
  bool is_needed(std::size_t piece) const;
  std::size_t piece_to_upload(const State& uploader) const;

  const std::size_t piece_count_;
  std::map<Member, State> members_;
  std::optional<BlockId> filling_;  // the one upload that has begun and is not queued
  Member last_member_ = 0;
  std::uint64_t upload_count_ = 0;
  std::size_t next_piece_ = 0;  // after the last one uploaded
};

// A pass that threads share. `Block` says where a member's block lies, and is handed to readers;
// a `Mark` stands for the end of what a reader queued, and is handed to who next writes the block.
// Each member calls from one thread at a time. Waits end with the other members' next calls: no
// member may wait, between two calls, for what another one holds.
template <class Block, class Mark>
class SharedPass {
 public:
  using Member = PassOrder::Member;
  // A piece to read. Where `is_upload`, the member first uploads it to `block`, behind `marks`, and
  // calls uploaded() or failed().
  struct Piece {
    std::size_t index = 0;
    Block block = {};
    bool is_upload = false;
    std::vector<Mark> marks;
  };

  explicit SharedPass(std::size_t piece_count) : piece_count_(piece_count), order_(piece_count) {}
  SharedPass(const SharedPass&) = delete;

  std::size_t piece_count() const { return piece_count_; }
  // Whether somebody is in it now.
  bool is_under_way() const {
    const std::lock_guard lock(mutex_);
    return order_.member_count() > 0;
  }
  bool is_alone() const {
    const std::lock_guard lock(mutex_);
    return order_.member_count() == 1;
  }

  // Who joins must be ready to read: others wait for it. `entered` marks the end of what used the
  // blocks before.
  Member join(const std::vector<Block>& blocks, const Mark& entered) {
    const std::lock_guard lock(mutex_);
    const Member member = order_.join(blocks.size());
    CUZK_ASSERT(members_.find(member) == members_.end());
    Own& own = members_[member];
    for (const Block& block : blocks) own.blocks.push_back({block, {entered}});
    return member;
  }

  // The next piece, after what the member read before was ended; none after the last. Waits for
  // other members. kCancelled when `stop` asks first; the error of an upload that failed while it
  // was a member.
  base::Result<std::optional<Piece>> next(Member member, std::stop_token stop) {
    PassOrder::Step step;
    std::unique_lock lock(mutex_);
    Own& own = members_.at(member);
    CUZK_ASSERT(own.reading == nullptr);
    const bool is_decided = changed_.wait(lock, std::move(stop), [&] {
      if (own.failure) return true;
      step = order_.next(member);
      return step.move != PassOrder::Move::kWait;
    });
    if (!is_decided) {
      return base::Error{base::ErrorKind::kCancelled, "cancelled while proofs share an upload"};
    }
    if (own.failure) return *own.failure;
    if (step.move == PassOrder::Move::kEnd) return std::optional<Piece>();
    Lent& lent = members_.at(step.block.owner).blocks[step.block.index];
    Piece piece;
    piece.index = step.piece;
    piece.block = lent.block;
    piece.is_upload = step.move == PassOrder::Move::kUpload;
    if (piece.is_upload) piece.marks = lent.marks;
    own.reading = &lent;
    return std::optional<Piece>(std::move(piece));
  }

  // The upload is queued: all of its block's readers so far were waited for.
  void uploaded(Member member) {
    change([&] {
      CUZK_ASSERT(members_.at(member).reading != nullptr);
      members_.at(member).reading->marks.clear();
      order_.uploaded(member);
    });
  }
  // Every member of now gets the error, the one that failed too.
  void failed(Member member, const base::Error& error) {
    change([&] {
      order_.give_up_upload(member);
      members_.at(member).reading = nullptr;
      for (auto& [id, own] : members_) {
        if (!own.failure) own.failure = error;
      }
    });
  }
  // What reads the member's piece is queued, and `mark` stands for its end.
  void end_reading(Member member, const Mark& mark) {
    change([&] {
      Own& own = members_.at(member);
      CUZK_ASSERT(own.reading != nullptr);
      own.reading->marks.push_back(mark);
      own.reading = nullptr;
      order_.end_reading(member);
    });
  }
  // Takes the member out at any time when it reads nothing: an upload that was begun and not ended
  // is given up. Waits for those who read from its blocks to have queued what reads, and returns
  // the marks behind which the blocks are free.
  std::vector<Mark> leave(Member member) {
    std::unique_lock lock(mutex_);
    if (order_.is_uploading(member)) order_.give_up_upload(member);
    order_.withdraw(member);
    changed_.notify_all();
    changed_.wait(lock, [&] { return !order_.is_read(member); });
    std::vector<Mark> marks;
    for (Lent& lent : members_.at(member).blocks) {
      for (Mark& mark : lent.marks) marks.push_back(std::move(mark));
    }
    order_.leave(member);
    members_.erase(member);
    return marks;
  }

 private:
  // A block and the ends of its readers since it was last written.
  struct Lent {
    Block block;
    std::vector<Mark> marks;
  };
  // A member's blocks and what it reads now. A failure stays until it leaves: each later next()
  // tells it.
  struct Own {
    std::vector<Lent> blocks;
    Lent* reading = nullptr;  // of any member
    std::optional<base::Error> failure;
  };
  // act() under the lock, then word to all: any change may let any member go on.
  template <class Act>
  void change(const Act& act) {
    {
      const std::lock_guard lock(mutex_);
      act();
    }
    changed_.notify_all();
  }

  const std::size_t piece_count_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  PassOrder order_;
  std::map<Member, Own> members_;  // their addresses stay
};

}  // namespace cuzk::cuda::prove
