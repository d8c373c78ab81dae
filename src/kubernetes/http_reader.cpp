#include "kubernetes/http_reader.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>
#include <utility>

#include "base/numbers.h"

namespace evenkeel::kubernetes {

namespace http = boost::beast::http;
using boost::beast::string_view;
using boost::system::error_code;

namespace {

constexpr std::uint32_t kMaxHeaderBytes = 64 * 1024;
// Beast asserts that it is asked again about a last chunk only with at least all of "0\r\n\r\n" before it;
// nothing shorter that it wanted more of can be whole.
constexpr std::size_t kLastChunkBytes = 5;

std::string_view plain(string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct HttpReader::Parser final : http::basic_parser<false> {
  OnHead on_head;
  OnBody on_body;
  HttpHead head;
  std::string pending;  // bytes the parser wants to see again, with more behind them
  bool started = false;
  bool wants_more = false;

  void on_request_impl(http::verb, string_view, string_view, int, error_code&) override {}
  void on_response_impl(int code, string_view, int, error_code&) override { head.status = code; }
  void on_field_impl(http::field name, string_view, string_view value, error_code&) override {
    if (name == http::field::content_type) head.content_type = plain(value);
    if (name == http::field::retry_after) {
      // The other form, a date, is never sent by API servers.
      head.retry_after_seconds = parse_integer(plain(value)).value_or(0);
    }
  }
  void on_header_impl(error_code&) override { on_head(head); }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view body, error_code&) override { return pass_on(body); }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code&) override {
    return pass_on(body);
  }
  void on_finish_impl(error_code&) override {}

  std::size_t pass_on(string_view body) {
    on_body(plain(body));
    return body.size();
  }
};

HttpReader::HttpReader(OnHead on_head, OnBody on_body) : parser_(std::make_unique<Parser>()) {
  parser_->on_head = std::move(on_head);
  parser_->on_body = std::move(on_body);
  parser_->eager(true);
  parser_->header_limit(kMaxHeaderBytes);
  parser_->body_limit(boost::none);  // whoever takes the body says what is too much
}

HttpReader::~HttpReader() = default;

Status HttpReader::feed(std::string_view bytes) {
  parser_->started = parser_->started || !bytes.empty();
  parser_->pending += bytes;
  if (parser_->wants_more && parser_->pending.size() < kLastChunkBytes) return {};
  parser_->wants_more = false;
  std::size_t used = 0;
  const std::string& pending = parser_->pending;
  while (used < pending.size() && !parser_->is_done()) {
    error_code error;
    const std::size_t taken =
        parser_->put(boost::asio::buffer(pending.data() + used, pending.size() - used), error);
    used += taken;
    if (error == http::error::need_more) {
      parser_->wants_more = true;
      break;
    }
    if (error) return unavailable("the answer is not valid HTTP: " + error.message());
  }
  parser_->pending.erase(0, used);
  if (parser_->is_done() && !parser_->pending.empty())
    return unavailable("the server sent more than was asked for");
  return {};
}

Status HttpReader::feed_end() {
  if (!parser_->got_some()) return unavailable("the server closed the connection without an answer");
  error_code error;
  if (!parser_->is_done()) parser_->put_eof(error);
  if (error) return unavailable("the connection was closed in the middle of an answer");
  return {};
}

bool HttpReader::done() const { return parser_->is_done(); }
bool HttpReader::started() const { return parser_->started; }
bool HttpReader::keep_alive() const { return parser_->is_done() && parser_->keep_alive(); }

}  // namespace evenkeel::kubernetes
