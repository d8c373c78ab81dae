#pragma once
#include <memory>
#include <string>

#include "apps/live_reporter.h"
#include "apps/live_scheduler.h"
#include "apps/shadow_recorder.h"
#include "kubernetes/client_api.h"
#include "reporting/status_server.h"

namespace evenkeel::apps {

// For a scheduler with these options over this client, both of which outlive the reporter.
LiveReporter::Options reporter_options(const LiveOptions& options, const kubernetes::ClusterAccess& access,
                                       const kubernetes::ApiClient& client);

// The reporter's journal, metrics and checks at `listen`; none where that is empty. The secret in
// `token_file`, if any, is what readers have to know. Reporter and recorder outlive the server.
Result<std::unique_ptr<reporting::StatusServer>> serve_status(LiveReporter& reporter,
                                                              const std::string& listen,
                                                              const std::string& token_file,
                                                              const ShadowRecorder& shadow);

}  // namespace evenkeel::apps
