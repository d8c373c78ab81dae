//go:build tools

// Names the program whose versions go.mod and go.sum pin; nothing of it is ever compiled as a package. The module asks for
// a patch release of Kubernetes that proxies do not have: the replacements name the last one they do.
package tools

import _ "sigs.k8s.io/scheduler-plugins/cmd/scheduler"
