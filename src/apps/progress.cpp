#include "apps/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "reporting/number_format.h"
#include "reporting/text_table.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
constexpr std::size_t kLines = 20, kBar = 30;

std::size_t columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

// To the width of the terminal: a bar that wraps cannot be drawn over.
std::string fitted(std::string text, std::size_t width) {
  while (!text.empty() && reporting::display_width(text) > width) {
    text.pop_back();
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0) text.pop_back();
  }
  return text;
}

}  // namespace

Progress::Progress(std::ostream& out, bool terminal, std::string what, std::size_t all, std::size_t done)
    : out_(out),
      terminal_(terminal),
      what_(std::move(what)),
      all_(std::max<std::size_t>(1, all)),
      first_(done) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (drawn_) out_ << "\r\033[K" << std::flush;
  drawn_ = false;
}

void Progress::show(std::size_t done, const std::string& detail) {
  if (terminal_) return draw_bar(done, detail);
  const bool last = done >= all_;
  if (done < next_line_ && !last) return;
  next_line_ = done + std::max<std::size_t>(1, (all_ + kLines - 1) / kLines);
  out_ << what_ << ' ' << done << " of " << all_ << "  " << detail << std::endl;
}

std::string Progress::time_left(std::size_t done) const {
  if (done <= first_ || done >= all_) return {};
  const double passed = std::chrono::duration<double>(Clock::now() - start_).count();
  const double left = passed / static_cast<double>(done - first_) * static_cast<double>(all_ - done);
  return left < 1 ? std::string() : ", " + reporting::format_duration(std::round(left)) + " left";
}

void Progress::draw_bar(std::size_t done, const std::string& detail) {
  const auto now = Clock::now();
  if (done < all_ && drawn_ && now - last_drawn_ < 100ms) return;
  last_drawn_ = now;
  drawn_ = true;
  std::string bar;
  for (std::size_t i = 0; i < kBar; ++i) bar += i < done * kBar / all_ ? "█" : "░";
  const std::string line = bar + " " + what_ + " " + std::to_string(done) + " of " + std::to_string(all_) +
                           time_left(done) + "  " + detail;
  out_ << "\r\033[K" << fitted(line, columns() - 1) << std::flush;
}

}  // namespace evenkeel::apps
