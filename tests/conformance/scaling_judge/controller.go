package main

import (
	"context"
	"errors"
	"strings"
	"time"
	_ "unsafe" // for linkname

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	autoscalingclient "k8s.io/client-go/kubernetes/typed/autoscaling/v2"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	scaleclient "k8s.io/client-go/scale"
	"k8s.io/client-go/tools/cache"
	defaults "k8s.io/kubernetes/pkg/apis/autoscaling/v2"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
)

// One reconciliation, which the package keeps to itself: its own Run would decide when, we do.
//
//go:linkname reconcile k8s.io/kubernetes/pkg/controller/podautoscaler.(*HorizontalController).reconcileAutoscaler
func reconcile(a *podautoscaler.HorizontalController, ctx context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler, key string) error

const namespace = "judged"

// Stands for the cluster: one scale that can be read and written, what the metrics APIs say, and the object's status.
type cluster struct {
	replicas, statusReplicas int32
	refuse                   bool // the next write
	sampled                  map[string]metrics.PodMetricsInfo
	amounts                  map[string]*int64
	status                   *autoscalingv2.HorizontalPodAutoscalerStatus
}

var errAbsent = errors.New("no such metric")

func (c *cluster) pods(name string) (metrics.PodMetricsInfo, time.Time, error) {
	known := metrics.PodMetricsInfo{} // the calculator takes entries out of it
	for pod, sample := range c.sampled[name] {
		known[pod] = sample
	}
	if len(known) == 0 {
		return nil, time.Time{}, errAbsent
	}
	return known, time.Now(), nil
}

func (c *cluster) GetResourceMetric(_ context.Context, resource corev1.ResourceName, _ string, _ labels.Selector, container string) (metrics.PodMetricsInfo, time.Time, error) {
	return c.pods(string(resource) + "/" + container)
}

func (c *cluster) GetRawMetric(name, _ string, _, _ labels.Selector) (metrics.PodMetricsInfo, time.Time, error) {
	return c.pods(name)
}

func (c *cluster) GetObjectMetric(name, _ string, _ *autoscalingv2.CrossVersionObjectReference, _ labels.Selector) (int64, time.Time, error) {
	if c.amounts[name] == nil {
		return 0, time.Time{}, errAbsent
	}
	return *c.amounts[name], time.Now(), nil
}

func (c *cluster) GetExternalMetric(name, _ string, _ labels.Selector) ([]int64, time.Time, error) {
	if c.amounts[name] == nil {
		return nil, time.Time{}, errAbsent
	}
	return []int64{*c.amounts[name]}, time.Now(), nil
}

type scales struct {
	scaleclient.ScaleInterface
	c *cluster
}

func (c *cluster) Scales(string) scaleclient.ScaleInterface { return scales{c: c} }

func (s scales) Get(_ context.Context, _ schema.GroupResource, name string, _ metav1.GetOptions) (*autoscalingv1.Scale, error) {
	return &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec:       autoscalingv1.ScaleSpec{Replicas: s.c.replicas},
		Status:     autoscalingv1.ScaleStatus{Replicas: s.c.statusReplicas, Selector: "app=judged"},
	}, nil
}

func (s scales) Update(_ context.Context, _ schema.GroupResource, scale *autoscalingv1.Scale, _ metav1.UpdateOptions) (*autoscalingv1.Scale, error) {
	if s.c.refuse {
		return nil, errors.New("refused")
	}
	s.c.replicas = scale.Spec.Replicas
	return scale, nil
}

type hpas struct {
	autoscalingclient.HorizontalPodAutoscalerInterface
	c *cluster
}

func (c *cluster) HorizontalPodAutoscalers(string) autoscalingclient.HorizontalPodAutoscalerInterface {
	return hpas{c: c}
}

func (h hpas) UpdateStatus(_ context.Context, hpa *autoscalingv2.HorizontalPodAutoscaler, _ metav1.UpdateOptions) (*autoscalingv2.HorizontalPodAutoscaler, error) {
	h.c.status = hpa.Status.DeepCopy()
	return hpa, nil
}

type eventSink struct{ coreclient.EventInterface }

type noEvents struct{}

func (noEvents) Events(string) coreclient.EventInterface { return eventSink{} }

