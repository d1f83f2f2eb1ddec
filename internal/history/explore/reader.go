package explore

import (
	"embed"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

//go:embed sql
var queries embed.FS

// query is the text of a file in the folder sql.
func query(name string) string {
	text, err := queries.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(err) // it is in the binary
	}
	return string(text)
}

// Limits of the engine for a read.
const (
	maxTime   = 2 * time.Second
	maxMemory = 512 << 20
)

// Reader reads public history. It is safe for concurrent use.
type Reader struct {
	db      *store.DB
	history *history.Reader
	stream  string
	// streams are the stream, and that of verdicts that came late.
	streams   []string
	templates *memo.Value[[]string]
}

// NewReader returns a reader of the stream that another one reads.
func NewReader(db *store.DB, of *history.Reader) *Reader {
	r := &Reader{db: db, history: of, stream: of.Stream(), streams: []string{of.Stream(), journal.SideStream(of.Stream())}}
	r.templates = &memo.Value[[]string]{Now: time.Now, TTL: templatesFresh, Load: r.readTemplates}
	return r
}
