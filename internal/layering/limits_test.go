package layering

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What a reader can take in: of every Go file, of every type of the product, and of every folder.
const (
	maxLines   = 500 // of a file, tests included
	maxMethods = 40  // of a type, tests excluded
	maxFiles   = 40  // Go files in a folder that are not tests
)

// overLimit is what was over a limit when the limits were made. THIS LIST ONLY SHRINKS: split what
// you would add here. An entry that is within its limit must go, and the test says so.
//
// Keys are "file PATH", "type FOLDER.NAME" and "folder PATH".
var overLimit = map[string]bool{}

// TestLimits: a file, type or folder that is too large is one that nobody has an overview of.
func TestLimits(t *testing.T) {
	root := moduleRoot(t)
	over := map[string]string{} // what is over its limit, and how
	files, methods := map[string]int{}, map[string]int{}
	for _, file := range goFiles(t, root) {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("parsing %s: %v", file, err)
		}
		if ast.IsGenerated(parsed) {
			continue
		}
		if lines := bytes.Count(text, []byte("\n")); lines > maxLines {
			over["file "+file] = fmt.Sprintf("%d lines, at most %d", lines, maxLines)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		files[path.Dir(file)]++
		for name, n := range methodsOf(parsed) {
			methods[path.Dir(file)+"."+name] += n
		}
	}
	for folder, n := range files {
		if n > maxFiles {
			over["folder "+folder] = fmt.Sprintf("%d Go files that are not tests, at most %d", n, maxFiles)
		}
	}
	for name, n := range methods {
		if n > maxMethods {
			over["type "+name] = fmt.Sprintf("%d methods, at most %d", n, maxMethods)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(over)) {
		if !overLimit[what] {
			t.Errorf("%s: %s", what, over[what])
		}
	}
	for _, what := range slices.Sorted(maps.Keys(overLimit)) {
		if over[what] == "" {
			t.Errorf("%s is within its limit, or gone: remove it from overLimit", what)
		}
	}
}

// methodsOf counts the methods that a file declares for each type, those of an interface included.
func methodsOf(file *ast.File) map[string]int {
	count := map[string]int{}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv != nil {
				count[receiver(decl.Recv.List[0].Type)]++
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					if of, ok := spec.Type.(*ast.InterfaceType); ok {
						count[spec.Name.Name] += of.Methods.NumFields()
					}
				}
			}
		}
	}
	return count
}

// receiver is the name of a receiver's type, without its pointer and its type parameters.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.ParenExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.IndexListExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}

func TestMethodsOf(t *testing.T) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "", `package p
type I interface { A(); B(); error }
func (T) a() {}
func (t *T) b() {}
func (g *G[X]) c() {}
func (g H[X, Y]) d() {}
func e() {}`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := methodsOf(parsed), (map[string]int{"I": 3, "T": 2, "G": 1, "H": 1}); !maps.Equal(got, want) {
		t.Errorf("methods: %v, want %v", got, want)
	}
}
