package analytics

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/ledgerlake/ledgerlake/docs/formats"
)

var update = flag.Bool("update", false, "write the file of sources anew")

const sourcesFile = "dbt/models/sources.yml"

// sources is a file of sources as dbt reads it.
type sources struct {
	Version int      `yaml:"version"`
	Sources []source `yaml:"sources"`
}

type source struct {
	Name        string  `yaml:"name"`
	Description string  `yaml:"description"`
	Schema      string  `yaml:"schema"`
	Tables      []table `yaml:"tables"`
}

type table struct {
	Name          string   `yaml:"name"`
	Description   string   `yaml:"description"`
	LoadedAtField string   `yaml:"loaded_at_field,omitempty"`
	Columns       []column `yaml:"columns"`
}

type column struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	DataType    string `yaml:"data_type"`
}

// TestSourcesAreTheTablesOfTheStore compares the sources for dbt with the data dictionary of the store, which other
// tests compare with its tables: each table has all of its columns, in their order, with their types and meanings.
func TestSourcesAreTheTablesOfTheStore(t *testing.T) {
	have, err := os.ReadFile(sourcesFile)
	if err != nil {
		t.Fatal(err)
	}
	var file sources
	decoder := yaml.NewDecoder(bytes.NewReader(have))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if file.Version != 2 || len(file.Sources) != 1 || len(file.Sources[0].Tables) < 10 {
		t.Fatalf("%s has version %d and %d sources, want 2 and one with the tables", sourcesFile, file.Version, len(file.Sources))
	}
	columns := make(map[string][]column)
	for _, c := range formats.Dictionary() {
		columns[c.Table] = append(columns[c.Table], column{c.Name, c.Meaning, c.Type})
	}
	for i := range file.Sources[0].Tables {
		of := &file.Sources[0].Tables[i]
		if of.Columns = columns[of.Name]; len(of.Columns) == 0 {
			t.Errorf("%s names table %s, which the store does not have", sourcesFile, of.Name)
		}
	}
	var want bytes.Buffer
	encoder := yaml.NewEncoder(&want)
	encoder.SetIndent(2)
	if err := encoder.Encode(file); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(sourcesFile, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(have, want.Bytes()) {
		t.Errorf("%s does not have the columns of docs/formats/store.md: go test ./docs/analytics -update", sourcesFile)
	}
}
