package template_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

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
