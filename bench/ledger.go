package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/bench/lab"

	"github.com/coder/websocket"
)

// The targets of the ledger interface.
const (
	maxHotList      = 20     // ms at the 99th percentile
	minReplay       = 20_000 // updates a second to one client
	maxRareParty    = 50     // ms
	listUpdates     = 200
	ledgerLists     = 25 // different ones of each party
	ledgerListTurns = 20
	rareUpdates     = 10
	rareParties     = 20
	rareTurns       = 3
)

// measureLedger asks the ledger interface for lists of a party's updates, for a replay of
// everything, and for the updates of parties that have next to none, these also out of copies.
func measureLedger(ctx context.Context, l *lab.Lab, s lab.Section) (err error) {
	n, err := l.Network(ctx)
	if err != nil {
		return err
	}
	planted := newPlanter(n.NodeURL, rareParties, rareUpdates)
	end, err := planted.end(ctx)
	if err != nil {
		return err
	}
	dir := l.Folder("ledger-lake")
	l.Say("ingesting the node's stream up to offset %d, with %d updates of each of %d parties", end, rareUpdates, rareParties)
	node := httptest.NewServer(planted.over(end))
	err = l.Run(ctx, "ingest", "--once", "--data", dir, "--node-url", node.URL, "--node-source", "lists", "--lookup-rows")
	if node.Close(); err != nil {
		return err
	}
	if err := withLedger(ctx, l, dir, func(p *lab.Product) error {
		c := lab.NewReadClient(p.URL)
		if err := rareUpdatesOf(s, c, end, "", s.Add); err != nil {
			return err
		}
		if err := partyLists(s, c, end); err != nil {
			return err
		}
		return replay(ctx, s, p, end)
	}); err != nil {
		return err
	}
	return withLedger(ctx, l, dir, func(p *lab.Product) error {
		return rareUpdatesOf(s, lab.NewReadClient(p.URL), end, " out of copies", func(what string, value float64, unit string) { s.AtMost(maxRareParty, what, value, unit) })
	}, "--lookup-rows")
}

