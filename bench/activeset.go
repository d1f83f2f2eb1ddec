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

	"github.com/ledgerlake/ledgerlake/bench/lab"

	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/originals.sql
var originals string

//go:embed sql/multiply_lifetimes.sql
var multiplyLifetimes string

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
func measureActiveSet(ctx context.Context, l *lab.Lab, s lab.Section) (err error) {
	sets, err := manySets(ctx, l)
	if err != nil {
		return err
	}
	s.Add("lifetimes", sets.Total, "")
	s.Add("of these live", sets.Live, "")
	p, err := l.Serve(ctx, l.Folder("set-lake"))
	if err != nil {
		return err
	}
	return errors.Join(readSets(ctx, l, s, p, sets.Newest), p.Stop())
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
func manySets(ctx context.Context, l *lab.Lab) (made madeSets, err error) {
	note := l.Folder("set-lake.json")
	if text, err := os.ReadFile(note); err == nil {
		return made, json.Unmarshal(text, &made)
	}
	n, err := l.StartNetwork(ctx, lab.NetworkTask{Dir: l.Folder("set-network"), Updates: setUpdates})
	if err != nil {
		return made, err
	}
	err = l.Fill(ctx, n.URL, l.Folder("set-lake"))
	if err := errors.Join(err, n.Stop()); err != nil {
		return made, err
	}
	made.Total, made.Live, made.Newest, err = multiply(ctx, l, filepath.Join(l.Folder("set-lake"), "engine"))
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
func multiply(ctx context.Context, l *lab.Lab, dir string) (total, live float64, newest instant, err error) {
	store, err := lab.OpenEngine(ctx, dir)
	if err != nil {
		return 0, 0, newest, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	var archivedRows, liveRows uint64
	count := func() error {
		var at int64
		err := store.Conn.QueryRow(ctx, lifetimeCounts).Scan(&archivedRows, &liveRows, &newest.Migration, &at)
		newest.At = schemas.Micros(at)
		return err
	}
	if err := count(); err != nil {
		return 0, 0, newest, fmt.Errorf("counting lifetimes: %w", err)
	}
	for _, part := range []struct {
		table, end string
		live       bool
		rows, want uint64
	}{
		{"contracts_live", "archived_at", true, liveRows, uint64(l.LiveContracts)},
		{"contracts_archived", "archived_at - INTERVAL toInt64(back) SECOND", false, archivedRows, uint64(l.Lifetimes - l.LiveContracts)},
	} {
		if err := store.Conn.Exec(ctx, fmt.Sprintf(originals, part.table, part.live)); err != nil {
			return 0, 0, newest, fmt.Errorf("setting lifetimes aside: %w", err)
		}
		copies := max(part.want/max(part.rows, 1), 1)
		for done := uint64(1); done < copies; done += copiesPerInsert {
			l.Say("%s: copy %d of %d", part.table, done, copies)
			err := store.Conn.Exec(ctx, fmt.Sprintf(multiplyLifetimes, done, min(done+copiesPerInsert, copies), copies, spreadOverMonths, part.table, part.end))
			if err != nil {
				return 0, 0, newest, fmt.Errorf("repeating lifetimes: %w", err)
			}
		}
		if err := store.Conn.Exec(ctx, "DROP TABLE originals"); err != nil {
			return 0, 0, newest, fmt.Errorf("dropping the lifetimes set aside: %w", err)
		}
	}
	// The engine does the same by itself to months that nothing was written to for an hour.
	if err := store.Conn.Exec(ctx, "OPTIMIZE TABLE contracts_archived FINAL"); err != nil {
		return 0, 0, newest, fmt.Errorf("merging months: %w", err)
	}
	if err := store.Settle(ctx, l.Quiet); err != nil {
		return 0, 0, newest, err
	}
	err = count()
	return float64(archivedRows + liveRows), float64(liveRows), newest, err
}

// readSets measures first pages, pages at any depth and dumps of several sets.
func readSets(ctx context.Context, l *lab.Lab, s lab.Section, p *lab.Product, newest instant) error {
	c := lab.NewReadClient(p.URL)
	month := schemas.Micros(30 * 24 * time.Hour / time.Microsecond)
	middle := instant{newest.Migration, newest.At - spreadOverMonths/2*month}
	l.Say("first pages of active sets")
	first := lab.Timings{}
	for i := range firstPages {
		at := instant{newest.Migration, newest.At - schemas.Micros(i)*month/firstPages*spreadOverMonths}
		start := time.Now()
		if _, _, err := setPage(c, at, "", nil); err != nil {
			return err
		}
		first.Each = append(first.Each, time.Since(start))
	}
	s.AtMost(maxFirstPage, "first page of 1,000 contracts, at instants over the whole history, 99th percentile", first.Percentile(99), "ms")
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
		l.Say("pages %s", set.name)
		pages, contracts, err := walkSet(ctx, c, set.at, set.filter)
		if err != nil {
			return err
		}
		s.AtMost(maxPage, fmt.Sprintf("pages %s, %d pages with %d contracts, 95th percentile", set.name, len(pages.Each), contracts), pages.Percentile(95), "ms")
		s.Add("the same, median", pages.Percentile(50), "ms")
	}
	paged, err := p.PeakMiB()
	if err != nil {
		return err
	}
	s.Add("peak memory of the query tier after these", paged, "MiB")
	if err := dumpSet(ctx, l, s, p, newest); err != nil || !l.Has(lab.Postgres) {
		return err
	}
	pages, contracts, err := postgresSet(ctx, l, dumpURL(p.URL, newest))
	if err != nil {
		return err
	}
	s.Add(fmt.Sprintf("Postgres with that set alone, rows of JSONB by index, %d pages with %d coins, 95th percentile", len(pages.Each), contracts), pages.Percentile(95), "ms")
	s.Add("the same, median", pages.Percentile(50), "ms")
	return nil
}

func dumpSet(ctx context.Context, l *lab.Lab, s lab.Section, p *lab.Product, at instant) error {
	for _, encoding := range []string{"identity", "gzip"} {
		l.Say("dumping the newest active set, %s", encoding)
		begin := time.Now()
		lines, size, err := lab.Drain(ctx, dumpURL(p.URL, at), encoding)
		if err != nil {
			return err
		}
		seconds := time.Since(begin).Seconds()
		if encoding == "gzip" {
			s.Add("the same dump, compressed on its way", float64(lines)/seconds, "1/s")
			continue
		}
		s.AtLeast(minDumpRate, fmt.Sprintf("dump of %d contracts", lines), float64(lines)/seconds, "1/s")
		s.Add("the same", float64(size)/lab.Megabyte/seconds, "MB/s")
	}
	peak, err := p.PeakMiB()
	if err != nil {
		return err
	}
	s.Add("peak memory of the query tier after the dumps", peak, "MiB")
	return nil
}

// setPage asks for a page of an active set.
func setPage(c *lab.ReadClient, at instant, token string, filter map[string]any) (next string, contracts int, err error) {
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
	err = c.Do("POST", "/v2/state/acs", body, func(body []byte) error {
		contracts = bytes.Count(body, []byte(`"contract_id":"`))
		next = lab.LastMember(body, "next_page_token")
		return nil
	})
	return next, contracts, err
}

// walkSet asks for pages of a set one after another.
func walkSet(ctx context.Context, c *lab.ReadClient, at instant, filter map[string]any) (t lab.Timings, contracts int, err error) {
	token := ""
	for range setPages {
		start := time.Now()
		next, n, err := setPage(c, at, token, filter)
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return t, 0, err
		}
		t.Each = append(t.Each, time.Since(start))
		contracts += n
		if token = next; token == "" {
			break
		}
	}
	return t, contracts, nil
}

// aParty is a stakeholder of a contract in a set, and not of all others.
func aParty(c *lab.ReadClient, at instant) (party string) {
	body, err := json.Marshal(map[string]any{"migration_id": at.Migration, "at": at.At.String(), "page_size": setPageSize, "templates": []string{"splice-amulet:Splice.Amulet:Amulet"}})
	if err != nil {
		return ""
	}
	_ = c.Do("POST", "/v2/state/acs", body, func(body []byte) error {
		party = lab.LastMember(body, "owner")
		return nil
	})
	return party
}
