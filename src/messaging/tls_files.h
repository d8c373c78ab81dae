#pragma once
#include <string>

namespace evenkeel::messaging {

// Who we are and whom we trust, as PEM files. Others rotate them (a mounted Secret, a signer): they are read
// again when they change.
struct TlsFiles {
  std::string certificate, key, authority;
};

}  // namespace evenkeel::messaging
