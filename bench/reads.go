package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/ledgerlake/ledgerlake/bench/lab"
)

//go:embed sql/copies.sql
var copiesPlace string

// The targets of reading from the query tier.
const (
	minColdLookups    = 10_000 // a second, coalesced
	minLookupRatio    = 1.0    // to primary key lookups in Postgres
	maxHotLookup      = 2      // ms at the 99th percentile
	minPagedUpdates   = 20_000 // a second to one client
	maxGrowth         = 1.3    // of the latency when history is ten times as long
	lookupClients     = 128
	coldLookups       = 20_000
	hotLookups        = 20_000
	hotIDs            = 100
	hotClients        = 2 // more would wait for a core, not for an answer
	latencySamples    = 400
	shortHistoryShare = 10
)

// measureReads asks the query tier for events by id and for pages of updates, and compares
// with rows of JSONB in Postgres and with a history of a tenth of the length.
func measureReads(ctx context.Context, l *lab.Lab, s lab.Section) (err error) {
	n, err := l.Network(ctx)
	if err != nil {
		return err
	}
	if err := l.Fill(ctx, n.URL, l.Folder("reads-lake")); err != nil {
		return err
	}
	ids, err := updateIDs(ctx, n.URL)
	if err != nil {
		return err
	}
	p, err := l.Serve(ctx, l.Folder("reads-lake"))
	if err != nil {
		return err
	}
	long, err := measureServed(ctx, l, s, p, ids)
	if err := errors.Join(err, p.Stop()); err != nil {
		return err
	}
	copied, err := copiedHistory(ctx, l, s, n.URL, ids)
	if err != nil {
		return err
	}
	if l.Has(lab.Postgres) {
		rate, err := postgresLookups(ctx, l, n.URL, ids)
		if err != nil {
			return err
		}
		s.Add("Postgres, rows of JSONB by primary key", rate, "1/s")
		s.Add("events by id, cold / Postgres", long.coldRate/rate, "")
		s.AtLeast(minLookupRatio, "events by id out of copies, cold / Postgres", copied.coldRate/rate, "")
	}
	short, shortCopied, err := shortHistory(ctx, l)
	if err != nil {
		return err
	}
	s.AtMost(maxGrowth, "event by id, one client, median: history / a tenth of it", long.lookup/short.lookup, "")
	s.AtMost(maxGrowth, "event by id out of copies, one client, median: history / a tenth of it", copied.lookup/shortCopied.lookup, "")
	s.AtMost(maxGrowth, "page of 100 updates, one client, median: history / a tenth of it", long.page/short.page, "")
	return nil
}

// withCopies is the option that is off by default and that lookups are fast with.
const withCopies = "--lookup-rows"

// copiedHistory measures lookups in a store that has the history once more by update id.
func copiedHistory(ctx context.Context, l *lab.Lab, s lab.Section, upstream string, ids []string) (got served, err error) {
	begin := time.Now()
	if err := l.Fill(ctx, upstream, l.Folder("reads-lake"), withCopies); err != nil {
		return got, err
	}
	s.Add("time to copy the history by update id", time.Since(begin).Seconds(), "s")
	rows, copies, all, err := copiesSize(ctx, l, filepath.Join(l.Folder("reads-lake"), "engine"))
	if err != nil {
		return got, err
	}
	s.Add(fmt.Sprintf("copies, %d rows", rows), copies/lab.Megabyte, "MB")
	s.Add("copies / all other tables", copies/all, "")
	p, err := l.Serve(ctx, l.Folder("reads-lake"), withCopies)
	if err != nil {
		return got, err
	}
	got, err = measureCopies(ctx, l, s, p, ids)
	return got, errors.Join(err, p.Stop())
}

// copiesSize tells how many copies a store has, their bytes on disk and those of all other
// tables. The engine does not count copies among its parts.
func copiesSize(ctx context.Context, l *lab.Lab, dir string) (rows uint64, copies, others float64, err error) {
	store, err := lab.OpenEngine(ctx, dir)
	if err != nil {
		return 0, 0, 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := store.Settle(ctx, l.Quiet); err != nil {
		return 0, 0, 0, err
	}
	tables, err := store.Tables(ctx)
	if err != nil {
		return 0, 0, 0, err
	}
	for _, t := range tables {
		others += float64(t.Bytes)
	}
	var folder string
	if err := store.Conn.QueryRow(ctx, copiesPlace).Scan(&rows, &folder); err != nil {
		return 0, 0, 0, fmt.Errorf("looking for the copies: %w", err)
	}
	err = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			copies += float64(info.Size())
		}
		return err
	})
	return rows, copies, others, err
}

