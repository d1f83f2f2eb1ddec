package main

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// fingerprint identifies the rows of a table whatever their order. It is computed by the
// engine over the rows as they stand, so it knows nothing of how the product reads them.
type fingerprint struct {
	Table string  `ch:"name"`
	Rows  uint64  `ch:"n"`
	Kinds uint64  `ch:"kinds"` // different rows
	City  big.Int `ch:"city"`
	Sip   big.Int `ch:"sip"`
}

type fingerprints map[string]fingerprint

// journals are tables whose rows differ from run to run: how history was cut into
// batches depends on time.
var journals = map[string]bool{"batches": true, "milestones": true, "segments": true, "contract_ends": true}

func (l *lab) fingerprint(ctx context.Context, database string) (fingerprints, error) {
	var parts []string
	for _, table := range l.template.Tables {
		if (strings.HasSuffix(table.Engine, "MergeTree") || table.Engine == "Distributed") && !journals[table.Name] {
			rows := database + "." + table.Name
			if table.Name == "labels" { // a shape that is labelled again has the same row at another time
				rows = "(SELECT DISTINCT * EXCEPT labelled_at FROM " + rows + ")"
			}
			parts = append(parts, fmt.Sprintf(`SELECT '%s' AS name, count() AS n, uniqExact(cityHash64(*)) AS kinds,
				sum(toUInt256(cityHash64(*))) AS city, sum(toUInt256(sipHash64(*))) AS sip FROM %s`, table.Name, rows))
		}
	}
	var rows []fingerprint
	err := l.awaitShards(ctx, func() error {
		rows = nil
		return l.admins[0].Select(ctx, &rows, strings.Join(parts, " UNION ALL "))
	})
	if err != nil {
		return nil, fmt.Errorf("hashing the tables of %s: %w", database, err)
	}
	prints := make(fingerprints, len(rows))
	for _, r := range rows {
		prints[r.Table] = r
	}
	return prints, nil
}

// harm counts rows that are not as they should be.
type harm struct {
	lost, doubled, changed, reordered uint64
}

func (d harm) any() bool { return d != harm{} }

func (d harm) String() string {
	return fmt.Sprintf("%d rows lost, %d doubled, %d tables with other rows, %d rows reordered", d.lost, d.doubled, d.changed, d.reordered)
}

func (d *harm) add(o harm) {
	d.lost += o.lost
	d.doubled += o.doubled
	d.changed += o.changed
	d.reordered += o.reordered
}

// compare counts how got differs from want, and says where.
func compare(want, got fingerprints) (harm, []string) {
	var d harm
	var where []string
	for _, table := range slices.Sorted(maps.Keys(want)) {
		w, g := want[table], got[table]
		if g.Rows == w.Rows && g.City.Cmp(&w.City) == 0 && g.Sip.Cmp(&w.Sip) == 0 {
			continue
		}
		d.doubled += g.Rows - g.Kinds
		switch {
		case g.Kinds < w.Kinds:
			d.lost += w.Kinds - g.Kinds
		case g.Rows == g.Kinds:
			d.changed++
		}
		where = append(where, fmt.Sprintf("table %s has %d rows, %d of them different, want %d", table, g.Rows, g.Kinds, w.Rows))
	}
	return d, where
}

// line is one of table batches.
type line struct {
	Stream   string `ch:"stream"`
	Sequence int64  `ch:"sequence"`
	State    string `ch:"state"`
	After    string `ch:"after"`
	Through  string `ch:"through"`
	Hash     string `ch:"hash"`
	Writer   string `ch:"writer"`
}

// checkJournal looks for gaps and doubles in the batches of every stream: each number
// has one commit, starts where the one before ended, and was announced with the content
// that was committed. No intent is left behind the last commit.
func (l *lab) checkJournal(ctx context.Context, database, stream string) (findings []string, err error) {
	var lines []line
	query := fmt.Sprintf(`SELECT stream, sequence, toString(state) AS state,
			toString((after_offset, after_migration, after_time, after_id)) AS after,
			toString((through_offset, through_migration, through_time, through_id)) AS through,
			hash, writer
		FROM %s.batches ORDER BY stream, sequence, batches.state, written_at`, database)
	err = l.awaitShards(ctx, func() error {
		lines = nil
		return l.admins[0].Select(ctx, &lines, query)
	})
	if err != nil {
		return nil, fmt.Errorf("reading the journal of %s: %w", database, err)
	}
	streams := make(map[string][]line)
	for _, r := range lines {
		streams[r.Stream] = append(streams[r.Stream], r)
	}
	for _, stream := range []string{stream, journal.ContractsStream(stream)} {
		if len(streams[stream]) == 0 {
			findings = append(findings, "stream "+stream+" has no batches")
		}
		findings = append(findings, checkStream(stream, streams[stream])...)
	}
	return findings, nil
}

