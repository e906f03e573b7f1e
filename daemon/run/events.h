// SPDX-License-Identifier: Apache-2.0
// Hands a campaign's events to those who watch it. Thread-safe; keeps nothing for later comers.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hopyard/v1/service.pb.h"

namespace hopyard::run {

// One watcher's events, in order. A watcher that falls kMostPending behind is cut off rather than waited for.
class Watcher {
 public:
  static constexpr size_t kMostPending = 4096;
  enum class Ending { kOpen, kDone, kTooSlow };

  // The next event; nothing once `wait` is over or the end is reached.
  std::optional<v1::CampaignEvent> next(std::chrono::milliseconds wait);
  // kOpen as long as next() may still give something.
  Ending ending() const;

 private:
  friend class Events;
  void add(const v1::CampaignEvent& event);
  void end();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<v1::CampaignEvent> pending_;
  Ending ending_ = Ending::kOpen;
};

class Events {
 public:
  // Gets every event besides; may be empty.
  using Tap = std::function<void(const std::string& campaign_id, const v1::CampaignEvent& event)>;
  explicit Events(Tap tap = {}) : tap_(std::move(tap)) {}

  // Events published from now on.
  std::shared_ptr<Watcher> watch(const std::string& campaign_id);
  void publish(const std::string& campaign_id, const v1::CampaignEvent& event);
  // No more events will come: of one campaign, of all.
  void end(const std::string& campaign_id);
  void end_all();

 private:
  const Tap tap_;
  std::mutex mutex_;
  std::map<std::string, std::vector<std::weak_ptr<Watcher>>> watchers_;
};

}  // namespace hopyard::run
