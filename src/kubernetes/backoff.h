#pragma once
#include "base/random.h"
#include "base/time.h"

namespace evenkeel::kubernetes {

// How long to wait before the next try: twice as long each time, and up to twice that by chance, so that many
// clients that lost one server do not come back in step. The defaults are client-go's.
class Backoff {
 public:
  struct Options {
    Duration first = std::chrono::milliseconds(800);
    Duration most = std::chrono::seconds(30);
  };

  Backoff() : Backoff(Options()) {}
  explicit Backoff(Options options) : options_(options), current_(options.first) {}

  Duration next(Random& random);
  void reset() { current_ = options_.first; }

 private:
  Options options_;
  Duration current_;
};

}  // namespace evenkeel::kubernetes
