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
