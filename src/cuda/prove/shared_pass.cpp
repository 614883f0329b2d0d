// A handful of members with two blocks each: everything is found by looking at all of them.
//
// Of what lies on the device a member takes the oldest piece it needs, so that blocks come free in
// the order in which they were filled; only when nothing there serves it does it upload, and then
// what follows the last upload, so that members stay together.
#include "cuda/prove/shared_pass.h"

namespace cuzk::cuda::prove {

const PassOrder::State& PassOrder::state(Member member) const {
  const auto found = members_.find(member);
  CUZK_ASSERT(found != members_.end());
  return found->second;
}

PassOrder::Member PassOrder::join(std::size_t block_count) {
  CUZK_ASSERT(block_count > 0);
  CUZK_ASSERT(!members_.empty() || !filling_);  // who leaves gives up its upload
  // Who begins a pass begins with the first piece.
  if (members_.empty()) next_piece_ = 0;
  State& own = members_[++last_member_];
  own.needs.assign(piece_count_, true);
  own.needed_count = piece_count_;
  own.blocks.resize(block_count);
  return last_member_;
}

// From here on the piece is not needed any more by this member: it gets each once, also where it
// fails after this.
void PassOrder::begin_reading(State& reader, const BlockId& id) {
  Block& lent = block(id);
  CUZK_ASSERT(!reader.reading && lent.is_full && reader.needs[lent.piece]);
  CUZK_ASSERT(reader.needed_count > 0);
  ++lent.reader_count;
  reader.reading = id;
  reader.needs[lent.piece] = false;
  --reader.needed_count;
}

// Over the blocks of all members that stay.
std::optional<PassOrder::BlockId> PassOrder::oldest_needed(const State& reader) const {
  std::optional<BlockId> oldest;
  std::uint64_t filled_at = 0;
  for (const auto& [id, member] : members_) {
    if (member.is_leaving) continue;
    for (std::size_t i = 0; i < member.blocks.size(); ++i) {
      const Block& block = member.blocks[i];
      if (!block.is_full || !reader.needs[block.piece]) continue;
      if (oldest && filled_at < block.filled_at) continue;
      oldest = BlockId{id, i};
      filled_at = block.filled_at;
    }
  }
  return oldest;
}

// Whether a member that stays has still to take the piece.
bool PassOrder::is_needed(std::size_t piece) const {
  for (const auto& [id, member] : members_) {
    if (!member.is_leaving && member.needs[piece]) return true;
  }
  return false;
}

// The block that was filled first, or never, of those that nobody needs any more.
std::optional<std::size_t> PassOrder::free_block(const State& owner) const {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < owner.blocks.size(); ++i) {
    const Block& block = owner.blocks[i];
    if (block.reader_count > 0 || (block.is_full && is_needed(block.piece))) continue;
    if (!found || block.filled_at < owner.blocks[*found].filled_at) found = i;
  }
  return found;
}

// The uploader needs some piece, so the search ends.
std::size_t PassOrder::piece_to_upload(const State& uploader) const {
  CUZK_ASSERT(uploader.needed_count > 0);
  std::size_t piece = next_piece_;
  while (!uploader.needs[piece]) piece = (piece + 1) % piece_count_;
  return piece;
}

// Reading what is there comes before uploading, and waiting is only for what another member will
// do: end a read, end an upload, or leave.
PassOrder::Step PassOrder::next(Member member) {
  State& own = state(member);
  CUZK_ASSERT(!own.reading && !is_uploading(member) && !own.is_leaving);
  if (own.needed_count == 0) return {};
  if (const auto there = oldest_needed(own)) {
    begin_reading(own, *there);
    return {Move::kRead, block(*there).piece, *there};
  }
  if (filling_) return {Move::kWait, 0, {}};
  const auto free = free_block(own);
  if (!free) return {Move::kWait, 0, {}};
  // Not full until uploaded(): nobody takes what is on its way.
  Block& block = own.blocks[*free];
  CUZK_ASSERT(block.reader_count == 0);
  block.is_full = false;
  block.piece = piece_to_upload(own);
  next_piece_ = (block.piece + 1) % piece_count_;
  filling_ = BlockId{member, *free};
  return {Move::kUpload, block.piece, *filling_};
}

void PassOrder::uploaded(Member member) {
  CUZK_ASSERT(is_uploading(member));
  Block& filled = block(*filling_);
  filled.is_full = true;
  filled.filled_at = ++upload_count_;
  begin_reading(state(member), *filling_);
  filling_.reset();
}

void PassOrder::give_up_upload(Member member) {
  CUZK_ASSERT(is_uploading(member));
  filling_.reset();
}

void PassOrder::end_reading(Member member) {
  State& own = state(member);
  CUZK_ASSERT(own.reading.has_value());
  Block& lent = block(*own.reading);
  CUZK_ASSERT(lent.reader_count > 0);
  --lent.reader_count;
  own.reading.reset();
}

void PassOrder::withdraw(Member member) {
  State& own = state(member);
  CUZK_ASSERT(!own.reading && !is_uploading(member) && !own.is_leaving);
  own.is_leaving = true;
}

bool PassOrder::is_read(Member member) const {
  for (const Block& block : state(member).blocks) {
    if (block.reader_count > 0) return true;
  }
  return false;
}

// Its blocks go with it: what they held is uploaded again by who needs it.
void PassOrder::leave(Member member) {
  CUZK_ASSERT(state(member).is_leaving && !is_read(member));
  members_.erase(member);
}

}  // namespace cuzk::cuda::prove
