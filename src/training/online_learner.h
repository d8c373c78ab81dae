#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "scheduling/policies/online_learning.h"
#include "training/online_student.h"

namespace evenkeel::training {

// A live scheduler's training, in a thread of its own: lessons in by a queue, weights out by exchanging a
// pointer. The deciding thread, and only that one, uses it as a LearnerLink. It never waits here: every lock
// is tried, and where the trainer happens to hold it, what was to be handed over stays until the next call
// and the weights are those of the last one.
//
// A full queue drops its oldest lesson, and counts it: what is newest says most about the cluster as it is.
// Weights are looked at before they are published. Should one not be a number, the student goes back to what
// it was some updates ago, and that is counted too.
//
// Checkpoints: <file>, written after the first update, every so often and at the end, whole or not at all
// (base/file.h); read at the start. One that is damaged or another's is put aside as <file>.refused and
// learning begins without it.
class OnlineLearner final : public scheduling::LearnerLink {
 public:
  struct Options {
    std::string checkpoint{};  // none: nothing survives
    bool writes = true;        // false: the checkpoint is read, and nothing is written, renamed or made
    std::chrono::milliseconds checkpoint_every{60'000};
    std::size_t queue = 4096;
    std::uint64_t decides_after = 100;   // updates from nothing before its opinion counts
    std::uint64_t keep_good_every = 32;  // updates between states to go back to
    int niceness = 10;                   // of the thread: deciding comes first
  };

  OnlineLearner(Options options, std::unique_ptr<Student> student);
  ~OnlineLearner() override;  // stops
  OnlineLearner(const OnlineLearner&) = delete;
  OnlineLearner& operator=(const OnlineLearner&) = delete;

  std::shared_ptr<const scheduling::LearntWeights> weights() override;
  void teach(scheduling::Lesson lesson) override;
  void lay_out(const std::vector<std::string>& nodes) override;
  scheduling::LearnerProgress progress() override;

  // What a person should read, since the last call: never the same trouble twice in a row.
  std::vector<std::string> take_news();
  // Learns from all that was handed over, writes a last checkpoint and ends the thread.
  void stop();

  // For tests. Holds the trainer before its next lesson.
  void pause(bool paused);
  // Waits until everything handed over so far was learnt from; false: not within the time.
  bool settle(std::chrono::milliseconds at_most);

 private:
  using Message = std::variant<scheduling::Lesson, std::vector<std::string>>;
  using Clock = std::chrono::steady_clock;

  void send(Message message);
  void hand_over();
  void look();

  void run();
  void train();
  bool work_on(std::deque<Message>& messages);
  void study(scheduling::Lesson lesson);
  void lay_out_for(const std::vector<std::string>& nodes);
  void check_weights();
  void publish();
  void take_up_checkpoint();
  void write_checkpoint();
  void say(std::string line);

  const Options options_;

  // The deciding thread's.
  std::deque<Message> waiting_;  // for the lock to be free
  std::shared_ptr<const scheduling::LearntWeights> seen_;
  scheduling::LearnerProgress seen_progress_;
  std::uint64_t dropped_ = 0;

  // Between them, under mutex_; neither side does any work while it holds it.
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<Message> queue_;
  std::shared_ptr<const scheduling::LearntWeights> published_;
  scheduling::LearnerProgress published_progress_;
  Clock::time_point published_at_{};
  std::vector<std::string> lines_;
  bool stops_ = false, paused_ = false, is_idle_ = true;

  // The trainer's.
  std::unique_ptr<Student> student_;
  scheduling::LearnerProgress progress_;
  std::optional<learning::SavedState> good_;
  std::uint64_t good_updates_ = 0;
  Clock::time_point next_checkpoint_;
  std::uint64_t saved_lessons_ = 0;
  bool changed_ = false;    // since the last publication
  bool owes_first_ = true;  // checkpoint
  std::string last_trouble_;
  std::thread thread_;  // last: begins when all else is there
};

}  // namespace evenkeel::training
