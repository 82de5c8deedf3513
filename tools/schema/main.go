// schema prints src/sim/schema/schema_data.c: the shape of the Kubernetes kinds that the simulator serves, taken from
// Kubernetes' own Go types by reflection, and from the comments of their sources where the types do not say it.
//
//	cd tools/schema && go run . > ../../src/sim/schema/schema_data.c
//
// A type that it does not understand ends it: a table that left something out would be worse than none.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"reflect"
	"sort"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"slipway.dev/tools/schema/kinds"
)

// Types whose text is not that of their fields.  Those of a JSON schema hold one, so they lead on to its type.
var special = map[reflect.Type]struct {
	kind string
	of   reflect.Type
}{
	reflect.TypeFor[metav1.Time]():                                  {"TIME", nil},
	reflect.TypeFor[metav1.MicroTime]():                             {"MICROTIME", nil},
	reflect.TypeFor[resource.Quantity]():                            {"QUANTITY", nil},
	reflect.TypeFor[intstr.IntOrString]():                           {"INTSTR", nil},
	reflect.TypeFor[runtime.RawExtension]():                         {"RAW", nil},
	reflect.TypeFor[metav1.FieldsV1]():                              {"RAW", nil},
	reflect.TypeFor[apiextensionsv1.JSON]():                         {"RAW", nil},
	reflect.TypeFor[authenticationv1.ExtraValue]():                  {"STRINGS", nil},
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():        {"OR_BOOL", jsonSchema},
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():       {"OR_LIST", jsonSchema},
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray](): {"OR_STRINGS", jsonSchema},
}

var jsonSchema = reflect.TypeFor[apiextensionsv1.JSONSchemaProps]()

type field struct {
	json     string
	pb       int
	flags    []string
	kind     string
	of       reflect.Type
	mergeKey string
	goType   string // "" when it follows from the rest
	at       int    // place among the keys of the whole object
}

type schema struct {
	typ    reflect.Type
	name   string
	fields []field
	flat   int // keys, those of inlined objects too
	keys   []string
}

var (
	schemas = map[reflect.Type]*schema{}
	sources = comments{}
)

func die(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "schema: "+format+"\n", args...)
	os.Exit(1)
}

func modelName(t reflect.Type) string {
	if m, ok := reflect.Zero(t).Interface().(interface{ OpenAPIModelName() string }); ok {
		return m.OpenAPIModelName()
	}
	die("%v has no OpenAPI name", t)
	return ""
}

// The fields of a struct, and of those that it leads to.
func walk(t reflect.Type) *schema {
	if s := schemas[t]; s != nil {
		return s
	}
	s := &schema{typ: t, name: modelName(t)}
	schemas[t] = s
	for i := range t.NumField() {
		s.add(t, t.Field(i))
	}
	sort.Strings(s.keys)
	for i := 1; i < len(s.keys); i++ {
		if s.keys[i] == s.keys[i-1] {
			die("%v has the key %s twice", t, s.keys[i])
		}
	}
	return s
}

