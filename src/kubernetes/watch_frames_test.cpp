#include "kubernetes/watch_frames.h"

#include <gtest/gtest.h>

namespace evenkeel::kubernetes {
namespace {

std::vector<std::string> all(WatchFrames& frames) {
  std::vector<std::string> found;
  while (true) {
    const auto frame = frames.next();
    EXPECT_TRUE(frame) << frame.error().message;
    if (!frame || !*frame) return found;
    found.emplace_back(**frame);
  }
}

TEST(WatchFrames, CutsLinesHoweverTheyCome) {
  const std::string stream = "{\"a\":1}\n{\"b\":2}\r\n\n{\"c\":3}\n";
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    WatchFrames frames(WireFormat::json);
    frames.append(std::string_view(stream).substr(0, cut));
    auto found = all(frames);
    frames.append(std::string_view(stream).substr(cut));
    for (auto& frame : all(frames)) found.push_back(std::move(frame));
    EXPECT_EQ(found, (std::vector<std::string>{"{\"a\":1}", "{\"b\":2}\r", "{\"c\":3}"})) << cut;
  }
}

TEST(WatchFrames, CutsBlocksHoweverTheyCome) {
  const std::string stream("\0\0\0\3abc\0\0\0\0\0\0\0\1x", 16);
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    WatchFrames frames(WireFormat::protobuf);
    frames.append(std::string_view(stream).substr(0, cut));
    auto found = all(frames);
    frames.append(std::string_view(stream).substr(cut));
    for (auto& frame : all(frames)) found.push_back(std::move(frame));
    EXPECT_EQ(found, (std::vector<std::string>{"abc", "", "x"})) << cut;
  }
}

TEST(WatchFrames, RefusesALengthNoObjectHas) {
  WatchFrames frames(WireFormat::protobuf);
  frames.append("{\"kind\":\"Status\"}");  // JSON where protobuf was expected
  EXPECT_FALSE(frames.next());
}

}  // namespace
}  // namespace evenkeel::kubernetes
