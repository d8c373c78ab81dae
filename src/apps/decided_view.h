#pragma once
#include <string>

#include "reporting/text_table.h"

namespace evenkeel::apps {

// What a scheduler's journal said of a pod (the JSON of its /decisions), for people: a row per decision, and
// the scores or reasons of the latest. Whoever answered may be anybody: what is not as expected is left out.
std::string account_of_decided(const std::string& json, reporting::TextStyle style);

}  // namespace evenkeel::apps
