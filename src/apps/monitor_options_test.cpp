#include "apps/monitor_options.h"

#include <gtest/gtest.h>

#include "apps/monitor_identity.h"
#include "apps/monitor_view.h"

namespace evenkeel::apps {
namespace {

TEST(MonitorOptions, ReadCapacitiesInTheirUnits) {
  const auto read = parse_capacities({"cpu=400m", "memory=1Gi", "receive=1Gbit/s", "write=50MB/s"});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, (Usage{{0.4, 1 << 30, 125e6, 0, 0, 50e6}}));
  for (const char* text : {"cpu", "cpu=", "gpu=1", "cpu=many", "memory=0"})
    EXPECT_FALSE(parse_capacities({text})) << text;
}

TEST(MonitorOptions, ReadWindows) {
  const auto read = parse_windows({"cpu=10", "disk=1"});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->cpu, 10u);
  EXPECT_EQ(read->disk, 1u);
  EXPECT_EQ(read->memory, 3u);
  for (const char* text : {"cpu=0", "cpu=601", "cpu=x", "all=3", "5"})
    EXPECT_FALSE(parse_windows({text})) << text;
}

TEST(MonitorIdentity, UnderstandsWhatBecameOfARequest) {
  EXPECT_EQ(*certificate_in(R"({"kind":"CertificateSigningRequest"})"), "");
  EXPECT_EQ(*certificate_in(R"({"status":{"conditions":[{"type":"Approved"}]}})"), "");
  EXPECT_EQ(*certificate_in(R"({"status":{"conditions":[{"type":"Approved"}],"certificate":"YWJj"}})"),
            "abc");
  for (const char* text : {R"({"status":{"conditions":[{"type":"Denied","message":"no"}]}})",
                           R"({"status":{"conditions":[{"type":"Failed"}]}})",
                           R"({"status":{"certificate":"%"}})", "nonsense", "[]"})
    EXPECT_FALSE(certificate_in(text)) << text;
}

TEST(MonitorIdentity, AsksForNoMoreThanAClientsCertificate) {
  const std::string text = signing_request_json("n1", "example.com/signer", "pem", 3600);
  EXPECT_NE(text.find(R"("usages":["digital signature","client auth"])"), std::string::npos);
  EXPECT_NE(text.find(R"("signerName":"example.com/signer")"), std::string::npos);
  EXPECT_NE(text.find(R"("request":"cGVt")"), std::string::npos);
}

TEST(MonitorView, TellsPrometheusWhatIsKnownAndNothingElse) {
  MonitorFigures figures;
  figures.report.node = "n1";
  figures.report.known = NodeReport::kCpuAndMemory;
  figures.report.total = {{1.5, 1024, 0, 0, 0, 0}};
  figures.report.capacity = {{2, 0, 0, 0, 0, 0}};
  figures.report.pods = {{.uid = "p1", .name_space = "", .name = "", .usage = {{0.25, 512, 0, 0, 0, 0}}}};
  const std::string text = monitor_metrics(figures);
  EXPECT_NE(text.find("\nevenkeel_node_cpu_cores 1.5\n"), std::string::npos);
  EXPECT_NE(text.find("\nevenkeel_pod_memory_bytes{uid=\"p1\"} 512\n"), std::string::npos);
  EXPECT_NE(text.find("\nevenkeel_node_capacity_cpu_cores 2\n"), std::string::npos);
  EXPECT_EQ(text.find("receive"), std::string::npos);
  EXPECT_EQ(text.find("evenkeel_node_capacity_memory"), std::string::npos);
  EXPECT_EQ(text.find("connected"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::apps
