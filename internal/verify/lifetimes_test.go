package verify

import (
	"fmt"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// A contract that begins and ends in one update has no lifetime, however large the update.
func TestTransientContractsHaveNoLifetime(t *testing.T) {
	for _, n := range []int{3, manyCreated, 4 * manyCreated} {
		u := &schemas.Update{Kind: schemas.Transaction, UpdateID: "1220", RecordTime: 5}
		for i := range n {
			id := fmt.Sprintf("00%064d", i)
			u.Events = append(u.Events, schemas.Event{Kind: schemas.Created, ContractID: id})
			if i%3 == 0 {
				u.Events = append(u.Events, schemas.Event{Kind: schemas.Exercised, ContractID: id, Consuming: true})
			}
		}
		u.Events = append(u.Events, schemas.Event{Kind: schemas.Exercised, ContractID: "00ff", Consuming: true})
		w := newLifetimeWalk()
		facts := make([]audit.EventFacts, len(u.Events))
		for i := range facts {
			facts[i].Contract = audit.LifetimeHash(u.Events[i].ContractID)
		}
		w.update(u, facts)
		var begins, ends uint64
		for _, s := range w.sums {
			begins, ends = begins+s.Begins, ends+s.Ends
		}
		if want := uint64(n - (n+2)/3); begins != want || ends != 1 {
			t.Errorf("of %d contracts: %d begin and %d end, want %d and 1", n, begins, ends, want)
		}
	}
}
