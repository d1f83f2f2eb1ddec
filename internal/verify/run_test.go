package verify_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

func TestHonestStoreHasNoFindings(t *testing.T) {
	ledger, items := network(t, devnet.Config{Updates: schematest.Rounds(1200, 3000), Seed: 5, Days: 4})
	f := newFixture(t)
	f.write(t, items, 150)
	var done, total int64
	counted := &countedAudit{Queries: audit.NewQueries(f.Conn, f.stream)}
	r := f.verify(t, verify.Config{Audit: counted, Progress: func(d, n int64) { done, total = d, n }})
	if !sound(r) {
		t.Fatal(findings(r))
	}
	if done == 0 || done != total || int(total) != len(items) {
		t.Errorf("progress ended at %d of %d, want %d", done, total, len(items))
	}
	if counted.asked > 0 {
		t.Error("the sums of lifetimes, which are those of the events, differ from those of the tables")
	}
	f.sameWithoutTexts(t, r)
	for table, want := range ledger.Digests().Tables {
		if got := r.Total[table]; got.Rows != want.Rows || got.Hash() != want.Hash {
			t.Errorf("table %s: %s, the network served %d rows, %s", table, got, want.Rows, want.Hash)
		}
	}
	supply := ledger.Supply()
	if got := r.Supply; got.Minted.String() != supply.Minted || got.Burned.String() != supply.Burned || got.Circulating.String() != supply.Circulating {
		t.Errorf("supply is %s minted, %s burned, %s circulating, the network has %+v", got.Minted, got.Burned, got.Circulating, supply)
	}
	if n := len(r.Supply.Rounds); n == 0 || r.Supply.Rounds[n-1].Circulating != r.Supply.Circulating {
		t.Errorf("the supply of %d rounds does not end in the whole", n)
	}
}

// Histories with what the simulated network does not do: reassignments there and back,
// verdicts without updates, exercises on contracts never seen.
func TestOddHistoriesHaveNoFindings(t *testing.T) {
	for seed := range uint64(schematest.Rounds(1, 6)) {
		f := newFixture(t)
		f.write(t, schematest.New(schematest.Config{Seed: seed, Items: 250, Migrations: 3}).Items, 40)
		r := f.verify(t, verify.Config{})
		if !sound(r) {
			t.Errorf("seed %d:\n%s", seed, findings(r))
		}
		f.sameWithoutTexts(t, r)
	}
}

func TestEmptyStore(t *testing.T) {
	if r := newFixture(t).verify(t, verify.Config{}); !sound(r) || r.Total["updates"].Rows != 0 {
		t.Errorf("an empty store: %d updates\n%s", r.Total["updates"].Rows, findings(r))
	}
}

// damage is one way to spoil a store, and what must be found.
type damage struct {
	name       string
	statements []string
	check      string
	what       string // part of one of its findings
}

const (
	// oneUpdate is an update in the midst of history, oneCreate a created event that is not
	// the only one of its update.
	oneUpdate = "(SELECT update_id FROM updates WHERE kind = 'transaction' ORDER BY migration_id, record_time LIMIT 1 OFFSET 120)"
	oneCreate = "(SELECT (update_id, node) FROM events WHERE kind = 'created' AND node > 1 ORDER BY migration_id, record_time, update_id, node LIMIT 1 OFFSET 500)"
	oneCoin   = "(SELECT (update_id, node) FROM events WHERE kind = 'created' AND template_id LIKE '%:Splice.Amulet:Amulet' ORDER BY migration_id, record_time, update_id, node LIMIT 1 OFFSET 200)"
	oneSpend  = "(SELECT (update_id, node) FROM events WHERE consuming AND template_id LIKE '%:Splice.Amulet:Amulet' ORDER BY migration_id DESC, record_time, update_id, node LIMIT 1 OFFSET 20)"
	oneEnded  = "(SELECT (contract_id, created_time) FROM contracts_archived ORDER BY contract_id, created_time LIMIT 1 OFFSET 50)"
	oneActive = "(SELECT (contract_id, created_time) FROM contracts_live WHERE archived_at > '2200-01-01' AND created_time > '2000-01-01' AND migration_id = (SELECT max(migration_id) FROM contracts_live) ORDER BY contract_id LIMIT 1 OFFSET 5)"
	oneCarry  = "(SELECT (contract_id, created_time, migration_id) FROM contracts_live WHERE created_time < '1950-01-01' AND created_in != '' ORDER BY migration_id, contract_id LIMIT 1)"
	oneImport = "(SELECT update_id FROM imports ORDER BY update_id LIMIT 1 OFFSET 20)"
)

