#pragma once
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace evenkeel {

// The outside misbehaved. The message names the file, the line or field, what was found and what was
// expected.
struct Error {
  enum class Kind { not_found, conflict, unavailable, invalid };
  Kind kind = Kind::invalid;
  std::string message;

  bool retryable() const { return kind == Kind::conflict || kind == Kind::unavailable; }
};

inline Error invalid(std::string message) { return {Error::Kind::invalid, std::move(message)}; }
inline Error not_found(std::string message) { return {Error::Kind::not_found, std::move(message)}; }
inline Error unavailable(std::string message) { return {Error::Kind::unavailable, std::move(message)}; }

// The part of std::expected we use. Looking at the side that is not there is our own bug and stops the
// program.
template <class T>
class [[nodiscard]] Result {
 public:
  // Implicit, so that `return value;` and `return invalid("…");` read as they should.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  explicit operator bool() const { return state_.index() == 0; }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  T value_or(T fallback) && { return *this ? std::move(value()) : std::move(fallback); }

  const Error& error() const {
    EVENKEEL_CHECK(state_.index() == 1);
    return *std::get_if<1>(&state_);
  }

 private:
  T& value() {
    EVENKEEL_CHECK(state_.index() == 0);
    return *std::get_if<0>(&state_);
  }
  const T& value() const { return const_cast<Result*>(this)->value(); }

  std::variant<T, Error> state_;
};

// Done, or why not.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: as above

  explicit operator bool() const { return !error_; }

  const Error& error() const {
    EVENKEEL_CHECK(error_.has_value());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};
using Status = Result<void>;

}  // namespace evenkeel
