package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/informers"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

type objection struct {
	Plugin string `json:"plugin"`
	Reason string `json:"reason"`
}

type candidate struct {
	Victims    []string `json:"victims"` // most important first
	Violations int64    `json:"violations"`
}

type decision struct {
	Pod           string                      `json:"pod"`
	Nominated     string                      `json:"nominated,omitempty"` // the pod's own status.nominatedNodeName
	Gated         string                      `json:"gated,omitempty"`
	Feasible      []string                    `json:"feasible"`
	Rejected      map[string][]objection      `json:"rejected"`
	Scores        map[string]map[string]int64 `json:"scores"`
	Candidates    map[string]candidate        `json:"candidates"` // for preemption
	Best          []string                    `json:"best"`       // of these, any may be chosen
	Unschedulable string                      `json:"unschedulable,omitempty"`
	Error         string                      `json:"error,omitempty"`
}

// bench is one set of plugins whose cluster is exchanged from case to case. Not for concurrent use.
type bench struct {
	ctx       context.Context
	factory   informers.SharedInformerFactory
	snapshot  *cache.Snapshot
	nominated map[string][]fwk.PodInfo
	schedules map[string]map[string]*schedule // by configuration, by scheduler's name
}

// schedule is a profile with its plugins.
type schedule struct {
	framework  framework.Framework
	preemption *defaultpreemption.DefaultPreemption
	weights    map[string]int64
}

// The snapshot and the nominated pods of the case at hand, behind the interfaces that plugins keep.
func (b *bench) NodeInfos() fwk.NodeInfoLister                                 { return b.snapshot.NodeInfos() }
func (b *bench) StorageInfos() fwk.StorageInfoLister                           { return b.snapshot.StorageInfos() }
func (b *bench) PodGroupStates() fwk.PodGroupStateLister                       { return b.snapshot.PodGroupStates() }
func (b *bench) AddNominatedPod(klog.Logger, fwk.PodInfo, *fwk.NominatingInfo) {}
func (b *bench) DeleteNominatedPodIfExists(*corev1.Pod)                        {}
func (b *bench) UpdateNominatedPod(klog.Logger, *corev1.Pod, fwk.PodInfo)      {}
func (b *bench) NominatedPodsForNode(node string) []fwk.PodInfo                { return b.nominated[node] }

func newBench() *bench {
	metrics.Register()
	return &bench{
		ctx:       klog.NewContext(context.Background(), klog.Logger{}),
		factory:   informers.NewSharedInformerFactory(nil, 0),
		schedules: map[string]map[string]*schedule{},
	}
}

// noDevices stands for a cluster without devices; nothing else of the interface is asked for.
type noDevices struct{ fwk.SharedDRAManager }

func (noDevices) DeviceClassResolver() fwk.DeviceClassResolver               { return noDevices{} }
func (noDevices) GetDeviceClass(corev1.ResourceName) *resourcev1.DeviceClass { return nil }

// load puts the case's objects where the plugins look for them and returns the pods that wait, in their order.
func (b *bench) load(items []json.RawMessage) ([]*corev1.Pod, error) {
	stores := map[string][]any{}
	for name := range kinds {
		stores[name] = nil
	}
	var nodes []*corev1.Node
	var placed, waiting []*corev1.Pod
	byName := map[string]bool{}
	for _, item := range items {
		name, object, err := decode(item)
		if err != nil {
			return nil, err
		}
		if pod, isPod := object.(*corev1.Pod); isPod {
			// kube-scheduler never sees pods that have ended: its informer leaves them out.
			if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
				continue
			}
			if pod.Spec.NodeName != "" {
				placed = append(placed, pod)
			} else {
				waiting = append(waiting, pod)
			}
		}
		if node, isNode := object.(*corev1.Node); isNode {
			nodes = append(nodes, node)
			byName[node.Name] = true
		}
		stores[name] = append(stores[name], object)
	}
	for name, objects := range stores {
		if err := kinds[name].store(b.factory).Replace(objects, ""); err != nil {
			return nil, err
		}
	}
	onNodes := placed[:0]
	for _, pod := range placed {
		if byName[pod.Spec.NodeName] { // a pod on a node that is gone is in no snapshot
			onNodes = append(onNodes, pod)
		}
	}
	b.snapshot = cache.NewSnapshot(onNodes, nodes)
	b.nominated = map[string][]fwk.PodInfo{}
	for _, pod := range waiting {
		if node := pod.Status.NominatedNodeName; node != "" {
			info, err := framework.NewPodInfo(pod)
			if err != nil {
				return nil, err
			}
			b.nominated[node] = append(b.nominated[node], info)
		}
	}
	return waiting, nil
}

