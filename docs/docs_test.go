// Package docs_test keeps the pages of this folder true to the code: every column,
// setting, subcommand and HTTP operation that the code has must be on its page, and
// links must lead somewhere. The column tables of formats/parquet.md are written by
// the test itself: go test ./docs -update.
package docs_test

import (
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
)

var update = flag.Bool("update", false, "rewrite the generated tables")

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// section returns the text below the heading "## name" up to the next one.
func section(t *testing.T, page, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "\n## "+name+"\n")
	if !ok {
		t.Errorf("there is no section %q", name)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

var (
	createTable = regexp.MustCompile(`(?s)CREATE TABLE IF NOT EXISTS (\w+)\n\((.*?)\n\)\nENGINE`)
	addedColumn = regexp.MustCompile(`(?m)^    ADD COLUMN IF NOT EXISTS (\w+)\s+(.+?)(?: DEFAULT .*)?[,;]$`)
	dropped     = regexp.MustCompile(`(?m)DROP (?:TABLE|COLUMN) IF EXISTS (\w+)`)
	alterTable  = regexp.MustCompile(`(?s)ALTER TABLE (\w+)\n(.*?;)`)
	columnLine  = regexp.MustCompile(`(?m)^    (\w+)\s+(.+?)(?: DEFAULT .*| COMMENT '((?:[^']|'')*)'.*| CODEC.*| ALIAS .*)?,?$`)
)

// Every column of every table is in formats/store.md with its type, and with its comment if it has one.
func TestStoreColumnsAreDocumented(t *testing.T) {
	page := read(t, "formats/store.md")
	tables := 0
	gone := make(map[string]bool) // names of tables and columns that a later version dropped
	eachMigration(t, func(_, ddl string) {
		for _, name := range dropped.FindAllStringSubmatch(ddl, -1) {
			gone[name[1]] = true
		}
	})
	eachMigration(t, func(name, ddl string) {
		check := func(table string, columns [][]string) {
			if gone[table] {
				return
			}
			tables++
			text := section(t, page, table)
			for _, column := range columns {
				if column[1] == "INDEX" || column[1] == "PROJECTION" || gone[column[1]] {
					continue
				}
				row, meaning := fmt.Sprintf("| `%s` | %s |", column[1], column[2]), ""
				if len(column) > 3 && column[3] != "" {
					meaning = " " + strings.ReplaceAll(column[3], "''", "'") + " |"
				}
				if !strings.Contains(text, row+meaning) {
					t.Errorf("%s: section %s of formats/store.md lacks the row %s%s", name, table, row, cmp.Or(meaning, " meaning |"))
				}
			}
		}
		for _, table := range createTable.FindAllStringSubmatch(ddl, -1) {
			check(table[1], columnLine.FindAllStringSubmatch(table[2], -1))
		}
		for _, table := range alterTable.FindAllStringSubmatch(ddl, -1) {
			added := addedColumn.FindAllStringSubmatch(table[2], -1)
			if n := strings.Count(table[2], "ADD COLUMN"); n != len(added) {
				t.Errorf("%s: %d columns are added, and the pattern finds %d", name, n, len(added))
			}
			check(table[1], added)
		}
	})
	if tables == 0 {
		t.Fatal("no table found in the migrations: the pattern no longer fits")
	}
}

// eachMigration calls do with the name and the text of each migration of the store.
func eachMigration(t *testing.T, do func(name, ddl string)) {
	t.Helper()
	err := fs.WalkDir(schemas.Migrations, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		ddl, err := schemas.Migrations.ReadFile(name)
		if err == nil {
			do(name, string(ddl))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// parquetRows are the row types by table.
var parquetRows = map[schemas.ParquetTable]reflect.Type{
	schemas.ParquetUpdates:     reflect.TypeFor[schemas.UpdateRow](),
	schemas.ParquetEvents:      reflect.TypeFor[schemas.EventRow](),
	schemas.ParquetACS:         reflect.TypeFor[schemas.ActiveContractRow](),
	schemas.ParquetVerdicts:    reflect.TypeFor[schemas.VerdictRow](),
	schemas.ParquetTraffic:     reflect.TypeFor[schemas.TrafficRow](),
	schemas.ParquetAppActivity: reflect.TypeFor[schemas.AppActivityRow](),
	schemas.ParquetImports:     reflect.TypeFor[schemas.ImportRow](),
	schemas.ParquetMovements:   reflect.TypeFor[schemas.MovementRow](),
}

// The tables in formats/parquet.md are those that the row types give.
func TestParquetColumnsAreDocumented(t *testing.T) {
	const name = "formats/parquet.md"
	page := read(t, name)
	for table, row := range parquetRows {
		start, end := fmt.Sprintf("<!-- columns of %s -->\n", table), "<!-- end -->"
		before, rest, ok := strings.Cut(page, start)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("%s lacks the marks %q and %q", name, start, end)
		}
		page = before + start + columnsOf(table, row) + end + after
	}
	if page == read(t, name) {
		return
	}
	if !*update {
		t.Fatalf("%s differs from the row types in schemas; run go test ./docs -update and review the change", name)
	}
	if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}

func columnsOf(table schemas.ParquetTable, row reflect.Type) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Sorted by %s. Bloom filters on %s.\n\n", code(table.SortKey()), code(table.BloomColumns()))
	b.WriteString("| Column | Type | Meaning |\n| --- | --- | --- |\n")
	for i := range row.NumField() {
		field := row.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("parquet"), ",")
		doc := strings.NewReplacer("<", "&lt;", ">", "&gt;", "|", `\|`).Replace(field.Tag.Get("doc"))
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, parquetType(field.Type, options), doc)
	}
	return b.String()
}

