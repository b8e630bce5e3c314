#include "base/workers.hpp"

namespace conebench {

Workers::Workers(int threads) {
  for (int part = 1; part < threads; ++part) others_.emplace_back([this, part] { wait_for_work(std::size_t(part)); });
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  given_.notify_all();
  for (std::thread& other : others_) other.join();
}

void Workers::work_on(std::size_t part) const {
  const std::size_t parts = others_.size() + 1;
  call_(work_, part, part * size_ / parts, (part + 1) * size_ / parts);
}

void Workers::hand_out(std::size_t size, const void* work, Call call) {
  {
    const std::lock_guard lock(mutex_);
    work_ = work;
    call_ = call;
    size_ = size;
    busy_ = others_.size();
    ++round_;
  }
  given_.notify_all();
  work_on(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
}

void Workers::wait_for_work(std::size_t part) {
  std::unique_lock lock(mutex_);
  for (long seen = 0;; seen = round_) {
    given_.wait(lock, [&] { return over_ || round_ != seen; });
    if (over_) return;
    lock.unlock();
    work_on(part);
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

}  // namespace conebench
