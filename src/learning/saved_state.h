#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "learning/real.h"

namespace evenkeel::learning {

// A learner put away: its parts by name, exact to the last bit. As bytes it is CBOR (RFC 8949), so any tool
// that reads that can look inside.
class SavedState {
 public:
  static Result<SavedState> parse(std::string_view bytes);
  std::string bytes() const;

  void put(const std::string& name, std::span<const Real> values);
  void put(const std::string& name, std::uint64_t count);
  void put(const std::string& name, const SavedState& part);
  void put_text(const std::string& name, std::string_view text);

  // The first part that is missing or of another size is remembered; reading goes on with harmless values.
  std::vector<Real> reals(const std::string& name);
  void reals(const std::string& name, std::span<Real> into);  // exactly as many
  std::uint64_t count(const std::string& name);
  SavedState part(const std::string& name);
  std::string text(const std::string& name);
  void fail(const std::string& name, const std::string& expected);
  const Status& status() const { return status_; }

 private:
  const std::string* find(const std::string& name);

  std::map<std::string, std::string> parts_;
  Status status_;
};

}  // namespace evenkeel::learning
