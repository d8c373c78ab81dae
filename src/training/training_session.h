#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "learning/model_file.h"
#include "training/recipes.h"

namespace evenkeel::training {

// Which training it is. Two with the same identity take the same steps.
struct TrainingIdentity {
  std::string recipe;  // its name
  std::string text;    // word for word, with a comment for every --set
  std::uint64_t seed = 1;
  std::vector<std::string> scenarios;

  bool operator==(const TrainingIdentity&) const = default;
};

// The figures of all steps, by name; steps that have nothing to say of a figure are NaN there.
class LearningCurve {
 public:
  struct Line {
    std::string name;
    std::vector<double> values;  // values[i] belongs to step i + 1
  };

  void add(const CurvePoint& point);
  const std::vector<Line>& lines() const { return lines_; }  // in the order figures first came up
  std::size_t steps() const { return steps_; }

  // The last value there is; NaN where there is none.
  static double last(const Line& line);

 private:
  std::size_t steps_ = 0;
  std::vector<Line> lines_;
};

// One training with its curve, to be put away and taken up again. No files here: bytes out, bytes in.
//
// A checkpoint is a line `evenkeel-checkpoint <version> <bytes of the header> <bytes of the state>
// <checksum>` (CRC-32 of all that follows), a header in JSON (identity, steps done, curve) and the trainer's
// own state.
class TrainingSession {
 public:
  static constexpr int kVersion = 1;

  TrainingSession(Training training, TrainingIdentity identity);

  const Training& training() const { return training_; }
  const TrainingIdentity& identity() const { return identity_; }
  const LearningCurve& curve() const { return curve_; }
  std::size_t done() const { return training_.trainer->done(); }
  std::size_t steps() const { return training_.trainer->steps(); }
  bool finished() const { return done() >= steps(); }

  void advance();
  std::string checkpoint() const;
  // Goes on from there. Refuses what is damaged and, by name, what belongs to another training.
  Status resume(std::string_view checkpoint);

  // With the recipe and the worlds it was made from. Refuses weights that are no numbers.
  Result<learning::Model> model() const;

 private:
  Training training_;
  TrainingIdentity identity_;
  LearningCurve curve_;
};

}  // namespace evenkeel::training
