// Passes in the order that a test gives, at random, and by threads: each member gets each piece
// once, nothing is written while it is read, and what is shared is uploaded once.
#include "cuda/prove/shared_pass.h"

#include <atomic>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::cuda::prove {
namespace {

using Member = PassOrder::Member;
using Move = PassOrder::Move;

// Takes the member's next piece, uploading it where it must; whether it uploaded.
bool take(PassOrder& order, Member member, std::size_t& piece) {
  const auto step = order.next(member);
  EXPECT_TRUE(step.move == Move::kRead || step.move == Move::kUpload);
  piece = step.piece;
  if (step.move == Move::kUpload) order.uploaded(member);
  return step.move == Move::kUpload;
}
bool take_and_end(PassOrder& order, Member member, std::size_t piece) {
  std::size_t got = 0;
  const bool is_upload = take(order, member, got);
  EXPECT_EQ(got, piece);
  order.end_reading(member);
  return is_upload;
}
void take_out(PassOrder& order, Member member) {
  order.withdraw(member);
  ASSERT_FALSE(order.is_read(member));
  order.leave(member);
}

TEST(PassOrder, MemberAloneUploadsAllInOrderToItsBlocksByTurns) {
  PassOrder order(5);
  const Member one = order.join(2);
  for (std::size_t piece = 0; piece < 5; ++piece) {
    const auto step = order.next(one);
    ASSERT_EQ(step.move, Move::kUpload);
    EXPECT_EQ(step.piece, piece);
    EXPECT_EQ(step.block, (PassOrder::BlockId{one, piece % 2}));
    order.uploaded(one);
    order.end_reading(one);
  }
  EXPECT_EQ(order.next(one).move, Move::kEnd);
  take_out(order, one);
  // The next pass begins with the first piece again.
  EXPECT_TRUE(take_and_end(order, order.join(2), 0));
}

TEST(PassOrder, WhoComesLaterTakesWhatIsThereThenTheRestThenWhatItMissed) {
  PassOrder order(6);
  const Member one = order.join(2);
  for (std::size_t piece = 0; piece < 4; ++piece) EXPECT_TRUE(take_and_end(order, one, piece));
  const Member two = order.join(2);  // pieces 2 and 3 are on the device
  EXPECT_FALSE(take_and_end(order, two, 2));
  EXPECT_FALSE(take_and_end(order, two, 3));
  EXPECT_TRUE(take_and_end(order, one, 4));
  EXPECT_FALSE(take_and_end(order, two, 4));
  EXPECT_TRUE(take_and_end(order, two, 5));
  EXPECT_FALSE(take_and_end(order, one, 5));
  EXPECT_EQ(order.next(one).move, Move::kEnd);
  take_out(order, one);
  EXPECT_TRUE(take_and_end(order, two, 0));
  EXPECT_TRUE(take_and_end(order, two, 1));
  EXPECT_EQ(order.next(two).move, Move::kEnd);
}

TEST(PassOrder, MembersThatBeginTogetherUploadEachPieceOnce) {
  PassOrder order(10);
  const Member members[] = {order.join(2), order.join(2), order.join(2)};
  int upload_count = 0;
  for (std::size_t piece = 0; piece < 10; ++piece) {
    for (std::size_t i = 0; i < 3; ++i) {
      upload_count += take_and_end(order, members[(piece + i) % 3], piece);
    }
  }
  EXPECT_EQ(upload_count, 10);
}

TEST(PassOrder, PieceStaysUntilAllWhoNeedItHaveQueuedTheirReads) {
  PassOrder order(3);
  const Member one = order.join(1), two = order.join(1);
  EXPECT_TRUE(take_and_end(order, one, 0));
  EXPECT_EQ(order.next(one).move, Move::kWait) << "the other needs piece 0";
  std::size_t piece = 9;
  EXPECT_FALSE(take(order, two, piece));
  EXPECT_EQ(piece, 0u);
  EXPECT_EQ(order.next(one).move, Move::kWait) << "the other reads piece 0";
  order.end_reading(two);
  EXPECT_EQ(order.next(one).move, Move::kUpload);
}

TEST(PassOrder, OnlyOnePieceIsOnItsWayAtATime) {
  PassOrder order(3);
  const Member one = order.join(2), two = order.join(2);
  EXPECT_EQ(order.next(one).move, Move::kUpload);
  EXPECT_EQ(order.next(two).move, Move::kWait);
  order.give_up_upload(one);
  const auto step = order.next(two);
  EXPECT_EQ(step.move, Move::kUpload);
  EXPECT_EQ(step.piece, 1u) << "the order goes on; the piece given up comes later";
  order.uploaded(two);
  order.end_reading(two);
  EXPECT_FALSE(take_and_end(order, one, 1));
  EXPECT_TRUE(take_and_end(order, one, 2));
  EXPECT_TRUE(take_and_end(order, one, 0));
}

TEST(PassOrder, WhoLeavesTakesItsPiecesAlong) {
  PassOrder order(4);
  const Member one = order.join(2), two = order.join(2);
  EXPECT_TRUE(take_and_end(order, one, 0));
  std::size_t piece = 9;
  EXPECT_FALSE(take(order, two, piece));
  order.withdraw(one);
  EXPECT_TRUE(order.is_read(one));
  order.end_reading(two);
  EXPECT_FALSE(order.is_read(one));
  order.leave(one);
  for (const std::size_t left : {1, 2, 3}) EXPECT_TRUE(take_and_end(order, two, left));
  EXPECT_EQ(order.next(two).move, Move::kEnd);
}

TEST(PassOrder, NothingIsTakenFromWhoIsLeaving) {
  PassOrder order(2);
  const Member one = order.join(1), two = order.join(1);
  EXPECT_TRUE(take_and_end(order, one, 0));
  order.withdraw(one);
  const auto step = order.next(two);
  EXPECT_EQ(step.move, Move::kUpload);
  EXPECT_EQ(step.block.owner, two);
}

// What blocks of a random pass hold, kept beside what the order says.
struct Walk {
  struct Seat {
    Member id = 0;
    std::vector<int> got;
    std::size_t reading_piece = 0;
    PassOrder::BlockId reading;
  };
  explicit Walk(std::size_t count, unsigned seed)
      : piece_count(count), order(count), random(seed) {}
  unsigned below(unsigned bound) { return static_cast<unsigned>(random() % bound); }

