#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/yaml_reader.h"
#include "cluster/app_group.h"

namespace evenkeel::simulator {

// One part of an application, as often as its replicas say.
struct ApplicationWorkload {
  std::string name;
  std::int64_t replicas = 0;  // 0: as many as the scenario says of all
  std::int64_t times = 1;     // so many for each that the scenario says
  MilliCpu cpu;
  Bytes memory;
  BitsPerSecond bandwidth;  // what each of its pods may send, all it talks to together

  std::int64_t count(std::int64_t asked) const { return replicas > 0 ? replicas : asked * times; }
};

// An application: its parts and which of them talks to which.
struct Application {
  std::string name;
  std::vector<ApplicationWorkload> workloads;
  std::vector<std::pair<std::size_t, std::size_t>> edges;  // from, to: indices of workloads

  std::size_t index_of(std::string_view workload) const;  // workloads.size(): no such one
};

// A scenario's own:
//
//   apps:
//     - name: basic
//       cpu: 1                  # of each pod
//       memory: 1GiB
//       bandwidth: 500Mbit/s    # sent by each pod, shared by all it talks to
//       calls: all              # everybody talks to everybody; absent: as each workload says
//       workloads:
//         - {name: p1, replicas: 1, calls: [p2]}    # replicas absent: the scenario's
std::vector<Application> read_applications(YamlReader& workload);

// Applications of files that others recorded. Edges: app, src (or src_service), dst (or dst_service); further
// columns are not looked at. Services: app, workload, replicas, cpu_req_m, mem_req_mib; without such a file,
// for workloads that it does not name and where its cells are empty, `usual` counts. Workloads that nobody
// calls and that call nobody are pods of the application all the same.
struct ApplicationFiles {
  std::string edges, services;
  ApplicationWorkload usual;
};
Result<std::vector<Application>> read_application_files(const ApplicationFiles& files);

}  // namespace evenkeel::simulator
