#include "monitor/cgroup_tree.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "monitor/kept_file.h"
#include "monitor/kernel_text.h"
#include "monitor/pod_names.h"

namespace evenkeel::monitor {
namespace {

std::string text_of(const std::string& path) {
  KeptFile file(path);
  ReadBuffer buffer;
  return std::string(file.read(buffer).value_or(""));
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::string_view next = cut_word(text); !next.empty(); next = cut_word(text))
    if (next == word) return true;
  return false;
}

void add_pods(const std::string& root, const std::string& path, bool may_hold_classes,
              std::vector<FoundPod>& pods) {
  for (const std::string& folder : folders_in(root + path)) {
    std::string below = path;
    below.append("/").append(folder);
    if (auto uid = pod_uid_of(folder)) {
      pods.push_back({.uid = *std::move(uid), .path = std::move(below)});
    } else if (may_hold_classes && is_service_class(folder)) {
      add_pods(root, below, false, pods);
    }
  }
}

}  // namespace

bool is_folder(const std::string& path) {
  struct stat found{};
  return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

std::vector<std::string> folders_in(const std::string& path) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  if (!folder) return names;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (entry->d_name[0] == '.') continue;
    if (entry->d_type == DT_DIR || (entry->d_type == DT_UNKNOWN && is_folder(path + "/" + entry->d_name)))
      names.emplace_back(entry->d_name);
  }
  return names;
}

CgroupTree CgroupTree::find(const std::string& root) {
  CgroupTree tree;
  const auto is_v2_root = [](const std::string& path) {
    struct stat found{};
    return ::stat((path + "/cgroup.controllers").c_str(), &found) == 0;
  };
  if (is_v2_root(root)) {
    tree.cpu = tree.memory = tree.io = {.root = root, .is_v2 = true};
    return tree;
  }
  const auto v1 = [&root](std::initializer_list<const char*> names) -> Controller {
    for (const char* name : names)
      if (is_folder(root + "/" + name)) return {.root = root + "/" + name, .is_v2 = false};
    return {};
  };
  tree.cpu = v1({"cpuacct", "cpu,cpuacct", "cpuacct,cpu"});
  tree.memory = v1({"memory"});
  tree.io = v1({"blkio"});
  const std::string unified = root + "/unified";
  if (!is_v2_root(unified)) return tree;
  // A controller belongs to one version at a time.
  const std::string controllers = text_of(unified + "/cgroup.controllers");
  const auto take = [&](Controller& controller, std::string_view name) {
    if (controller.root.empty() && has_word(controllers, name)) controller = {.root = unified, .is_v2 = true};
  };
  take(tree.cpu, "cpu");
  take(tree.memory, "memory");
  take(tree.io, "io");
  return tree;
}

std::string CgroupTree::description() const {
  int v1 = 0, v2 = 0;
  for (const Controller* one : {&cpu, &memory, &io})
    if (!one->root.empty()) ++(one->is_v2 ? v2 : v1);
  if (v1 > 0 && v2 > 0) return "hybrid";
  return v2 > 0 ? "v2" : v1 > 0 ? "v1" : "none";
}

std::vector<FoundPod> find_pods(const CgroupTree& tree, const std::string& node_path) {
  std::vector<FoundPod> pods;
  const std::string& root = tree.any().root;
  if (root.empty()) return pods;
  for (const std::string_view name : kPodRoots) {
    std::string path = node_path;
    path.append("/").append(name);
    if (is_folder(root + path)) add_pods(root, path, true, pods);
  }
  std::sort(pods.begin(), pods.end(), [](const FoundPod& a, const FoundPod& b) { return a.uid < b.uid; });
  return pods;
}

std::vector<std::string> find_pod_folders(const CgroupTree& tree, const std::string& node_path) {
  std::vector<std::string> folders;
  const std::string& root = tree.any().root;
  if (root.empty()) return folders;
  for (const std::string_view name : kPodRoots) {
    std::string path = root + node_path;
    path.append("/").append(name);
    if (!is_folder(path)) continue;
    for (const std::string& below : folders_in(path))
      if (is_service_class(below)) folders.push_back(path + "/" + below);
    folders.push_back(std::move(path));
  }
  return folders;
}

}  // namespace evenkeel::monitor