func (b *bench) judge(items []json.RawMessage, configuration json.RawMessage) (decisions []decision, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			err = fmt.Errorf("kube-scheduler's code panics: %v", bug)
		}
	}()
	schedules, err := b.schedulesFor(configuration)
	if err != nil {
		return nil, err
	}
	waiting, err := b.load(items)
	if err != nil {
		return nil, err
	}
	for _, pod := range waiting {
		s := schedules[pod.Spec.SchedulerName]
		if s == nil {
			return nil, fmt.Errorf("no profile is called %q", pod.Spec.SchedulerName)
		}
		decisions = append(decisions, b.decide(s, pod))
	}
	return decisions, nil
}

func words(status *fwk.Status) []objection {
	var all []objection
	for _, reason := range status.Reasons() {
		all = append(all, objection{status.Plugin(), reason})
	}
	return all
}

// decide follows schedulePod of kube-scheduler, but tries every node and scores even a single one.
func (b *bench) decide(s *schedule, pod *corev1.Pod) decision {
	d := decision{Pod: pod.Namespace + "/" + pod.Name, Nominated: pod.Status.NominatedNodeName, Feasible: []string{}, Rejected: map[string][]objection{},
		Scores: map[string]map[string]int64{}, Candidates: map[string]candidate{}, Best: []string{}}
	if pod.DeletionTimestamp != nil {
		d.Gated = fmt.Sprintf("skip schedule deleting pod: %v/%v", pod.Namespace, pod.Name) // skipPodSchedule's event
		return d
	}
	for _, plugin := range s.framework.PreEnqueuePlugins() {
		if status := plugin.PreEnqueue(b.ctx, pod); !status.IsSuccess() {
			d.Gated = status.Message()
			return d
		}
	}
	all, err := b.snapshot.NodeInfos().List()
	if err != nil || len(all) == 0 {
		d.Unschedulable = "no nodes available to schedule pods"
		return d
	}
	state := framework.NewCycleState()
	diagnosis := framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}
	var feasible []fwk.NodeInfo
	result, status, unhappy := s.framework.RunPreFilterPlugins(b.ctx, state, pod)
	if !status.IsSuccess() && !status.IsRejected() {
		d.Error = status.Message()
		return d
	}
	if status.IsRejected() {
		diagnosis.NodeToStatus.SetAbsentNodesStatus(status)
		diagnosis.PreFilterMsg = status.Message()
		for _, node := range all {
			d.Rejected[node.Node().Name] = words(status)
		}
	} else {
		nodes := all
		if !result.AllNodes() {
			nodes = nil
			absent := fwk.NewStatus(fwk.UnschedulableAndUnresolvable,
				fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", sets.List(unhappy)))
			diagnosis.NodeToStatus.SetAbsentNodesStatus(absent)
			for _, node := range all {
				if result.NodeNames.Has(node.Node().Name) {
					nodes = append(nodes, node)
				} else {
					d.Rejected[node.Node().Name] = []objection{{strings.Join(sets.List(unhappy), ","), absent.Message()}}
				}
			}
		}
		for _, node := range nodes {
			status := s.framework.RunFilterPluginsWithNominatedPods(b.ctx, state, pod, node)
			switch {
			case status.IsSuccess():
				feasible = append(feasible, node)
				d.Feasible = append(d.Feasible, node.Node().Name)
			case status.IsRejected():
				diagnosis.NodeToStatus.Set(node.Node().Name, status)
				diagnosis.AddPluginStatus(status)
				d.Rejected[node.Node().Name] = words(status)
			default:
				d.Error = status.Plugin() + ": " + status.Message()
				return d
			}
		}
	}
	sort.Strings(d.Feasible)
	if len(feasible) == 0 {
		b.preempt(s, state, pod, len(all), &diagnosis, &d)
		return d
	}
	if status := s.framework.RunPreScorePlugins(b.ctx, state, pod, feasible); !status.IsSuccess() {
		d.Error = status.Plugin() + ": " + status.Message()
		return d
	}
	scores, status := s.framework.RunScorePlugins(b.ctx, state, pod, feasible)
	if !status.IsSuccess() {
		d.Error = status.Plugin() + ": " + status.Message()
		return d
	}
	for _, node := range scores {
		row := map[string]int64{"total": node.TotalScore}
		for _, score := range node.Scores {
			row[score.Name] = score.Score / s.weights[score.Name]
		}
		d.Scores[node.Name] = row
	}
	return d
}

