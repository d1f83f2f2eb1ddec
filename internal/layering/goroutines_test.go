package layering

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// unguarded are the folders and files that start goroutines by themselves, with the reason.
var unguarded = map[string]string{
	"internal/guard":                  "it is what guards",
	"internal/child/process.go":       "waits for a child process on a thread of its own",
	"internal/bucket/gateway_main.go": "runs in the child process, which the product survives",
	"internal/faults":                 "injects faults, in tests and benchmarks alone",
	"internal/devnet":                 "the simulated network",
	"bench":                           "not part of the product",
}

// TestGoroutinesAreGuarded: a panic on a goroutine that nothing recovers ends the process, with
// all that it serves and ingests. So the product starts goroutines by package guard alone.
func TestGoroutinesAreGuarded(t *testing.T) {
	root := moduleRoot(t)
	seen := map[string]bool{}
	for _, file := range goFiles(t, root) {
		if strings.HasSuffix(file, "_test.go") || isTestSupport(path.Dir(file)) {
			continue
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, filepath.Join(root, file), nil, 0)
		if err != nil {
			t.Fatalf("parsing %s: %v", file, err)
		}
		for _, found := range startsOf(parsed) {
			if of := exception(file); of != "" {
				seen[of] = true
				continue
			}
			t.Errorf("%s %s: use guard.Go or guard.Group", fset.Position(found.at), found.what)
		}
	}
	for of := range unguarded {
		if !seen[of] {
			t.Errorf("%s starts no goroutine any more: remove its exception", of)
		}
	}
}

// exception is the entry of unguarded that file falls under, "" for none.
func exception(file string) string {
	for at := file; at != "."; at = path.Dir(at) {
		if _, ok := unguarded[at]; ok {
			return at
		}
	}
	return ""
}

type start struct {
	at   token.Pos
	what string
}

// startsOf finds what starts goroutines that nothing recovers: go statements, error groups, and
// methods Go of what the file declares as a wait group.
func startsOf(file *ast.File) (list []start) {
	for _, spec := range file.Imports {
		if name, err := strconv.Unquote(spec.Path.Value); err == nil && name == "golang.org/x/sync/errgroup" {
			list = append(list, start{spec.Pos(), "imports errgroup"})
		}
	}
	groups := waitGroups(file)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			list = append(list, start{n.Pos(), "has a go statement"})
		case *ast.SelectorExpr:
			if n.Sel.Name == "Go" && groups[lastName(n.X)] {
				list = append(list, start{n.Pos(), "starts a goroutine by a wait group"})
			}
		}
		return true
	})
	return list
}

// waitGroups are the names of variables, fields and parameters of type sync.WaitGroup.
func waitGroups(file *ast.File) map[string]bool {
	names := map[string]bool{}
	note := func(list []*ast.Ident, of ast.Expr) {
		if star, ok := of.(*ast.StarExpr); ok {
			of = star.X
		}
		if sel, ok := of.(*ast.SelectorExpr); !ok || sel.Sel.Name != "WaitGroup" {
			return
		}
		for _, name := range list {
			names[name.Name] = true
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			note(n.Names, n.Type)
		case *ast.ValueSpec:
			note(n.Names, n.Type)
		}
		return true
	})
	return names
}

// lastName is the name of a variable or of a field of it, "" for other expressions.
func lastName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}

func TestStartsOf(t *testing.T) {
	for source, want := range map[string]int{
		"go f()":                        1,
		"go func() {}()":                1,
		"var w sync.WaitGroup; w.Go(f)": 1,
		"var c struct{ w sync.WaitGroup }; c.w.Go(func() {})": 1,
		"f := func(w *sync.WaitGroup) { w.Go(f) }":            1,
		"group.Go(func() error { go f() })":                   1,
		"group.Go(func() error { return f })":                 0,
		"guard.Go(f, g)":                                      0,
	} {
		parsed, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {"+source+"}", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(startsOf(parsed)); got != want {
			t.Errorf("%q: %d starts found, not %d", source, got, want)
		}
	}
}
