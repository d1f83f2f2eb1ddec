package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/ledgerlake/ledgerlake/internal/engine"
)

// rawInsertBytes is the size of one insert, that of the product's batches: more would
// make fewer parts to merge, but neither side may hold all history in memory.
const rawInsertBytes = 48 << 20

// rawTable inserts JSON objects into a table over HTTP, several pages at once. It serves
// one goroutine.
type rawTable struct {
	client   *http.Client
	url      string
	user     string
	password string

	pages [][]byte
	bytes int64 // in pages
	sent  int64
}

func newRawTable(e *engine.Engine, table string) (*rawTable, error) {
	opts, err := engine.Options(e.DSN())
	if err != nil {
		return nil, err
	}
	query := url.Values{
		"query": {"INSERT INTO " + table + " FORMAT JSONEachRow"}, "database": {opts.Auth.Database},
		"async_insert": {"0"}, "input_format_skip_unknown_fields": {"1"},
	}
	return &rawTable{
		client: http.DefaultClient, url: "http://" + e.HTTPAddr() + "/?" + query.Encode(),
		user: opts.Auth.Username, password: opts.Auth.Password,
	}, nil
}

// add takes the elements of a page, which must not change until they are flushed.
func (t *rawTable) add(ctx context.Context, elements []byte) error {
	t.pages = append(t.pages, elements)
	t.bytes += int64(len(elements))
	if t.bytes < rawInsertBytes {
		return nil
	}
	return t.flush(ctx)
}

// flush inserts what was added.
func (t *rawTable) flush(ctx context.Context) error {
	if len(t.pages) == 0 {
		return nil
	}
	var body []io.Reader
	for _, page := range t.pages {
		body = append(body, bytes.NewReader(page), bytes.NewReader([]byte{'\n'}))
	}
	if err := t.post(ctx, io.MultiReader(body...)); err != nil {
		return fmt.Errorf("inserting %d pages of raw JSON: %w", len(t.pages), err)
	}
	t.sent += t.bytes
	t.pages, t.bytes = nil, 0
	return nil
}

func (t *rawTable) post(ctx context.Context, body io.Reader) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, body)
	if err != nil {
		return err
	}
	request.SetBasicAuth(t.user, t.password)
	response, err := t.client.Do(request)
	if err != nil {
		return err
	}
	const longest = 1000 // of an error's text
	text, err := io.ReadAll(io.LimitReader(response.Body, longest))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the engine answered %s: %s", response.Status, text)
	}
	return nil
}
