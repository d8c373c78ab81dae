// The judge: scheduler-plugins' own NetworkOverhead and TopologicalSort, asked about clusters read as JSON lines.
//
// In:  {"items": [Node, Pod, AppGroup, NetworkTopology, …], "namespaces": […], "weightsName": "…",
//
//	"networkTopologyName": "…"}, one per line.
//
// Out: {"decisions": [{"pod", "rejected": {node: reason}, "scores": {node: 0 to 100}}], "less": [[bool, …], …]}, or
// {"error": …} where upstream's code fails or panics; one per line. Every pod without a node is judged by itself.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"unsafe"

	agv1alpha1 "github.com/diktyo-io/appgroup-api/pkg/apis/appgroup/v1alpha1"
	ntv1alpha1 "github.com/diktyo-io/networktopology-api/pkg/apis/networktopology/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/scheduler-plugins/pkg/networkaware/networkoverhead"
	"sigs.k8s.io/scheduler-plugins/pkg/networkaware/topologicalsort"
)

type question struct {
	Items      []json.RawMessage `json:"items"`
	Namespaces []string          `json:"namespaces"`
	Weights    string            `json:"weightsName"`
	Topology   string            `json:"networkTopologyName"`
}

type decision struct {
	Pod      string            `json:"pod"`
	Rejected map[string]string `json:"rejected"`
	Scores   map[string]int64  `json:"scores"`
}

// world is what the plugins see of a cluster, behind the interfaces that they ask.
type world struct {
	client.Client
	framework.Handle
	nodes      []fwk.NodeInfo
	byName     map[string]fwk.NodeInfo
	pods       cache.Indexer
	waiting    []*corev1.Pod
	groups     map[string]*agv1alpha1.AppGroup
	topologies map[string]*ntv1alpha1.NetworkTopology
}

func (w *world) SnapshotSharedLister() framework.SharedLister { return snapshot{w} }

type snapshot struct{ *world }

func (s snapshot) NodeInfos() framework.NodeInfoLister       { return lister{s.world} }
func (s snapshot) StorageInfos() framework.StorageInfoLister { return nil }

type lister struct{ *world }

func (l lister) List() ([]fwk.NodeInfo, error)                                 { return l.nodes, nil }
func (l lister) HavePodsWithAffinityList() ([]fwk.NodeInfo, error)             { return nil, nil }
func (l lister) HavePodsWithRequiredAntiAffinityList() ([]fwk.NodeInfo, error) { return nil, nil }
func (l lister) Get(name string) (fwk.NodeInfo, error) {
	if node, known := l.byName[name]; known {
		return node, nil
	}
	return nil, fmt.Errorf("nodeinfo not found for node name %q", name)
}

func (w *world) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	name := key.Namespace + "/" + key.Name
	switch into := object.(type) {
	case *agv1alpha1.AppGroup:
		if found, known := w.groups[name]; known {
			found.DeepCopyInto(into)
			return nil
		}
	case *ntv1alpha1.NetworkTopology:
		if found, known := w.topologies[name]; known {
			found.DeepCopyInto(into)
			return nil
		}
	}
	return errors.NewNotFound(schema.GroupResource{}, name)
}

