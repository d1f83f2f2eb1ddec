package layering

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/ledgerlake/ledgerlake"

// everything lets a layer import all of the module but cmd and bench, which nothing imports.
const everything = "*"

// everywhere is the folder that all others may import.
const everywhere = "internal/guard"

// layers says, per folder, which other folders its code may import, their
// sub-folders included. A folder always may import its own sub-folders. Arrows only
// point down: what a layer needs of one beside it is an interface that it declares
// itself and internal/app fills in.
var layers = map[string][]string{
	"schemas": nil,

	// Everything may import it: it starts the product's goroutines.
	everywhere: nil,

	"internal/child":         nil,
	"internal/cluster":       nil,
	"internal/memo":          nil,
	"internal/columnar":      {"schemas"},
	"internal/native":        nil,
	"internal/store":         {"schemas", "internal/cluster", "internal/native"},
	"internal/history":       {"schemas", "internal/memo", "internal/store"},
	"internal/engine":        {"schemas", "internal/native", "internal/child"},
	"internal/bucket":        {"schemas", "internal/child"},
	"internal/verify":        {"schemas", "internal/history"},
	"internal/damage":        {"schemas", "internal/engine", "internal/store", "internal/history"},
	"internal/faults":        nil,
	"internal/remote":        nil,
	"internal/node":          {"internal/remote"},
	"internal/blobs":         {"schemas", "internal/memo", "internal/remote"},
	"internal/wallet":        {"schemas", "internal/memo", "internal/blobs", "internal/remote", "internal/node", "internal/history"},
	"internal/browser":       nil, // for tests, pictures and bench
	"internal/layering":      nil,
	"internal/packages":      {"schemas"},
	"internal/packages/kept": {"schemas", "internal/packages", "internal/store"},

	"internal/published": {"schemas", "internal/memo", "internal/bucket", "internal/store", "internal/history"},

	// The simulated network, from its vocabulary up to its services.
	"internal/devnet":                {"internal/devnet/ledger", "internal/devnet/ledger/choices", "internal/devnet/ledger/history", "internal/devnet/ledger/sim", "internal/devnet/nodeapi", "internal/devnet/scanapi", "internal/devnet/prepared"},
	"internal/devnet/ledger/model":   {"schemas"},
	"internal/devnet/ledger/sim":     {"internal/devnet/ledger/model"},
	"internal/devnet/ledger/choices": {"schemas", "internal/devnet/ledger/model", "internal/devnet/ledger/sim"},
	"internal/devnet/ledger/history": {"schemas", "internal/devnet/ledger/model", "internal/devnet/ledger/sim"},
	"internal/devnet/prepared":       {"schemas", "internal/devnet/ledger/model", "internal/devnet/ledger/sim", "internal/devnet/ledger/choices"},
	"internal/devnet/ledger":         {"schemas", "internal/devnet/ledger/model", "internal/devnet/ledger/sim", "internal/devnet/ledger/choices", "internal/devnet/ledger/history", "internal/devnet/prepared"},
	"internal/devnet/scanapi":        {"schemas", "internal/devnet/ledger", "internal/devnet/ledger/history", "internal/devnet/ledger/model", "internal/devnet/ledger/sim", "internal/devnet/reply"},
	"internal/devnet/nodeapi":        {"schemas", "internal/devnet/ledger", "internal/devnet/ledger/choices", "internal/devnet/ledger/history", "internal/devnet/ledger/model", "internal/devnet/ledger/sim", "internal/devnet/prepared", "internal/devnet/reply"},
	"internal/devnet/reply":          nil,

	// Only tests import it.
	"internal/bucket/buckettest": {"internal/bucket", "internal/faults"},

	"docs":           {"schemas"},
	"docs/analytics": nil,
	"docs/formats":   nil,
	"scripts":        {"internal/packages", "internal/browser"},

	"ingest":  {"schemas", "internal/remote", "internal/store"},
	"indexer": {"schemas", "docs/formats", "internal/cluster", "internal/native", "internal/remote", "internal/store", "internal/history"},
	"query":   {"schemas", "docs/analytics", "internal/columnar", "internal/memo", "internal/engine", "internal/bucket", "internal/store", "internal/history", "internal/published", "internal/wallet"},
	"jobs":    {"schemas", "internal/engine", "internal/bucket", "internal/store", "internal/history", "internal/wallet"},

	// Its folders never import each other nor it: what one needs of it is an interface that it
	// declares itself and export fills in.
	"export":         {"schemas", "internal/bucket", "internal/store", "internal/history", "internal/published", "export/archive", "export/iceberg", "export/network"},
	"export/archive": {"schemas", "internal/bucket", "internal/published"},
	"export/iceberg": {"schemas", "internal/bucket"},
	"export/network": {"schemas", "internal/bucket", "internal/store", "internal/history", "internal/published"},

	"bench": {everything},
	"cmd":   {"schemas", "docs/analytics", "internal/app", "internal/verify", "export/archive", "internal/packages/kept", "jobs"}, // what it prints, beside app

	// What a process is made of. It knows all parts.
	"internal/app": {everything},
}