// measureCopies measures lookups of one running query tier that has copies.
func measureCopies(ctx context.Context, l *lab.Lab, s lab.Section, p *lab.Product, ids []string) (got served, err error) {
	l.Say("looking up events by id out of copies")
	c := lab.NewReadClient(p.URL)
	one, err := c.Lookups(ctx, 1, ids[:latencySamples])
	if err != nil {
		return got, err
	}
	rest := ids[latencySamples:]
	cold, err := c.Lookups(ctx, lookupClients, rest[:min(coldLookups, len(rest))])
	if err != nil {
		return got, err
	}
	got.lookup, got.coldRate = one.Percentile(50), cold.Rate()
	s.Add("event by id out of copies, one client, median", got.lookup, "ms")
	s.AtLeast(minColdLookups, fmt.Sprintf("events by id out of copies, each asked for once by %d clients", lookupClients), got.coldRate, "1/s")
	s.Add("the same, 99th percentile", cold.Percentile(99), "ms")
	return got, nil
}

// updateIDs are those of a network's history, in an order made by the seed.
func updateIDs(ctx context.Context, url string) (ids []string, err error) {
	err = lab.EachEvent(ctx, url, func(id string, _ []byte) error {
		ids = append(ids, id)
		return nil
	})
	random := rand.New(rand.NewPCG(lab.NetworkSeed, 2))
	random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids, err
}

// served is what is compared with another history, latencies in ms.
type served struct{ coldRate, lookup, page float64 }

// measureServed measures one running query tier.
func measureServed(ctx context.Context, l *lab.Lab, s lab.Section, p *lab.Product, ids []string) (got served, err error) {
	c := lab.NewReadClient(p.URL)
	l.Say("looking up events by id")
	if got, err = latencies(ctx, c, ids); err != nil {
		return got, err
	}
	rest := ids[latencySamples:]
	cold, err := c.Lookups(ctx, lookupClients, rest[:min(coldLookups, len(rest))])
	if err != nil {
		return got, err
	}
	got.coldRate = cold.Rate()
	s.Add("event by id, one client, median", got.lookup, "ms")
	s.Add(fmt.Sprintf("events by id, each asked for once by %d clients", lookupClients), got.coldRate, "1/s")
	s.Add("the same, 99th percentile", cold.Percentile(99), "ms")
	hot := make([]string, hotLookups)
	for i := range hot {
		hot[i] = rest[i%hotIDs]
	}
	again, err := c.Lookups(ctx, hotClients, hot)
	if err != nil {
		return got, err
	}
	s.Add(fmt.Sprintf("%d events by id again and again by %d clients", hotIDs, hotClients), again.Rate(), "1/s")
	s.AtMost(maxHotLookup, "the same, 99th percentile", again.Percentile(99), "ms")
	l.Say("paging through updates")
	begin := time.Now()
	_, updates, bytes, err := c.UpdatesAfter(ctx, nil)
	if err != nil {
		return got, err
	}
	seconds := time.Since(begin).Seconds()
	s.Add("page of 100 updates, one client, median", got.page, "ms")
	s.AtLeast(minPagedUpdates, "updates in pages of 1,000 to one client", float64(updates)/seconds, "1/s")
	s.Add("the same", float64(bytes)/lab.Megabyte/seconds, "MB/s")
	peak, err := p.PeakMiB()
	if err != nil {
		return got, err
	}
	s.Add("peak memory of the query tier", peak, "MiB")
	return got, nil
}

// latencies asks for one thing after another.
func latencies(ctx context.Context, c *lab.ReadClient, ids []string) (got served, err error) {
	one, err := c.Lookups(ctx, 1, ids[:latencySamples])
	if err != nil {
		return got, err
	}
	got.lookup = one.Percentile(50)
	pages, err := c.PagesAfter(ctx, ids[:latencySamples], 100)
	if err != nil {
		return got, err
	}
	got.page = pages.Percentile(50)
	return got, nil
}

// shortHistory measures a history of a tenth of the length, without and with copies.
func shortHistory(ctx context.Context, l *lab.Lab) (got, copied served, err error) {
	n, err := l.StartNetwork(ctx, lab.NetworkTask{Dir: l.Folder("short-network"), Updates: max(l.Updates/shortHistoryShare, 2*latencySamples)})
	if err != nil {
		return got, copied, err
	}
	defer func() { err = errors.Join(err, n.Stop()) }()
	ids, err := updateIDs(ctx, n.URL)
	if err != nil {
		return got, copied, err
	}
	for _, part := range []struct {
		options []string
		into    *served
	}{{nil, &got}, {[]string{withCopies}, &copied}} {
		if err := l.Fill(ctx, n.URL, l.Folder("short-lake"), part.options...); err != nil {
			return got, copied, err
		}
		p, err := l.Serve(ctx, l.Folder("short-lake"), part.options...)
		if err != nil {
			return got, copied, err
		}
		*part.into, err = latencies(ctx, lab.NewReadClient(p.URL), ids)
		if err := errors.Join(err, p.Stop()); err != nil {
			return got, copied, err
		}
	}
	return got, copied, nil
}