func load(items []json.RawMessage) (*world, error) {
	w := &world{byName: map[string]fwk.NodeInfo{}, groups: map[string]*agv1alpha1.AppGroup{},
		topologies: map[string]*ntv1alpha1.NetworkTopology{},
		pods:       cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
	for _, item := range items {
		var head struct {
			Kind string `json:"kind"`
		}
		if err := json.Unmarshal(item, &head); err != nil {
			return nil, err
		}
		var err error
		switch head.Kind {
		case "Node":
			node := &corev1.Node{}
			err = json.Unmarshal(item, node)
			info := framework.NewNodeInfo()
			info.SetNode(node)
			w.nodes = append(w.nodes, info)
			w.byName[node.Name] = info
		case "Pod":
			pod := &corev1.Pod{}
			err = json.Unmarshal(item, pod)
			w.pods.Add(pod)
			if pod.Spec.NodeName == "" {
				w.waiting = append(w.waiting, pod)
			}
		case "AppGroup":
			group := &agv1alpha1.AppGroup{}
			err = json.Unmarshal(item, group)
			w.groups[group.Namespace+"/"+group.Name] = group
		case "NetworkTopology":
			topology := &ntv1alpha1.NetworkTopology{}
			err = json.Unmarshal(item, topology)
			w.topologies[topology.Namespace+"/"+topology.Name] = topology
		}
		if err != nil {
			return nil, err
		}
	}
	return w, nil
}

// set reaches a field that only the plugin's own constructor fills in, which wants a connection.
func set(plugin any, field string, value any) {
	at := reflect.ValueOf(plugin).Elem().FieldByName(field)
	reflect.NewAt(at.Type(), unsafe.Pointer(at.UnsafeAddr())).Elem().Set(reflect.ValueOf(value))
}

func (w *world) judge(q *question) (answer map[string]any, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			err = fmt.Errorf("panic: %v", bug)
		}
	}()
	overhead := &networkoverhead.NetworkOverhead{Client: w}
	set(overhead, "handle", framework.Handle(w))
	set(overhead, "podLister", corelisters.NewPodLister(w.pods))
	set(overhead, "namespaces", q.Namespaces)
	set(overhead, "weightsName", q.Weights)
	set(overhead, "ntName", q.Topology)
	decisions := []decision{}
	for _, pod := range w.waiting {
		made, err := w.decide(overhead, pod)
		if err != nil {
			return nil, err
		}
		decisions = append(decisions, made)
	}
	return map[string]any{"decisions": decisions, "less": w.compare(q)}, nil
}

func (w *world) decide(overhead *networkoverhead.NetworkOverhead, pod *corev1.Pod) (decision, error) {
	ctx, state := context.Background(), framework.NewCycleState()
	made := decision{Pod: pod.Namespace + "/" + pod.Name, Rejected: map[string]string{}, Scores: map[string]int64{}}
	if _, status := overhead.PreFilter(ctx, state, pod, nil); !status.IsSuccess() {
		return made, status.AsError()
	}
	scores := framework.NodeScoreList{}
	for _, node := range w.nodes {
		if status := overhead.Filter(ctx, state, pod, node); !status.IsSuccess() {
			made.Rejected[node.Node().Name] = status.Message()
			continue
		}
		score, status := overhead.Score(ctx, state, pod, node)
		if !status.IsSuccess() {
			return made, status.AsError()
		}
		scores = append(scores, framework.NodeScore{Name: node.Node().Name, Score: score})
	}
	if status := overhead.NormalizeScore(ctx, state, pod, scores); !status.IsSuccess() {
		return made, status.AsError()
	}
	for _, score := range scores {
		made.Scores[score.Name] = score.Score
	}
	return made, nil
}

// compare asks about every two pods that wait, as if they had come at one moment.
func (w *world) compare(q *question) [][]bool {
	sorter := &topologicalsort.TopologicalSort{Client: w}
	set(sorter, "namespaces", q.Namespaces)
	less := [][]bool{}
	queued := func(pod *corev1.Pod) fwk.QueuedPodInfo {
		info, err := framework.NewPodInfo(pod)
		if err != nil {
			panic(err)
		}
		return &framework.QueuedPodInfo{PodInfo: info}
	}
	for _, a := range w.waiting {
		row := []bool{}
		for _, b := range w.waiting {
			row = append(row, sorter.Less(queued(a), queued(b)))
		}
		less = append(less, row)
	}
	return less
}

func main() {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<28)
	out := bufio.NewWriter(os.Stdout)
	for in.Scan() {
		var q question
		var answer map[string]any
		err := json.Unmarshal(in.Bytes(), &q)
		if err == nil {
			var w *world
			if w, err = load(q.Items); err == nil {
				answer, err = w.judge(&q)
			}
		}
		if err != nil {
			answer = map[string]any{"error": err.Error()}
		}
		text, err := json.Marshal(answer)
		if err != nil {
			panic(err)
		}
		out.Write(append(text, '\n'))
		out.Flush()
	}
}