// withLedger serves the ledger interface over a data folder.
func withLedger(ctx context.Context, l *lab.Lab, dir string, measure func(*lab.Product) error, options ...string) (err error) {
	args := append([]string{"serve", "--data", dir, "--listen", "127.0.0.1:0", "--ledger-list-limit", "5000"}, options...)
	p, err := l.Start(ctx, "ledger interface", args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	return measure(p)
}

// ledgerRequest asks for updates between two offsets, of one party, or of any if that is "".
func ledgerRequest(party string, after, through int64) []byte {
	filters := map[string]any{"filtersForAnyParty": map[string]any{}}
	if party != "" {
		filters = map[string]any{"filtersByParty": map[string]any{party: map[string]any{}}}
	}
	text, err := json.Marshal(map[string]any{
		"beginExclusive": after, "endInclusive": through,
		"updateFormat": map[string]any{
			"includeTransactions":   map[string]any{"eventFormat": filters, "transactionShape": "TRANSACTION_SHAPE_LEDGER_EFFECTS"},
			"includeReassignments":  filters,
			"includeTopologyEvents": nil,
		},
	})
	if err != nil {
		panic(err) // it consists of texts and numbers
	}
	return text
}

// list asks for updates and returns how long it took and how many there were.
func ledgerList(c *lab.ReadClient, limit int, request []byte) (took time.Duration, updates int, err error) {
	begin := time.Now()
	err = c.Do("POST", fmt.Sprintf("/v2/updates?limit=%d", limit), request, func(body []byte) error {
		took, updates = time.Since(begin), bytes.Count(body, []byte(`{"update":{"`))
		return nil
	})
	return took, updates, err
}

// rareUpdatesOf asks for all updates of each planted party, first once and then in ranges that
// differ, so that no answer is one that was given before. judge takes the medians.
func rareUpdatesOf(s lab.Section, c *lab.ReadClient, end int64, how string, judge func(what string, value float64, unit string)) error {
	var first, again lab.Timings
	for turn := range rareTurns {
		for party := range rareParties {
			took, updates, err := ledgerList(c, listUpdates, ledgerRequest(plantedParty(party), int64(turn), end))
			if err != nil {
				return err
			}
			if updates != rareUpdates {
				return fmt.Errorf("a party has %d updates, its list %d", rareUpdates, updates)
			}
			if turn == 0 {
				first.Each = append(first.Each, took)
			} else {
				again.Each = append(again.Each, took)
			}
		}
	}
	what := fmt.Sprintf("the %d updates of a party%s", rareUpdates, how)
	judge(what+", asked for first, median", first.Percentile(50), "ms")
	s.Add(what+", asked for first, 95th percentile", first.Percentile(95), "ms")
	judge(what+", asked for again, median", again.Percentile(50), "ms")
	s.Add(what+", asked for again, 95th percentile", again.Percentile(95), "ms")
	return nil
}

// partyLists asks for lists from different places on, first once and then again and again.
func partyLists(s lab.Section, c *lab.ReadClient, end int64) error {
	parties, err := ledgerParties(c, end)
	if err != nil {
		return err
	}
	var first, hot lab.Timings
	for turn := range 1 + ledgerListTurns {
		for i := range ledgerLists * len(parties) {
			request := ledgerRequest(parties[i%len(parties)], end/2*int64(i)/int64(ledgerLists*len(parties)), end)
			took, updates, err := ledgerList(c, listUpdates, request)
			if err != nil {
				return err
			}
			if updates != listUpdates {
				return fmt.Errorf("a list of %s has %d updates, not %d", parties[i%len(parties)], updates, listUpdates)
			}
			if turn == 0 {
				first.Each = append(first.Each, took)
			} else {
				hot.Each = append(hot.Each, took)
			}
		}
	}
	what := fmt.Sprintf("list of %d updates of a party", listUpdates)
	s.Add(what+", asked for first, median", first.Percentile(50), "ms")
	s.Add(what+", asked for first, 99th percentile", first.Percentile(99), "ms")
	s.AtMost(maxHotList, what+", hot, 99th percentile", hot.Percentile(99), "ms")
	return nil
}

// ledgerParties are the node's parties with enough updates for the lists.
func ledgerParties(c *lab.ReadClient, end int64) (parties []string, err error) {
	const looked = 3000
	var answer []struct {
		Update struct {
			Transaction struct {
				Value struct {
					Events []map[string]struct {
						Witnesses []string `json:"witnessParties"`
					} `json:"events"`
				} `json:"value"`
			} `json:"Transaction"`
		} `json:"update"`
	}
	err = c.Do("POST", fmt.Sprintf("/v2/updates?limit=%d", looked), ledgerRequest("", end/2, end), func(body []byte) error {
		return json.Unmarshal(body, &answer)
	})
	if err != nil {
		return nil, err
	}
	seen := map[string]int{}
	for _, u := range answer {
		for _, event := range u.Update.Transaction.Value.Events {
			for _, e := range event {
				for _, p := range e.Witnesses {
					seen[p]++
				}
			}
		}
	}
	for p := range seen {
		if _, updates, err := ledgerList(c, listUpdates, ledgerRequest(p, end/2, end)); err != nil || updates == listUpdates {
			parties = append(parties, p)
		}
	}
	if slices.Sort(parties); len(parties) == 0 {
		return nil, fmt.Errorf("no party has %d updates in the second half of history", listUpdates)
	}
	return parties, nil
}

// replay reads everything by one websocket.
func replay(ctx context.Context, s lab.Section, p *lab.Product, end int64) error {
	before, err := p.PeakMiB()
	if err != nil {
		return err
	}
	conn, _, err := websocket.Dial(ctx, strings.Replace(p.URL, "http://", "ws://", 1)+"/v2/updates", &websocket.DialOptions{Subprotocols: []string{"daml.ws.auth"}})
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", p.URL, err)
	}
	defer conn.CloseNow()
	conn.SetReadLimit(-1)
	if err := conn.Write(ctx, websocket.MessageText, ledgerRequest("", 0, end)); err != nil {
		return fmt.Errorf("requesting all updates: %w", err)
	}
	begin := time.Now()
	updates, size := 0, 0
	var buf bytes.Buffer // for all frames: to make room for each would cost the product's time
	for {
		frame, err := readFrame(ctx, conn, &buf)
		if websocket.CloseStatus(err) == websocket.StatusNormalClosure {
			break
		}
		if err != nil {
			return fmt.Errorf("reading update %d: %w", updates, err)
		}
		if !bytes.HasPrefix(frame, []byte(`{"update":{"`)) {
			return fmt.Errorf("update %d is %.200s", updates, frame)
		}
		size += len(frame)
		if !bytes.HasPrefix(frame, []byte(`{"update":{"OffsetCheckpoint"`)) {
			updates++
		}
	}
	seconds := time.Since(begin).Seconds()
	after, err := p.PeakMiB()
	if err != nil {
		return err
	}
	s.Add("updates of the replay", float64(updates), "")
	s.AtLeast(minReplay, "replay of everything to one websocket", float64(updates)/seconds, "1/s")
	s.Add("the same", float64(size)/lab.Megabyte/seconds, "MB/s")
	s.Add("peak memory of the query tier before the replay", before, "MiB")
	s.Add("peak memory of the query tier", after, "MiB")
	return nil
}

// readFrame reads the next frame into a buffer.
func readFrame(ctx context.Context, conn *websocket.Conn, buf *bytes.Buffer) ([]byte, error) {
	_, frame, err := conn.Reader(ctx)
	if err != nil {
		return nil, err
	}
	buf.Reset()
	_, err = buf.ReadFrom(frame)
	return buf.Bytes(), err
}
