package ledger

import (
	"context"
	"strconv"

	"github.com/ledgerlake/ledgerlake/query/ledger/view"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func (a *API) listUpdates(form view.Form) func(context.Context, *reading) error {
	return func(ctx context.Context, r *reading) error {
		rules, err := a.listRules(r)
		if err != nil {
			return err
		}
		c, _, err := r.updates(ctx, r.RawBody(), form)
		if err != nil {
			return err
		}
		if c.open {
			return a.list(ctx, r, rules, c, c.appendCheckpoint, nil)
		}
		key := c.key(rules)
		switch text, ok, err := a.answers.get(key); {
		case err != nil:
			return err
		case ok:
			return r.Text(text)
		}
		return a.list(ctx, r, rules, c, nil, func(text []byte) { a.answers.put(key, text) })
	}
}

// updates reads a GetUpdatesRequest into a cursor. needs is what the reader must have the
// right to.
func (r *reading) updates(ctx context.Context, body []byte, form view.Form) (c *updateCursor, needs readers, err error) {
	known, err := r.node.knownNames(ctx)
	if err != nil {
		return nil, needs, err
	}
	q, err := view.ParseUpdates(body, known, form)
	if err != nil {
		return nil, needs, err
	}
	needs.parties, needs.any = q.Format.Readers()
	if err := r.who.MayRead(needs.parties, needs.any); err != nil {
		return nil, needs, err
	}
	b, err := r.node.boundsOf(ctx, q.Begin, q.End)
	if err != nil {
		return nil, needs, err
	}
	if err := b.checkRange(q.Begin, q.End); err != nil {
		return nil, needs, err
	}
	c = &updateCursor{
		node: r.node, from: r.node.lists(), format: q.Format, sel: q.Format.Selection(),
		after: q.Begin, through: b.end, descending: q.Descending, open: q.End == nil, listed: q.Begin,
		known: known.Size(),
	}
	if q.End != nil {
		c.through = *q.End
	}
	return c, needs, nil
}

// lists reads updates for lists.
func (n *node) lists() Updates {
	if n.Lists != nil {
		return n.Lists
	}
	return n.Source
}

// readers are whose right to read a request needs.
type readers struct {
	parties []string
	any     bool
}

// parseOne makes of a body what it asks for; of known names those in filters must be.
type parseOne func(body []byte, known *view.Known) (*view.OneUpdate, error)

// byBody answers with the update that a body asks for.
func (a *API) byBody(parse parseOne) func(context.Context, *reading) error {
	return func(ctx context.Context, r *reading) error {
		known, err := r.node.knownNames(ctx)
		if err != nil {
			return err
		}
		q, err := parse(r.RawBody(), known)
		if err != nil {
			return err
		}
		return a.oneUpdate(ctx, r, q)
	}
}

// tree answers with the tree of the transaction that a parameter of the path names.
func (a *API) tree(parameter string, ask func(value string, parties []string) (*view.OneUpdate, error)) func(context.Context, *reading) error {
	return func(ctx context.Context, r *reading) error {
		value, err := r.Path(parameter)
		if err != nil {
			return err
		}
		parameters := r.Query()
		parties := parameters.Texts("parties")
		if err := parameters.Err(); err != nil {
			return err
		}
		q, err := ask(value, parties)
		if err != nil {
			return err
		}
		return a.oneUpdate(ctx, r, q)
	}
}

func treeByOffset(value string, parties []string) (*view.OneUpdate, error) {
	offset, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return nil, &undecodable{"Invalid value for: path parameter offset"}
	}
	return view.TreeByOffset(offset, parties)
}

// oneUpdate answers with a single update. One that the format lets nothing through of is
// as one that is not there.
func (a *API) oneUpdate(ctx context.Context, r *reading, q *view.OneUpdate) error {
	parties, any := q.Format.Readers()
	if err := r.who.MayRead(parties, any); err != nil {
		return err
	}
	u, err := r.node.update(ctx, q)
	if err != nil {
		return err
	}
	if u != nil {
		text, visible, err := q.Format.AppendUpdate(nil, u)
		if err != nil {
			return err
		}
		if visible {
			return r.Text(text)
		}
	}
	if q.ID == "" {
		return failure(updateNotFound, "Update not found, or not visible, at offset %d.", q.Offset)
	}
	return &Failure{Code: updateNotFound, Cause: "Update not found, or not visible.", Resources: [][2]string{{"UPDATE_ID", q.ID}}}
}

// update finds the update that is asked for, nil when it is not there.
func (n *node) update(ctx context.Context, q *view.OneUpdate) (*schemas.Update, error) {
	if q.ID != "" {
		return n.Source.LedgerUpdateByID(ctx, q.ID)
	}
	return n.Source.LedgerUpdateAt(ctx, q.Offset)
}
