// Writes src/sim/api/structural_runes_data.c out of Go's own tables, which are what the real
// server's patterns are matched with:
//
//	go run tools/unicode/unicode.go | clang-format > src/sim/api/structural_runes_data.c
package main

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
	"unicode"
)

const assigned = 0x110000

func numbers(name string, list []string, perLine int) {
	fmt.Printf("%s = {\n", name)
	for i := 0; i < len(list); i += perLine {
		fmt.Printf("    %s,\n", strings.Join(list[i:min(i+perLine, len(list))], ", "))
	}
	fmt.Println("};")
}

// runs is a table of where the value of a character changes: the first character of a run in the
// upper 24 bits, the value (an index into names; the last one is "none") in the lower 8.
func runs(names []string, tables map[string]*unicode.RangeTable) []string {
	var list []string
	last := -1
	for r := rune(0); r < assigned; r++ {
		if last >= 0 && last < len(names) && unicode.Is(tables[names[last]], r) {
			continue
		}
		value := len(names)
		for i, name := range names {
			if unicode.Is(tables[name], r) {
				value = i
				break
			}
		}
		if value != last {
			list = append(list, fmt.Sprintf("0x%08x", uint32(r)<<8|uint32(value)))
			last = value
		}
	}
	return list
}

func emitRuns(what string, names []string, tables map[string]*unicode.RangeTable) {
	numbers("const uint32_t rune_"+what+"_runs[]", runs(names, tables), 8)
	fmt.Printf("const size_t rune_%[1]s_n_runs = sizeof rune_%[1]s_runs / sizeof rune_%[1]s_runs[0];\n\n", what)
}

func known(name string) bool {
	_, err := regexp.Compile(`\p{` + name + `}`)
	return err == nil
}

func main() {
	fmt.Printf("/* Written by tools/unicode/unicode.go: Unicode %s as Go has it. Do not edit. */\n", unicode.Version)
	fmt.Print("#include \"sim/api/structural_runes_data.h\"\n\n")

	var categories, scripts []string
	for name := range unicode.Categories {
		if len(name) == 2 && name != "LC" {
			categories = append(categories, name)
		}
	}
	sort.Strings(categories)
	// Go's regexps do not find a script whose name has a second capital or an underscore; the
	// characters are told apart all the same.
	for name := range unicode.Scripts {
		scripts = append(scripts, name)
	}
	sort.Strings(scripts)

	quoted := func(list []string) (out []string) {
		for _, name := range list {
			out = append(out, `"`+name+`"`)
		}
		return
	}
	numbers("const char *const rune_categories[]", append(quoted(categories), "NULL"), 16)
	fmt.Println()
	var found []string
	for _, name := range scripts {
		if known(name) {
			found = append(found, `"`+name+`"`)
		} else {
			found = append(found, `""`)
		}
	}
	numbers("const char *const rune_scripts[]", append(found, "NULL"), 6)
	fmt.Println()

	var aliases []string
	for name, actual := range unicode.CategoryAliases {
		canonical := strings.ToLower(strings.ReplaceAll(name, "_", ""))
		aliases = append(aliases, fmt.Sprintf(`{"%s", "%s"}`, canonical, actual))
	}
	sort.Strings(aliases)
	numbers("const struct rune_alias rune_aliases[]", append(aliases, "{NULL, NULL}"), 3)
	fmt.Println()

	emitRuns("category", categories, unicode.Categories)
	emitRuns("script", scripts, unicode.Scripts)

	// Orbits of two as runs: lo, last, step, distance. Orbits of more: each member and the next.
	type run struct{ lo, last, step, distance rune }
	var pairs []run
	var more []string
	for r := rune(0); r < assigned; r++ {
		f := unicode.SimpleFold(r)
		if f == r {
			continue
		}
		if unicode.SimpleFold(f) != r {
			more = append(more, fmt.Sprintf("{0x%04x, 0x%04x}", r, f))
			continue
		}
		if f < r {
			continue
		}
		n := len(pairs)
		if n > 0 && pairs[n-1].distance == f-r {
			p := &pairs[n-1]
			if d := r - p.last; d == p.step || p.lo == p.last && d <= 2 {
				p.last, p.step = r, d
				continue
			}
		}
		pairs = append(pairs, run{r, r, 1, f - r})
	}
	var out []string
	for _, p := range pairs {
		out = append(out, fmt.Sprintf("{0x%x, 0x%x, %d, %d}", p.lo, p.last, p.step, p.distance))
	}
	numbers("const struct rune_pairs rune_pairs[]", out, 3)
	fmt.Print("const size_t rune_n_pairs = sizeof rune_pairs / sizeof rune_pairs[0];\n\n")
	numbers("const struct rune_next rune_nexts[]", more, 4)
	fmt.Print("const size_t rune_n_nexts = sizeof rune_nexts / sizeof rune_nexts[0];\n")
}
