package template_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// root is the module's folder, seen from this one.
const root = "../.."

var (
	nameForm   = regexp.MustCompile(`^([a-z0-9-]+:|#|:)*Splice(\.\w+)+:\w+$`)
	choiceForm = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*_[A-Z][A-Za-z0-9_]*[a-z][A-Za-z0-9_]*$`)
)

// productCode calls f for each string literal of each product file outside this folder. The
// simulated network is not product code: it spells names itself, so that it can prove ours wrong.
func productCode(t *testing.T, f func(file, literal string)) {
	t.Helper()
	files := 0
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if entry.IsDir() {
			if name != "." && (base[0] == '.' || base == "node_modules" || strings.HasSuffix(base, "test") ||
				name == "internal/devnet" || name == "bench" || name == "schemas/template") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		files++
		parsed, err := parser.ParseFile(token.NewFileSet(), path.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					f(name, text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 300 {
		t.Fatalf("only %d files were read: the walk is broken", files)
	}
}

func TestNamesAreSpelledHereOnly(t *testing.T) {
	choices := map[string]string{} // folder by choice
	productCode(t, func(file, literal string) {
		if nameForm.MatchString(literal) {
			t.Errorf("%s spells %q: use the constant of schemas/template", file, literal)
		}
		if !choiceForm.MatchString(literal) {
			return
		}
		folder := path.Dir(file)
		if other, ok := choices[literal]; ok && other != folder {
			t.Errorf("%s and %s both spell %q: make it a constant of schemas/template", other, folder, literal)
		}
		choices[literal] = folder
	})
	if len(choices) < 30 {
		t.Errorf("only %d choices were found: the pattern is wrong", len(choices))
	}
}

// constants returns the values of the string constants of a file of this folder.
func constants(t *testing.T, file string) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	var value func(e ast.Expr) string
	value = func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.BasicLit:
			text, _ := strconv.Unquote(e.Value)
			return text
		case *ast.Ident:
			return found[e.Name]
		case *ast.BinaryExpr:
			return value(e.X) + value(e.Y)
		}
		return ""
	}
	for _, d := range parsed.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				found[v.Names[0].Name] = value(v.Values[0])
			}
		}
	}
	return found
}

// TestNamesAreThoseOfTheNetwork compares the constants with the catalogue of the network's packages.
func TestNamesAreThoseOfTheNetwork(t *testing.T) {
	known := map[string]bool{}
	for _, e := range values.Default().Entries() {
		known[e.PackageName+":"+e.Entity] = true
	}
	names := 0
	for constant, name := range constants(t, "template.go") {
		if !strings.Contains(name, ":") {
			continue
		}
		names++
		entity := name[strings.LastIndexByte(name, ':')+1:]
		spelled := strings.ReplaceAll(strings.ReplaceAll(entity, "Amulet", "Coin"), "Ans", "Name")
		if strings.HasSuffix(name, "V2:"+entity) && !strings.HasSuffix(entity, "V2") {
			spelled += "V2" // an interface of the second version of the token standard
		}
		if constant != spelled {
			t.Errorf("constant %s names entity %s, want it to be named %s", constant, entity, spelled)
		}
		if !known[name] {
			t.Errorf("%s is not in the catalogue: %s", constant, name)
		}
	}
	if names < 40 {
		t.Errorf("only %d names were found", names)
	}
}

func TestLookupFieldsExist(t *testing.T) {
	looked := 0
	for constant, name := range constants(t, "template.go") {
		pkg, entity, _ := strings.Cut(name, ":")
		for _, field := range template.LookupFields(name) {
			looked++
			kind := values.Default().Template(pkg, entity)
			for _, label := range strings.Split(field, ".") {
				kind = fieldType(kind, label)
			}
			if kind == nil {
				t.Errorf("%s has no field %s", constant, field)
			}
		}
		if public := template.PublicLookupFields(name); public != nil && len(public) != len(template.LookupFields(name)) {
			t.Errorf("%s is looked up by %q in public history", constant, public)
		}
	}
	if looked < 20 {
		t.Errorf("only %d fields were looked for", looked)
	}
}

func fieldType(kind *values.Type, label string) *values.Type {
	if kind != nil {
		for _, f := range kind.Fields {
			if f.Label == label {
				return f.Type
			}
		}
	}
	return nil
}

func TestIs(t *testing.T) {
	for _, c := range []struct {
		pkg, id string
		want    bool
	}{
		{"splice-amulet", "00ff:Splice.Amulet:Amulet", true},
		{"splice-amulet", "Splice.Amulet:Amulet", true},
		{"splice-amulet", "00ff:Splice.Amulet:LockedAmulet", false},
		{"splice-amulet", "00ff:NotSplice.Amulet:Amulet", false},
		{"splice", "00ff:-amulet:Splice.Amulet:Amulet", false},
		{"acme-amulet", "00ff:Splice.Amulet:Amulet", false},
		{"", "00ff:Splice.Amulet:Amulet", false},
	} {
		if got := template.Is(template.Coin, c.pkg, c.id); got != c.want {
			t.Errorf("%s %s is a coin: %t, want %t", c.pkg, c.id, got, c.want)
		}
	}
	if got := template.Entity(template.Coin); got != "Splice.Amulet:Amulet" {
		t.Errorf("the entity is %q", got)
	}
}