func code(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

func parquetType(typ reflect.Type, options string) string {
	nullable := strings.Contains(options, "optional")
	if typ.Kind() == reflect.Pointer {
		typ, nullable = typ.Elem(), true
	}
	name := typ.Kind().String()
	switch {
	case strings.Contains(options, "timestamp"):
		name = "timestamp, µs, UTC"
	case strings.Contains(options, "decimal(10:38)"):
		name = "decimal(38, 10)"
	case typ == reflect.TypeFor[[]byte]():
		name = "string" // a Parquet string; the Go side saves a copy
	case typ.Kind() == reflect.Slice:
		name = "list of " + typ.Elem().Kind().String()
	}
	if nullable {
		name += ", nullable"
	}
	return name
}

// mentioned checks that everything the pattern finds in the source file stands on the
// page, written as format says.
func mentioned(t *testing.T, source, pattern, page, format string) {
	t.Helper()
	found := regexp.MustCompile(pattern).FindAllStringSubmatch(read(t, source), -1)
	if len(found) == 0 {
		t.Fatalf("nothing in %s fits %s: the pattern no longer fits", source, pattern)
	}
	text := read(t, page)
	for _, match := range found {
		if want := fmt.Sprintf(format, match[1]); !strings.Contains(text, want) {
			t.Errorf("%s does not mention %s of %s", page, want, source)
		}
	}
}

func TestSettingsAreDocumented(t *testing.T) {
	mentioned(t, "../internal/app/settings/groups.go", `f\.\w+Var\(&c\.\w+, "([a-z0-9-]+)"`, "configuration.md", "| `--%s` |")
}

// Every path of an interface that is offered is in its page.
func TestOperationsAreDocumented(t *testing.T) {
	for _, c := range []struct {
		document, page string
		least          int // paths
	}{{"scan.yaml", "api-scan.md", 60}, {"ledger.yaml", "api-ledger.md", 14}, {"validator.yaml", "api-validator.md", 60}} {
		document, page := read(t, "../query/openapi/"+c.document), read(t, c.page)
		paths := 0
		for _, item := range regexp.MustCompile(`(?m)^  (/\S+):\n(?:    .*\n)+`).FindAllStringSubmatch(document, -1) {
			if strings.Contains(item[0], "tags: [Not offered]") {
				continue
			}
			paths++
			if !regexp.MustCompile(regexp.QuoteMeta(item[1]) + "[`? ]").MatchString(page) {
				t.Errorf("%s lacks %s", c.page, item[1])
			}
		}
		if paths < c.least {
			t.Errorf("only %d paths found in %s: the pattern no longer fits", paths, c.document)
		}
	}
}

var (
	link  = regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)
	shown = regexp.MustCompile("(?s)```.*?```")
)

// Links between pages, and from pages to the code, lead to something that is there.
func TestLinksLeadSomewhere(t *testing.T) {
	pages, err := filepath.Glob("../*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".md" {
			pages = append(pages, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, page := range pages {
		for _, match := range link.FindAllStringSubmatch(shown.ReplaceAllString(read(t, page), ""), -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), match[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, match[1], err)
			}
		}
	}
	if links == 0 {
		t.Fatal("no links found: the pattern no longer fits")
	}
}

// TestVersionsOfStores compares the table of versions with the migrations: who adds one says so there.
func TestVersionsOfStores(t *testing.T) {
	_, table, ok := strings.Cut(section(t, read(t, "operations.md"), "Upgrades"), "| Version | Schema | Opens stores of |\n| --- | --- | --- |\n")
	if !ok {
		t.Fatal("there is no table of versions")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")
	newest := strings.Split(rows[len(rows)-1], "|")
	if want := fmt.Sprintf(" %d ", schemas.StoreVersion()); newest[2] != want {
		t.Errorf("the last row is %q, but the schema is%s", rows[len(rows)-1], want)
	}
}
