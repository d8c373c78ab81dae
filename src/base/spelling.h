#pragma once
#include <span>
#include <string>
#include <string_view>

namespace evenkeel {

// The candidate a writer probably meant, or empty when none is near.
std::string_view nearest_spelling(std::string_view written, std::span<const std::string_view> candidates);

// "; did you mean 'count'?" or nothing: an ending for error messages.
std::string did_you_mean(std::string_view written, std::span<const std::string_view> candidates);

// "a, b, c", for messages that list what there is.
std::string joined(std::span<const std::string_view> words);

}  // namespace evenkeel
