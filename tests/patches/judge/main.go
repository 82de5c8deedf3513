// The judge of src/sim/api/patch.h: applies patches with the libraries of the API server, wrapped as its handlers wrap them
// (apiserver's pkg/endpoints/handlers/patch.go).
//
// Reads one case a line, {"kind": "json"|"merge"|"strategic", "type": "Pod", "unchecked": bool, "times": n, "current": {...},
// "patch": "..."} with the text of the patch, and prints one line for each: a list of the different outcomes in n runs. There
// may be several, because strategic merge patches walk through maps of Go's, whose order is random.
//
// {"kind": "diff", "type", "original", "modified", "current"} asks for the patch that `kubectl apply` would send, and gets
// {"patch": ...} or {"error": ...}.
//
// An outcome is {"ok": object, "notes": [...]}, {"code", "reason", "message", "why"} as the server answers it, or
// {"crash": "..."} when the handler panics.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	kjson "sigs.k8s.io/json"

	"slipway.dev/tests/patches/judge/handlers"
)

const maxOperations = 10000 // maxJSONPatchOperations

var types = map[string]interface{}{
	"ConfigMap": &corev1.ConfigMap{}, "Namespace": &corev1.Namespace{}, "Node": &corev1.Node{},
	"PersistentVolumeClaim": &corev1.PersistentVolumeClaim{}, "Pod": &corev1.Pod{}, "Service": &corev1.Service{},
	"ServiceAccount": &corev1.ServiceAccount{}, "DaemonSet": &appsv1.DaemonSet{}, "Deployment": &appsv1.Deployment{},
	"StatefulSet": &appsv1.StatefulSet{}, "Job": &batchv1.Job{}, "PodDisruptionBudget": &policyv1.PodDisruptionBudget{},
}

type testCase struct {
	Kind      string          `json:"kind"`
	Type      string          `json:"type"`
	Unchecked bool            `json:"unchecked"`
	Times     int             `json:"times"`
	Current   json.RawMessage `json:"current"`
	Patch     string          `json:"patch"`
	Original  json.RawMessage `json:"original"`
	Modified  json.RawMessage `json:"modified"`
}

type outcome struct {
	OK      json.RawMessage `json:"ok,omitempty"`
	Notes   []string        `json:"notes,omitempty"`
	Code    int32           `json:"code,omitempty"`
	Reason  string          `json:"reason,omitempty"`
	Message string          `json:"message,omitempty"`
	Why     string          `json:"why,omitempty"`
	Crash   string          `json:"crash,omitempty"`
}

// refusal is an answer and the error that it was made of.
type refusal struct {
	answer error
	why    string
}

func unprocessable(err error) *refusal {
	return &refusal{errors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false), err.Error()}
}

func applyJSON(c *testCase) ([]byte, []string, *refusal) {
	var notes []string
	if !c.Unchecked {
		strict, err := kjson.UnmarshalStrict([]byte(c.Patch), handlers.Operations())
		if err != nil {
			return nil, nil, &refusal{errors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err)), ""}
		}
		for _, e := range strict {
			notes = append(notes, fmt.Sprintf("json patch %v", e))
		}
	}
	patch, err := jsonpatch.DecodePatch([]byte(c.Patch))
	if err != nil {
		return nil, nil, &refusal{errors.NewBadRequest(err.Error()), ""}
	}
	if len(patch) > maxOperations {
		return nil, nil, &refusal{errors.NewRequestEntityTooLargeError(
			fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, len(patch))), ""}
	}
	patched, err := patch.Apply(c.Current)
	if err != nil {
		return nil, nil, unprocessable(err)
	}
	return patched, notes, nil
}

