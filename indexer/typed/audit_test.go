package typed

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// TestAuditNamesDamage damages rows of a table: the audit names them and nothing else.
func TestAuditNamesDamage(t *testing.T) {
	f := newFixture(t)
	items := scanItems(t, devnet.Config{Updates: 200, Seed: 3, Days: 2})
	f.add(t, values.Default(), all[:3]...)
	f.write(t, indexertest.ScanBatches(items, len(items)/3)...)
	f.catchUp(t, f.typed(values.Default()))
	audit := func() (list []string, looked int64) {
		looked, err := f.typed(values.Default()).Audit(t.Context(), func(d Difference) {
			list = append(list, fmt.Sprintf("%s, %s: expected %s, found %s", d.Table, d.Where, d.Expected, d.Found))
		})
		if err != nil {
			t.Fatal(err)
		}
		return list, looked
	}
	if found, looked := audit(); len(found) > 0 || looked < 200 {
		t.Fatalf("of undamaged tables %d rows were looked at, and found: %q", looked, found)
	}
	row := strings.Split(indexertest.Texts(t, f.DSN, "SELECT concat(_update_id, '|', toString(_node)) FROM "+coin+" ORDER BY cityHash64(_update_id, _node) LIMIT 1")[0], "|")
	where := fmt.Sprintf("_update_id = '%s' AND _node = %s", row[0], row[1])
	for _, c := range []struct{ statement, expected, found string }{
		{"ALTER TABLE %s UPDATE amount__initialAmount = amount__initialAmount + 0.0000000001 WHERE %s SETTINGS mutations_sync = 2", "the values that history has", "others"},
		{"ALTER TABLE %s DELETE WHERE %s SETTINGS mutations_sync = 2", "a row", "no such row"},
		{"INSERT INTO %s SELECT * FROM undamaged WHERE %s", "", ""}, // as it was
		{"INSERT INTO %s SELECT * REPLACE ('x' AS _contract_id) FROM undamaged WHERE %s", "no such row", "a row"},
	} {
		if strings.HasPrefix(c.statement, "ALTER TABLE %s UPDATE") {
			f.exec(t, "CREATE TABLE undamaged AS "+coin)
			f.exec(t, "INSERT INTO undamaged SELECT * FROM "+coin)
		}
		f.exec(t, fmt.Sprintf(c.statement, coin, where))
		found, _ := audit()
		want := fmt.Sprintf("%s, update %s, event %s: expected %s, found %s", coin, row[0], row[1], c.expected, c.found)
		if c.expected == "" && len(found) > 0 || c.expected != "" && (len(found) != 1 || found[0] != want) {
			t.Errorf("%.12s: found %q, want %q", c.statement, found, want)
		}
	}
}
