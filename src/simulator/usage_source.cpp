#include "simulator/usage_source.h"
namespace evenkeel::simulator {
std::shared_ptr<const UsageSource> UsageSource::read(YamlReader&) { return nullptr; }
}  // namespace evenkeel::simulator
