// Items in slots: who has taken one keeps it, whoever needs room empties all slots.
#include "cuda/prove/spares.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace cuzk::cuda::prove {
namespace {

TEST(Spares, ASlotIsEmptyUntilSomethingIsPutThere) {
  Spares all;
  Spares::Slot slot(all);
  EXPECT_EQ(slot.get(), nullptr);
  const auto item = std::make_shared<int>(7);
  slot.put(item);
  EXPECT_EQ(slot.get(), item);
  EXPECT_EQ(item.use_count(), 2);
}

TEST(Spares, AllSlotsAreEmptiedAndCounted) {
  Spares all;
  Spares::Slot first(all), second(all), empty(all);
  std::weak_ptr<int> gone;
  {
    auto item = std::make_shared<int>(1);
    gone = item;
    first.put(std::move(item));
    second.put(std::make_shared<int>(2));
  }
  EXPECT_EQ(all.drop_all(), 2u);
  EXPECT_TRUE(gone.expired());
  EXPECT_EQ(first.get(), nullptr);
  EXPECT_EQ(all.drop_all(), 0u);
  first.put(std::make_shared<int>(3));
  EXPECT_EQ(all.drop_all(), 1u);
}

TEST(Spares, WhoTookAnItemKeepsItWhenItIsDropped) {
  Spares all;
  Spares::Slot slot(all);
  slot.put(std::make_shared<int>(5));
  std::weak_ptr<const void> watched = slot.get();
  {
    const auto taken = std::static_pointer_cast<const int>(slot.get());
    EXPECT_EQ(all.drop_all(), 1u);
    EXPECT_EQ(*taken, 5);
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

TEST(Spares, ASlotThatGoesTakesItsItemAlong) {
  Spares all;
  const auto item = std::make_shared<int>(1);
  {
    Spares::Slot slot(all);
    slot.put(item);
  }
  EXPECT_EQ(item.use_count(), 1);
  EXPECT_EQ(all.drop_all(), 0u);
}

// The end of an item uses what its slot's owner has, from whichever thread it comes.
TEST(Spares, AnOwnerIsThereWhenItsItemGoes) {
  struct Owner {
    std::atomic<bool> is_alive{true};
    Spares::Slot slot;
    explicit Owner(Spares& all) : slot(all) {}
  };
  Spares all;
  std::atomic<int> ended{0};
  std::atomic<bool> stops{false};
  std::thread dropper([&] {
    while (!stops) all.drop_all();
  });
  constexpr int kOwners = 2000;
  for (int i = 0; i < kOwners; ++i) {
    Owner owner(all);
    owner.slot.put(std::shared_ptr<const void>(&owner, [&ended](const void* at) {
      EXPECT_TRUE(static_cast<const Owner*>(at)->is_alive);
      ++ended;
    }));
  }
  stops = true;
  dropper.join();
  EXPECT_EQ(ended, kOwners);
}

}  // namespace
}  // namespace cuzk::cuda::prove
