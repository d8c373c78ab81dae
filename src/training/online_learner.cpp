#include "training/online_learner.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <utility>

#include "base/file.h"
#include "learning/checkpoint_file.h"

namespace evenkeel::training {
namespace {

using scheduling::LearnerProgress;
using scheduling::LearntWeights;
using scheduling::Lesson;

constexpr double kRemembered = 50;  // losses in the running mean

}  // namespace

OnlineLearner::OnlineLearner(Options options, std::unique_ptr<Student> student)
    : options_(std::move(options)), student_(std::move(student)) {
  take_up_checkpoint();
  publish();
  look();  // what was taken up counts from the first decision on
  next_checkpoint_ = Clock::now() + options_.checkpoint_every;
  thread_ = std::thread([this] { run(); });
}

OnlineLearner::~OnlineLearner() { stop(); }

std::shared_ptr<const LearntWeights> OnlineLearner::weights() {
  if (!waiting_.empty()) hand_over();
  look();
  return seen_;
}

LearnerProgress OnlineLearner::progress() {
  look();
  return seen_progress_;
}

void OnlineLearner::look() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  seen_ = published_;
  seen_progress_ = published_progress_;
  seen_progress_.dropped = dropped_;
  seen_progress_.weights_age_s = std::chrono::duration<double>(Clock::now() - published_at_).count();
}

void OnlineLearner::teach(Lesson lesson) { send(std::move(lesson)); }

void OnlineLearner::lay_out(const std::vector<std::string>& nodes) { send(nodes); }

void OnlineLearner::send(Message message) {
  waiting_.push_back(std::move(message));
  hand_over();
}

// The oldest lesson goes, never a change of nodes: those after it would be misunderstood.
void OnlineLearner::hand_over() {
  const auto drop_oldest = [&](std::deque<Message>& from) {
    const auto oldest = std::find_if(from.begin(), from.end(), [](const Message& message) {
      return std::holds_alternative<Lesson>(message);
    });
    if (oldest == from.end()) return;
    from.erase(oldest);
    ++dropped_;
  };
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) {
      if (waiting_.size() > options_.queue) drop_oldest(waiting_);
      return;
    }
    for (Message& message : waiting_) queue_.push_back(std::move(message));
    while (queue_.size() > options_.queue) {
      const std::size_t before = queue_.size();
      drop_oldest(queue_);
      if (queue_.size() == before) break;
    }
    is_idle_ = false;
  }
  waiting_.clear();
  news_.notify_all();
}

std::vector<std::string> OnlineLearner::take_news() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock ? std::exchange(lines_, {}) : std::vector<std::string>{};
}

void OnlineLearner::pause(bool paused) {
  const std::lock_guard lock(mutex_);
  paused_ = paused;
  news_.notify_all();
}

bool OnlineLearner::settle(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  for (Message& message : waiting_) queue_.push_back(std::move(message));
  if (!waiting_.empty()) is_idle_ = false;
  waiting_.clear();
  news_.notify_all();
  return news_.wait_for(lock, at_most, [&] { return is_idle_ && queue_.empty(); });
}

void OnlineLearner::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    for (Message& message : waiting_) queue_.push_back(std::move(message));
    waiting_.clear();
    stops_ = true;
    paused_ = false;
  }
  news_.notify_all();
  thread_.join();
}

void OnlineLearner::run() {
  // Of this thread alone, which is how Linux has it. Where it is not allowed, it trains at full speed.
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), options_.niceness);
  try {
    train();
  } catch (const std::exception& error) {
    // Memory, most likely. The last weights stay in force and deciding goes on.
    say(std::string("training ended: ") + error.what());
  }
  const std::lock_guard lock(mutex_);
  is_idle_ = true;
  news_.notify_all();
}

void OnlineLearner::train() {
  std::unique_lock lock(mutex_);
  while (true) {
    news_.wait_until(lock, next_checkpoint_, [&] { return stops_ || (!queue_.empty() && !paused_); });
    if (paused_ && !stops_) {
      next_checkpoint_ = Clock::now() + options_.checkpoint_every;
      continue;
    }
    std::deque<Message> messages = std::exchange(queue_, {});
    const bool stops = stops_;
    lock.unlock();
    const bool finished = work_on(messages);
    publish();
    if (stops || Clock::now() >= next_checkpoint_) write_checkpoint();
    lock.lock();
    // Held in the middle: what is left goes first.
    for (auto left = messages.rbegin(); left != messages.rend(); ++left) queue_.push_front(std::move(*left));
    is_idle_ = finished && queue_.empty();
    if (is_idle_) news_.notify_all();
    if (stops && queue_.empty()) return;
  }
}

// What was worked on is taken away. False: held before the end.
bool OnlineLearner::work_on(std::deque<Message>& messages) {
  while (!messages.empty()) {
    {
      const std::lock_guard lock(mutex_);
      if (paused_ && !stops_) return false;
    }
    Message message = std::move(messages.front());
    messages.pop_front();
    if (auto* lesson = std::get_if<Lesson>(&message)) {
      study(std::move(*lesson));
    } else {
      lay_out_for(std::get<std::vector<std::string>>(message));
    }
  }
  return true;
}