func (s *schema) add(t reflect.Type, sf reflect.StructField) {
	where := fmt.Sprintf("%v.%s", t, sf.Name)
	name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
	if name == "-" || !sf.IsExported() {
		die("%s is not in JSON", where)
	}
	f := field{json: name, at: s.flat}
	set := func(flag string, on bool) {
		if on {
			f.flags = append(f.flags, flag)
		}
	}
	if tag := sf.Tag.Get("protobuf"); tag != "" {
		if _, err := fmt.Sscanf(strings.Split(tag, ",")[1], "%d", &f.pb); err != nil {
			die("%s: protobuf tag %q", where, tag)
		}
	}
	if strings.Contains(options, "string") {
		die("%s: option \"string\"", where)
	}
	omitEmpty, omitZero := strings.Contains(options, "omitempty"), strings.Contains(options, "omitzero")

	if name == "" {
		if !sf.Anonymous || sf.Type.Kind() != reflect.Struct || sf.Name != sf.Type.Name() {
			die("%s: neither a name nor an embedded struct", where)
		}
		f.kind, f.of = "OBJECT", sf.Type
		set("INLINE", true)
		inner := walk(sf.Type)
		if inner.flat != len(inner.fields) {
			die("%s: an embedded struct in an embedded struct", where)
		}
		s.flat += inner.flat
		s.keys = append(s.keys, inner.keys...)
		s.fields = append(s.fields, f)
		return
	}
	s.flat++
	s.keys = append(s.keys, name)

	typ := sf.Type
	if typ.Kind() == reflect.Pointer {
		set("POINTER", true)
		typ = typ.Elem()
	}
	whole, prefix := typ, ""
	if _, ok := special[typ]; !ok && typ != reflect.TypeFor[[]byte]() {
		switch typ.Kind() {
		case reflect.Slice:
			set("LIST", true)
			prefix, typ = "[]", typ.Elem()
		case reflect.Map:
			if typ.Key().Kind() != reflect.String {
				die("%s: keys that are no strings", where)
			}
			set("MAP", true)
			prefix, typ = "map[string]", typ.Elem()
		}
	}
	if prefix != "" && sf.Type.Kind() == reflect.Pointer {
		die("%s: a pointer to a list or map", where)
	}
	plain := ""
	if sp, ok := special[typ]; ok {
		f.kind, f.of, plain = sp.kind, sp.of, typ.String()
	} else if typ.Kind() == reflect.Struct {
		f.kind, f.of, plain = "OBJECT", typ, typ.String()
	} else if typ == reflect.TypeFor[[]byte]() {
		f.kind, plain = "BYTES", "[]uint8"
	} else {
		switch typ.Kind() {
		case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64:
			f.kind, plain = strings.ToUpper(typ.Kind().String()), typ.Kind().String()
		case reflect.Float64:
			f.kind, plain = "DOUBLE", "float64"
		default:
			die("%s: a field of type %v", where, sf.Type)
		}
	}
	if f.of != nil {
		walk(f.of)
		if parts := strings.Split(modelName(f.of), "."); f.kind == "OBJECT" && strings.Join(parts[len(parts)-2:], ".") != plain {
			die("%s: the name of %s is not that of its Go type", where, plain)
		}
	}
	if whole.String() != prefix+plain || f.kind == "RAW" { // three types are RAW, and OpenAPI tells them apart
		f.goType = whole.String()
	}

	isStruct := prefix == "" && sf.Type.Kind() == reflect.Struct
	set("OMITEMPTY", omitZero || omitEmpty && !isStruct)
	switch strategy := sf.Tag.Get("patchStrategy"); strategy {
	case "":
	case "merge":
		set("MERGE", true)
	case "retainKeys":
		set("RETAIN_KEYS", true)
	case "merge,retainKeys":
		set("MERGE", true)
		set("RETAIN_KEYS", true)
	case "replace":
		set("REPLACE", true)
	default:
		die("%s: patchStrategy %q", where, strategy)
	}
	f.mergeKey = sf.Tag.Get("patchMergeKey")
	set("REQUIRED", sources.required(t, sf.Name, omitEmpty || omitZero))
	s.fields = append(s.fields, f)
}

func identifier(s *schema) string {
	parts := strings.Split(s.name, ".")
	return strings.Join(parts[len(parts)-3:], "_")
}

func quoted(text string) string {
	if text == "" {
		return "NULL"
	}
	return `"` + text + `"`
}

