// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "native/cli/progress.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/base/str.h"

namespace weft::cli {

namespace {

constexpr uint64_t kUnitsPerStep = 10000;

}  // namespace

class ProgressLine::Watcher {
 public:
  explicit Watcher(std::string what) : what_(std::move(what)), thread_([this] { Watch(); }) {}
  ~Watcher() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  void Update(Progress progress) {
    const std::lock_guard lock(mutex_);
    progress_ = progress;
  }
  void Now(std::string what) {
    const std::lock_guard lock(mutex_);
    now_ = std::move(what);
  }

 private:
  void Watch();

  const std::string what_;
  std::mutex mutex_;
  std::condition_variable wake_;
  Progress progress_;
  std::string now_;
  bool done_ = false;
  std::thread thread_;
};

void ProgressLine::Watcher::Watch() {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  if (wake_.wait_for(lock, seconds(1), [this] { return done_; })) return;
  do {
    const auto elapsed =
        std::chrono::duration_cast<seconds>(std::chrono::steady_clock::now() - start).count();
    std::string line = StrCat("weft: ", what_);
    if (progress_.total > 0) StrAppend(line, ", ", progress_.done * 100 / progress_.total, "%");
    StrAppend(line, ", ", elapsed, " s");
    if (!now_.empty()) StrAppend(line, ": ", now_);
    line = terminal ? StrCat("\r", line, "\033[K") : line + "\n";
    if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
  } while (
      !wake_.wait_for(lock, terminal ? milliseconds(200) : milliseconds(10000), [this] { return done_; }));
  constexpr std::string_view kErase = "\r\033[K";
  if (terminal && ::write(STDERR_FILENO, kErase.data(), kErase.size()) < 0) return;
}

ProgressLine::ProgressLine(std::string what) : watcher_(std::make_unique<Watcher>(std::move(what))) {}
ProgressLine::~ProgressLine() = default;
void ProgressLine::Update(Progress progress) { watcher_->Update(progress); }
void ProgressLine::Now(std::string what) { watcher_->Now(std::move(what)); }

void RunJob(Job& job, std::string what) {
  ProgressLine line(std::move(what));
  while (!job.Step(kUnitsPerStep)) line.Update(job.progress());
}

}  // namespace weft::cli
