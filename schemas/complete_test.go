package schemas_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// TestUpdatesWithoutAllTheirEventsAreDamaged takes each event of each update away, alone and with
// all that follow, and writes what is left: that must not panic, and CheckComplete must notice.
func TestUpdatesWithoutAllTheirEventsAreDamaged(t *testing.T) {
	kinds := make(map[schemas.UpdateKind]int)
	for _, it := range schematest.New(schematest.Config{Seed: 11, Items: 200}).Items {
		u := it.Update
		if u == nil || u.IsImport() {
			continue
		}
		if err := u.CheckComplete(); err != nil {
			t.Fatalf("a whole update: %v", err)
		}
		kinds[u.Kind]++
		for i := range u.Events {
			for _, left := range [][]schemas.Event{slices.Delete(slices.Clone(u.Events), i, i+1), u.Events[:i]} {
				damaged := *u
				damaged.Events = left
				if err := damaged.CheckComplete(); !errors.Is(err, schemas.ErrDamaged) {
					t.Errorf("update %s without event %d: the error is %v", u.UpdateID, i, err)
				}
				schemas.AppendItem(nil, &schemas.Item{Update: &damaged})
			}
		}
	}
	if kinds[schemas.Transaction] == 0 || kinds[schemas.Assignment] == 0 {
		t.Fatalf("the history has %v", kinds)
	}
	if err := (&schemas.Update{Kind: schemas.Unassignment}).CheckComplete(); !errors.Is(err, schemas.ErrDamaged) {
		t.Errorf("an unassignment without particulars: the error is %v", err)
	}
	schemas.AppendItem(nil, &schemas.Item{Update: &schemas.Update{Kind: schemas.Unassignment}})
}
