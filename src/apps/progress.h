#pragma once
#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <string>

namespace evenkeel::apps {

// How far a long job is: a bar on a terminal, elsewhere a line now and then, about twenty in all.
class Progress {
 public:
  Progress(std::ostream& out, bool terminal, std::string what, std::size_t all, std::size_t done);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `detail` goes behind the bar: the figures of the moment.
  void show(std::size_t done, const std::string& detail);
  void clear();  // takes the bar off the screen, so that a line can be printed

 private:
  using Clock = std::chrono::steady_clock;
  void draw_bar(std::size_t done, const std::string& detail);
  std::string time_left(std::size_t done) const;

  std::ostream& out_;
  bool terminal_, drawn_ = false;
  std::string what_;
  std::size_t all_, first_, next_line_ = 0;
  Clock::time_point start_ = Clock::now(), last_drawn_{};
};

}  // namespace evenkeel::apps
