package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/originals.sql
var originals string

//go:embed sql/multiply_archived.sql
var multiplyArchived string

//go:embed sql/multiply_live.sql
var multiplyLive string

//go:embed sql/lifetime_counts.sql
var lifetimeCounts string

// The targets of reading the active contract set.
const (
	maxFirstPage     = 150 // ms at the 99th percentile
	maxPage          = 50  // ms at the 95th percentile
	minDumpRate      = 150_000
	setPages         = 300
	firstPages       = 100
	setUpdates       = 20_000
	copiesPerInsert  = 8
	setPageSize      = 1000
	spreadOverMonths = 24
)

// measureActiveSet reads active contract sets out of many lifetimes: those of a real
// history, over and over again under other ids, spread over two years before it.
func measureActiveSet(ctx context.Context, l *lab, s section) (err error) {
	sets, err := manySets(ctx, l)
	if err != nil {
		return err
	}
	s.add("lifetimes", sets.Total, "")
	s.add("of these live", sets.Live, "")
	p, err := l.serve(ctx, l.folder("set-lake"))
	if err != nil {
		return err
	}
	return errors.Join(readSets(ctx, l, s, p, sets.Newest), p.stop())
}

// instant is a moment in a migration.
type instant struct {
	Migration int64          `json:"migration"`
	At        schemas.Micros `json:"at"`
}

// madeSets says what a store of many lifetimes holds.
type madeSets struct {
	Total  float64 `json:"total"`
	Live   float64 `json:"live"`
	Newest instant `json:"newest"`
}

// manySets makes the store of many lifetimes, or takes the one that an earlier run left in
// the work folder: it takes minutes to make.
func manySets(ctx context.Context, l *lab) (made madeSets, err error) {
	note := l.folder("set-lake.json")
	if text, err := os.ReadFile(note); err == nil {
		return made, json.Unmarshal(text, &made)
	}
	n, err := l.startNetwork(ctx, networkTask{Dir: l.folder("set-network"), Updates: setUpdates})
	if err != nil {
		return made, err
	}
	err = l.fill(ctx, n.URL, l.folder("set-lake"))
	if err := errors.Join(err, n.process.end()); err != nil {
		return made, err
	}
	made.Total, made.Live, made.Newest, err = multiply(ctx, l, filepath.Join(l.folder("set-lake"), "engine"))
	if err != nil {
		return made, err
	}
	text, err := json.Marshal(made)
	if err != nil {
		return made, err
	}
	return made, os.WriteFile(note, text, 0o644)
}

// multiply repeats the lifetimes in a store until there are as many as wanted, nearly all
// of them ended. It returns how many there are and the newest instant that has a set.
func multiply(ctx context.Context, l *lab, dir string) (total, live float64, newest instant, err error) {
	store, err := openEngine(ctx, dir)
	if err != nil {
		return 0, 0, newest, err
	}
	defer func() { err = errors.Join(err, store.close()) }()
	var archivedRows, liveRows uint64
	count := func() error {
		var at int64
		err := store.conn.QueryRow(ctx, lifetimeCounts).Scan(&archivedRows, &liveRows, &newest.Migration, &at)
		newest.At = schemas.Micros(at)
		return err
	}
	if err := count(); err != nil {
		return 0, 0, newest, fmt.Errorf("counting lifetimes: %w", err)
	}
	for _, part := range []struct {
		table, query string
		live         bool
		rows, want   uint64
	}{
		{"contracts_live", multiplyLive, true, liveRows, uint64(l.liveContracts)},
		{"contracts_archived", multiplyArchived, false, archivedRows, uint64(l.lifetimes - l.liveContracts)},
	} {
		if err := store.conn.Exec(ctx, fmt.Sprintf(originals, part.table, part.live)); err != nil {
			return 0, 0, newest, fmt.Errorf("setting lifetimes apart: %w", err)
		}
		copies := max(part.want/max(part.rows, 1), 1)
		for done := uint64(1); done < copies; done += copiesPerInsert {
			l.say("%s: copy %d of %d", part.table, done, copies)
			err := store.conn.Exec(ctx, fmt.Sprintf(part.query, done, min(done+copiesPerInsert, copies), copies, spreadOverMonths))
			if err != nil {
				return 0, 0, newest, fmt.Errorf("repeating lifetimes: %w", err)
			}
		}
		if err := store.conn.Exec(ctx, "DROP TABLE originals"); err != nil {
			return 0, 0, newest, fmt.Errorf("dropping what was set apart: %w", err)
		}
	}
	// The engine does the same by itself to months that nothing was written to for an hour.
	if err := store.conn.Exec(ctx, "OPTIMIZE TABLE contracts_archived FINAL"); err != nil {
		return 0, 0, newest, fmt.Errorf("merging months: %w", err)
	}
	if err := store.settle(ctx, l.quiet); err != nil {
		return 0, 0, newest, err
	}
	err = count()
	return float64(archivedRows + liveRows), float64(liveRows), newest, err
}

