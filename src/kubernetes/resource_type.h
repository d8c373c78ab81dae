#pragma once
#include <string>
#include <string_view>

#include "kubernetes/wire_objects.h"

namespace evenkeel::kubernetes {

// A kind of object and where the API keeps it.
struct ResourceType {
  std::string api_version;  // "v1", "apps/v1"
  std::string kind, plural;
  bool is_namespaced = true;

  // /api/v1/namespaces/default/pods; without a namespace those of all.
  std::string collection(std::string_view name_space = "") const;
  // …/web-1, …/web-1/binding. Names are escaped.
  std::string object(std::string_view name_space, std::string_view name,
                     std::string_view subresource = "") const;

  // Protobuf where the kind has it and we have its tables: the server pays far less for it.
  WireFormat best_format() const;
};

// The kinds a scheduler follows, and those it writes.
namespace types {
ResourceType pods();
ResourceType nodes();
ResourceType namespaces();
ResourceType services();
ResourceType replication_controllers();
ResourceType persistent_volumes();
ResourceType persistent_volume_claims();
ResourceType events();
ResourceType replica_sets();
ResourceType stateful_sets();
ResourceType storage_classes();
ResourceType csi_nodes();
ResourceType csi_drivers();
ResourceType csi_storage_capacities();
ResourceType volume_attachments();
ResourceType pod_disruption_budgets();
ResourceType priority_classes();
ResourceType leases();
ResourceType config_maps();
// Diktyo's; no server has them before their CRDs are applied.
ResourceType app_groups();
ResourceType network_topologies();
}  // namespace types

}  // namespace evenkeel::kubernetes
