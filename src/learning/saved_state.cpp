#include "learning/saved_state.h"

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

namespace evenkeel::learning {
namespace {

using Json = nlohmann::json;
static_assert(std::endian::native == std::endian::little && sizeof(Real) == 8,
              "numbers are kept as they lie");

template <class T>
std::string as_bytes(const T* values, std::size_t count) {
  std::string bytes(count * sizeof(T), '\0');
  if (count > 0) std::memcpy(bytes.data(), values, bytes.size());
  return bytes;
}

}  // namespace

Result<SavedState> SavedState::parse(std::string_view bytes) {
  const Json tree = Json::from_cbor(bytes.begin(), bytes.end(), true, false);
  if (!tree.is_object()) return invalid("saved state: expected a CBOR map, found something else or damage");
  SavedState state;
  for (const auto& [name, value] : tree.items()) {
    if (!value.is_binary())
      return invalid("saved state, part '" + name + "': expected bytes, found " + value.type_name());
    const auto& part = value.get_binary();
    state.parts_[name].assign(part.begin(), part.end());
  }
  return state;
}

std::string SavedState::bytes() const {
  Json tree = Json::object();
  for (const auto& [name, part] : parts_)
    tree[name] = Json::binary(std::vector<std::uint8_t>(part.begin(), part.end()));
  std::string bytes;
  Json::to_cbor(tree, bytes);
  return bytes;
}

void SavedState::put(const std::string& name, std::span<const Real> values) {
  parts_[name] = as_bytes(values.data(), values.size());
}

void SavedState::put(const std::string& name, std::uint64_t count) { parts_[name] = as_bytes(&count, 1); }

void SavedState::put(const std::string& name, const SavedState& part) { parts_[name] = part.bytes(); }

void SavedState::put_text(const std::string& name, std::string_view text) { parts_[name] = text; }

const std::string* SavedState::find(const std::string& name) {
  const auto found = parts_.find(name);
  if (found != parts_.end()) return &found->second;
  if (status_) status_ = invalid("saved state: part '" + name + "' is missing");
  return nullptr;
}

void SavedState::fail(const std::string& name, const std::string& expected) {
  if (status_) status_ = invalid("saved state, part '" + name + "': expected " + expected);
}

std::vector<Real> SavedState::reals(const std::string& name) {
  const std::string* bytes = find(name);
  if (!bytes) return {};
  if (bytes->size() % sizeof(Real) != 0) {
    fail(name, "whole numbers of eight bytes, found " + std::to_string(bytes->size()) + " bytes");
    return {};
  }
  std::vector<Real> values(bytes->size() / sizeof(Real));
  if (!values.empty()) std::memcpy(values.data(), bytes->data(), bytes->size());
  return values;
}

void SavedState::reals(const std::string& name, std::span<Real> into) {
  const std::vector<Real> values = reals(name);
  if (!status_) return;
  if (values.size() != into.size())
    return fail(name, std::to_string(into.size()) + " numbers, found " + std::to_string(values.size()));
  std::copy(values.begin(), values.end(), into.begin());
}

std::uint64_t SavedState::count(const std::string& name) {
  const std::string* bytes = find(name);
  std::uint64_t value = 0;
  if (!bytes) return value;
  if (bytes->size() != sizeof value) {
    fail(name, "one number, found " + std::to_string(bytes->size()) + " bytes");
    return value;
  }
  std::memcpy(&value, bytes->data(), sizeof value);
  return value;
}

std::string SavedState::text(const std::string& name) {
  const std::string* bytes = find(name);
  return bytes ? *bytes : "";
}

SavedState SavedState::part(const std::string& name) {
  const std::string* bytes = find(name);
  if (!bytes) return {};
  Result<SavedState> inner = parse(*bytes);
  if (inner) return *std::move(inner);
  fail(name, "saved state within it");
  return {};
}

}  // namespace evenkeel::learning