void OnlineLearner::lay_out_for(const std::vector<std::string>& nodes) {
  const bool had_any = !student_->nodes().empty();
  const std::size_t before = student_->nodes().size();
  changed_ = true;
  if (!student_->lay_out(nodes)) return;
  good_.reset();
  if (!had_any) return;
  ++progress_.restarts;
  say("the cluster has " + std::to_string(nodes.size()) + " nodes instead of " + std::to_string(before) +
      ": another network begins, with " + std::to_string(student_->updates()) +
      " updates from kept experience");
}

void OnlineLearner::study(Lesson lesson) {
  const Student::Studied studied = student_->study(std::move(lesson));
  if (!studied.kept) {
    ++progress_.refused;
    return;
  }
  ++progress_.lessons;
  if (!studied.loss) return;
  ++progress_.updates;
  changed_ = true;
  // What was learnt first is kept at once: a folder that cannot be written is known at the beginning.
  if (std::exchange(owes_first_, false)) next_checkpoint_ = Clock::now();
  const double memory = std::min(kRemembered, static_cast<double>(progress_.updates));
  if (std::isfinite(*studied.loss)) progress_.loss += (*studied.loss - progress_.loss) / memory;
  check_weights();
}

void OnlineLearner::check_weights() {
  if (student_->is_finite()) {
    if (good_ && student_->updates() < good_updates_ + options_.keep_good_every) return;
    good_ = student_->save();
    good_updates_ = student_->updates();
    return;
  }
  ++progress_.rolled_back;
  if (progress_.rolled_back == 1) say("an update came out as no number: undone");
  if (good_ && student_->restore(*good_)) return;
  // Nothing to go back to: from nothing, which is finite.
  const std::vector<std::string> nodes = student_->nodes();
  student_->lay_out({nodes.front()});
  student_->lay_out(nodes);
}

void OnlineLearner::publish() {
  std::shared_ptr<const LearntWeights> weights;
  if (changed_ && !student_->nodes().empty() && student_->is_finite()) {
    const std::uint64_t updates = student_->updates();
    weights = std::make_shared<const LearntWeights>(
        LearntWeights{student_->nodes(), student_->network(), updates,
                      student_->began_from_model() || updates >= options_.decides_after});
    changed_ = false;
  }
  // What it replaces is let go of outside the lock.
  {
    const std::lock_guard lock(mutex_);
    published_progress_ = progress_;
    if (weights) {
      published_.swap(weights);
      published_at_ = Clock::now();
    }
  }
}

void OnlineLearner::take_up_checkpoint() {
  published_at_ = Clock::now();
  if (options_.checkpoint.empty()) return;
  const Result<std::string> bytes = read_file(options_.checkpoint);
  if (!bytes && bytes.error().kind == Error::Kind::not_found) return;
  std::string why = bytes ? "" : bytes.error().message;
  if (bytes) {
    Result<learning::SavedState> state = learning::parse_checkpoint(*bytes, student_->encoding());
    const Status restored = state ? student_->restore(*std::move(state)) : Status(state.error());
    if (restored && student_->is_finite()) {
      changed_ = true;
      good_ = student_->save();
      good_updates_ = student_->updates();
      progress_.updates = student_->updates();
      return say("taken up from " + options_.checkpoint + ": " + std::to_string(student_->updates()) +
                 " updates, " + std::to_string(student_->nodes().size()) + " nodes");
    }
    why = restored ? "holds weights that are no numbers" : restored.error().message;
  }
  const std::string aside = options_.checkpoint + ".refused";
  const bool moved = options_.writes && std::rename(options_.checkpoint.c_str(), aside.c_str()) == 0;
  say(options_.checkpoint + ": " + why + (moved ? "; put aside as " + aside : "") +
      "; learning begins without it");
}

void OnlineLearner::write_checkpoint() {
  next_checkpoint_ = Clock::now() + options_.checkpoint_every;
  if (options_.checkpoint.empty() || !options_.writes) return;
  if (student_->nodes().empty() || progress_.lessons == saved_lessons_) return;
  const Status written =
      write_file(options_.checkpoint, learning::serialise_checkpoint(student_->encoding(), student_->save()));
  if (written) {
    ++progress_.checkpoints;
    saved_lessons_ = progress_.lessons;
    if (!std::exchange(last_trouble_, {}).empty()) say("checkpoints are written again");
  } else {
    ++progress_.checkpoint_failures;
    // The same trouble every minute is said once.
    if (std::exchange(last_trouble_, written.error().message) != written.error().message)
      say("no checkpoint: " + written.error().message + "; learning goes on");
  }
  const std::lock_guard lock(mutex_);
  published_progress_ = progress_;
}

void OnlineLearner::say(std::string line) {
  const std::lock_guard lock(mutex_);
  lines_.push_back(std::move(line));
}

}  // namespace evenkeel::training
