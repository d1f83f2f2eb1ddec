package lab

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sync/errgroup"
)

// ReadClient asks a query tier. It looks at answers no more than it must, because it
// shares the cores with what it measures.
type ReadClient struct {
	url    string
	client *fasthttp.Client
}

// NewReadClient returns a client of the query tier at a URL.
func NewReadClient(url string) *ReadClient {
	return &ReadClient{url: url, client: &fasthttp.Client{MaxConnsPerHost: 1024, ReadBufferSize: 32 << 10, ReadTimeout: time.Minute, MaxResponseBodySize: 1 << 30}}
}

// Do sends a request and passes the body of its answer to use, which must not keep it. A status
// other than 200 is an error.
func (c *ReadClient) Do(method, path string, body []byte, use func(body []byte) error) error {
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

// Lookups asks for each id once, by a number of clients at the same time, each with a
// connection of its own.
func (c *ReadClient) Lookups(ctx context.Context, clients int, ids []string) (t Timings, err error) {
	t.Each = make([]time.Duration, len(ids))
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
				t.Each[i] = time.Since(start)
				if !bytes.Contains(body, []byte(ids[i])) {
					return fmt.Errorf("the answer for update %s is about another update", ids[i])
				}
			}
			return ctx.Err()
		})
	}
	err = group.Wait()
	t.elapsed = time.Since(begin)
	return t, err
}

// PagesAfter asks for a page of updates after each of some updates.
func (c *ReadClient) PagesAfter(ctx context.Context, ids []string, size int) (t Timings, err error) {
	var after Cursor
	for _, id := range ids {
		err := c.Do("GET", "/v0/events/"+id, nil, func(body []byte) error { return after.take(body) })
		if err != nil {
			return t, err
		}
		start := time.Now()
		if err := c.updates(&after, size, func([]byte) error { return nil }); err != nil {
			return t, err
		}
		t.Each = append(t.Each, time.Since(start))
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
	}
	return t, nil
}

func (c *ReadClient) updates(after *Cursor, size int, use func([]byte) error) error {
	body, err := json.Marshal(map[string]any{"page_size": size, "after": after})
	if err != nil {
		return err
	}
	return c.Do("POST", "/v2/updates", body, use)
}

// UpdatesAfter pages through the history after a place, all of it if that is nil, and returns where
// it has come to, how many updates there were and their bytes. With an error these are those before it.
func (c *ReadClient) UpdatesAfter(ctx context.Context, after *Cursor) (last *Cursor, updates, size int64, err error) {
	const pageSize = 1000
	for n := pageSize; n == pageSize; {
		err := c.updates(after, pageSize, func(body []byte) error {
			size += int64(len(body))
			if n = bytes.Count(body, []byte(`"update_id":"`)); n == 0 {
				return nil
			}
			updates += int64(n)
			after = new(Cursor)
			return after.take(body)
		})
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return after, updates, size, err
		}
	}
	return after, updates, size, nil
}

// Cursor is a place in history.
type Cursor struct {
	Migration  int64  `json:"after_migration_id"`
	RecordTime string `json:"after_record_time"`
}

// take moves the cursor behind the last update, or verdict, in an answer.
func (c *Cursor) take(body []byte) error {
	migration, err := strconv.ParseInt(LastMember(body, "migration_id"), 10, 64)
	recordTime := LastMember(body, "record_time")
	if err != nil || recordTime == "" {
		return fmt.Errorf("an answer without a position in history: %.200s", body)
	}
	c.Migration, c.RecordTime = migration, recordTime
	return nil
}

// LastMember is the value of the last member of a name in the text of JSON objects, "" if there is
// none. The value must be a number, or a string without commas, braces and escapes.
func LastMember(text []byte, name string) string {
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

// EachEvent calls use for each event of a network that has an update id, in order.
func EachEvent(ctx context.Context, url string, use func(id string, event []byte) error) error {
	c := NewReadClient(url)
	var after *Cursor
	for more := true; more; {
		request, err := json.Marshal(map[string]any{"page_size": 1000, "after": after, "daml_value_encoding": "protobuf_json"})
		if err != nil {
			return err
		}
		err = c.Do("POST", "/v0/events", request, func(body []byte) error {
			var page struct{ Events []json.RawMessage }
			if err := json.Unmarshal(body, &page); err != nil {
				return fmt.Errorf("reading a page of events: %w", err)
			}
			if more = len(page.Events) > 0; !more {
				return nil
			}
			for _, event := range page.Events {
				if err := useEvent(event, use); err != nil {
					return err
				}
			}
			after = new(Cursor)
			return after.take(body)
		})
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// useEvent takes one event: an update, a verdict or both.
func useEvent(event []byte, use func(id string, event []byte) error) error {
	var e struct {
		Update, Verdict *struct {
			ID string `json:"update_id"`
		}
	}
	if err := json.Unmarshal(event, &e); err != nil {
		return fmt.Errorf("reading an event: %w", err)
	}
	return use(cmp.Or(e.Update, e.Verdict).ID, event)
}

// Drain reads an answer of any length in a coding and counts its lines and its bytes, those
// of gzip as they come.
func Drain(ctx context.Context, url, encoding string) (lines, size int64, err error) {
	body, err := Get(ctx, url, encoding)
	if err != nil {
		return 0, 0, err
	}
	defer body.Close()
	buf := make([]byte, 1<<20)
	for {
		n, err := body.Read(buf)
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
