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
		updates, err := partySearch{r, party}.updates(ctx, rg)
		if err != nil {
			return nil, fmt.Errorf("looking for updates of a party after %s: %w", rg.After, err)
		}
		return updates, nil
	})
}

// partySearch looks for updates that concern a party.
type partySearch struct {
	*Reader
	party string
}

// atOneTime is how many updates may stand at one record time, at which a page begins: one for each
// synchronizer. Places at that time are read again and dropped.
const atOneTime = 64

// updates returns the first updates of a range within one migration.
func (s partySearch) updates(ctx context.Context, rg Range) (found []schemas.Update, err error) {
	for limit := rg.Limit; len(found) < limit; {
		rg.Limit = limit - len(found)
		positions, ended, err := s.candidates(ctx, rg)
		if err != nil {
			return nil, err
		}
		updates, err := s.updatesAt(ctx, positions)
		if err != nil {
			return nil, err
		}
		for _, u := range updates {
			if ended[u.Position()] || concerns(&u, s.party) {
				found = append(found, u)
			}
		}
		if len(positions) < rg.Limit {
			break
		}
		rg.After = positions[len(positions)-1]
	}
	return found, nil
}

// candidates returns the first positions of a range within one migration at which an update may
// concern the party, and which of them ended a contract of its. Lifetimes are not ordered by position,
// so the ends of contracts are looked for in the stretch in which there are enough updates with
// events of the party: few of them can lie in it.
func (s partySearch) candidates(ctx context.Context, rg Range) (all []schemas.Position, ended map[schemas.Position]bool, err error) {
	find := func(query string) ([]schemas.Position, error) {
		params := s.span(rg).Params(int64(rg.Limit))
		params["party"], params["most"] = store.Text(s.party), store.Int(int64(rg.Limit+atOneTime))
		params["keys"] = store.PlaceKeys(s.stream, store.ByParty, s.party)
		return store.SelectAll(ctx, s.db, query, params, store.NewPositions(rg.Through.MigrationID))
	}
	if all, err = find(partyPlacesQuery); err != nil {
		return nil, nil, err
	}
	if len(all) == rg.Limit {
		rg.Through = all[len(all)-1]
	}
	ends, err := find(partyEndsQuery)
	if err != nil {
		return nil, nil, err
	}
	ended = make(map[schemas.Position]bool, len(ends))
	for _, at := range ends {
		ended[at] = true
	}
	all = append(all, ends...)
	slices.SortFunc(all, schemas.Position.Compare)
	all = slices.Compact(all)
	return all[:min(len(all), rg.Limit)], ended, nil
}

// concerns reports whether a party is a signatory, an observer, an actor or a witness of an event.
func concerns(u *schemas.Update, party string) bool {
	return slices.ContainsFunc(u.Events, func(e schemas.Event) bool {
		return slices.Contains(e.Signatories, party) || slices.Contains(e.Observers, party) || slices.Contains(e.ActingParties, party) ||
			e.Local != nil && slices.Contains(e.Local.Witnesses, party)
	})
}

// positions returns what a query finds in a range within one migration.
func (r *Reader) positions(ctx context.Context, query string, rg Range) ([]schemas.Position, error) {
	return store.SelectAll(ctx, r.db, query, r.span(rg).Params(int64(rg.Limit)), store.NewPositions(rg.Through.MigrationID))
}
