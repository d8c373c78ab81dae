//go:build tools

// Names the program whose versions go.mod and go.sum pin; nothing of it is ever compiled as a package. Volcano's own file takes its API from a
// folder that its module lacks: the published module stands in. Kubernetes is the release that scheduler-plugins is built with.
package tools

import _ "volcano.sh/volcano/cmd/scheduler"
