package indexer

import (
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/cluster"
)

// migrationFiles are the migrations as they are for some tables.
type migrationFiles struct {
	fs.FS
	tables cluster.Tables
}

// Open implements fs.FS.
func (f migrationFiles) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	if err != nil || path.Ext(name) != ".sql" {
		return file, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return migrationFile{file, strings.NewReader(f.text(name, string(text)))}, nil
}

// text is a file for these tables. One without a statement is noted as done, too.
func (f migrationFiles) text(name, text string) string {
	step, _, _ := strings.Cut(name, "_")
	if text = f.tables.DDL(step, text); text == "" {
		return "-- +goose Up\n"
	}
	return text
}

// migrationFile is a file with another text.
type migrationFile struct {
	fs.File
	text io.Reader
}

// Read implements fs.File.
func (f migrationFile) Read(b []byte) (int, error) { return f.text.Read(b) }
