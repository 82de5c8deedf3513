// judge answers what Kubernetes itself makes of objects, so that the simulator can be compared with it.
//
// Requests are JSON values on standard input, answers on standard output, one line each:
//
//	{"op":"canonical","group":"","version":"v1","kind":"Pod","data":"{...}"}  decode strictly, store, read, print
//	{"op":"from-pb","group":"","version":"v1","kind":"Pod","data":"base64"}   decode a message, print
//	{"op":"read","data":"{...}"}                                              any JSON, with the notes of strictness
//	{"op":"quantity","data":"1.5Gi"}, {"op":"time","data":"..."}, {"op":"microtime","data":"..."}
//
// An answer has "error", or "json" (the text) with "pb" (the message in base64) and "notes" (what strictness found).
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"slipway.dev/tools/schema/kinds"
)

type request struct {
	Op, Group, Version, Kind, Data string
}

type answer struct {
	Error string   `json:"error,omitempty"`
	JSON  string   `json:"json,omitempty"`
	PB    string   `json:"pb,omitempty"`
	Notes []string `json:"notes,omitempty"`
}

// message is what gogo made of every type.
type message interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

var types = map[[3]string]reflect.Type{}

// stored is the object as a server gives it back: written to its store and read again.
func stored(obj message) (message, []byte, error) {
	pb, err := obj.Marshal()
	if err != nil {
		return nil, nil, err
	}
	again := reflect.New(reflect.TypeOf(obj).Elem())
	if err := again.Interface().(message).Unmarshal(pb); err != nil {
		return nil, nil, err
	}
	// Not in the message.
	again.Elem().FieldByName("TypeMeta").Set(reflect.ValueOf(obj).Elem().FieldByName("TypeMeta"))
	return again.Interface().(message), pb, nil
}

func object(r request) (answer, error) {
	t := types[[3]string{r.Group, r.Version, r.Kind}]
	if t == nil {
		return answer{}, fmt.Errorf("no kind %s/%s %s", r.Group, r.Version, r.Kind)
	}
	obj := reflect.New(t).Interface().(message)
	var a answer
	if r.Op == "from-pb" {
		data, err := base64.StdEncoding.DecodeString(r.Data)
		if err != nil {
			return a, err
		}
		if err := obj.Unmarshal(data); err != nil {
			return a, err
		}
	} else {
		strict, err := kjson.UnmarshalStrict([]byte(r.Data), obj)
		if err != nil {
			return a, err
		}
		for _, s := range strict {
			a.Notes = append(a.Notes, s.Error())
		}
	}
	again, pb, err := stored(obj)
	if err != nil {
		return a, err
	}
	text, err := json.Marshal(again)
	a.JSON, a.PB = string(text), base64.StdEncoding.EncodeToString(pb)
	return a, err
}

func value(text string) (answer, error) {
	var v any
	var a answer
	strict, err := kjson.UnmarshalStrict([]byte(text), &v)
	if err != nil {
		return a, err
	}
	for _, s := range strict {
		a.Notes = append(a.Notes, s.Error())
	}
	printed, err := json.Marshal(v)
	a.JSON = string(printed)
	return a, err
}

func judge(r request) (answer, error) {
	var parsed json.Marshaler
	quoted, err := json.Marshal(r.Data)
	if err != nil {
		return answer{}, err
	}
	switch r.Op {
	case "read":
		return value(r.Data)
	case "quantity":
		q, err := resource.ParseQuantity(r.Data)
		return answer{JSON: q.String()}, err
	case "time":
		t := metav1.Time{}
		err = t.UnmarshalJSON(quoted)
		parsed = t
	case "microtime":
		t := metav1.MicroTime{}
		err = t.UnmarshalJSON(quoted)
		parsed = t
	default:
		return object(r)
	}
	if err != nil {
		return answer{}, err
	}
	text, err := parsed.MarshalJSON()
	return answer{JSON: string(text)}, err
}

func main() {
	for _, k := range kinds.All() {
		types[[3]string{k.Group, k.Version, k.Type.Name()}] = k.Type
	}
	in := json.NewDecoder(bufio.NewReaderSize(os.Stdin, 1<<20))
	buffered := bufio.NewWriter(os.Stdout)
	out := json.NewEncoder(buffered)
	for {
		var r request
		if err := in.Decode(&r); err == io.EOF {
			break
		} else if err != nil {
			fmt.Fprintln(os.Stderr, "judge:", err)
			os.Exit(1)
		}
		a, err := judge(r)
		if err != nil {
			a = answer{Error: err.Error()}
		}
		if err := out.Encode(a); err != nil {
			fmt.Fprintln(os.Stderr, "judge:", err)
			os.Exit(1)
		}
	}
	if err := buffered.Flush(); err != nil {
		os.Exit(1)
	}
}
