package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
	storagedefaults "k8s.io/kubernetes/pkg/apis/storage/v1"
	kjson "sigs.k8s.io/json"
)

// kind is how one kind of object is made, completed as the API server would, and where listers find it.
type kind struct {
	make     func() runtime.Object
	complete func(runtime.Object)
	store    func(informers.SharedInformerFactory) cache.Indexer
}

func kindOf[T any, P interface {
	*T
	runtime.Object
}](complete func(P), store func(informers.SharedInformerFactory) cache.SharedIndexInformer) kind {
	return kind{
		make: func() runtime.Object { return P(new(T)) },
		complete: func(object runtime.Object) {
			if complete != nil {
				complete(object.(P))
			}
		},
		store: func(f informers.SharedInformerFactory) cache.Indexer { return store(f).GetIndexer() },
	}
}

type factory = informers.SharedInformerFactory
type informer = cache.SharedIndexInformer

var kinds = map[string]kind{
	"Node":                  kindOf(coredefaults.SetObjectDefaults_Node, func(f factory) informer { return f.Core().V1().Nodes().Informer() }),
	"Pod":                   kindOf(coredefaults.SetObjectDefaults_Pod, func(f factory) informer { return f.Core().V1().Pods().Informer() }),
	"Namespace":             kindOf(coredefaults.SetObjectDefaults_Namespace, func(f factory) informer { return f.Core().V1().Namespaces().Informer() }),
	"Service":               kindOf[corev1.Service](nil, func(f factory) informer { return f.Core().V1().Services().Informer() }),
	"ReplicationController": kindOf[corev1.ReplicationController](nil, func(f factory) informer { return f.Core().V1().ReplicationControllers().Informer() }),
	"ReplicaSet":            kindOf[appsv1.ReplicaSet](nil, func(f factory) informer { return f.Apps().V1().ReplicaSets().Informer() }),
	"StatefulSet":           kindOf[appsv1.StatefulSet](nil, func(f factory) informer { return f.Apps().V1().StatefulSets().Informer() }),
	"PersistentVolume":      kindOf(coredefaults.SetObjectDefaults_PersistentVolume, func(f factory) informer { return f.Core().V1().PersistentVolumes().Informer() }),
	"PersistentVolumeClaim": kindOf(coredefaults.SetObjectDefaults_PersistentVolumeClaim, func(f factory) informer { return f.Core().V1().PersistentVolumeClaims().Informer() }),
	"StorageClass":          kindOf(storagedefaults.SetObjectDefaults_StorageClass, func(f factory) informer { return f.Storage().V1().StorageClasses().Informer() }),
	"CSINode":               kindOf[storagev1.CSINode](nil, func(f factory) informer { return f.Storage().V1().CSINodes().Informer() }),
	"CSIDriver":             kindOf(storagedefaults.SetObjectDefaults_CSIDriver, func(f factory) informer { return f.Storage().V1().CSIDrivers().Informer() }),
	"CSIStorageCapacity":    kindOf[storagev1.CSIStorageCapacity](nil, func(f factory) informer { return f.Storage().V1().CSIStorageCapacities().Informer() }),
	"VolumeAttachment":      kindOf[storagev1.VolumeAttachment](nil, func(f factory) informer { return f.Storage().V1().VolumeAttachments().Informer() }),
	"PodDisruptionBudget":   kindOf[policyv1.PodDisruptionBudget](nil, func(f factory) informer { return f.Policy().V1().PodDisruptionBudgets().Informer() }),
}

func podSpecFields() []string {
	var names []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[corev1.PodSpec]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// decode reads one object as the API server would: unknown kinds are errors, defaults are filled in.
func decode(raw json.RawMessage) (string, runtime.Object, error) {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return "", nil, err
	}
	k, known := kinds[head.Kind]
	if !known {
		return "", nil, fmt.Errorf("kind %q is not one the judge knows", head.Kind)
	}
	object := k.make()
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, object); err != nil {
		return "", nil, fmt.Errorf("%s: %w", head.Kind, err)
	}
	k.complete(object)
	if pod, isPod := object.(*corev1.Pod); isPod && pod.Spec.Overhead != nil {
		// Stored and read again, as the API server does, quantities have their one spelling. Others are kept as
		// pointers, which kube-scheduler adds the overhead to in place, and again each time it looks.
		stored, err := json.Marshal(pod)
		if err != nil {
			return "", nil, err
		}
		object = k.make()
		if err := json.Unmarshal(stored, object); err != nil {
			return "", nil, err
		}
	}
	return head.Kind, object, nil
}
