#pragma once
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "kubernetes/kubeconfig.h"

namespace evenkeel::kubernetes {

// The bearer token to send now. A token in a file (a pod's service account, or tokenFile) is rotated by
// others: it is read again every minute, and at once when the server refused it. While a file cannot be read
// the last token serves.
class Credentials {
 public:
  Credentials(const ClusterAccess& access, FileReader read);

  // Empty where a client certificate says who we are.
  Result<std::string> token(Time now);
  void refused() { is_fresh_ = false; }

 private:
  static constexpr Duration kReadAgain = std::chrono::minutes(1);

  FileReader read_;
  std::string file_, token_;
  Time read_at_{};
  bool is_fresh_ = false;
};

}  // namespace evenkeel::kubernetes
