// SPDX-License-Identifier: Apache-2.0
// A queue for each watcher, so that a slow one delays nobody.
#include "run/events.h"

namespace hopyard::run {

std::optional<v1::CampaignEvent> Watcher::next(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, wait, [this] { return !pending_.empty() || ending_ != Ending::kOpen; });
  if (pending_.empty()) return std::nullopt;
  v1::CampaignEvent event = std::move(pending_.front());
  pending_.pop_front();
  return event;
}

Watcher::Ending Watcher::ending() const {
  const std::lock_guard lock(mutex_);
  return pending_.empty() ? ending_ : Ending::kOpen;
}

void Watcher::add(const v1::CampaignEvent& event) {
  const std::lock_guard lock(mutex_);
  if (ending_ != Ending::kOpen) return;
  if (pending_.size() >= kMostPending) {
    pending_.clear();
    ending_ = Ending::kTooSlow;
  } else {
    pending_.push_back(event);
  }
  changed_.notify_all();
}

void Watcher::end() {
  const std::lock_guard lock(mutex_);
  if (ending_ == Ending::kOpen) ending_ = Ending::kDone;
  changed_.notify_all();
}

std::shared_ptr<Watcher> Events::watch(const std::string& campaign_id) {
  auto watcher = std::make_shared<Watcher>();
  const std::lock_guard lock(mutex_);
  auto& list = watchers_[campaign_id];
  std::erase_if(list, [](const auto& known) { return known.expired(); });
  list.push_back(watcher);
  return watcher;
}

void Events::publish(const std::string& campaign_id, const v1::CampaignEvent& event) {
  if (tap_) tap_(campaign_id, event);
  const std::lock_guard lock(mutex_);
  const auto found = watchers_.find(campaign_id);
  if (found == watchers_.end()) return;
  for (const auto& weak : found->second) {
    if (const auto watcher = weak.lock()) watcher->add(event);
  }
}

void Events::end(const std::string& campaign_id) {
  const std::lock_guard lock(mutex_);
  const auto found = watchers_.find(campaign_id);
  if (found == watchers_.end()) return;
  for (const auto& weak : found->second) {
    if (const auto watcher = weak.lock()) watcher->end();
  }
  watchers_.erase(found);
}

void Events::end_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, list] : watchers_) {
    for (const auto& weak : list) {
      if (const auto watcher = weak.lock()) watcher->end();
    }
  }
  watchers_.clear();
}

}  // namespace hopyard::run
