package scan

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// partyUpdates serves the updates that concern a party, ascending, without imports: pages
// of the same form as those of /v2/updates. They end where lifetimes do, because those tell
// whose contracts an update has archived.
func (a *API) partyUpdates(ctx context.Context, r *query.Request) error {
	party, err := r.Path("party")
	if err != nil {
		return err
	}
	form, p := schemas.UpdateForm{}, r.Body()
	if len(party) > maxIDBytes {
		p.Fail("The party id is too long.")
	}
	req, err := a.pageRequest(p, form)
	if err != nil {
		return err
	}
	if err := a.requireHistory(ctx); err != nil {
		return err
	}
	through, err := a.horizon.contracts.Get(ctx)
	if err != nil {
		return err
	}
	read := func(ctx context.Context, rg history.Range) ([]schemas.Update, error) {
		return a.source.PartyUpdates(ctx, party, rg)
	}
	pg := &page[schemas.Update, schemas.Position]{
		sizes: &a.updateSizes, target: a.cfg.ChunkBytes,
		open: `{"transactions":[`, close: `]}`, after: req.after, left: req.size,
		write: a.updateWriter(form, req.encoding).update,
		key:   func(u *schemas.Update) schemas.Position { return u.Position() },
		read:  ranged(read, through),
	}
	return produce(ctx, r, pg)
}
