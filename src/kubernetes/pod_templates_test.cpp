#include "kubernetes/pod_templates.h"

#include <gtest/gtest.h>

namespace evenkeel::kubernetes {
namespace {

PodObject pod(const std::string& name, const std::string& owner_kind = "", const std::string& owner = "",
              Labels labels = {}, const std::string& image = "app:1") {
  PodObject made;
  made.name_space = "shop";
  made.name = name;
  made.labels = std::move(labels);
  if (!owner_kind.empty()) {
    OwnerReference reference;
    reference.kind = owner_kind;
    reference.name = owner;
    reference.controller = true;
    made.owners.push_back(std::move(reference));
  }
  Container container;
  container.name = "main";
  container.image = image;
  made.spec.containers.push_back(container);
  return made;
}

Labels with(const std::string& key, const std::string& value) {
  Labels labels;
  labels.set(key, value);
  return labels;
}

std::string name_of(const PodObject& object) { return PodTemplates::workload_name_of(object); }

TEST(PodTemplates, KnowADeploymentThroughAllOfItsReplicaSets) {
  const auto first = pod("web-abc-1", "ReplicaSet", "web-abc", with("pod-template-hash", "abc"));
  const auto second = pod("web-def-1", "ReplicaSet", "web-def", with("pod-template-hash", "def"));
  EXPECT_EQ(name_of(first), "shop/Deployment/web app:1");
  EXPECT_EQ(name_of(first), name_of(second));
  // One that nobody made for a Deployment is its own.
  EXPECT_EQ(name_of(pod("x", "ReplicaSet", "plain-abc")), "shop/ReplicaSet/plain-abc app:1");
}

TEST(PodTemplates, KnowACronJobThroughAllOfItsRuns) {
  EXPECT_EQ(name_of(pod("nightly-28472640-x2x4z", "Job", "nightly-28472640")),
            name_of(pod("nightly-28474080-b7c9d", "Job", "nightly-28474080")));
  EXPECT_NE(name_of(pod("a", "Job", "nightly-28472640")), name_of(pod("b", "Job", "hourly-28472640")));
}

TEST(PodTemplates, TakeAnotherImageForAnotherWorkload) {
  EXPECT_NE(name_of(pod("db-0", "StatefulSet", "db", {}, "db:1")),
            name_of(pod("db-0", "StatefulSet", "db", {}, "db:2")));
  EXPECT_EQ(name_of(pod("db-0", "StatefulSet", "db")), name_of(pod("db-1", "StatefulSet", "db")));
  EXPECT_EQ(name_of(pod("log-a", "DaemonSet", "log")), name_of(pod("log-b", "DaemonSet", "log")));
}

TEST(PodTemplates, KnowPodsOnTheirOwnByTheirLabelsOrByHowTheyAreCalled) {
  EXPECT_EQ(name_of(pod("a", "", "", with("app", "x"))), name_of(pod("b", "", "", with("app", "x"))));
  EXPECT_NE(name_of(pod("a", "", "", with("app", "x"))), name_of(pod("a", "", "", with("app", "y"))));
  EXPECT_EQ(name_of(pod("task-1")), name_of(pod("task-17")));
  EXPECT_EQ(name_of(pod("run-x2x4z")), name_of(pod("run-b7c9d")));
  EXPECT_NE(name_of(pod("run-large")), name_of(pod("run-small")));  // words, not suffixes
}

TEST(PodTemplates, GiveTheSameHandleToTheSameNameWhoeverMentionsItFirst) {
  PodTemplates templates;
  const WorkloadId other = templates.workload_named("shop/Deployment/other app:1");
  const WorkloadId web = templates.workload_named("shop/Deployment/web app:1");
  PodObject object = pod("web-abc-1", "ReplicaSet", "web-abc", with("pod-template-hash", "abc"));
  EXPECT_EQ(templates.share(object)->workload, web);
  EXPECT_EQ(templates.workload_name(web), "shop/Deployment/web app:1");
  EXPECT_EQ(templates.workload_name(other), "shop/Deployment/other app:1");
  EXPECT_EQ(templates.workloads(), 2U);
}

}  // namespace
}  // namespace evenkeel::kubernetes
