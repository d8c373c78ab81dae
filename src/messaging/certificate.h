#pragma once
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace evenkeel::messaging {

// A new key (P-256) and the request for a certificate that names it, both PEM. The key never leaves whoever
// asked for it.
struct CertificateRequest {
  std::string key_pem, request_pem;
};
Result<CertificateRequest> make_certificate_request(const std::string& common_name,
                                                    const std::string& organization);

// What a request asks for. Whoever approves one has to have looked at all of it.
struct RequestFacts {
  std::vector<std::string> common_names, organizations;
  bool names_more = false;        // other parts of the subject
  bool wants_extensions = false;  // other names, usages, anything besides the subject
  bool is_signed = false;         // by the key it is about
};
Result<RequestFacts> read_certificate_request(std::string_view pem);

// As the API wants what is not text.
std::string to_base64(std::string_view bytes);

// What of a certificate decides when the next one is due.
struct CertificateFacts {
  std::string common_name;
  std::time_t valid_from = 0, valid_until = 0;
};
Result<CertificateFacts> read_certificate(std::string_view pem);  // the first of a chain

// A random time between 70 % and 90 % of its life, as kubelets do: a thousand monitors do not renew at once.
// `share` is from [0, 1).
std::time_t renewal_time(const CertificateFacts& facts, double share);

}  // namespace evenkeel::messaging