// wrap prints words in lines of at most 100 columns.
func wrap(out io.Writer, words []string) {
	line := "   "
	for _, w := range words {
		if len(line)+1+len(w) > 100 {
			fmt.Fprintln(out, line)
			line = "   "
		}
		line += " " + w
	}
	fmt.Fprintln(out, line)
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	type root struct{ kind, group, version, id string }
	var roots []root
	for _, k := range kinds.All() {
		roots = append(roots, root{k.Type.Name(), k.Group, k.Version, identifier(walk(k.Type))})
	}
	sort.Slice(roots, func(i, j int) bool {
		a, b := roots[i], roots[j]
		return a.kind < b.kind || a.kind == b.kind && a.group < b.group
	})
	var all []*schema
	for _, s := range schemas {
		all = append(all, s)
	}
	sort.Slice(all, func(i, j int) bool { return identifier(all[i]) < identifier(all[j]) })

	fmt.Fprint(out, head)
	var names []string
	for i, s := range all {
		if i > 0 && identifier(s) == identifier(all[i-1]) {
			die("two types are called %s", identifier(s))
		}
		names = append(names, identifier(s)+",")
	}
	wrap(out, names)
	fmt.Fprint(out, "};\n\nstatic const struct schema_field fields[] = {\n")
	for _, s := range all {
		fmt.Fprintf(out, "    /* %s */\n", s.name)
		for _, f := range s.fields {
			of := "NULL"
			if f.of != nil {
				of = "S(" + identifier(schemas[f.of]) + ")"
			}
			flags := "0"
			if len(f.flags) > 0 {
				flags = strings.Join(f.flags, " | ")
			}
			fmt.Fprintf(out, "    {\"%s\", %s, %s, %s, %d, %s, SCHEMA_%s, %d, %d},\n", f.json, of, quoted(f.mergeKey),
				quoted(f.goType), f.pb, flags, f.kind, len(f.json), f.at)
		}
	}
	fmt.Fprint(out, "};\n\n/* Indexes of fields within their schema: by key, then by number. */\n"+
		"static const uint8_t orders[] = {\n")
	var rows, numbers []string
	first, order := 0, 0
	for _, s := range all {
		var byName, byNumber []int
		for i, f := range s.fields {
			if f.json != "" {
				byName = append(byName, i)
			}
			if f.pb != 0 {
				byNumber = append(byNumber, i)
			}
		}
		sort.Slice(byName, func(a, b int) bool {
			x, y := s.fields[byName[a]].json, s.fields[byName[b]].json
			return len(x) < len(y) || len(x) == len(y) && x < y
		})
		sort.Slice(byNumber, func(a, b int) bool { return s.fields[byNumber[a]].pb < s.fields[byNumber[b]].pb })
		if len(s.fields) > 250 || s.flat > 250 {
			die("%v has more fields than a byte can count", s.typ)
		}
		for _, i := range append(byName, byNumber...) {
			numbers = append(numbers, fmt.Sprintf("%d,", i))
		}
		rows = append(rows, fmt.Sprintf("    {\"%s\", fields + %d, orders + %d, orders + %d, %d, %d, %d, %d},\n", s.name,
			first, order, order+len(byName), len(s.fields), len(byName), len(byNumber), s.flat))
		first += len(s.fields)
		order += len(byName) + len(byNumber)
	}
	wrap(out, numbers)
	fmt.Fprintf(out, "};\n\nconst struct schema schema_all[%d] = {\n%s};\nconst size_t schema_n_all = %d;\n\n",
		len(all), strings.Join(rows, ""), len(all))
	fmt.Fprintf(out, "const struct schema_root schema_roots[%d] = {\n", len(roots))
	for _, k := range roots {
		fmt.Fprintf(out, "    {\"%s\", \"%s\", \"%s\", S(%s)},\n", k.kind, k.group, k.version, k.id)
	}
	fmt.Fprintf(out, "};\nconst size_t schema_n_roots = %d;\n", len(roots))
	if err := out.Flush(); err != nil {
		die("%v", err)
	}
}

const head = `/* The shape of Kubernetes' kinds (schema.h). Generated by tools/schema, not by hand:
 *     cd tools/schema && go run . > ../../src/sim/schema/schema_data.c */
/* clang-format off */
#include "sim/schema/schema_table.h"

#define S(name) (&schema_all[name])

enum {
    LIST = SCHEMA_LIST,
    MAP = SCHEMA_MAP,
    POINTER = SCHEMA_POINTER,
    OMITEMPTY = SCHEMA_OMITEMPTY,
    INLINE = SCHEMA_INLINE,
    MERGE = SCHEMA_MERGE,
    RETAIN_KEYS = SCHEMA_RETAIN_KEYS,
    REPLACE = SCHEMA_REPLACE,
    REQUIRED = SCHEMA_REQUIRED,
};

enum {
`
