package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
)

// plantedParty is a witness of a few updates of a node's stream.
const plantedParty = "rare-party::1220" + "00000000000000000000000000000000000000000000000000000000000000aa"

// planter stands before a node and makes plantedParty a witness of some transactions, evenly
// spread over the stream, wherever the node lists them. The same list is changed in the same
// way again.
type planter struct {
	node string
	many int

	mu     sync.Mutex
	places []int64         // offsets from which on the next transaction is to be one
	chosen map[int64]int64 // offset of the transaction, by place
}

func newPlanter(node string, many int) *planter {
	return &planter{node: node, many: many, chosen: make(map[int64]int64)}
}

// end is the end of the node's stream.
func (p *planter) end(ctx context.Context) (int64, error) {
	var answer struct {
		Offset int64 `json:"offset"`
	}
	err := getJSON(ctx, p.node+"/v2/state/ledger-end", &answer)
	return answer.Offset, err
}

func (p *planter) count() int { return len(p.chosen) }

// over returns the node with the party in its stream, which ends at an offset.
func (p *planter) over(end int64) http.Handler {
	for i := range p.many {
		p.places = append(p.places, end/int64(p.many)*int64(i)+end/int64(2*p.many))
	}
	target, err := url.Parse(p.node)
	if err != nil {
		panic(err) // it was asked before
	}
	rewrite := func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Header.Set("Accept-Encoding", "identity")
	}
	modify := func(response *http.Response) error {
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return fmt.Errorf("reading a list of the node: %w", err)
		}
		response.Body.Close()
		body = p.plant(body)
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		response.Header.Set("Content-Length", strconv.Itoa(len(body)))
		return nil
	}
	return &httputil.ReverseProxy{Rewrite: rewrite, ModifyResponse: modify}
}

// plant changes a list of updates.
func (p *planter) plant(body []byte) []byte {
	start := []byte(`{"update":{"Transaction":`)
	parts := bytes.Split(body, start)
	if len(parts) == 1 {
		return body
	}
	changed := parts[:1]
	for _, part := range parts[1:] {
		if offset, ok := offsetIn(part); ok && p.takes(offset) {
			part = bytes.ReplaceAll(part, []byte(`"witnessParties":["`), []byte(`"witnessParties":["`+plantedParty+`","`))
		}
		changed = append(changed, part)
	}
	return bytes.Join(changed, start)
}

// offsetIn returns the first offset in the text of an update, which is its own: those of its
// events are the same.
func offsetIn(update []byte) (int64, bool) {
	_, rest, ok := bytes.Cut(update, []byte(`"offset":`))
	if !ok {
		return 0, false
	}
	n := bytes.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if n < 0 {
		return 0, false
	}
	offset, err := strconv.ParseInt(string(rest[:n]), 10, 64)
	return offset, err == nil
}

// takes reports whether the transaction at an offset is one of the party's: the first that
// comes at or after a place, and ever after.
func (p *planter) takes(offset int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.places) - 1; i >= 0; i-- {
		at := p.places[i]
		if offset < at {
			continue
		}
		if p.chosen[at] == 0 {
			p.chosen[at] = offset
		}
		return p.chosen[at] == offset
	}
	return false
}