var damages = []damage{
	{"a commit is gone", []string{"ALTER TABLE batches DELETE WHERE stream = 'scan' AND state = 'commit' AND sequence = 3"}, verify.Batches, "batches are missing before it"},
	{"a batch is gone", []string{"ALTER TABLE batches DELETE WHERE stream = 'scan' AND sequence = 3"}, verify.Batches, "rows that belong to no batch"},
	{"a lifetimes batch is gone", []string{"ALTER TABLE batches DELETE WHERE stream = 'scan/contracts' AND sequence = 1"}, verify.Batches, "batches are missing before it"},
	{"a batch starts early", []string{"ALTER TABLE batches UPDATE after_time = after_time - 1 WHERE stream = 'scan' AND sequence = 4"}, verify.Batches, "does not start where the one before ended"},
	{"a commit with another hash", []string{"ALTER TABLE batches UPDATE hash = concat('rows1:', repeat('0', 32)) WHERE stream = 'scan' AND sequence = 4 AND state = 'commit'"}, verify.Batches, "committed differently than announced"},
	{"two commits", []string{"INSERT INTO batches SELECT * REPLACE (concat('rows1:', repeat('0', 32)) AS hash) FROM batches WHERE stream = 'scan' AND sequence = 4 AND state = 'commit'"}, verify.Batches, "two commits"},
	{"an intent far ahead", []string{"INSERT INTO batches SELECT * REPLACE (9000 AS sequence) FROM (SELECT * FROM batches WHERE stream = 'scan' AND sequence = 4 AND state = 'intent')"}, verify.Batches, "an intent is left over"},
	{"a row above the watermark", []string{"INSERT INTO updates SELECT * REPLACE (record_time + INTERVAL 900 DAY AS record_time) FROM updates ORDER BY migration_id DESC LIMIT 1"}, verify.Batches, "rows above the watermark"},
	{"an update is gone", []string{"ALTER TABLE updates DELETE WHERE update_id = " + oneUpdate}, verify.Batches, "events without their update"},
	{"an update stands twice", []string{"INSERT INTO updates SELECT * FROM updates WHERE update_id = " + oneUpdate}, verify.Batches, "number of items"},
	{"an update is changed", []string{"ALTER TABLE updates UPDATE workflow_id = 'other' WHERE update_id = " + oneUpdate}, verify.Hashes, "content"},
	{"an event is gone", []string{"ALTER TABLE events DELETE WHERE (update_id, node) = " + oneCreate}, verify.Batches, "number of events"},
	{"an event stands twice", []string{"INSERT INTO events SELECT * FROM events WHERE (update_id, node) = " + oneCreate}, verify.Batches, "number of events"},
	{"an event is changed", []string{"ALTER TABLE events UPDATE created_at = created_at + INTERVAL 1 MICROSECOND WHERE (update_id, node) = " + oneCreate}, verify.Hashes, "content"},
	{"an event's body is changed", []string{"ALTER TABLE events UPDATE body_shape = replaceOne(body_shape, 'record', 'rekord') WHERE (update_id, node) = " + oneCreate}, verify.Hashes, "content"},
	{"a verdict is gone", []string{"ALTER TABLE verdicts DELETE WHERE result LIKE '%REJECTED' "}, verify.Batches, "number of items"},
	{"a verdict of an update is gone", []string{"ALTER TABLE verdicts DELETE WHERE update_id = " + oneUpdate}, verify.Hashes, "content"},
	{"traffic is changed", []string{"ALTER TABLE verdicts UPDATE traffic_cost = traffic_cost + 1 WHERE update_id = " + oneUpdate}, verify.Hashes, "content"},
	{"an import is gone", []string{"ALTER TABLE imports DELETE WHERE update_id = " + oneImport}, verify.Batches, "number of items"},
	{"an import is changed", []string{"ALTER TABLE imports UPDATE workflow_id = 'other' WHERE update_id = " + oneImport}, verify.Hashes, "content"},
	{"an active contract is gone", []string{"DELETE FROM contracts_live WHERE (contract_id, created_time) = " + oneActive}, verify.Lifetimes, "lifetime is missing"},
	{"an ended contract is gone", []string{"ALTER TABLE contracts_archived DELETE WHERE (contract_id, created_time) = " + oneEnded}, verify.Lifetimes, "lifetime is missing"},
	{"a lifetime stands twice", []string{"INSERT INTO contracts_archived SELECT * FROM contracts_archived WHERE (contract_id, created_time) = " + oneEnded}, verify.Lifetimes, "extra lifetime"},
	{"a lifetime ends late", []string{"INSERT INTO contracts_archived SELECT * REPLACE (archived_at + INTERVAL 1 MICROSECOND AS archived_at) FROM contracts_archived WHERE (contract_id, created_time) = " + oneEnded,
		"ALTER TABLE contracts_archived DELETE WHERE (contract_id, created_time) = " + oneEnded + " AND archived_at = (SELECT min(archived_at) FROM contracts_archived WHERE (contract_id, created_time) = " + oneEnded + ")"}, verify.Lifetimes, "lifetime"},
	{"a lifetime ends before it begins", []string{"INSERT INTO contracts_archived SELECT * REPLACE (created_time - INTERVAL 1 SECOND AS archived_at) FROM contracts_archived WHERE (contract_id, created_time) = " + oneEnded}, verify.Lifetimes, "lifetimes end before they begin"},
	{"an ended contract lives on", []string{
		"INSERT INTO contracts_live SELECT * REPLACE (toDateTime64('2299-12-31 00:00:00', 6, 'UTC') AS archived_at) FROM contracts_archived WHERE (contract_id, created_time) = " + oneEnded,
		"ALTER TABLE contracts_archived DELETE WHERE (contract_id, created_time) = " + oneEnded,
	}, verify.Lifetimes, "lifetime"},
	{"a lifetime has another observer", []string{"ALTER TABLE contracts_archived UPDATE observers = arrayPushBack(observers, 'eve::1220') WHERE (contract_id, created_time) = " + oneEnded}, verify.Lifetimes, "contract of a lifetime differs from the one created"},
	{"a lifetime has another argument", []string{"ALTER TABLE contracts_archived UPDATE argument_shape = replaceOne(argument_shape, 'record', 'rekord') WHERE (contract_id, created_time) = " + oneEnded}, verify.Lifetimes, "contract of a lifetime differs from the one created"},
	{"a carried contract has another origin", []string{"UPDATE contracts_live SET created_in = '1220ff' WHERE (contract_id, created_time, migration_id) = " + oneCarry}, verify.Lifetimes, "creating update of a contract that was carried over"},
	{"a coin is worth more", []string{"ALTER TABLE events UPDATE body_scalars = concat('9', body_scalars) WHERE (update_id, node) = " + oneCoin}, verify.Coins, "coins appear without being minted"},
	{"a coin is worth nothing", []string{"ALTER TABLE events UPDATE body_scalars = concat('0.0000000000', substring(body_scalars, position(body_scalars, '\\0'))) WHERE (update_id, node) = " + oneCoin}, verify.Coins, "coins disappear"},
	{"a transfer does not add up", []string{"ALTER TABLE events UPDATE body_scalars = replaceAll(body_scalars, '\\00.', '\\07.') WHERE choice = 'AmuletRules_Transfer'"}, verify.Coins, "a transfer does not add up"},
	{"a spend is gone", []string{"ALTER TABLE events DELETE WHERE (update_id, node) = " + oneSpend}, verify.Coins, "the events leave a coin that nobody holds"},
	{"a mint is gone", []string{"ALTER TABLE events UPDATE choice = 'AmuletRules_Mean' WHERE choice = 'AmuletRules_Mint'"}, verify.Coins, "coins appear without being minted"},
	{"a coin is created twice", []string{"INSERT INTO events SELECT * REPLACE (toInt32(node + 500) AS node) FROM (SELECT * FROM events WHERE (update_id, node) = " + oneCoin + ")"}, verify.Coins, "a coin is created twice"},
	{"a holding is changed", []string{"UPDATE contracts_live SET argument_scalars = concat('9', argument_scalars) WHERE template = 'splice-amulet:Splice.Amulet:Amulet' AND archived_at > '2200-01-01'"}, verify.Coins, "the amount of a coin"},
	{"a holding out of nothing", []string{"INSERT INTO contracts_live SELECT * REPLACE (concat(contract_id, 'ff') AS contract_id) FROM contracts_live WHERE template = 'splice-amulet:Splice.Amulet:Amulet' AND archived_at > '2200-01-01' ORDER BY migration_id DESC LIMIT 1"}, verify.Coins, "a coin is held that the events do not leave"},
	{"an update is not found by its id", []string{"ALTER TABLE places DELETE WHERE kind = 'update' AND place_key = (SELECT max(place_key) FROM places WHERE kind = 'update')"}, verify.Batches, "places of kind update"},
	{"a verdict is found twice", []string{"INSERT INTO places SELECT * FROM places WHERE kind = 'verdict' ORDER BY place_key LIMIT 1"}, verify.Batches, "places of kind verdict"},
	{"a contract is found elsewhere", []string{"ALTER TABLE places DELETE WHERE kind = 'contract' AND place_key = (SELECT max(place_key) FROM places WHERE kind = 'contract')",
		"INSERT INTO places SELECT * REPLACE (record_time + INTERVAL 1 MICROSECOND AS record_time) FROM places WHERE kind = 'contract' ORDER BY place_key LIMIT 1"}, verify.Batches, "places of kind contract"},
	{"an exercise counts as an end", []string{"INSERT INTO places SELECT * REPLACE ('contract' AS kind) FROM places WHERE kind = 'exercise' ORDER BY place_key LIMIT 1",
		"ALTER TABLE places DELETE WHERE kind = 'exercise' AND place_key = (SELECT min(place_key) FROM places WHERE kind = 'exercise')"}, verify.Batches, "places of kind exercise"},
	{"a party finds no update", []string{"ALTER TABLE places DELETE WHERE kind = 'party' AND place_key = (SELECT max(place_key) FROM places WHERE kind = 'party')"}, verify.Batches, "places of kind party"},
	{"an imported coin is gone", []string{"ALTER TABLE imports DELETE WHERE update_id = (SELECT min(update_id) FROM imports WHERE template_id LIKE '%:Splice.Amulet:Amulet')"}, verify.Coins, "a coin was not carried over"},
}

