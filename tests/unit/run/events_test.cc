// SPDX-License-Identifier: Apache-2.0
// Watchers see every event from when they came, and the end.
#include "run/events.h"

#include <gtest/gtest.h>

#include <thread>

namespace hopyard::run {
namespace {

using namespace std::chrono_literals;

v1::CampaignEvent said(const std::string& text) {
  v1::CampaignEvent event;
  event.set_log(text);
  return event;
}

TEST(Events, ReachEveryWatcherOfTheirCampaignAndNoOther) {
  Events events;
  const auto first = events.watch("a"), second = events.watch("a"), other = events.watch("b");
  events.publish("a", said("hello"));
  EXPECT_EQ(first->next(0ms)->log(), "hello");
  EXPECT_EQ(second->next(0ms)->log(), "hello");
  EXPECT_FALSE(other->next(0ms).has_value());
}

TEST(Events, WakeAWaitingWatcher) {
  Events events;
  const auto watcher = events.watch("a");
  std::jthread publisher([&] { events.publish("a", said("late")); });
  EXPECT_EQ(watcher->next(10s)->log(), "late");
}

TEST(Events, TheEndComesAfterWhatIsPending) {
  Events events;
  const auto watcher = events.watch("a");
  events.publish("a", said("last"));
  events.end("a");
  EXPECT_EQ(watcher->ending(), Watcher::Ending::kOpen);
  EXPECT_EQ(watcher->next(10s)->log(), "last");
  EXPECT_EQ(watcher->ending(), Watcher::Ending::kDone);
  EXPECT_FALSE(watcher->next(10s).has_value());
}

TEST(Events, AWatcherThatDoesNotReadIsCutOff) {
  Events events;
  const auto watcher = events.watch("a");
  for (size_t i = 0; i <= Watcher::kMostPending; ++i) events.publish("a", said("more"));
  EXPECT_EQ(watcher->ending(), Watcher::Ending::kTooSlow);
  EXPECT_FALSE(watcher->next(0ms).has_value());
}

TEST(Events, AWatcherThatHasGoneIsNoBurden) {
  Events events;
  events.watch("a").reset();
  events.publish("a", said("to nobody"));
  events.end_all();
}

}  // namespace
}  // namespace hopyard::run