// preempt follows Evaluator.Preempt up to, and not including, the deed.
func (b *bench) preempt(s *schedule, state fwk.CycleState, pod *corev1.Pod, nodes int,
	diagnosis *framework.Diagnosis, d *decision) {
	finish := func(message string) {
		diagnosis.PostFilterMsg = message
		d.Unschedulable = (&framework.FitError{Pod: pod, NumAllNodes: nodes, Diagnosis: *diagnosis}).Error()
	}
	if s.preemption == nil {
		finish("")
		return
	}
	evaluator := s.preemption.Evaluator
	eligible, _ := evaluator.PodEligibleToPreemptOthers(b.ctx, pod, diagnosis.NodeToStatus.Get(pod.Status.NominatedNodeName))
	potential, err := diagnosis.NodeToStatus.NodesForStatusCode(b.snapshot.NodeInfos(), fwk.Unschedulable)
	if err != nil {
		d.Error = err.Error()
		return
	}
	if eligible && len(potential) > 0 {
		var budgets []*policyv1.PodDisruptionBudget
		if budgets, err = evaluator.PdbLister.List(labels.Everything()); err != nil {
			d.Error = err.Error()
			return
		}
		number := int32(len(potential))
		candidates, _, err := evaluator.DryRunPreemption(b.ctx, state, pod, potential, budgets, 0, number)
		if err != nil && len(candidates) == 0 {
			d.Error = err.Error()
			return
		}
		for _, c := range candidates {
			found := candidate{Victims: []string{}, Violations: c.Victims().NumPDBViolations}
			for _, victim := range c.Victims().Pods {
				found.Victims = append(found.Victims, victim.Namespace+"/"+victim.Name)
			}
			d.Candidates[c.Name()] = found
		}
		if len(candidates) > 0 {
			best := evaluator.SelectCandidate(b.ctx, candidates)
			// A draw is decided by the order of a Go map. Whoever wins against the winner now and then is as good.
			for _, c := range candidates {
				drawn := c.Name() == best.Name()
				for attempt := 0; attempt < 250 && !drawn; attempt++ {
					pair := append(candidates[:0:0], c)
					for _, other := range candidates {
						if other.Name() == best.Name() {
							pair = append(pair, other)
						}
					}
					drawn = evaluator.SelectCandidate(b.ctx, pair).Name() == c.Name()
				}
				if drawn {
					d.Best = append(d.Best, c.Name())
				}
			}
			sort.Strings(d.Best)
			finish("")
			return
		}
	}
	// Nothing to be gained: the genuine PostFilter says so in its own words and does nothing.
	_, status := s.framework.RunPostFilterPlugins(b.ctx, state, pod, diagnosis.NodeToStatus)
	finish(strings.TrimSpace(status.Message()))
}
