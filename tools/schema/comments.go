package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
)

// comments knows what the sources say about fields beyond their types: package -> type -> field -> comment.
type comments map[string]map[string]map[string]string

var (
	optional = regexp.MustCompile(`(?m)^\s*\+optional\b`)
	required = regexp.MustCompile(`(?m)^\s*\+required\b`)
)

// required follows the generator of Kubernetes' OpenAPI documents: a marker in the comment, else what encoders leave out.
func (c comments) required(t reflect.Type, name string, omitted bool) bool {
	pkg := t.PkgPath()
	if c[pkg] == nil {
		c[pkg] = read(pkg)
	}
	comment, ok := c[pkg][t.Name()][name]
	switch {
	case !ok:
		die("the source of %v.%s was not found", t, name)
	case required.MatchString(comment):
		return true
	case optional.MatchString(comment):
		return false
	}
	return !omitted
}

func read(pkg string) map[string]map[string]string {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		die("go list %s: %v", pkg, err)
	}
	found := map[string]map[string]string{}
	isSource := func(info fs.FileInfo) bool { return !strings.HasSuffix(info.Name(), "_test.go") }
	packages, err := parser.ParseDir(token.NewFileSet(), strings.TrimSpace(string(dir)), isSource, parser.ParseComments)
	if err != nil {
		die("%v", err)
	}
	for _, p := range packages {
		ast.Inspect(p, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if st, ok := spec.Type.(*ast.StructType); ok {
				found[spec.Name.Name] = fields(st)
			}
			return false
		})
	}
	return found
}

func fields(st *ast.StructType) map[string]string {
	found := map[string]string{}
	for _, f := range st.Fields.List {
		for _, name := range f.Names {
			found[name.Name] = f.Doc.Text()
		}
		if len(f.Names) == 0 { // embedded: called after its type
			typ := f.Type
			if star, ok := typ.(*ast.StarExpr); ok {
				typ = star.X
			}
			switch x := typ.(type) {
			case *ast.Ident:
				found[x.Name] = f.Doc.Text()
			case *ast.SelectorExpr:
				found[x.Sel.Name] = f.Doc.Text()
			}
		}
	}
	return found
}
