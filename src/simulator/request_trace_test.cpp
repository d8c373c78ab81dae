#include "simulator/request_trace.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace evenkeel::simulator {
namespace {

using namespace std::chrono_literals;

class TraceFile {
 public:
  explicit TraceFile(const std::string& text) {
    path_ = std::filesystem::temp_directory_path() /
            ("request_trace_" + std::to_string(::getpid()) + "_" + std::to_string(++count_) + ".csv");
    std::ofstream(path_) << text;
  }
  ~TraceFile() { std::filesystem::remove(path_); }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  std::string path() const { return path_; }

 private:
  static inline int count_ = 0;
  std::filesystem::path path_;
};

TEST(RequestTrace, ReadsCountsPerMinuteWithinItsWindow) {
  const TraceFile file(
      "ts,requests\n1998-06-10T23:58Z,60\n1998-06-10T23:59Z,120\n1998-06-11T00:00Z,180\n1998-06-11T00:02Z,"
      "240\n");
  RequestTrace trace;
  trace.path = file.path();
  trace.time = "ts";
  trace.from = "1998-06-10T23:59";
  const auto rates = read_request_trace(trace);
  ASSERT_TRUE(rates) << rates.error().message;
  EXPECT_EQ(rates->per_s, (std::vector<float>{2, 3, 0, 4}));  // a minute that is missing has none
  trace.to = "1998-06-11";
  EXPECT_EQ(read_request_trace(trace)->per_s, (std::vector<float>{2}));
}

TEST(RequestTrace, CountsRowsWhereEachIsARequestAndWeighsTheirWork) {
  const TraceFile file("t_ms,in,out\n0,100,10\n500,100,10\n1500,300,30\n");
  RequestTrace trace;
  trace.path = file.path();
  trace.time = "t_ms";
  trace.unit_s = 0.001;
  trace.requests = "";
  trace.step = 1s;
  trace.work = {{"in", 0.1}, {"out", 1}};
  const auto rates = read_request_trace(trace);
  ASSERT_TRUE(rates) << rates.error().message;
  EXPECT_EQ(rates->per_s, (std::vector<float>{2, 1}));
  ASSERT_EQ(rates->work.size(), 2U);
  EXPECT_NEAR(rates->work[0], 0.6, 1e-6);  // 20 of a mean of 33.3
  EXPECT_NEAR(rates->work[1], 1.8, 1e-6);
}

TEST(RequestTrace, NamesWhatItCannotRead) {
  const TraceFile file("ts,requests\nyesterday,60\n");
  RequestTrace trace;
  trace.path = file.path();
  trace.time = "ts";
  EXPECT_NE(read_request_trace(trace).error().message.find("2"), std::string::npos);
  trace.from = "soon";
  EXPECT_NE(read_request_trace(trace).error().message.find("workload.from"), std::string::npos);
  trace.from.clear();
  trace.time = "when";
  EXPECT_FALSE(read_request_trace(trace));
}

TEST(RequestTrace, KnowsTheCalendar) {
  EXPECT_EQ(parse_trace_time("1970-01-02"), 86400);
  EXPECT_EQ(parse_trace_time("1998-06-10T15:30:05Z"), 897492605);
  for (const char* wrong : {"", "1998", "1998-13-01", "1998-02-30", "1998-06-10T", "1998/06/10"})
    EXPECT_FALSE(parse_trace_time(wrong)) << wrong;
}

TEST(RequestRates, AreStraightBetweenTheMiddlesOfSteps) {
  RequestRates rates;
  rates.per_s = {10, 20, 40};
  EXPECT_DOUBLE_EQ(rates.at(0s), 10);
  EXPECT_DOUBLE_EQ(rates.at(30s), 10);
  EXPECT_DOUBLE_EQ(rates.at(60s), 15);
  EXPECT_DOUBLE_EQ(rates.at(120s), 30);
  EXPECT_DOUBLE_EQ(rates.at(500s), 40);
  rates.interpolate = false;
  EXPECT_DOUBLE_EQ(rates.at(59s), 10);
  EXPECT_DOUBLE_EQ(rates.at(60s), 20);
}

}  // namespace
}  // namespace evenkeel::simulator