func TestDamageIsFound(t *testing.T) {
	_, items := network(t, devnet.Config{Updates: 600, Seed: 6, Days: 4})
	honest, spoilt := newFixture(t), newFixture(t)
	honest.write(t, items, 120)
	for _, table := range tables {
		spoilt.copyRows(t, honest, table)
	}
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) { spoilt.mustFind(t, honest, d) })
	}
	if r := spoilt.verify(t, verify.Config{}); !sound(r) {
		t.Errorf("after all repairs:\n%s", findings(r))
	}
}

// columnChanges change a column of each type; @ is the column.
var columnChanges = map[string]string{
	"LowCardinality(String)": "concat(@, '9')", "String": "concat(@, '9')", "Int64": "@ + 1", "Int32": "@ + 1", "Bool": "NOT @",
	"DateTime64(6, 'UTC')": "@ + INTERVAL 1 MICROSECOND", "Array(Int32)": "arrayPushBack(@, 900)",
	"Array(LowCardinality(String))": "arrayPushBack(@, 'eve::1220')", "Array(String)": "arrayPushBack(@, 'x')",
}

// columnsOf are the columns of a table that are stored, by type. Rows of another stream are
// rows that are gone, so stream is not among them.
func (f *fixture) columnsOf(t *testing.T, table string) map[string]string {
	t.Helper()
	rows, err := f.Conn.Query(t.Context(), "SELECT name, type FROM system.columns WHERE database = currentDatabase() AND default_kind IN ('', 'DEFAULT') AND name != 'stream' AND table = '"+table+"'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns := make(map[string]string)
	for rows.Next() {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			t.Fatal(err)
		}
		if columnChanges[kind] == "" {
			t.Fatalf("column %s of %s has type %s: say how it can be changed", name, table, kind)
		}
		columns[name] = kind
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return columns
}

// spoilColumns replaces a table by that of another store, with each column changed in the row of
// another update.
func (f *fixture) spoilColumns(t *testing.T, honest *fixture, table string, columns map[string]string, ids []string) {
	t.Helper()
	row := "update_id = '%s'"
	if table == "events" {
		row += " AND node = 0"
	}
	var changes []string
	for i, name := range slices.Sorted(maps.Keys(columns)) {
		changes = append(changes, fmt.Sprintf("if(%s, %s, %s) AS %[3]s", fmt.Sprintf(row, ids[i]), strings.ReplaceAll(columnChanges[columns[name]], "@", name), name))
	}
	f.exec(t, "TRUNCATE TABLE "+table,
		fmt.Sprintf("INSERT INTO %s SELECT * REPLACE (%s) FROM %s.%[1]s", table, strings.Join(changes, ", "), honest.RowsIn))
}

// Whichever column of history is changed, verification finds it, with and without texts.
func TestEveryColumnIsHashed(t *testing.T) {
	_, items := network(t, devnet.Config{Updates: 250, Seed: 6, Days: 2})
	honest, spoilt := newFixture(t), newFixture(t)
	const size = 7
	honest.write(t, items, size)
	for _, table := range tables {
		spoilt.copyRows(t, honest, table)
	}
	// Updates that are far enough from each other to be in other batches.
	var imported, updated []string
	last := -size
	for i, it := range items {
		u := it.Update
		if i-last < size || u == nil || u.Kind != schemas.Transaction || it.Verdict == nil && !u.IsImport() {
			continue
		}
		last = i
		if u.IsImport() {
			imported = append(imported, u.UpdateID)
		} else {
			updated = append(updated, u.UpdateID)
		}
	}
	for table, ids := range map[string][]string{"updates": updated, "events": updated, "imports": imported, "verdicts": updated} {
		columns := spoilt.columnsOf(t, table)
		if len(columns) < 18 || len(ids) < len(columns) {
			t.Fatalf("table %s has %d columns, and there are %d updates", table, len(columns), len(ids))
		}
		// Where a row stands is changed by itself, because it disturbs others.
		for _, name := range []string{"migration_id", "record_time", "update_id", "node", "node_offset"} {
			if columns[name] == "" {
				continue
			}
			spoilt.spoilColumns(t, honest, table, map[string]string{name: columns[name]}, ids)
			delete(columns, name)
			if r := spoilt.verify(t, verify.Config{Checks: []string{verify.Hashes}, SkipDigests: true}); sound(r) {
				t.Errorf("column %s of %s is changed, and nothing found", name, table)
			}
		}
		spoilt.spoilColumns(t, honest, table, columns, ids)
		for _, skip := range []bool{true, false} {
			r := spoilt.verify(t, verify.Config{Checks: []string{verify.Hashes}, SkipDigests: skip})
			if got := r.Checks[0].Total; got != int64(len(columns)) {
				t.Errorf("%d columns of %s are changed in as many batches, and %d found, without digests: %t", len(columns), table, got, skip)
			}
		}
		spoilt.copyRows(t, honest, table)
	}
	if r := spoilt.verify(t, verify.Config{Checks: withoutIndexes, SkipDigests: true}); !sound(r) {
		t.Errorf("after all repairs:\n%s", findings(r))
	}
}

// A store that an earlier version wrote has hashes of another kind: that is no finding.
func TestAnOlderStoreIsRefused(t *testing.T) {
	f := newFixture(t)
	f.write(t, schematest.New(schematest.Config{Seed: 3, Items: 60, Migrations: 1}).Items, 10)
	f.exec(t, "ALTER TABLE batches UPDATE hash = repeat('0', 32) WHERE stream = 'scan'")
	_, err := verify.Run(t.Context(), verify.Config{Source: audit.NewReader(f.db, f.stream), Checks: []string{verify.Hashes}})
	if err == nil || !strings.Contains(err.Error(), "an earlier version") {
		t.Errorf("verifying a store of an earlier version: %v", err)
	}
	writer := indexer.NewWriter(f.db, schemas.ScanStream, slog.New(slog.DiscardHandler))
	if _, err := writer.Resume(t.Context(), schemas.ScanStream); err == nil || !strings.Contains(err.Error(), "an earlier version") {
		t.Errorf("going on with a store of an earlier version: %v", err)
	}
}

// memoryPeer has a history in memory, without digests of its own.
type memoryPeer struct{ items []schemas.Item }

func (p memoryPeer) Upstream() string { return "http://peer.example.com" }

func (p memoryPeer) Items(_ context.Context, after schemas.Position, limit int) ([]schemas.Item, error) {
	var page []schemas.Item
	for _, it := range p.items {
		if at := it.Position(); after.Before(at) && at.RecordTime != schemas.MinMicros && len(page) < limit {
			page = append(page, it)
		}
	}
	return page, nil
}

func (p memoryPeer) Imports(_ context.Context, migration int64, after string, limit int) ([]schemas.Update, error) {
	var page []schemas.Update
	for _, it := range p.items {
		if u := it.Update; u != nil && u.IsImport() && u.MigrationID == migration && u.UpdateID > after && len(page) < limit {
			page = append(page, *u)
		}
	}
	return page, nil
}

func TestDaysAreComparedWithAPeer(t *testing.T) {
	items := schematest.New(schematest.Config{Seed: 3, Items: 400, Migrations: 2, Step: 20 * 60 * 1e6}).Items
	f := newFixture(t)
	f.write(t, items, 50)
	days := func(peer memoryPeer) *verify.Check {
		return f.verify(t, verify.Config{Checks: []string{verify.Days}, Peer: peer}).Checks[0]
	}
	whole := days(memoryPeer{items})
	if !whole.OK || whole.Checked["segments"] < 10 || whole.Checked["segments_not_reached"] != 0 {
		t.Errorf("an equal peer: %+v, %v", whole.Checked, whole.Findings)
	}
	half := days(memoryPeer{items[:len(items)/3]})
	if half.Checked["segments_not_reached"] == 0 || half.Checked["segments"] == 0 {
		t.Errorf("a peer with a third of history: %+v", half.Checked)
	}
	for _, finding := range half.Findings {
		if !strings.Contains(finding.Where, "imports") {
			t.Errorf("a peer that is behind: %s", finding)
		}
	}
	var without []schemas.Item
	for _, it := range items {
		if it.Update != nil {
			without = append(without, schemas.Item{Update: it.Update})
		}
	}
	if c := days(memoryPeer{without}); !c.OK {
		t.Errorf("a peer without verdicts: %v", c.Findings)
	}
	other := slices.Clone(items)
	changed := *other[100].Update
	changed.WorkflowID = "other"
	other[100].Update = &changed
	want := schemas.DaySegments.Of(schemas.ScanStream, changed.MigrationID, changed.RecordTime).String()
	if c := days(memoryPeer{other}); c.Total != 1 || c.Findings[0].Where != "segment "+want || c.Findings[0].What != "table updates" {
		t.Errorf("one update differs in %s; found %v", want, c.Findings)
	}
	if c := days(memoryPeer{slices.Delete(slices.Clone(items), 100, 101)}); c.OK {
		t.Error("a peer that lacks an update is not told apart")
	}
}

func TestFindingsAreBounded(t *testing.T) {
	f := newFixture(t)
	f.write(t, schematest.New(schematest.Config{Seed: 3, Items: 120, Migrations: 1}).Items, 10)
	f.exec(t, "ALTER TABLE batches UPDATE hash = concat('rows1:', repeat('0', 32)) WHERE stream = 'scan'")
	c := f.verify(t, verify.Config{Checks: []string{verify.Hashes}, Findings: 3}).Checks[0]
	if c.Total < 12 || len(c.Findings) != 3 {
		t.Errorf("%d findings, of which %d are kept; want 12 and more, and 3", c.Total, len(c.Findings))
	}
}

func TestBadConfigIsRefused(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct {
		cfg  verify.Config
		want string
	}{
		{verify.Config{Source: audit.NewReader(f.db, f.stream), Checks: []string{"spelling"}}, `there is no check "spelling"`},
		{verify.Config{Source: audit.NewReader(f.db, f.stream), Checks: []string{verify.Days}}, "peer"},
		{verify.Config{Source: audit.NewReader(f.db, f.stream)}, "audit"},
		{verify.Config{Checks: []string{verify.Hashes}}, "source"},
	} {
		if _, err := verify.Run(t.Context(), c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v gives %v, want an error that names %q", c.cfg, err, c.want)
		}
	}
}

// sound reports whether no check of a report has a finding.
func sound(r *verify.Report) bool {
	return !slices.ContainsFunc(r.Checks, func(c *verify.Check) bool { return !c.OK })
}
