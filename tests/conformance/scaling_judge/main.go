// The judge of scaling: the horizontal pod autoscaler's own code, asked about workloads read as JSON lines.
//
// In:  {"id": 1, "replicas": 3, "ticks": [{"after": 15, "spec": HorizontalPodAutoscalerSpec, "metrics": […], "pods": […], …}]}
// Out: {"id": 1, "verdicts": [{"replicas": 4, "failed": false, "stabilised": false, "limited": true}]}
//
// The whole controller runs, in a bubble of testing/synctest: its time is ours, and a tick's "after" passes at once.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
)

type sampleCase struct {
	Value  int64   `json:"value"`  // thousandths
	Age    float64 `json:"age"`    // seconds since it was measured
	Window float64 `json:"window"` // seconds
}

type podCase struct {
	Name       string                      `json:"name"`
	Phase      corev1.PodPhase             `json:"phase"`
	Leaves     bool                        `json:"leaves"`
	Ready      *bool                       `json:"ready"`   // null: no such condition
	Changed    float64                     `json:"changed"` // seconds since its readiness did
	Started    *float64                    `json:"started"` // seconds since; null: not yet
	Containers map[string]map[string]int64 `json:"containers"`
	Samples    []*sampleCase               `json:"samples"` // by metric
}

type tickCase struct {
	After    float64                                    `json:"after"`
	Spec     *autoscalingv2.HorizontalPodAutoscalerSpec `json:"spec"`     // null: as before
	Replicas *int32                                     `json:"replicas"` // somebody else set it
	Status   *int32                                     `json:"status"`   // null: as many as are wanted
	Refuse   bool                                       `json:"refuse"`
	Names    []string                                   `json:"names"` // of metrics: "cpu/", "cpu/app", "m2"
	Pods     []podCase                                  `json:"pods"`
	Follow   bool                                       `json:"follow"`  // there are no more pods than are wanted
	Amounts  []*int64                                   `json:"amounts"` // by metric
}

type workloadCase struct {
	ID       int        `json:"id"`
	Replicas int32      `json:"replicas"`
	Ticks    []tickCase `json:"ticks"`
}

func ago(seconds float64) time.Time {
	return time.Now().Add(-time.Duration(seconds * float64(time.Second)))
}

func (p podCase) pod() *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: namespace, Labels: map[string]string{"app": "judged"}},
		Status:     corev1.PodStatus{Phase: p.Phase},
	}
	if p.Leaves {
		now := metav1.Now()
		pod.DeletionTimestamp = &now
	}
	if p.Started != nil {
		started := metav1.NewTime(ago(*p.Started))
		pod.Status.StartTime = &started
	}
	if p.Ready != nil {
		status := corev1.ConditionFalse
		if *p.Ready {
			status = corev1.ConditionTrue
		}
		pod.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(ago(p.Changed))}}
	}
	for name, requests := range p.Containers {
		container := corev1.Container{Name: name}
		container.Resources.Requests = corev1.ResourceList{}
		for of, amount := range requests {
			container.Resources.Requests[corev1.ResourceName(of)] = *resource.NewMilliQuantity(amount, resource.DecimalSI)
		}
		pod.Spec.Containers = append(pod.Spec.Containers, container)
	}
	return pod
}

func (b *bench) judge(line []byte) ([]byte, error) {
	var given workloadCase
	if err := json.Unmarshal(line, &given); err != nil {
		return nil, err
	}
	c := b.cluster
	c.replicas, c.status = given.Replicas, &autoscalingv2.HorizontalPodAutoscalerStatus{}
	key := "case-" + strconv.Itoa(given.ID)
	verdicts := []verdict{}
	var spec *autoscalingv2.HorizontalPodAutoscalerSpec
	for _, tick := range given.Ticks {
		time.Sleep(time.Duration(tick.After * float64(time.Second)))
		if tick.Spec != nil {
			spec = tick.Spec
		}
		if tick.Replicas != nil {
			c.replicas = *tick.Replicas
		}
		c.statusReplicas = c.replicas
		if tick.Status != nil {
			c.statusReplicas = *tick.Status
		}
		c.refuse = tick.Refuse
		if tick.Follow && int(c.replicas) < len(tick.Pods) {
			tick.Pods = tick.Pods[:c.replicas]
		}
		c.sampled, c.amounts = map[string]metrics.PodMetricsInfo{}, map[string]*int64{}
		pods := []*corev1.Pod{}
		for i, name := range tick.Names {
			c.amounts[name] = tick.Amounts[i]
			c.sampled[name] = metrics.PodMetricsInfo{}
			for _, pod := range tick.Pods {
				if s := pod.Samples[i]; s != nil {
					c.sampled[name][pod.Name] = metrics.PodMetric{
						Timestamp: ago(s.Age), Window: time.Duration(s.Window * float64(time.Second)), Value: s.Value}
				}
			}
		}
		for _, pod := range tick.Pods {
			pods = append(pods, pod.pod())
		}
		verdicts = append(verdicts, b.tick(key, *spec, pods))
	}
	return json.Marshal(map[string]any{"id": given.ID, "verdicts": verdicts})
}

func serve() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	b := newBench(ctx)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<28)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for in.Scan() {
		answer, err := b.judge(in.Bytes())
		if err != nil {
			answer, _ = json.Marshal(map[string]string{"error": err.Error()})
		}
		out.Write(append(answer, '\n'))
		out.Flush()
	}
}

func main() {
	klog.InitFlags(nil)
	flag.Set("logtostderr", "false")
	flag.Set("stderrthreshold", "FATAL")
	klog.SetOutput(io.Discard)
	utilruntime.ErrorHandlers = nil // they log, and wait by the clock outside of the bubble
	testing.Init()
	all := func(string, string) (bool, error) { return true, nil }
	// Bubbles are made by tests alone; this is the one test of a program.
	testing.Main(all, []testing.InternalTest{{Name: "serve", F: func(t *testing.T) {
		synctest.Test(t, func(*testing.T) { serve() })
	}}}, nil, nil)
}
