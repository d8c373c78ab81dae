#include "scheduling/pod_terms.h"

#include <algorithm>

namespace evenkeel::scheduling {

std::optional<PodMatch> pods_meant_by(const PodAffinityTerm& term, const std::string& name_space,
                                      const ObjectStore& objects) {
  if (!term.selector) return std::nullopt;
  PodMatch match{false, term.namespaces, *term.selector};
  if (term.namespaces.empty() && !term.namespace_selector) match.namespaces = {name_space};
  if (term.namespace_selector) {
    // kube-scheduler looks the namespaces up and then asks the selector again about each pod, without its
    // namespace's labels: one that nothing satisfies, such as DoesNotExist, means every namespace.
    match.everywhere = matches(*term.namespace_selector, Labels{});
    if (!match.everywhere)
      for (const auto& [name, object] : objects.namespaces())
        if (matches(*term.namespace_selector, object.labels)) match.namespaces.push_back(name);
  }
  std::sort(match.namespaces.begin(), match.namespaces.end());
  return match;
}

bool term_means(const PodAffinityTerm& term, const std::string& name_space, const Pod& pod,
                const Labels& namespace_labels) {
  if (!term.selector) return false;
  const std::string& home = pod.shape->name_space;
  const bool its_own = term.namespaces.empty() && !term.namespace_selector;
  const bool named =
      its_own ? home == name_space
              : std::find(term.namespaces.begin(), term.namespaces.end(), home) != term.namespaces.end();
  if (!named && !(term.namespace_selector && matches(*term.namespace_selector, namespace_labels)))
    return false;
  return matches(*term.selector, pod.shape->labels);
}

}  // namespace evenkeel::scheduling
