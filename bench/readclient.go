package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sync/errgroup"
)

// readClient asks a query tier. It looks at answers no more than it must, because it
// shares the cores with what it measures.
type readClient struct {
	url    string
	client *fasthttp.Client
}

func newReadClient(url string) *readClient {
	return &readClient{url: url, client: &fasthttp.Client{MaxConnsPerHost: 1024, ReadBufferSize: 32 << 10, ReadTimeout: time.Minute, MaxResponseBodySize: 1 << 30}}
}

// do sends a request and hands the body of its answer to use, which must not keep it.
func (c *readClient) do(method, path string, body []byte, use func(body []byte) error) error {
	request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	defer fasthttp.ReleaseResponse(response)
	request.Header.SetMethod(method)
	request.SetRequestURI(c.url + path)
	if body != nil {
		request.Header.SetContentType("application/json")
		request.SetBodyRaw(body)
	}
	if err := c.client.Do(request, response); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode() != fasthttp.StatusOK {
		return fmt.Errorf("%s %s answers %d: %.200s", method, path, response.StatusCode(), response.Body())
	}
	return use(response.Body())
}

// lookups asks for each id once, by a number of clients at the same time, each with a
// connection of its own.
func (c *readClient) lookups(ctx context.Context, clients int, ids []string) (t timings, err error) {
	t.each = make([]time.Duration, len(ids))
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	begin := time.Now()
	for range clients {
		group.Go(func() (err error) {
			g, err := newGetter(ctx, c.url)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, g.close()) }()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(ids) {
					return nil
				}
				start := time.Now()
				body, err := g.get("/v0/events/" + ids[i])
				if err != nil {
					return err
				}
				t.each[i] = time.Since(start)
				if !bytes.Contains(body, []byte(ids[i])) {
					return fmt.Errorf("the answer for update %s is about another", ids[i])
				}
			}
			return ctx.Err()
		})
	}
	err = group.Wait()
	t.elapsed = time.Since(begin)
	return t, err
}

// pagesAfter asks for a page of updates after each of some updates.
func (c *readClient) pagesAfter(ctx context.Context, ids []string, size int) (t timings, err error) {
	var after cursor
	for _, id := range ids {
		err := c.do("GET", "/v0/events/"+id, nil, func(body []byte) error { return after.take(body) })
		if err != nil {
			return t, err
		}
		start := time.Now()
		if err := c.updates(&after, size, func([]byte) error { return nil }); err != nil {
			return t, err
		}
		t.each = append(t.each, time.Since(start))
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
	}
	return t, nil
}

func (c *readClient) updates(after *cursor, size int, use func([]byte) error) error {
	body, err := json.Marshal(map[string]any{"page_size": size, "after": after})
	if err != nil {
		return err
	}
	return c.do("POST", "/v2/updates", body, use)
}

// allUpdates pages through the whole history.
func (c *readClient) allUpdates(ctx context.Context) (updates, size int64, err error) {
	const pageSize = 1000
	var after *cursor
	for n := pageSize; n == pageSize; {
		err := c.updates(after, pageSize, func(body []byte) error {
			size += int64(len(body))
			n = bytes.Count(body, []byte(`"update_id":"`))
			updates += int64(n)
			if n == 0 {
				return nil
			}
			after = new(cursor)
			return after.take(body)
		})
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return 0, 0, err
		}
	}
	return updates, size, nil
}

// cursor is a place in history.
type cursor struct {
	Migration  int64  `json:"after_migration_id"`
	RecordTime string `json:"after_record_time"`
}

// take moves the cursor behind the last update, or verdict, in an answer.
func (c *cursor) take(body []byte) error {
	migration, err := strconv.ParseInt(lastMember(body, "migration_id"), 10, 64)
	recordTime := lastMember(body, "record_time")
	if err != nil || recordTime == "" {
		return fmt.Errorf("an answer without a place in history: %.200s", body)
	}
	c.Migration, c.RecordTime = migration, recordTime
	return nil
}

// lastMember is the value of the last member of a name in the text of JSON objects, "" if there is
// none. The value must be a number, or a string without commas, braces and escapes.
func lastMember(text []byte, name string) string {
	mark := `"` + name + `":`
	at := bytes.LastIndex(text, []byte(mark))
	if at < 0 {
		return ""
	}
	value := text[at+len(mark):]
	if end := bytes.IndexAny(value, ",}]"); end >= 0 {
		value = value[:end]
	}
	return string(bytes.Trim(value, `" `))
}

// eachEvent calls so for each event of a network that has an update id, in order.
func eachEvent(ctx context.Context, url string, so func(id string, event []byte) error) error {
	var after *cursor
	for {
		var page struct{ Events []json.RawMessage }
		body, err := json.Marshal(map[string]any{"page_size": 1000, "after": after, "daml_value_encoding": "protobuf_json"})
		if err != nil {
			return err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v0/events", bytes.NewReader(body))
		if err != nil {
			return err
		}
		if err := doJSON(request, &page); err != nil {
			return err
		}
		if len(page.Events) == 0 {
			return nil
		}
		for _, event := range page.Events {
			if err := eachID(event, &after, so); err != nil {
				return err
			}
		}
	}
}

// eachID takes one event: an update, a verdict or both.
func eachID(event []byte, after **cursor, so func(id string, event []byte) error) error {
	type place struct {
		UpdateID   string `json:"update_id"`
		Migration  *int64 `json:"migration_id"`
		RecordTime string `json:"record_time"`
		Event      struct {
			Migration int64 `json:"migration_id"`
		}
	}
	var e struct{ Update, Verdict *place }
	if err := json.Unmarshal(event, &e); err != nil {
		return fmt.Errorf("reading an event: %w", err)
	}
	p := e.Update
	if p == nil {
		p = e.Verdict
	}
	*after = &cursor{p.Event.Migration, p.RecordTime}
	if p.Migration != nil {
		(*after).Migration = *p.Migration
	}
	return so(p.UpdateID, event)
}

// drain reads an answer of any length in a coding and counts its lines and its bytes, those
// of gzip as they come.
func drain(ctx context.Context, url, encoding string) (lines, size int64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, 0, err
	}
	request.Header.Set("Accept-Encoding", encoding) // else the client asks for gzip by itself
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 0, 0, fmt.Errorf("%s answers %s", url, response.Status)
	}
	buf := make([]byte, 1<<20)
	for {
		n, err := response.Body.Read(buf)
		lines += int64(bytes.Count(buf[:n], []byte{'\n'}))
		size += int64(n)
		if err == io.EOF {
			return lines, size, nil
		}
		if err != nil {
			return lines, size, fmt.Errorf("reading %s after %d bytes: %w", url, size, err)
		}
	}
}