  // One move of a seat; whether it moved.
  bool move(Seat& seat) {
    if (order.is_uploading(seat.id)) {
      if (below(8) == 0) {
        order.give_up_upload(seat.id);
      } else {
        order.uploaded(seat.id);
        begin(seat);
      }
      return true;
    }
    if (order.is_reading(seat.id)) {
      EXPECT_EQ(content[key(seat.reading)], seat.reading_piece) << "overwritten while it was read";
      order.end_reading(seat.id);
      return true;
    }
    const auto step = order.next(seat.id);
    if (step.move == Move::kWait || step.move == Move::kEnd) return false;
    seat.reading = step.block;
    seat.reading_piece = step.piece;
    if (step.move == Move::kRead) {
      begin(seat);
      return true;
    }
    EXPECT_EQ(step.block.owner, seat.id);
    for (const Seat& other : seats) {
      if (other.id == seat.id || !order.is_reading(other.id)) continue;
      EXPECT_FALSE(other.reading == step.block) << "written while it is read";
    }
    content[key(step.block)] = step.piece;
    ++upload_count;
    return true;
  }
  void begin(Seat& seat) {
    EXPECT_EQ(content[key(seat.reading)], seat.reading_piece);
    ++seat.got[seat.reading_piece];
  }
  static std::pair<Member, std::size_t> key(const PassOrder::BlockId& id) {
    return {id.owner, id.index};
  }

