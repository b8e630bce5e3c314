#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace conebench {

/// Threads that wait for work: handing it out allocates nothing.
class Workers {
 public:
  explicit Workers(int threads = 1);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int count() const { return static_cast<int>(others_.size()) + 1; }
  /// work(begin, end) on equal parts of 0 … size − 1, a part a thread; returns when all are done.
  template <class Work>
  void run(std::size_t size, const Work& work) {
    run_parts(size, [&](std::size_t, std::size_t begin, std::size_t end) { work(begin, end); });
  }
  /// work(part, begin, end), with the part's number below count().
  template <class Work>
  void run_parts(std::size_t size, const Work& work) {
    if (others_.empty()) return work(std::size_t{0}, std::size_t{0}, size);
    hand_out(size, &work, [](const void* on, std::size_t part, std::size_t begin, std::size_t end) {
      (*static_cast<const Work*>(on))(part, begin, end);
    });
  }

 private:
  using Call = void (*)(const void* work, std::size_t part, std::size_t begin, std::size_t end);
  void hand_out(std::size_t size, const void* work, Call call);
  void work_on(std::size_t part) const;
  void wait_for_work(std::size_t part);

  std::vector<std::thread> others_;
  std::mutex mutex_;
  std::condition_variable given_, done_;
  const void* work_ = nullptr;
  Call call_ = nullptr;
  std::size_t size_ = 0, busy_ = 0;
  long round_ = 0;
  bool over_ = false;
};

}  // namespace conebench
