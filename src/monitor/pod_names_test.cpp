#include "monitor/pod_names.h"

#include <gtest/gtest.h>

namespace evenkeel::monitor {
namespace {

TEST(PodNames, AreReadInBothSpellings) {
  const std::string uid = "3f2504e0-4f89-11d3-9a0c-0305e82c3301";
  EXPECT_EQ(pod_uid_of("pod" + uid), uid);
  EXPECT_EQ(pod_uid_of("kubepods-pod3f2504e0_4f89_11d3_9a0c_0305e82c3301.slice"), uid);
  EXPECT_EQ(pod_uid_of("kubepods-burstable-pod3f2504e0_4f89_11d3_9a0c_0305e82c3301.slice"), uid);
  EXPECT_EQ(pod_uid_of("kubelet-kubepods-besteffort-pod3f2504e0_4f89_11d3_9a0c_0305e82c3301.slice"), uid);
  EXPECT_EQ(pod_uid_of("pod0123456789abcdef0123456789abcdef"), "0123456789abcdef0123456789abcdef");  // static
}

TEST(PodNames, AreNotSeenInOtherFolders) {
  for (const char* name : {"", "pod", "podman", "besteffort", "kubepods-burstable.slice", "crio-abc.scope",
                           "pod../../../../etc", "pod3F2504E0-4F89-11D3-9A0C-0305E82C3301", "user.slice"})
    EXPECT_FALSE(pod_uid_of(name)) << name;
}

TEST(PodNames, TellClassesOfService) {
  for (const char* name : {"besteffort", "burstable", "kubepods-besteffort.slice", "kubepods-burstable.slice",
                           "kubelet-kubepods-burstable.slice"})
    EXPECT_TRUE(is_service_class(name)) << name;
  for (const char* name : {"guaranteed", "system.slice", "kubepods"})
    EXPECT_FALSE(is_service_class(name)) << name;
}

}  // namespace
}  // namespace evenkeel::monitor