// layerOf returns the longest folder of layers that holds dir, or "".
func layerOf(dir string) string {
	for d := dir; d != "."; d = path.Dir(d) {
		if _, ok := layers[d]; ok {
			return d
		}
	}
	return ""
}

// check returns why a file in folder from must not import folder to, or nil. Folders
// are relative to the module's root. Tests may import every layer but cmd: they build
// the parts that the code under test is given by its caller.
func check(from, to string, test bool) error {
	source, target := layerOf(from), layerOf(to)
	switch {
	case source == "":
		return errors.New("the importing folder has no line in layers")
	case target == "":
		return errors.New("the imported folder has no line in layers")
	case source == target, target == everywhere:
		return nil
	case target == "cmd", target == "bench":
		return errors.New("nothing imports cmd or bench")
	case test || isTestSupport(from) || slices.Contains(layers[source], everything):
		return nil
	case !slices.Contains(layers[source], target):
		return fmt.Errorf("%s may import only %q", source, layers[source])
	}
	return nil
}

// isTestSupport reports whether a package exists for tests alone, which its name
// says by the ending "test", as in net/http/httptest.
func isTestSupport(dir string) bool { return strings.HasSuffix(path.Base(dir), "test") }

func TestImportsPointDown(t *testing.T) {
	root := moduleRoot(t)
	files := 0
	for _, file := range goFiles(t, root) {
		dir := path.Dir(file)
		if layerOf(dir) == "" {
			t.Errorf("%s: folder %s has no line in layers: say what it may import", file, dir)
			continue
		}
		files++
		for _, imported := range importsOf(t, root, file) {
			if err := check(dir, imported, strings.HasSuffix(file, "_test.go")); err != nil {
				t.Errorf("%s imports %s: %v", file, imported, err)
			}
			if isTestSupport(imported) && !isTestSupport(dir) && !strings.HasSuffix(file, "_test.go") {
				t.Errorf("%s imports %s, which is for tests", file, imported)
			}
		}
	}
	if files < len(layers) {
		t.Fatalf("only %d Go files found under %s: the walk is broken", files, root)
	}
}

func TestCheck(t *testing.T) {
	cases := []struct {
		name     string
		from, to string
		test     bool
		allowed  bool
	}{
		{"schemas imports its own sub-packages", "schemas", "schemas/jsonscan", false, true},
		{"schemas imports nothing below it", "schemas/values", "internal/store", false, false},
		{"history reads through store", "internal/history", "internal/store", false, true},
		{"store knows nothing of history", "internal/store", "internal/history", false, false},
		{"siblings use the lower layer", "indexer", "internal/store", false, true},
		{"siblings never import each other", "export", "indexer", false, false},
		{"not by a sub-folder either", "query/scan", "export", false, false},
		{"a sibling's own sub-folder", "query", "query/scan", false, true},
		{"no part imports the simulated network", "ingest/scan", "internal/devnet", false, false},
		{"a test may", "ingest/scan", "internal/devnet", true, true},
		{"cmd runs no part by itself", "cmd/ledgerlake", "internal/devnet", false, false},
		{"app imports all parts", "internal/app", "internal/devnet", false, true},
		{"nothing imports cmd", "bench", "cmd/ledgerlake", false, false},
		{"not in a test either", "query", "cmd/ledgerlake", true, false},
		{"an unknown folder needs a decision", "helpers", "schemas", false, false},
		{"everything imports guard", "internal/store", "internal/guard", false, true},
		{"guard imports nothing", "internal/guard", "schemas", false, false},
		{"also as a target", "query", "helpers", false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := check(c.from, c.to, c.test); (err == nil) != c.allowed {
				t.Errorf("check(%q, %q, test=%v) = %v, want allowed=%v", c.from, c.to, c.test, err, c.allowed)
			}
		})
	}
}

// moduleRoot returns the folder of go.mod, upwards from the test's own.
func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = parent
	}
}

// goFiles lists the Go files that the go tool would see, relative to root with
// forward slashes. Build tags are ignored: every variant must keep the rules.
func goFiles(t *testing.T, root string) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case name == ".":
			return nil
		case entry.IsDir() && (base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_'):
			return fs.SkipDir
		case !entry.IsDir() && path.Ext(name) == ".go":
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("walking %s: %v", root, err)
	}
	return files
}

// importsOf returns the packages of this module that a file imports, relative to
// its root.
func importsOf(t *testing.T, root, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatalf("parsing %s: %v", file, err)
	}
	var imports []string
	for _, spec := range parsed.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: import %s: %v", file, spec.Path.Value, err)
		}
		if rest, ok := strings.CutPrefix(name, module+"/"); ok {
			imports = append(imports, rest)
		}
	}
	return imports
}
