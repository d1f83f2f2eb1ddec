package verify

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/history/audit"
)

// offsetsAtOnce bounds the memory of the engine, which groups parties by offset.
const offsetsAtOnce = 2_000_000

// wrongParties looks for updates of a node's own stream that table party_offsets, by which the
// ledger interface finds them, does not have for each party that sees them.
func (v *verification) wrongParties(ctx context.Context, check *Check) error {
	if v.mark.Offset <= 0 {
		return nil
	}
	portions := 1 + int(v.mark.Offset/offsetsAtOnce)
	for p := range portions {
		err := v.cfg.Audit.WrongParties(ctx, v.mark, p, portions, func(w audit.WrongParty) error {
			check.Add(Finding{
				What: "updates of a party by its key", Where: fmt.Sprintf("offset %d, key %d", w.Offset, w.Key),
				Expected: fmt.Sprintf("%d, as its events tell", w.Witnessed), Found: fmt.Sprintf("%d in party_offsets", w.Found),
			})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