func applyMerge(c *testCase) ([]byte, *refusal) {
	if !c.Unchecked {
		v := map[string]interface{}{}
		if _, err := kjson.UnmarshalStrict([]byte(c.Patch), &v); err != nil {
			return nil, &refusal{errors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err)), ""}
		}
	}
	patched, err := jsonpatch.MergePatch(c.Current, []byte(c.Patch))
	if err == jsonpatch.ErrBadJSONPatch {
		return nil, &refusal{errors.NewBadRequest(err.Error()), ""}
	}
	if err != nil {
		return nil, &refusal{err, err.Error()}
	}
	return patched, nil
}

func applyStrategic(c *testCase) ([]byte, *refusal) {
	current, patch := map[string]interface{}{}, map[string]interface{}{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(c.Current, &current); err != nil {
		panic(err)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(c.Patch), &patch); err != nil {
		return nil, &refusal{errors.NewBadRequest(err.Error()), ""}
	}
	patched, err := strategicpatch.StrategicMergeMapPatch(current, patch, types[c.Type])
	switch err {
	case nil:
	case mergepatch.ErrBadJSONDoc, mergepatch.ErrBadPatchFormatForPrimitiveList, mergepatch.ErrBadPatchFormatForRetainKeys,
		mergepatch.ErrBadPatchFormatForSetElementOrderList, mergepatch.ErrUnsupportedStrategicMergePatchFormat:
		return nil, &refusal{errors.NewBadRequest(err.Error()), ""}
	case mergepatch.ErrNoListOfLists, mergepatch.ErrPatchContentNotMatchRetainKeys:
		return nil, unprocessable(err)
	default:
		return nil, &refusal{err, err.Error()}
	}
	text, err := json.Marshal(patched)
	if err != nil {
		panic(err)
	}
	return text, nil
}

func apply(c *testCase) (result outcome) {
	defer func() {
		if r := recover(); r != nil {
			result = outcome{Crash: fmt.Sprint(r)}
		}
	}()
	var patched []byte
	var notes []string
	var refused *refusal
	switch c.Kind {
	case "json":
		patched, notes, refused = applyJSON(c)
	case "merge":
		patched, refused = applyMerge(c)
	case "strategic":
		patched, refused = applyStrategic(c)
	default:
		fmt.Fprintf(os.Stderr, "no kind of patch: %q\n", c.Kind)
		os.Exit(1)
	}
	if refused == nil {
		return outcome{OK: patched, Notes: notes}
	}
	result = outcome{Code: http.StatusInternalServerError, Message: refused.answer.Error(), Why: refused.why}
	if status, ok := refused.answer.(errors.APIStatus); ok {
		s := status.Status()
		result.Code, result.Reason, result.Message = s.Code, string(s.Reason), s.Message
	}
	if result.Why == "" {
		result.Why = result.Message
	}
	return result
}

func diff(c *testCase) map[string]interface{} {
	meta, err := strategicpatch.NewPatchMetaFromStruct(types[c.Type])
	if err != nil {
		panic(err)
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(c.Original, c.Modified, c.Current, meta, true)
	if err != nil {
		return map[string]interface{}{"error": err.Error()}
	}
	return map[string]interface{}{"patch": json.RawMessage(patch)}
}

func main() {
	jsonpatch.AccumulatedCopySizeLimit = 3 * 1024 * 1024
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		line, err := in.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			return
		}
		var c testCase
		if err := json.Unmarshal(line, &c); err != nil {
			fmt.Fprintf(os.Stderr, "not a case: %v\n", err)
			os.Exit(1)
		}
		if c.Kind == "diff" {
			if err := json.NewEncoder(out).Encode(diff(&c)); err != nil {
				panic(err)
			}
			continue
		}
		var all [][]byte
	runs:
		for i := 0; i < max(c.Times, 1); i++ {
			text, err := json.Marshal(apply(&c))
			if err != nil {
				panic(err)
			}
			for _, seen := range all {
				if bytes.Equal(seen, text) {
					continue runs
				}
			}
			all = append(all, text)
		}
		out.WriteByte('[')
		out.Write(bytes.Join(all, []byte(",")))
		out.WriteString("]\n")
	}
}
