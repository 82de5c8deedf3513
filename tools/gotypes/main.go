// Prints src/sim/api/gotypes_data.c: the types that Kubernetes' API server works with inside, as far as its messages
// show them. Those have no JSON names of their own: a message that quotes one prints Go's field names, in Go's order,
// every field, set or not. The table says for each field where its value stands in the object that clients see.
//
//	cd tools/gotypes && go run . > ../../src/sim/api/gotypes_data.c
package main

import (
	"fmt"
	"os"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/batch"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/policy"
	"k8s.io/kubernetes/pkg/apis/storage"
)

// What messages quote whole; everything below them follows.
var roots = []struct{ inside, external any }{
	{core.PodSpec{}, corev1.PodSpec{}},
	{core.PodTemplateSpec{}, corev1.PodTemplateSpec{}},
	{core.Taint{}, corev1.Taint{}},
	{core.NodeAddress{}, corev1.NodeAddress{}},
	{core.ServicePort{}, corev1.ServicePort{}},
	{core.PersistentVolumeClaimSpec{}, corev1.PersistentVolumeClaimSpec{}},
	{core.PersistentVolumeSource{}, corev1.PersistentVolumeSource{}},
	{core.VolumeNodeAffinity{}, corev1.VolumeNodeAffinity{}},
	{core.SecurityContext{}, corev1.SecurityContext{}},
	{core.SeccompProfile{}, corev1.SeccompProfile{}},
	{core.NodeSelectorTerm{}, corev1.NodeSelectorTerm{}},
	{core.PodResourceClaim{}, corev1.PodResourceClaim{}},
	{core.ObjectReference{}, corev1.ObjectReference{}},
	{core.EventSource{}, corev1.EventSource{}},
	{core.PodIP{}, corev1.PodIP{}},
	{core.HostIP{}, corev1.HostIP{}},
	{apps.DeploymentStrategy{}, appsv1.DeploymentStrategy{}},
	{apps.DaemonSetUpdateStrategy{}, appsv1.DaemonSetUpdateStrategy{}},
	{apps.StatefulSetUpdateStrategy{}, appsv1.StatefulSetUpdateStrategy{}},
	{batch.PodFailurePolicy{}, batchv1.PodFailurePolicy{}},
	{batch.SuccessPolicy{}, batchv1.SuccessPolicy{}},
	{batch.UncountedTerminatedPods{}, batchv1.UncountedTerminatedPods{}},
	{policy.PodDisruptionBudgetSpec{}, policyv1.PodDisruptionBudgetSpec{}},
	{storage.VolumeAttachmentSpec{}, storagev1.VolumeAttachmentSpec{}},
	{storage.CSINodeDriver{}, storagev1.CSINodeDriver{}},
}

// Fields whose value stands somewhere else than under the same Go name: "^key" is one level up. An empty key says that
// clients cannot set it.
var moved = map[string]string{
	"PodSecurityContext.HostNetwork":           "^hostNetwork",
	"PodSecurityContext.HostPID":               "^hostPID",
	"PodSecurityContext.HostIPC":               "^hostIPC",
	"PodSecurityContext.ShareProcessNamespace": "^shareProcessNamespace",
	"PodSecurityContext.HostUsers":             "^hostUsers",
}

var (
	quantity    = reflect.TypeOf(resource.Quantity{})
	intOrString = reflect.TypeOf(intstr.IntOrString{})
	objectMeta  = reflect.TypeOf(metav1.ObjectMeta{})
	typeMeta    = reflect.TypeOf(metav1.TypeMeta{})
)

