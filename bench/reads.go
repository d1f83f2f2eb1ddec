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
func measureReads(ctx context.Context, l *lab, s section) (err error) {
	n, err := l.network(ctx)
	if err != nil {
		return err
	}
	if err := l.fill(ctx, n.URL, l.folder("reads-lake")); err != nil {
		return err
	}
	ids, err := updateIDs(ctx, l, n.URL)
	if err != nil {
		return err
	}
	p, err := l.serve(ctx, l.folder("reads-lake"))
	if err != nil {
		return err
	}
	long, err := measureServed(ctx, l, s, p, ids)
	if err := errors.Join(err, p.stop()); err != nil {
		return err
	}
	copied, err := copiedHistory(ctx, l, s, n.URL, ids)
	if err != nil {
		return err
	}
	if l.has(postgres) {
		rate, err := postgresLookups(ctx, l, n.URL, ids)
		if err != nil {
			return err
		}
		s.add("Postgres, rows of JSONB by primary key", rate, "1/s")
		s.add("events by id, cold / Postgres", long.coldRate/rate, "")
		s.atLeast(minLookupRatio, "events by id out of copies, cold / Postgres", copied.coldRate/rate, "")
	}
	short, shortCopied, err := shortHistory(ctx, l)
	if err != nil {
		return err
	}
	s.atMost(maxGrowth, "event by id, one client, median: history / a tenth of it", long.lookup/short.lookup, "")
	s.atMost(maxGrowth, "event by id out of copies, one client, median: history / a tenth of it", copied.lookup/shortCopied.lookup, "")
	s.atMost(maxGrowth, "page of 100 updates, one client, median: history / a tenth of it", long.page/short.page, "")
	return nil
}

// withCopies is the option that is off by default and that lookups are fast with.
const withCopies = "--lookup-rows"

// copiedHistory measures lookups in a store that has the history once more by update id.
func copiedHistory(ctx context.Context, l *lab, s section, upstream string, ids []string) (got served, err error) {
	begin := time.Now()
	if err := l.fill(ctx, upstream, l.folder("reads-lake"), withCopies); err != nil {
		return got, err
	}
	s.add("time to copy the history by update id", time.Since(begin).Seconds(), "s")
	rows, copies, all, err := copiesSize(ctx, l, filepath.Join(l.folder("reads-lake"), "engine"))
	if err != nil {
		return got, err
	}
	s.add(fmt.Sprintf("copies, %d rows", rows), copies/megabyte, "MB")
	s.add("copies / all other tables", copies/all, "")
	p, err := l.serve(ctx, l.folder("reads-lake"), withCopies)
	if err != nil {
		return got, err
	}
	got, err = measureCopies(ctx, l, s, p, ids)
	return got, errors.Join(err, p.stop())
}