  const std::size_t piece_count;
  PassOrder order;
  std::mt19937 random;
  std::vector<Seat> seats;
  std::map<std::pair<Member, std::size_t>, std::size_t> content;
  std::size_t upload_count = 0;
};

TEST(PassOrder, RandomPassesGiveEachPieceOnceAndNeverStandStill) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Walk walk(1 + seed % 13, seed);
    std::size_t joined = 0, ended = 0;
    constexpr std::size_t kMembers = 6;
    for (int idle = 0; ended < kMembers;) {
      ASSERT_LT(idle, 1000) << "nobody can move, seed " << seed;
      if (joined < kMembers && (walk.seats.empty() || walk.below(9) == 0)) {
        walk.seats.push_back({walk.order.join(1 + walk.below(3)), {}, 0, {}});
        walk.seats.back().got.resize(walk.piece_count);
        ++joined;
      }
      const std::size_t at = walk.below(static_cast<unsigned>(walk.seats.size()));
      auto& seat = walk.seats[at];
      idle = walk.move(seat) ? 0 : idle + 1;
      const bool rests = !walk.order.is_reading(seat.id) && !walk.order.is_uploading(seat.id);
      const bool is_done = std::count(seat.got.begin(), seat.got.end(), 1) ==
                           static_cast<std::ptrdiff_t>(walk.piece_count);
      const bool gives_up = walk.below(60) == 0;
      if (!rests || (!is_done && !gives_up)) continue;
      for (const int times : seat.got) EXPECT_LE(times, 1);
      walk.order.withdraw(seat.id);
      // Those who read from it end.
      for (auto& other : walk.seats) {
        if (walk.order.is_reading(other.id)) walk.move(other);
      }
      ASSERT_FALSE(walk.order.is_read(seat.id));
      walk.order.leave(seat.id);
      walk.seats.erase(walk.seats.begin() + static_cast<std::ptrdiff_t>(at));
      ++ended;
      idle = 0;
    }
    EXPECT_EQ(walk.order.member_count(), 0u);
  }
}

// A block's content on the host. Its writer and its readers race unless the pass keeps them apart,
// which a thread checker sees.
struct Cell {
  std::size_t piece = ~std::size_t{0};
};
using Pass = SharedPass<Cell*, int>;

struct Count {
  std::atomic<std::size_t> uploads = 0, reads = 0;
};

// A member's whole pass; the pieces that it got. Stops after `most` pieces.
std::vector<int> run_member(Pass& pass, Count& count, std::size_t most = ~std::size_t{0},
                            std::stop_token stop = {}) {
  Cell cells[2];
  const Member member = pass.join({&cells[0], &cells[1]}, -1);
  std::vector<int> got(pass.piece_count());
  for (std::size_t i = 0; i < most; ++i) {
    const auto piece = pass.next(member, stop);
    if (!piece.ok() || !*piece) break;
    Cell& cell = *(*piece)->block;
    if ((*piece)->is_upload) {
      cell.piece = (*piece)->index;
      ++count.uploads;
      pass.uploaded(member);
    }
    EXPECT_EQ(cell.piece, (*piece)->index);
    ++got[(*piece)->index];
    ++count.reads;
    if (i % 3 == 0) std::this_thread::yield();
    EXPECT_EQ(cell.piece, (*piece)->index);
    pass.end_reading(member, static_cast<int>(member));
  }
  pass.leave(member);
  return got;
}

