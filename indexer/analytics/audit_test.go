package analytics

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// audit returns the differences that are found, one a line.
func (f *fixture) audit(t *testing.T) (list []string, looked map[string]int64) {
	t.Helper()
	looked, err := NewAudit(f.db, f.stream, values.Default(), f.log).Run(t.Context(), func(d Difference) {
		list = append(list, fmt.Sprintf("%s: party %s, update %s: expected %s, found %s", d.What, d.Party, d.UpdateID, d.Expected, d.Found))
	})
	if err != nil {
		t.Fatal(err)
	}
	return list, looked
}

// TestAuditNamesDamage damages a row of each kind. The audit finds each, names its party and update, and
// finds nothing else but what follows from it.
func TestAuditNamesDamage(t *testing.T) {
	f := newFixture(t)
	items := indexertest.ScanItems(t, network(t, devnet.Config{Updates: 400, Seed: 3, Days: 2}))
	f.write(t, items, len(items)/3, f.movements())
	if found, looked := f.audit(t); len(found) > 0 || looked["rows"] < 500 || looked["updates"] < 200 || looked["balances"] < 20 {
		t.Fatalf("of an undamaged store %v were looked at and found: %q", looked, found)
	}
	for _, c := range []struct {
		name, statement, expected, found string
	}{
		{"lost", "ALTER TABLE movements DELETE WHERE %s", "transfer", "no such row"},
		{"doubled", "INSERT INTO movements SELECT * FROM movements WHERE %s", "no such row", "transfer"},
		{"with another amount", "ALTER TABLE movements UPDATE amount = amount + 0.0000000001 WHERE %s", "transfer", "transfer"},
		{"of another round", "ALTER TABLE movements UPDATE round = 7777 WHERE %s", "transfer", "round 7777"},
		{"explained otherwise", "ALTER TABLE movements UPDATE cause = 'mint', class = 'tap' WHERE %s", "transfer", "mint tap"},
		{"of a party without coins", "INSERT INTO movements SELECT * REPLACE ('nobody::1220' AS party) FROM movements WHERE %s", "no such row", "nobody::1220"},
	} {
		t.Run(c.name, func(t *testing.T) {
			row := strings.Split(indexertest.Texts(t, f.DSN, "SELECT concat(update_id, '|', toString(entry), '|', party) FROM movements WHERE cause = 'transfer' ORDER BY cityHash64(update_id, entry) LIMIT 1")[0], "|")
			f.exec(t, "CREATE TABLE undamaged AS movements")
			f.exec(t, "INSERT INTO undamaged SELECT * FROM movements")
			f.exec(t, fmt.Sprintf(c.statement, fmt.Sprintf("update_id = '%s' AND entry = %s", row[0], row[1]))+
				map[bool]string{true: " SETTINGS mutations_sync = 2"}[strings.HasPrefix(c.statement, "ALTER")])
			found, _ := f.audit(t)
			named := false
			for _, line := range found {
				what, rest, _ := strings.Cut(line, ": expected ")
				expected, got, _ := strings.Cut(rest, ", found ")
				named = named || strings.Contains(what, row[0]) && (strings.Contains(what, row[2]) || strings.Contains(what, "nobody")) &&
					strings.Contains(expected, c.expected) && strings.Contains(got, c.found)
			}
			if !named || len(found) > 3 {
				t.Errorf("of entry %s of update %s, of %s, is found:\n%s", row[1], row[0], row[2], strings.Join(found, "\n"))
			}
			f.exec(t, "EXCHANGE TABLES movements AND undamaged")
			f.exec(t, "DROP TABLE undamaged SYNC")
		})
	}
}

