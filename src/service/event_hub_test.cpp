// Watchers get what they asked for, in order, and are told what they missed.
#include "service/event_hub.h"

#include <gtest/gtest.h>

namespace cuzk::service {
namespace {

struct Source {
  std::function<void(const engine::EngineEvent&)> observer;
  EventHub::Observe observe() {
    return [this](std::function<void(const engine::EngineEvent&)> wanted) {
      observer = std::move(wanted);
      return std::shared_ptr<engine::Subscription>();
    };
  }
  void say(const std::string& id, std::size_t partition = 0) {
    engine::EngineEvent event;
    event.request_id = id;
    event.partition = partition;
    observer(event);
  }
};

TEST(EventHub, HandsOnToThoseWhoWatch) {
  Source source;
  EventHub hub(source.observe());
  int woken = 0;
  const auto all = std::make_shared<EventQueue>("", 10, [&] { ++woken; });
  const auto one = std::make_shared<EventQueue>("b", 10, [] {});
  ASSERT_TRUE(hub.add(all));
  ASSERT_TRUE(hub.add(one));
  source.say("a");
  source.say("b");
  EXPECT_EQ(woken, 2);
  EventQueue::Entry entry;
  ASSERT_TRUE(all->take(entry));
  EXPECT_EQ(entry.event.request_id, "a");
  ASSERT_TRUE(all->take(entry));
  EXPECT_EQ(entry.event.request_id, "b");
  EXPECT_FALSE(all->take(entry));
  ASSERT_TRUE(one->take(entry));
  EXPECT_EQ(entry.event.request_id, "b");
  EXPECT_FALSE(one->take(entry));
  hub.remove(all);
  source.say("c");
  EXPECT_FALSE(all->take(entry));
}

TEST(EventHub, CountsWhatASlowWatcherMissed) {
  Source source;
  EventHub hub(source.observe());
  const auto slow = std::make_shared<EventQueue>("", 2, [] {});
  ASSERT_TRUE(hub.add(slow));
  for (std::size_t i = 0; i < 5; ++i) source.say("a", i);
  EventQueue::Entry entry;
  ASSERT_TRUE(slow->take(entry));
  EXPECT_EQ(entry.missed_count, 0u);
  ASSERT_TRUE(slow->take(entry));
  source.say("a", 5);
  ASSERT_TRUE(slow->take(entry));
  EXPECT_EQ(entry.event.partition, 5u);
  EXPECT_EQ(entry.missed_count, 3u);
}

TEST(EventHub, CountsWhatWasLeftOutBeforeItCameHere) {
  EventQueue queue("", 10, [] {});
  engine::EngineEvent event;
  event.left_out_count = 7;
  queue.put(event);
  EventQueue::Entry entry;
  ASSERT_TRUE(queue.take(entry));
  EXPECT_EQ(entry.missed_count, 7u);
}

TEST(EventHub, WakesItsWatchersWhenItCloses) {
  Source source;
  EventHub hub(source.observe());
  int woken = 0;
  const auto queue = std::make_shared<EventQueue>("", 2, [&] { ++woken; });
  ASSERT_TRUE(hub.add(queue));
  hub.close();
  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(queue->closed());
  EXPECT_FALSE(hub.add(queue));
  hub.close();
  EXPECT_EQ(woken, 1);
}

}  // namespace
}  // namespace cuzk::service
