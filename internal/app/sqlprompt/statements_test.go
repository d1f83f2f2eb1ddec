package sqlprompt

import (
	"reflect"
	"strings"
	"testing"
)

// Statements end at semicolons outside of quotes and comments, anywhere in a line.
func TestStatements(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []statement
	}{
		"nothing":           {" \n-- only a comment;\n/* and\nanother; */ ;; # one more;\n", nil},
		"no semicolon":      {"SELECT 1\n", []statement{{"SELECT 1", 1, "SELECT 1;"}}},
		"several in a line": {"SELECT 1; SELECT 2;SELECT 3", []statement{{"SELECT 1", 1, "SELECT 1;"}, {"SELECT 2", 1, "SELECT 2;"}, {"SELECT 3", 1, "SELECT 3;"}}},
		"quotes": {"SELECT ';', \"a;\", `b;`, 'it''s; \\'x;' ;\n\nSELECT $$;'$$, $e$;$$;$e$;", []statement{
			{"SELECT ';', \"a;\", `b;`, 'it''s; \\'x;'", 1, "SELECT ';', \"a;\", `b;`, 'it''s; \\'x;';"},
			{"SELECT $$;'$$, $e$;$$;$e$", 3, "SELECT $$;'$$, $e$;$$;$e$;"}}},
		"comments": {"\n-- what; it's\nSELECT 1 -- one;\n  + /* two;\n ' */ 2\n;SELECT a$b$c; SELECT 3 - -1", []statement{
			{"-- what; it's\nSELECT 1 -- one;\n  + /* two;\n ' */ 2", 2, "SELECT 1    +   2;"},
			{"SELECT a$b$c", 6, "SELECT a$b$c;"}, {"SELECT 3 - -1", 6, "SELECT 3 - -1;"}}},
		"a quote over lines has no flat form": {"SELECT 'a\n;b'; SELECT 4", []statement{{"SELECT 'a\n;b'", 1, ""}, {"SELECT 4", 2, "SELECT 4;"}}},
	} {
		var got []statement
		err := eachStatement(strings.NewReader(c.in), func(s statement) error { got = append(got, s); return nil })
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q gives\n%#v, %v\nwant\n%#v", name, c.in, got, err, c.want)
		}
	}
	if err := eachStatement(strings.NewReader(strings.Repeat("x\n", maxStatement)), func(statement) error { return nil }); err == nil {
		t.Error("a statement may be of any length")
	}
}
