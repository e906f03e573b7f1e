// SPDX-License-Identifier: Apache-2.0
// Hands out jobs in schedule order, under one mutex.
#include "run/trial_pool.h"

#include <algorithm>

namespace hopyard::run {

TrialPool::TrialPool(std::vector<store::PlannedRow> trials, size_t job_size)
    : trials_(std::make_move_iterator(trials.begin()), std::make_move_iterator(trials.end())),
      job_size_(job_size) {}

std::deque<store::PlannedRow> TrialPool::take() {
  const std::lock_guard lock(mutex_);
  std::deque<store::PlannedRow> job, others;
  if (closed_) return job;
  // Where a campaign runs on several kernels their trials are mixed; a guest is not booted for each of them,
  // so a job picks one kernel's from the next few.
  while (!trials_.empty() && job.size() < job_size_ && others.size() < job_size_) {
    const bool fits = job.empty() || trials_.front().planned.kernel() == job.front().planned.kernel();
    (fits ? job : others).push_back(std::move(trials_.front()));
    trials_.pop_front();
  }
  trials_.insert(trials_.begin(), std::make_move_iterator(others.begin()),
                 std::make_move_iterator(others.end()));
  return job;
}

void TrialPool::put_back(std::deque<store::PlannedRow> trials) {
  const std::lock_guard lock(mutex_);
  trials_.insert(trials_.begin(), std::make_move_iterator(trials.begin()),
                 std::make_move_iterator(trials.end()));
  std::sort(trials_.begin(), trials_.end(),
            [](const auto& a, const auto& b) { return a.planned.index() < b.planned.index(); });
}

void TrialPool::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

bool TrialPool::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

bool TrialPool::empty() const {
  const std::lock_guard lock(mutex_);
  return trials_.empty();
}

}  // namespace hopyard::run