// copiesSize tells how many copies a store has, their bytes on disk and those of all other
// tables. The engine does not count copies among its parts.
func copiesSize(ctx context.Context, l *lab, dir string) (rows uint64, copies, others float64, err error) {
	store, err := openEngine(ctx, dir)
	if err != nil {
		return 0, 0, 0, err
	}
	defer func() { err = errors.Join(err, store.close()) }()
	if err := store.settle(ctx, l.quiet); err != nil {
		return 0, 0, 0, err
	}
	tables, err := store.tables(ctx)
	if err != nil {
		return 0, 0, 0, err
	}
	for _, t := range tables {
		others += float64(t.Bytes)
	}
	var folder string
	if err := store.conn.QueryRow(ctx, copiesPlace).Scan(&rows, &folder); err != nil {
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
func measureCopies(ctx context.Context, l *lab, s section, p *product, ids []string) (got served, err error) {
	l.say("looking up events by id out of copies")
	c := newReadClient(p.url)
	one, err := c.lookups(ctx, 1, ids[:latencySamples])
	if err != nil {
		return got, err
	}
	rest := ids[latencySamples:]
	cold, err := c.lookups(ctx, lookupClients, rest[:min(coldLookups, len(rest))])
	if err != nil {
		return got, err
	}
	got.lookup, got.coldRate = one.percentile(50), cold.rate()
	s.add("event by id out of copies, one client, median", got.lookup, "ms")
	s.atLeast(minColdLookups, fmt.Sprintf("events by id out of copies, each asked for once by %d clients", lookupClients), got.coldRate, "1/s")
	s.add("the same, 99th percentile", cold.percentile(99), "ms")
	return got, nil
}

// updateIDs are those of a network's history, in an order made by the seed.
func updateIDs(ctx context.Context, l *lab, url string) (ids []string, err error) {
	err = eachEvent(ctx, url, func(id string, _ []byte) error {
		ids = append(ids, id)
		return nil
	})
	random := rand.New(rand.NewPCG(networkSeed, 2))
	random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids, err
}

// served is what is compared with another history, latencies in ms.
type served struct{ coldRate, lookup, page float64 }

// measureServed measures one running query tier.
func measureServed(ctx context.Context, l *lab, s section, p *product, ids []string) (got served, err error) {
	c := newReadClient(p.url)
	l.say("looking up events by id")
	if got, err = latencies(ctx, c, ids); err != nil {
		return got, err
	}
	rest := ids[latencySamples:]
	cold, err := c.lookups(ctx, lookupClients, rest[:min(coldLookups, len(rest))])
	if err != nil {
		return got, err
	}
	got.coldRate = cold.rate()
	s.add("event by id, one client, median", got.lookup, "ms")
	s.add(fmt.Sprintf("events by id, each asked for once by %d clients", lookupClients), got.coldRate, "1/s")
	s.add("the same, 99th percentile", cold.percentile(99), "ms")
	hot := make([]string, hotLookups)
	for i := range hot {
		hot[i] = rest[i%hotIDs]
	}
	again, err := c.lookups(ctx, hotClients, hot)
	if err != nil {
		return got, err
	}
	s.add(fmt.Sprintf("%d events by id again and again by %d clients", hotIDs, hotClients), again.rate(), "1/s")
	s.atMost(maxHotLookup, "the same, 99th percentile", again.percentile(99), "ms")
	l.say("paging through updates")
	begin := time.Now()
	updates, bytes, err := c.allUpdates(ctx)
	if err != nil {
		return got, err
	}
	seconds := time.Since(begin).Seconds()
	s.add("page of 100 updates, one client, median", got.page, "ms")
	s.atLeast(minPagedUpdates, "updates in pages of 1,000 to one client", float64(updates)/seconds, "1/s")
	s.add("the same", float64(bytes)/megabyte/seconds, "MB/s")
	peak, err := p.peakMiB()
	if err != nil {
		return got, err
	}
	s.add("peak memory of the query tier", peak, "MiB")
	return got, nil
}

// latencies asks for one thing after another.
func latencies(ctx context.Context, c *readClient, ids []string) (got served, err error) {
	one, err := c.lookups(ctx, 1, ids[:latencySamples])
	if err != nil {
		return got, err
	}
	got.lookup = one.percentile(50)
	pages, err := c.pagesAfter(ctx, ids[:latencySamples], 100)
	if err != nil {
		return got, err
	}
	got.page = pages.percentile(50)
	return got, nil
}

// shortHistory measures a history of a tenth of the length, without and with copies.
func shortHistory(ctx context.Context, l *lab) (got, copied served, err error) {
	n, err := l.startNetwork(ctx, networkTask{Dir: l.folder("short-network"), Updates: max(l.updates/shortHistoryShare, 2*latencySamples)})
	if err != nil {
		return got, copied, err
	}
	defer func() { err = errors.Join(err, n.process.end()) }()
	ids, err := updateIDs(ctx, l, n.URL)
	if err != nil {
		return got, copied, err
	}
	for _, part := range []struct {
		options []string
		into    *served
	}{{nil, &got}, {[]string{withCopies}, &copied}} {
		if err := l.fill(ctx, n.URL, l.folder("short-lake"), part.options...); err != nil {
			return got, copied, err
		}
		p, err := l.serve(ctx, l.folder("short-lake"), part.options...)
		if err != nil {
			return got, copied, err
		}
		*part.into, err = latencies(ctx, newReadClient(p.url), ids)
		if err := errors.Join(err, p.stop()); err != nil {
			return got, copied, err
		}
	}
	return got, copied, nil
}