// TestAuditNamesDamagedRounds damages a row of table round_entries in each way.
func TestAuditNamesDamagedRounds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	items := indexertest.ScanItems(t, network(t, devnet.Config{Updates: 400, Seed: 3, Days: 2}))
	f.write(t, items, len(items)/3, f.movements())
	if found, looked := f.audit(t); len(found) > 0 || looked["entries of rounds"] < 200 {
		t.Fatalf("of an undamaged store %v were looked at and found: %q", looked, found)
	}
	for _, c := range []struct{ name, statement, expected, found string }{
		{"lost", "ALTER TABLE round_entries DELETE WHERE %s", "rewards", "no such row"},
		{"doubled", "INSERT INTO round_entries SELECT * FROM round_entries WHERE %s", "no such row", "rewards"},
		{"with other rewards", "ALTER TABLE round_entries UPDATE app_rewards = app_rewards + 0.0000000001 WHERE %s", "rewards", "rewards"},
		{"of other coins", "ALTER TABLE round_entries UPDATE initial_change = -initial_change WHERE %s", "coins", "coins"},
		{"of other traffic", "ALTER TABLE round_entries UPDATE traffic_bytes = 7777 WHERE %s", "traffic", "7777 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			row := strings.Split(indexertest.Texts(t, f.DSN, "SELECT concat(toString(round), '|', party, '|', toString(toUnixTimestamp64Micro(record_time))) FROM round_entries WHERE round > 0 ORDER BY cityHash64(record_time, party) LIMIT 1")[0], "|")
			f.exec(t, "CREATE TABLE undamaged AS round_entries")
			f.exec(t, "INSERT INTO undamaged SELECT * FROM round_entries")
			f.exec(t, fmt.Sprintf(c.statement, fmt.Sprintf("round = %s AND party = '%s' AND record_time = fromUnixTimestamp64Micro(%s, 'UTC')", row[0], row[1], row[2]))+
				map[bool]string{true: " SETTINGS mutations_sync = 2"}[strings.HasPrefix(c.statement, "ALTER")])
			found, _ := f.audit(t)
			if len(found) != 1 || !strings.Contains(found[0], "round "+row[0]) || !strings.Contains(found[0], row[1]) {
				t.Fatalf("of round %s and party %s is found:\n%s", row[0], row[1], strings.Join(found, "\n"))
			}
			_, rest, _ := strings.Cut(found[0], ": expected ")
			if expected, got, _ := strings.Cut(rest, ", found "); !strings.Contains(expected, c.expected) || !strings.Contains(got, c.found) {
				t.Errorf("expected is %q, found %q", expected, got)
			}
			f.exec(t, "EXCHANGE TABLES round_entries AND undamaged")
			f.exec(t, "DROP TABLE undamaged SYNC")
		})
	}
}

// TestAuditNamesDamagedLabels damages a row of table labels in each way.
func TestAuditNamesDamagedLabels(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	items := indexertest.ScanItems(t, network(t, devnet.Config{Updates: 300, Seed: 3, Days: 2}))
	f.write(t, items, len(items)/3, f.movements())
	if found, looked := f.audit(t); len(found) > 0 || looked["labels"] < 50 {
		t.Fatalf("of an undamaged store %v were looked at and found: %q", looked, found)
	}
	for _, c := range []struct{ name, statement, found string }{
		{"lost", "ALTER TABLE labels DELETE WHERE %s SETTINGS mutations_sync = 2", "no such row"},
		{"with another label", "ALTER TABLE labels UPDATE argument = arrayMap(x -> replaceOne(x, '\"', '\"x'), argument) WHERE %s SETTINGS mutations_sync = 2", `x`},
		{"with another place", "ALTER TABLE labels UPDATE argument_holes = arrayMap(n -> n + 1, argument_holes) WHERE %s SETTINGS mutations_sync = 2", "labels of shape"},
		{"of another result", "ALTER TABLE labels UPDATE result = ['7'] WHERE %s SETTINGS mutations_sync = 2", `["7"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			row := strings.Split(indexertest.Texts(t, f.DSN, "SELECT concat(toString(shape), '|', choice) FROM labels FINAL WHERE choice = 'AmuletRules_Transfer' AND empty(constructors) ORDER BY shape LIMIT 1")[0], "|")
			f.exec(t, "CREATE TABLE undamaged AS labels")
			f.exec(t, "INSERT INTO undamaged SELECT * FROM labels")
			f.exec(t, fmt.Sprintf(c.statement, fmt.Sprintf("shape = %s AND choice = '%s'", row[0], row[1])))
			found, _ := f.audit(t)
			if len(found) != 1 || !strings.Contains(found[0], "labels of shape "+row[0]) || !strings.Contains(found[0], row[1]) || !strings.Contains(found[0][strings.LastIndex(found[0], ", found "):], c.found) {
				t.Errorf("of the labels of shape %s of %s is found:\n%.3000s", row[0], row[1], strings.Join(found, "\n"))
			}
			f.exec(t, "EXCHANGE TABLES labels AND undamaged")
			f.exec(t, "DROP TABLE undamaged SYNC")
		})
	}
}
