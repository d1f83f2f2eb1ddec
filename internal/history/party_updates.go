package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// PartyUpdates returns the updates in rg that concern a party, ascending, whole: those in
// whose events it is a signatory, an observer, an actor or a witness, and those that ended
// a contract of which it was a stakeholder. rg must not end above ContractsWatermark.
func (r *Reader) PartyUpdates(ctx context.Context, party string, rg Range) ([]schemas.Update, error) {
	return perMigration(rg, func(rg Range) ([]schemas.Update, error) {
		positions, err := r.partyPositions(ctx, party, rg)
		if err != nil {
			return nil, fmt.Errorf("looking for updates of a party after %s: %w", rg.After, err)
		}
		return r.updatesAt(ctx, positions)
	})
}

// partyPositions returns the first positions of a range within one migration. Events are
// ordered by position and lifetimes are not, so the ends of contracts are looked for in the
// stretch in which there are enough events: few of them can lie in it.
func (r *Reader) partyPositions(ctx context.Context, party string, rg Range) ([]schemas.Position, error) {
	params := r.params(rg)
	params["party"] = store.Text(party)
	inEvents, err := r.selectPositions(ctx, partyEventsQuery, params, rg.Through.MigrationID)
	if err != nil {
		return nil, err
	}
	if len(inEvents) == rg.Limit {
		rg.Through = inEvents[len(inEvents)-1]
		params = r.params(rg)
		params["party"] = store.Text(party)
	}
	// Ends at the very time of rg.After are read and dropped: one for each synchronizer.
	const atOneTime = 64
	params["most"] = store.Int(int64(rg.Limit + atOneTime))
	ended, err := r.selectPositions(ctx, partyEndsQuery, params, rg.Through.MigrationID)
	if err != nil {
		return nil, err
	}
	all := append(inEvents, ended...)
	slices.SortFunc(all, schemas.Position.Compare)
	all = slices.Compact(all)
	return all[:min(len(all), rg.Limit)], nil
}

func (r *Reader) selectPositions(ctx context.Context, query string, params store.Params, migration int64) ([]schemas.Position, error) {
	var list []schemas.Position
	block := store.NewPositions()
	err := r.db.Select(ctx, query, params, block, func() error {
		list = block.AppendTo(list, migration)
		return nil
	})
	return list, err
}