TEST(SharedPass, ThreadsGetEachPieceOnce) {
  Pass pass(50);
  Count count;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&pass, &count, t] {
      for (int round = 0; round < 10; ++round) {
        const bool gives_up = (t + round) % 4 == 0;
        const auto got = run_member(pass, count, gives_up ? 5 + round : 1000);
        for (const int times : got) {
          if (gives_up) {
            EXPECT_LE(times, 1);
          } else {
            EXPECT_EQ(times, 1);
          }
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_FALSE(pass.is_under_way());
  EXPECT_LE(count.uploads.load(), count.reads.load());
}

TEST(SharedPass, MarksOfAllReadersComeBackBeforeABlockIsWritten) {
  Pass pass(3);
  Cell cell;
  const Member one = pass.join({&cell}, 100), two = pass.join({&cell}, 200);
  auto first = pass.next(one, {}).value().value();
  EXPECT_TRUE(first.is_upload);
  EXPECT_THAT(first.marks, ::testing::ElementsAre(100));
  pass.uploaded(one);
  pass.end_reading(one, 1);
  EXPECT_FALSE(pass.next(two, {}).value().value().is_upload);
  pass.end_reading(two, 2);
  const auto second = pass.next(one, {}).value().value();
  EXPECT_TRUE(second.is_upload);
  EXPECT_THAT(second.marks, ::testing::UnorderedElementsAre(1, 2));
  // An upload that does not come about leaves the marks to who leaves.
  EXPECT_THAT(pass.leave(one), ::testing::UnorderedElementsAre(1, 2));
  EXPECT_TRUE(pass.is_alone());
  EXPECT_THAT(pass.leave(two), ::testing::ElementsAre(200));
}

TEST(SharedPass, EveryMemberOfTheTimeGetsTheErrorOfAnUpload) {
  Pass pass(4);
  Cell cells[3];
  const Member one = pass.join({&cells[0]}, 0), two = pass.join({&cells[1]}, 0);
  ASSERT_TRUE(pass.next(one, {}).value()->is_upload);
  std::thread waiting([&] {
    const auto got = pass.next(two, {});
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.error().message, "the link is gone");
    pass.leave(two);
  });
  pass.failed(one, {base::ErrorKind::kUnavailable, "the link is gone"});
  waiting.join();
  EXPECT_FALSE(pass.next(one, {}).ok());
  // Who comes after it has a pass of its own.
  const Member three = pass.join({&cells[2]}, 0);
  pass.leave(one);
  const auto piece = pass.next(three, {});
  ASSERT_TRUE(piece.ok());
  EXPECT_TRUE((*piece)->is_upload);
  pass.leave(three);
  EXPECT_FALSE(pass.is_under_way());
}

TEST(SharedPass, WaitingEndsWhenTheProofIsCancelledAndTheOthersGoOn) {
  Pass pass(4);
  Cell cells[2];
  const Member one = pass.join({&cells[0]}, 0), two = pass.join({&cells[1]}, 0);
  ASSERT_TRUE(pass.next(one, {}).value()->is_upload);
  std::stop_source stop;
  std::thread waiting([&] {
    const auto got = pass.next(two, stop.get_token());
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.error().kind, base::ErrorKind::kCancelled);
    pass.leave(two);
  });
  stop.request_stop();
  waiting.join();
  cells[0].piece = 0;
  pass.uploaded(one);
  pass.end_reading(one, 1);
  for (int i = 1; i < 4; ++i) {
    ASSERT_TRUE(pass.next(one, {}).value()->is_upload);
    pass.uploaded(one);
    pass.end_reading(one, 1);
  }
  EXPECT_FALSE(pass.next(one, {}).value().has_value());
  pass.leave(one);
}

TEST(SharedPass, WhoLeavesWaitsForThoseWhoReadItsBlock) {
  Pass pass(2);
  Cell cells[2];
  const Member one = pass.join({&cells[0]}, 0), two = pass.join({&cells[1]}, 0);
  ASSERT_TRUE(pass.next(one, {}).value()->is_upload);
  pass.uploaded(one);
  pass.end_reading(one, 1);
  ASSERT_FALSE(pass.next(two, {}).value()->is_upload);
  std::atomic<bool> has_ended = false;
  std::thread leaving([&] {
    const auto marks = pass.leave(one);
    EXPECT_TRUE(has_ended);
    EXPECT_THAT(marks, ::testing::UnorderedElementsAre(1, 2));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  has_ended = true;
  pass.end_reading(two, 2);
  leaving.join();
  pass.leave(two);
}

TEST(SharedPass, MembersInStepShareAllUploads) {
  constexpr std::size_t kPieces = 40;
  Pass pass(kPieces);
  Cell cells[3][2];
  std::vector<Member> members;
  for (auto& own : cells) members.push_back(pass.join({&own[0], &own[1]}, 0));
  std::atomic<std::size_t> upload_count = 0;
  std::vector<std::thread> threads;
  for (const Member member : members) {
    threads.emplace_back([&, member] {
      while (const auto piece = pass.next(member, {}).value()) {
        if (piece->is_upload) {
          ++upload_count;
          pass.uploaded(member);
        }
        pass.end_reading(member, 0);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  // All were there from the first piece to the last, so nothing was uploaded twice.
  EXPECT_EQ(upload_count.load(), kPieces);
  for (const Member member : members) pass.leave(member);
}

}  // namespace
}  // namespace cuzk::cuda::prove
