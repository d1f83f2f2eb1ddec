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
	params := r.span(rg).Params(int64(rg.Limit))
	params["party"] = store.Text(party)
	inEvents, err := store.SelectAll(ctx, r.db, partyEventsQuery, params, store.NewPositions(rg.Through.MigrationID))
	if err != nil {
		return nil, err
	}
	if len(inEvents) == rg.Limit {
		rg.Through = inEvents[len(inEvents)-1]
		params = r.span(rg).Params(int64(rg.Limit))
		params["party"] = store.Text(party)
	}
	// Ends at the very time of rg.After are read and dropped: one for each synchronizer.
	const atOneTime = 64
	params["most"] = store.Int(int64(rg.Limit + atOneTime))
	ended, err := store.SelectAll(ctx, r.db, partyEndsQuery, params, store.NewPositions(rg.Through.MigrationID))
	if err != nil {
		return nil, err
	}
	all := append(inEvents, ended...)
	slices.SortFunc(all, schemas.Position.Compare)
	all = slices.Compact(all)
	return all[:min(len(all), rg.Limit)], nil
}

// positions returns what a query finds in a range within one migration.
func (r *Reader) positions(ctx context.Context, query string, rg Range) ([]schemas.Position, error) {
	return store.SelectAll(ctx, r.db, query, r.span(rg).Params(int64(rg.Limit)), store.NewPositions(rg.Through.MigrationID))
}
