package analytics

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/devnet/devnettest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// nodeBalances by party and pocket, of movements and of the coins that are active.
const (
	movedOnNode = `
		SELECT concat(party, ' ', toString(pocket), ' ', toString(sum(amount))) FROM movements
		GROUP BY party, pocket HAVING sum(amount) != 0 ORDER BY party, pocket`
	heldOnNode = `
		SELECT concat(owner, ' ', if(locked, 'locked', 'unlocked'), ' ', toString(sum(amount)))
		FROM
		(
			SELECT endsWith(template, ':LockedAmulet') AS locked, if(locked, JSONExtractRaw(argument, 'amulet'), argument) AS coin,
			       JSONExtractString(coin, 'owner') AS owner, toDecimal128(JSONExtractString(coin, 'amount', 'initialAmount'), 10) AS amount
			FROM (SELECT template, archived_offset, argument AS argument FROM contracts_live)
			WHERE template IN ('splice-amulet:Splice.Amulet:Amulet', 'splice-amulet:Splice.Amulet:LockedAmulet') AND archived_offset = 0
		)
		GROUP BY owner, locked ORDER BY owner, locked`
)

// TestMovementsOfNodesAreTheirCoins derives the movements of what nodes see: they are those of the coins
// that are active there, nothing else is made up, and a node that sees everything explains it.
func TestMovementsOfNodesAreTheirCoins(t *testing.T) {
	for _, c := range []struct {
		name, participant string
		pruned            bool
	}{
		{"a validator, whose users do all that commands can do", "", false},
		{"a validator that has pruned half of it", "", true},
		{"a super-validator, which sees all coins", "Super-Validator-1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			commands := func(l *devnet.Ledger) {
				if c.participant == "" {
					devnettest.New(t, l).Live()
				}
			}
			stream, items := indexertest.NodeItems(t, devnet.Config{Updates: schematest.Rounds(400, 5000), Seed: 11, Days: 3, Node: &devnet.NodeConfig{Participant: c.participant}}, false, commands)
			if c.pruned {
				items = prunedBefore(items, len(items)/2)
			}
			f := newFixture(t)
			f.stream = stream
			f.write(t, items, len(items)/3, f.movements())
			if found, looked := f.audit(t); len(found) > 0 || looked["rows"] < 20 {
				t.Errorf("the audit looked at %v and found %q", looked, found)
			}
			moved, held := indexertest.Texts(t, f.DSN, movedOnNode), indexertest.Texts(t, f.DSN, heldOnNode)
			if !slices.Equal(moved, held) || len(held) == 0 {
				t.Errorf("by movements parties have\n%s\nby coins\n%s", strings.Join(moved, "\n"), strings.Join(held, "\n"))
			}
			kinds := indexertest.Texts(t, f.DSN, "SELECT concat(toString(cause), ' ', toString(count())) FROM movements GROUP BY cause ORDER BY cause")
			has := func(cause string) bool {
				return slices.ContainsFunc(kinds, func(k string) bool { return strings.HasPrefix(k, cause+" ") })
			}
			f.damage(t)
			if has("opening") != c.pruned || !has("transfer") || c.participant != "" && has("unexplained") {
				t.Errorf("movements are of %q", kinds)
			}
		})
	}
}

// damage drops a row, and has the audit name it.
func (f *fixture) damage(t *testing.T) {
	t.Helper()
	row := strings.Split(indexertest.Texts(t, f.DSN, "SELECT concat(update_id, '|', toString(entry)) FROM movements WHERE cause = 'transfer' ORDER BY cityHash64(update_id, entry) LIMIT 1")[0], "|")
	f.exec(t, "ALTER TABLE movements DELETE WHERE update_id = '"+row[0]+"' AND entry = "+row[1]+" SETTINGS mutations_sync = 2")
	found, _ := f.audit(t)
	if len(found) != 2 || !strings.Contains(found[0], row[0]) || !strings.Contains(found[0], "found no such row") || !strings.Contains(found[1], "is not what it holds") {
		t.Errorf("of a lost entry %s of update %s is found %q", row[1], row[0], found)
	}
}

// prunedBefore is what a node has of a history once it has pruned all items before one: what was active
// then, and the rest.
func prunedBefore(items []schemas.Item, first int) []schemas.Item {
	offset := items[first-1].Update.Local.Offset
	active := make(map[string]schemas.Item)
	for i := range items[:first] {
		u := items[i].Update
		for j := range u.Events {
			e := u.Events[j]
			switch {
			case e.Kind == schemas.Created && e.Local.ACSDelta:
				e.Node, e.EventID = 0, schemas.EventID(e.ContractID, 0)
				e.Local = &schemas.LocalEvent{Witnesses: e.Local.Witnesses, ACSDelta: true}
				active[e.ContractID] = schemas.Item{Update: &schemas.Update{
					Kind: schemas.Transaction, SynchronizerID: u.SynchronizerID, RecordTime: schemas.MinMicros, UpdateID: e.ContractID, Encoding: u.Encoding,
					EffectiveAt: e.CreatedAt, RootEvents: []int32{0}, Events: []schemas.Event{e}, Local: &schemas.LocalUpdate{Offset: offset, PaidTrafficCost: -1},
				}}
			case e.Kind != schemas.Created && e.Local.ACSDelta:
				delete(active, e.ContractID)
			}
		}
	}
	var kept []schemas.Item
	for _, id := range slices.Sorted(maps.Keys(active)) {
		kept = append(kept, active[id])
	}
	return append(kept, items[first:]...)
}