func (eventSink) CreateWithEventNamespaceWithContext(_ context.Context, event *corev1.Event) (*corev1.Event, error) {
	return event, nil
}
func (eventSink) PatchWithEventNamespaceWithContext(_ context.Context, event *corev1.Event, _ []byte) (*corev1.Event, error) {
	return event, nil
}
func (eventSink) CreateWithEventNamespace(event *corev1.Event) (*corev1.Event, error) {
	return event, nil
}
func (eventSink) PatchWithEventNamespace(event *corev1.Event, _ []byte) (*corev1.Event, error) {
	return event, nil
}
func (eventSink) UpdateWithEventNamespace(event *corev1.Event) (*corev1.Event, error) {
	return event, nil
}

// The real controller over that cluster, with kube-controller-manager's defaults.
type bench struct {
	cluster    *cluster
	controller *podautoscaler.HorizontalController
	podIndex   cache.Indexer
}

func newBench(ctx context.Context) *bench {
	// Alpha and off by default in 1.36; without it the API server refuses what only differs by it, minReplicas 0.
	if err := utilfeature.DefaultMutableFeatureGate.Set("HPAScaleToZero=true"); err != nil {
		panic(err)
	}
	c := &cluster{}
	apps := schema.GroupVersion{Group: "apps", Version: "v1"}
	mapper := apimeta.NewDefaultRESTMapper([]schema.GroupVersion{apps})
	mapper.Add(apps.WithKind("Deployment"), apimeta.RESTScopeNamespace)
	factory := informers.NewSharedInformerFactory(nil, 0)
	pods := factory.Core().V1().Pods()
	controller := podautoscaler.NewHorizontalController(ctx, noEvents{}, c, c, mapper, c,
		factory.Autoscaling().V2().HorizontalPodAutoscalers(), pods,
		15*time.Second, 5*time.Minute, 0.1, 5*time.Minute, 30*time.Second)
	over, stop := context.WithCancel(ctx)
	stop()
	controller.Run(over, 0) // ends its queue, which nobody uses here and which would wake up twice a second
	return &bench{c, controller, pods.Informer().GetIndexer()}
}

// What came of one reconciliation.
type verdict struct {
	Replicas   int32  `json:"replicas"`
	Failed     bool   `json:"failed"`          // the metrics told nothing it would act upon
	Stabilised *bool  `json:"stabilised"`      // recent recommendations changed the answer; null where it scaled, and says only that
	Limited    bool   `json:"limited"`         // limits or bounds did
	Error      string `json:"error,omitempty"` // of the bench, not of the case
}

func (b *bench) tick(key string, spec autoscalingv2.HorizontalPodAutoscalerSpec, pods []*corev1.Pod) verdict {
	index := make([]any, len(pods))
	for i, pod := range pods {
		index[i] = pod
	}
	if err := b.podIndex.Replace(index, ""); err != nil {
		panic(err)
	}
	hpa := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: key, Namespace: namespace},
		Spec:       *spec.DeepCopy(),
		Status:     *b.cluster.status.DeepCopy(),
	}
	defaults.SetDefaults_HorizontalPodAutoscaler(hpa)
	for i := range hpa.Status.Conditions { // ScaledToZero is remembered; the others are this tick's or nobody's
		if hpa.Status.Conditions[i].Type != autoscalingv2.ScaledToZero {
			hpa.Status.Conditions[i].Reason, hpa.Status.Conditions[i].Status = "", corev1.ConditionUnknown
		}
	}
	b.cluster.status = hpa.Status.DeepCopy()
	err := reconcile(b.controller, context.Background(), hpa, namespace+"/"+key)
	result := verdict{Replicas: b.cluster.replicas}
	result.Failed = err != nil && strings.HasPrefix(err.Error(), "failed to compute desired number of replicas")
	if err != nil && !result.Failed && !strings.HasPrefix(err.Error(), "invalid metrics") && !b.cluster.refuse {
		result.Error = err.Error()
	}
	for _, condition := range b.cluster.status.Conditions {
		switch condition.Type {
		case autoscalingv2.AbleToScale:
			if condition.Reason != "SucceededRescale" && condition.Reason != "FailedUpdateScale" {
				stabilised := strings.HasSuffix(condition.Reason, "Stabilized")
				result.Stabilised = &stabilised
			}
		case autoscalingv2.ScalingLimited:
			result.Limited = condition.Status == corev1.ConditionTrue
		}
	}
	return result
}
