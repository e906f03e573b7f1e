// SPDX-License-Identifier: Apache-2.0
// A campaign's trials that are still to run, handed out in jobs. Thread-safe; knows no worker.
#pragma once

#include <deque>
#include <mutex>
#include <vector>

#include "store/store.h"

namespace hopyard::run {

class TrialPool {
 public:
  // `job_size`: most trials in one job.
  TrialPool(std::vector<store::PlannedRow> trials, size_t job_size);

  // The next trials, all for the kernel of the first, in order; empty if none is left or the pool is closed.
  std::deque<store::PlannedRow> take();
  // Trials that were taken and have no outcome; they come first again.
  void put_back(std::deque<store::PlannedRow> trials);
  // Nothing more is handed out.
  void close();

  bool closed() const;
  bool empty() const;

 private:
  mutable std::mutex mutex_;
  std::deque<store::PlannedRow> trials_;  // by index
  size_t job_size_;
  bool closed_ = false;
};

}  // namespace hopyard::run
