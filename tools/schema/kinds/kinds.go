// Package kinds is the list of what the simulator's tables hold.
package kinds

import (
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The kinds: the group and version that they are served under, and their types.
var served = []struct {
	group, version string
	kinds          []any
}{
	{"", "v1", []any{corev1.Node{}, corev1.Pod{}, corev1.PersistentVolume{}, corev1.PersistentVolumeClaim{},
		corev1.Namespace{}, corev1.Event{}, corev1.ConfigMap{}, corev1.Secret{}, corev1.Service{},
		corev1.ServiceAccount{}, corev1.PodTemplate{}}},
	{"policy", "v1", []any{policyv1.PodDisruptionBudget{}, policyv1.Eviction{}}},
	{"coordination.k8s.io", "v1", []any{coordinationv1.Lease{}}},
	{"storage.k8s.io", "v1", []any{storagev1.VolumeAttachment{}, storagev1.StorageClass{}, storagev1.CSINode{}}},
	{"apps", "v1", []any{appsv1.DaemonSet{}, appsv1.ReplicaSet{}, appsv1.StatefulSet{}, appsv1.Deployment{},
		appsv1.ControllerRevision{}}},
	{"batch", "v1", []any{batchv1.Job{}}},
	{"scheduling.k8s.io", "v1", []any{schedulingv1.PriorityClass{}}},
	{"events.k8s.io", "v1", []any{eventsv1.Event{}}},
	{"discovery.k8s.io", "v1", []any{discoveryv1.EndpointSlice{}}},
	{"autoscaling", "v1", []any{autoscalingv1.Scale{}}},
	{"authorization.k8s.io", "v1", []any{authorizationv1.SelfSubjectAccessReview{}}},
	{"authentication.k8s.io", "v1", []any{authenticationv1.SelfSubjectReview{}}},
	// Those two belong to every group; their home is meta.k8s.io, and what servers print is "v1".
	{"", "v1", []any{metav1.Status{}, metav1.DeleteOptions{}}},
	{"meta.k8s.io", "v1", []any{metav1.Status{}, metav1.DeleteOptions{}, metav1.PartialObjectMetadata{}}},
	{"apiextensions.k8s.io", "v1", []any{apiextensionsv1.CustomResourceDefinition{}}},
}

// Kind is one of them.
type Kind struct {
	Group, Version string
	Type           reflect.Type
}

// All returns every kind, once for each group that it is served under.
func All() []Kind {
	var all []Kind
	for _, s := range served {
		for _, k := range s.kinds {
			all = append(all, Kind{s.group, s.version, reflect.TypeOf(k)})
		}
	}
	return all
}
