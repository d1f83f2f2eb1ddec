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

	"github.com/ledgerlake/ledgerlake/bench/lab"
)

// plantedParty is one of those that are witnesses of a few updates of a node's stream.
func plantedParty(n int) string { return fmt.Sprintf("rare-party-%d::1220%064x", n, n) }

// planter stands before a node and makes planted parties witnesses of some transactions, in turn
// and evenly spread over the stream, wherever the node lists them. The same list is changed in
// the same way again.
type planter struct {
	node          string
	parties, many int // updates of each party

	mu     sync.Mutex
	places []int64         // offsets from which on the next transaction is to be one
	chosen map[int64]int64 // offset of the transaction, by place
}

func newPlanter(node string, parties, many int) *planter {
	return &planter{node: node, parties: parties, many: many, chosen: make(map[int64]int64)}
}

// end is the end of the node's stream.
func (p *planter) end(ctx context.Context) (int64, error) {
	var answer struct {
		Offset int64 `json:"offset"`
	}
	err := lab.GetJSON(ctx, p.node+"/v2/state/ledger-end", &answer)
	return answer.Offset, err
}

// over returns the node with the party in its stream, which ends at an offset.
func (p *planter) over(end int64) http.Handler {
	places := int64(p.parties * p.many)
	for i := range places {
		p.places = append(p.places, end/places*i+end/(2*places))
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
		if offset, ok := offsetIn(part); ok {
			if party, ok := p.takes(offset); ok {
				own := part
				if n := bytes.Index(part, []byte(`{"update":{`)); n >= 0 { // of another kind
					own = part[:n]
				}
				seen := bytes.ReplaceAll(own, []byte(`"witnessParties":["`), []byte(`"witnessParties":["`+plantedParty(party)+`","`))
				part = append(seen, part[len(own):]...)
			}
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

// takes returns whose transaction the one at an offset is, if it is one of a planted party's: the
// first that comes at or after a place, and ever after.
func (p *planter) takes(offset int64) (party int, ok bool) {
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
		return i % p.parties, p.chosen[at] == offset
	}
	return 0, false
}
