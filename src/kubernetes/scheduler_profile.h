// Which plugins a profile runs: the merging of defaults, multiPoint and single points.
#pragma once
#include "kubernetes/json_field.h"
#include "kubernetes/scheduler_configuration.h"

namespace evenkeel::kubernetes {

void read_plugins(const JsonField& plugins, SchedulerProfile& into);  // absent: the default profile's
void read_plugin_arguments(const JsonField& plugin_config, SchedulerProfile& into);

// Go's spelling of durations; absent or 0 gives the fallback.
Duration duration_at(const JsonField& map, std::string_view key, Duration fallback);

// Fails at the first field that is not among the known ones.
void refuse_unknown_fields(const JsonField& map, std::initializer_list<std::string_view> known);

}  // namespace evenkeel::kubernetes