type printer struct {
	order []string          // of the tables: each after those it refers to
	body  map[string]string // the rows
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// The external field of that name, also inside of embedded structs.
func external(t reflect.Type, name string) (reflect.StructField, bool) {
	return t.FieldByNameFunc(func(n string) bool { return n == name })
}

func deref(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

// Types with JSON names (metav1's) print themselves as clients see them.
func tagged(t reflect.Type) bool {
	return strings.Contains(t.PkgPath(), "/apimachinery/")
}

func (p *printer) field(owner reflect.Type, f reflect.StructField, key string, ext reflect.Type) string {
	var flags []string
	t := f.Type
	if strings.HasPrefix(key, "^") {
		key, flags = key[1:], append(flags, "UP")
	}
	if t.Kind() == reflect.Pointer {
		flags, t = append(flags, "POINTER"), t.Elem()
	}
	switch {
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		flags, t = append(flags, "LIST"), t.Elem()
	case t.Kind() == reflect.Map:
		flags, t = append(flags, "MAP"), t.Elem()
	}
	kind, of := "", "NULL"
	switch {
	case t == quantity:
		kind = "QUANTITY"
	case t == intOrString:
		kind = "INT"
	case t.Kind() == reflect.String:
		kind = "STRING"
	case tagged(t):
		kind = "JSON"
	case t.Kind() == reflect.Bool:
		kind = "BOOL"
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		kind = "INT"
	case t.Kind() == reflect.Slice:
		kind = "JSON"
	case t.Kind() == reflect.Struct:
		kind, of = "STRUCT", "&"+p.add(t, deref(ext))
	default:
		fmt.Fprintf(os.Stderr, "gotypes: %s.%s: cannot print a %s\n", owner.Name(), f.Name, t)
		os.Exit(1)
	}
	flag := "0"
	if len(flags) > 0 {
		flag = "GO_" + strings.Join(flags, " | GO_")
	}
	return fmt.Sprintf("    {\"%s\", \"%s\", GO_%s, %s, %s},\n", f.Name, key, kind, flag, of)
}

func (p *printer) fields(t, ext reflect.Type) string {
	var b strings.Builder
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		switch {
		case !f.IsExported() || f.Type == typeMeta:
			continue
		case f.Type == objectMeta:
			b.WriteString("    {\"\", \"metadata\", GO_META, 0, NULL},\n")
			continue
		case f.Anonymous:
			b.WriteString(p.fields(f.Type, ext)) // encoding/json prints its fields in place
			continue
		}
		name := t.Name() + "." + f.Name
		if key, ok := moved[name]; ok {
			b.WriteString(p.field(t, f, key, f.Type))
			continue
		}
		e, ok := external(ext, f.Name)
		if !ok {
			fmt.Fprintf(os.Stderr, "gotypes: %s has no counterpart in %s\n", name, ext)
			os.Exit(1)
		}
		b.WriteString(p.field(t, f, jsonName(e), e.Type))
	}
	return b.String()
}

func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		upper := r >= 'A' && r <= 'Z'
		lower := func(j int) bool { return j >= 0 && j < len(name) && name[j] >= 'a' && name[j] <= 'z' }
		if upper && i > 0 && (lower(i-1) || lower(i+1)) {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return b.String()
}

// Makes the table of a type and of those it is made of; returns its name.
func (p *printer) add(t, ext reflect.Type) string {
	name := "go_" + snake(t.Name())
	if _, known := p.body[name]; known {
		return name
	}
	p.body[name] = "" // none of these types contains itself
	p.body[name] = p.fields(t, ext)
	p.order = append(p.order, name)
	return name
}

func main() {
	p := printer{body: map[string]string{}}
	var public []string
	for _, r := range roots {
		public = append(public, p.add(reflect.TypeOf(r.inside), reflect.TypeOf(r.external)))
	}
	fmt.Print("/* The inner types of Kubernetes' API server (gotypes.h). Generated by tools/gotypes, not by hand:\n" +
		" *     cd tools/gotypes && go run . > ../../src/sim/api/gotypes_data.c */\n" +
		"#include \"sim/api/gotypes.h\"\n\n/* clang-format off */\n")
	shown := map[string]bool{}
	for _, name := range public {
		shown[name] = true
	}
	for _, name := range p.order {
		fmt.Printf("static const struct gofield %s_fields[] = {\n%s};\n", name, p.body[name])
		scope := "static "
		if shown[name] {
			scope = ""
		}
		fmt.Printf("%sconst struct gotype %s = {%d, %s_fields};\n", scope, name,
			strings.Count(p.body[name], "\n"), name)
	}
	fmt.Print("/* clang-format on */\n")
}