func checkStream(stream string, lines []line) (findings []string) {
	find := func(format string, args ...any) {
		findings = append(findings, stream+": "+fmt.Sprintf(format, args...))
	}
	standing := make(map[int64][]line)
	var last line
	for _, r := range lines {
		switch r.State {
		case "intent":
			standing[r.Sequence] = append(standing[r.Sequence], r)
		case "withdrawn":
			standing[r.Sequence] = slices.DeleteFunc(standing[r.Sequence], func(s line) bool { return s.Writer == r.Writer })
		case "commit":
			switch {
			case r.Sequence == last.Sequence:
				find("batch %d is committed twice", r.Sequence)
			case r.Sequence != last.Sequence+1:
				find("batch %d follows batch %d", r.Sequence, last.Sequence)
			case last.Sequence > 0 && r.After != last.Through:
				find("batch %d starts after %s, the one before ends at %s", r.Sequence, r.After, last.Through)
			}
			// The announcement of a process that was killed may arrive after its successor
			// has looked for it. It stays without effect: rows are sent after an answer only.
			if !slices.ContainsFunc(standing[r.Sequence], func(s line) bool { return s.Hash == r.Hash && s.Through == r.Through }) {
				find("batch %d was committed through %s with hash %s, which nobody announced", r.Sequence, r.Through, r.Hash)
			}
			last = r
		}
	}
	for sequence, intents := range standing {
		if sequence > last.Sequence && len(intents) > 0 {
			find("batch %d was announced and never committed", sequence)
		}
	}
	return findings
}

// reordered reads history through the product and counts the items that do not stand
// where the network has them.
func (l *lab) reordered(ctx context.Context, database string) (uint64, error) {
	db, err := l.open(ctx, database, l.address)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	reader := history.NewReader(db, schemas.ScanStream)
	mark, err := reader.Watermark(ctx)
	if err != nil {
		return 0, err
	}
	var got []string
	for at := schemas.Start; ; {
		const page = 500
		var items []schemas.Item
		err := l.awaitShards(ctx, func() error {
			items, err = reader.Items(ctx, history.Range{After: at, Through: mark, Limit: page})
			return err
		})
		if err != nil {
			return 0, err
		}
		for i := range items {
			got = append(got, items[i].Position().UpdateID)
		}
		if len(items) < page {
			break
		}
		at = items[len(items)-1].Position()
	}
	place := make(map[string]int, len(got))
	for _, s := range l.subjects {
		if !s.Import {
			place[s.UpdateID] = len(place)
		}
	}
	count, last := uint64(0), -1
	for _, id := range got {
		at, known := place[id]
		if !known || at < last {
			count++
			continue
		}
		last = at
	}
	return count, nil
}

// digests returns what a store holds of a stream.
func digests(ctx context.Context, db *store.DB, stream string) (*verify.Report, error) {
	return verify.Run(ctx, verify.Config{
		Source: audit.NewReader(db, stream), Public: history.NewReader(db, stream), Node: nodehistory.NewReader(db, stream),
		Checks: []string{verify.Hashes},
	})
}

// compareWithNetwork digests the store the way the product's verification does and
// compares with what the network says it served.
func (l *lab) compareWithNetwork(ctx context.Context, database, stream string, served verify.Tables) ([]string, error) {
	db, err := l.open(ctx, database, l.address)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var report *verify.Report
	err = l.awaitShards(ctx, func() error {
		report, err = digests(ctx, db, stream)
		return err
	})
	if err != nil {
		return nil, err
	}
	return verify.Differences("the network", served, "the store", report.Total), nil
}
