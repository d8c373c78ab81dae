#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace evenkeel::kubernetes {

struct HttpHead {
  int status = 0;
  std::string content_type;
  std::int64_t retry_after_seconds = 0;  // 0: the server did not say
};

// One HTTP/1.1 response out of bytes as they come, its body handed on piece by piece. Parsing is
// Boost.Beast's; no socket here, so that hostile bytes can be tried on it.
class HttpReader {
 public:
  using OnHead = std::function<void(const HttpHead&)>;
  using OnBody = std::function<void(std::string_view)>;

  HttpReader(OnHead on_head, OnBody on_body);
  ~HttpReader();
  HttpReader(const HttpReader&) = delete;
  HttpReader& operator=(const HttpReader&) = delete;

  // What is not HTTP is an error. Bytes behind the end of the response are one too: nobody asked for more.
  Status feed(std::string_view bytes);
  // The connection was closed; fine where that is how the body ends.
  Status feed_end();

  bool done() const;
  bool started() const;     // a byte has come
  bool keep_alive() const;  // once done: whether the connection can carry another request

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace evenkeel::kubernetes
