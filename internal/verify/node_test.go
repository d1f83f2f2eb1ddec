package verify_test

import (
	"context"
	"log/slog"
	"maps"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/ingest/node"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// simulatedNode is a participant's ledger API.
type simulatedNode struct {
	ledger *devnet.Ledger
	url    string
}

// startNode executes a history. With pruned the node no longer has any of its updates.
func startNode(t *testing.T, updates int, participant string, pruned bool) simulatedNode {
	t.Helper()
	ledger, err := devnet.New(t.Context(), devnet.Config{
		Updates: updates, Seed: 8, Days: 3, Dir: t.TempDir(), Node: &devnet.NodeConfig{Participant: participant},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	options := devnet.NodeOptions{CheckpointEvery: 100}
	if pruned {
		options.PrunedOffset = ledger.NodeDigests().LedgerEnd / 2
	}
	handler, err := ledger.NodeHandler(options)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.Close()
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	return simulatedNode{ledger, server.URL}
}

// ingestNode brings the store to the end of a node's stream, which it reads from then on.
func (f *fixture) ingestNode(t *testing.T, n simulatedNode) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	ingester, err := node.New(node.Config{BaseURL: n.url, Settings: stream.Settings{Sink: indexer.NewSinks(f.db, log), Log: log, BatchItems: 120}})
	if err != nil {
		t.Fatal(err)
	}
	if err := ingester.Backfill(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.stream = schemas.NodeStream(n.ledger.NodeDigests().ParticipantID)
	f.reader = history.NewReader(f.db, f.stream)
	if err := indexer.NewLifetimes(f.db, f.stream, 0, log).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// run lets the ledger go on for a moment.
func (n simulatedNode) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	if err := n.ledger.Run(ctx, 3000); err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
}

func TestHonestNodeStreamHasNoFindings(t *testing.T) {
	for _, c := range []struct {
		name, participant string
		pruned            bool
	}{
		{"a validator", "", false},
		{"a validator that has pruned", "", true},
		{"a super-validator, which sees all coins", "Super-Validator-1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, f := startNode(t, schematest.Rounds(700, 1200), c.participant, c.pruned), newFixture(t)
			f.ingestNode(t, n)
			if c.pruned {
				n.run(t)
				f.ingestNode(t, n)
			}
			var done, total int64
			r := f.verify(t, verify.Config{Progress: func(d, n int64) { done, total = d, n }})
			if !sound(r) {
				t.Fatal(findings(r))
			}
			if done == 0 || done != total || done != r.Items {
				t.Errorf("progress ended at %d of %d, %d items", done, total, r.Items)
			}
			if got := r.Total["imports"].Rows; (got > 0) != c.pruned {
				t.Errorf("the stream begins with %d contracts", got)
			}
			served := n.ledger.NodeDigests()
			for table, want := range served.Tables {
				if got := r.Total[table]; !c.pruned && (got.Rows != want.Rows || got.Hash() != want.Hash) {
					t.Errorf("table %s: %s, the node served %d rows, %s", table, got, want.Rows, want.Hash)
				}
			}
			f.sameWithoutTexts(t, r)
			coins := checkOf(r, verify.Coins)
			t.Logf("%s: %d items, %v", c.name, r.Items, coins.Checked)
			if coins.Checked["parts_balanced"] == 0 || coins.Checked["coins_held"] == 0 || r.Supply != nil {
				t.Errorf("coins: %+v, supply %v", coins, r.Supply)
			}
		})
	}
}

const (
	oneNodeCreate = "(SELECT (update_id, node) FROM events WHERE kind = 'created' AND acs_delta AND node > 1 ORDER BY node_offset, node LIMIT 1 OFFSET 30)"
	oneNodeCoin   = "(SELECT (update_id, node) FROM events WHERE kind = 'created' AND acs_delta AND node > 1 AND template_id LIKE '%:Splice.Amulet:Amulet' AND update_id IN (SELECT update_id FROM events WHERE choice = 'AmuletRules_Transfer' AND node = 0) ORDER BY node_offset, node LIMIT 1 OFFSET 10)"
	oneNodeUpdate = "(SELECT update_id FROM updates WHERE kind = 'transaction' ORDER BY node_offset LIMIT 1 OFFSET 70)"
	oneNodeEnded  = "(SELECT contract_id FROM contracts_archived ORDER BY contract_id LIMIT 1 OFFSET 10)"
	oneNodeActive = "(SELECT contract_id FROM contracts_live WHERE archived_offset = 0 AND created_time > '2000-01-01' ORDER BY contract_id LIMIT 1)"
	oneNodeImport = "(SELECT update_id FROM imports ORDER BY update_id LIMIT 1 OFFSET 5)"
)

var nodeDamages = []damage{
	{"a commit is gone", []string{"ALTER TABLE batches DELETE WHERE stream NOT LIKE '%/contracts' AND state = 'commit' AND sequence = 2"}, verify.Batches, "batches are missing before it"},
	{"a batch starts early", []string{"ALTER TABLE batches UPDATE after_offset = after_offset - 1 WHERE stream NOT LIKE '%/contracts' AND sequence = 4"}, verify.Batches, "does not start where the one before ended"},
	{"a row above the watermark", []string{"INSERT INTO updates SELECT * REPLACE (node_offset + 1000000 AS node_offset) FROM updates LIMIT 1"}, verify.Batches, "rows above the watermark"},
	{"an update is gone", []string{"ALTER TABLE updates DELETE WHERE update_id = " + oneNodeUpdate}, verify.Batches, "events without their update"},
	{"an update stands twice", []string{"INSERT INTO updates SELECT * FROM updates WHERE update_id = " + oneNodeUpdate}, verify.Batches, "number of items"},
	{"an update is changed", []string{"ALTER TABLE updates UPDATE extras = '{}' WHERE update_id = " + oneNodeUpdate}, verify.Hashes, "content"},
	{"an update stands elsewhere", []string{"ALTER TABLE updates UPDATE node_offset = node_offset + 1 WHERE update_id = " + oneNodeUpdate}, verify.Batches, "without"},
	{"an event stands twice", []string{"INSERT INTO events SELECT * FROM events WHERE (update_id, node) = " + oneNodeCreate}, verify.Batches, "number of events"},
	{"an event has other witnesses", []string{"ALTER TABLE events UPDATE witness_parties = [] WHERE (update_id, node) = " + oneNodeCreate}, verify.Hashes, "content"},
	{"a contract of the beginning is gone", []string{"ALTER TABLE imports DELETE WHERE update_id = " + oneNodeImport}, verify.Batches, "number of items"},
	{"a contract of the beginning is changed", []string{"ALTER TABLE imports UPDATE extras = '{}' WHERE update_id = " + oneNodeImport}, verify.Hashes, "content"},
	{"an active contract is gone", []string{"DELETE FROM contracts_live WHERE contract_id = " + oneNodeActive}, verify.Lifetimes, "lifetime is missing"},
	{"a lifetime begins at another offset", []string{"UPDATE contracts_live SET created_offset = created_offset - 1 WHERE contract_id = " + oneNodeActive}, verify.Lifetimes, "lifetime"},
	{"a lifetime ends at another offset", []string{"ALTER TABLE contracts_archived UPDATE archived_offset = archived_offset + 1 WHERE contract_id = " + oneNodeEnded}, verify.Lifetimes, "lifetime"},
	{"a lifetime ends before it begins", []string{"ALTER TABLE contracts_archived UPDATE archived_offset = created_offset - 1 WHERE contract_id = " + oneNodeEnded}, verify.Lifetimes, "lifetimes end before they begin"},
	{"a party does not find an update", []string{"ALTER TABLE places DELETE WHERE kind = 'party' AND node_offset = (SELECT max(node_offset) FROM places)"}, verify.Batches, "places of kind party"},
	{"a party finds an update twice", []string{"INSERT INTO places SELECT * FROM places WHERE kind = 'party' LIMIT 1"}, verify.Batches, "places of kind party"},
	{"a stranger finds an update", []string{"ALTER TABLE places DELETE WHERE kind = 'party' AND node_offset = (SELECT max(node_offset) FROM places)",
		"INSERT INTO places SELECT * REPLACE ('party' AS kind, toUInt64(7) AS place_key) FROM places WHERE node_offset = (SELECT max(node_offset) FROM places) LIMIT 1"}, verify.Batches, "places of kind party"},
	{"a contract leads elsewhere", []string{"INSERT INTO places SELECT * REPLACE (node_offset + 2 AS node_offset) FROM places WHERE kind = 'contract' ORDER BY place_key LIMIT 1"}, verify.Batches, "places of kind contract"},
	{"an ended contract is gone", []string{"ALTER TABLE ended_contracts DELETE WHERE archived_offset = (SELECT max(archived_offset) FROM ended_contracts)"}, verify.Lifetimes, "a contract that ended"},
	{"an ended contract has other stakeholders", []string{"ALTER TABLE ended_contracts UPDATE observers = ['nobody::1220'] WHERE archived_offset = (SELECT max(archived_offset) FROM ended_contracts)"}, verify.Lifetimes, "a contract that ended"},
	{"a coin is worth more", []string{"ALTER TABLE events UPDATE body_scalars = replaceRegexpOne(body_scalars, '([0-9]+[.][0-9]{10})', '9\\\\1') WHERE (update_id, node) = " + oneNodeCoin}, verify.Coins, "coin"},
	{"a transfer does not add up", []string{"ALTER TABLE events UPDATE body_scalars = replaceAll(body_scalars, '\\00.', '\\07.') WHERE choice = 'AmuletRules_Transfer'"}, verify.Coins, "a transfer does not add up"},
	{"a holding out of nothing", []string{"INSERT INTO contracts_live SELECT * REPLACE (concat(contract_id, 'ff') AS contract_id) FROM contracts_live WHERE template = 'splice-amulet:Splice.Amulet:Amulet' AND archived_offset = 0 LIMIT 1"}, verify.Coins, "a coin is held that the events do not leave"},
}

func TestDamageOfANodeStreamIsFound(t *testing.T) {
	n := startNode(t, 1500, "", true)
	honest, spoilt := newFixture(t), newFixture(t)
	honest.ingestNode(t, n)
	n.run(t)
	honest.ingestNode(t, n)
	spoilt.stream, spoilt.reader = honest.stream, history.NewReader(spoilt.db, honest.stream)
	for _, table := range tables {
		spoilt.copyRows(t, honest, table)
	}
	for _, d := range nodeDamages {
		t.Run(d.name, func(t *testing.T) { spoilt.mustFind(t, honest, d) })
	}
	if r := spoilt.verify(t, verify.Config{}); !sound(r) {
		t.Errorf("after all repairs:\n%s", findings(r))
	}
}

// sameWithoutTexts verifies without digests, so that no texts are read, and compares the report of
// a store without findings. Indexes reads texts in both cases.
func (f *fixture) sameWithoutTexts(t *testing.T, want *verify.Report) {
	t.Helper()
	r := f.verify(t, verify.Config{Checks: withoutIndexes, SkipDigests: true})
	if got, want := findings(r), findings(want); got != want {
		t.Errorf("without texts verification finds\n%s\nwith them\n%s", got, want)
	}
	for _, c := range r.Checks {
		if other := checkOf(want, c.Name); !maps.Equal(c.Checked, other.Checked) {
			t.Errorf("without texts check %s looks at %v, with them at %v", c.Name, c.Checked, other.Checked)
		}
	}
}

// mustFind spoils the store, verifies it and repairs it from another one.
func (f *fixture) mustFind(t *testing.T, honest *fixture, d damage) {
	t.Helper()
	f.exec(t, d.statements...)
	r := f.verify(t, verify.Config{Checks: []string{d.check}, SkipDigests: true})
	for _, table := range tables {
		if strings.Contains(strings.Join(d.statements, " "), " "+table+" ") {
			f.copyRows(t, honest, table)
		}
	}
	for _, finding := range r.Checks[0].Findings {
		if strings.Contains(finding.String(), d.what) {
			return
		}
	}
	t.Errorf("check %s does not find %q; it finds\n%s", d.check, d.what, findings(r))
}