// readSets measures first pages, pages at any depth and dumps of several sets.
func readSets(ctx context.Context, l *lab, s section, p *product, newest instant) error {
	c := newReadClient(p.url)
	month := schemas.Micros(30 * 24 * time.Hour / time.Microsecond)
	middle := instant{newest.Migration, newest.At - spreadOverMonths/2*month}
	l.say("first pages of active sets")
	first := timings{}
	for i := range firstPages {
		at := instant{newest.Migration, newest.At - schemas.Micros(i)*month/firstPages*spreadOverMonths}
		start := time.Now()
		if _, _, err := setPage(c, at, "", nil); err != nil {
			return err
		}
		first.each = append(first.each, time.Since(start))
	}
	s.atMost(maxFirstPage, "first page of 1,000 contracts, at instants over the whole history, 99th percentile", first.percentile(99), "ms")
	for _, set := range []struct {
		name   string
		at     instant
		filter map[string]any
	}{
		{"of the newest set", newest, nil},
		{"of a set of a year before", middle, nil},
		{"of coins in the newest set", newest, map[string]any{"templates": []string{"splice-amulet:Splice.Amulet:Amulet"}}},
		{"of a party's contracts in the newest set", newest, map[string]any{"party_ids": []string{aParty(c, newest)}}},
	} {
		l.say("pages %s", set.name)
		pages, contracts, err := walkSet(ctx, c, set.at, set.filter)
		if err != nil {
			return err
		}
		s.atMost(maxPage, fmt.Sprintf("pages %s, %d pages with %d contracts, 95th percentile", set.name, len(pages.each), contracts), pages.percentile(95), "ms")
		s.add("the same, median", pages.percentile(50), "ms")
	}
	paged, err := p.peakMiB()
	if err != nil {
		return err
	}
	s.add("peak memory of the query tier after these", paged, "MiB")
	if err := dumpSet(ctx, l, s, p, newest); err != nil || !l.has(postgres) {
		return err
	}
	pages, contracts, err := postgresSet(ctx, l, dumpURL(p.url, newest))
	if err != nil {
		return err
	}
	s.add(fmt.Sprintf("Postgres with that set alone, rows of JSONB by index, %d pages with %d coins, 95th percentile", len(pages.each), contracts), pages.percentile(95), "ms")
	s.add("the same, median", pages.percentile(50), "ms")
	return nil
}

func dumpSet(ctx context.Context, l *lab, s section, p *product, at instant) error {
	for _, encoding := range []string{"identity", "gzip"} {
		l.say("dumping the newest active set, %s", encoding)
		begin := time.Now()
		lines, size, err := drain(ctx, dumpURL(p.url, at), encoding)
		if err != nil {
			return err
		}
		seconds := time.Since(begin).Seconds()
		if encoding == "gzip" {
			s.add("the same dump, compressed on its way", float64(lines)/seconds, "1/s")
			continue
		}
		s.atLeast(minDumpRate, fmt.Sprintf("dump of %d contracts", lines), float64(lines)/seconds, "1/s")
		s.add("the same", float64(size)/megabyte/seconds, "MB/s")
	}
	peak, err := p.peakMiB()
	if err != nil {
		return err
	}
	s.add("peak memory of the query tier after the dumps", peak, "MiB")
	return nil
}

// setPage asks for a page of an active set.
func setPage(c *readClient, at instant, token string, filter map[string]any) (next string, contracts int, err error) {
	request := map[string]any{"migration_id": at.Migration, "at": at.At.String(), "page_size": setPageSize}
	if token != "" {
		request["after"] = token
	}
	for name, value := range filter {
		request[name] = value
	}
	body, err := json.Marshal(request)
	if err != nil {
		return "", 0, err
	}
	err = c.do("POST", "/v2/state/acs", body, func(body []byte) error {
		contracts = bytes.Count(body, []byte(`"contract_id":"`))
		next = lastMember(body, "next_page_token")
		return nil
	})
	return next, contracts, err
}

// walkSet asks for pages of a set one after another.
func walkSet(ctx context.Context, c *readClient, at instant, filter map[string]any) (t timings, contracts int, err error) {
	token := ""
	for range setPages {
		start := time.Now()
		next, n, err := setPage(c, at, token, filter)
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return t, 0, err
		}
		t.each = append(t.each, time.Since(start))
		contracts += n
		if token = next; token == "" {
			break
		}
	}
	return t, contracts, nil
}

// aParty is a stakeholder of a contract in a set, and not of all others.
func aParty(c *readClient, at instant) (party string) {
	body, err := json.Marshal(map[string]any{"migration_id": at.Migration, "at": at.At.String(), "page_size": setPageSize, "templates": []string{"splice-amulet:Splice.Amulet:Amulet"}})
	if err != nil {
		return ""
	}
	_ = c.do("POST", "/v2/state/acs", body, func(body []byte) error {
		party = lastMember(body, "owner")
		return nil
	})
	return party
}
