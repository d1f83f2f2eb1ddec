package ledger

import (
	"context"
	"encoding/binary"

	"github.com/ledgerlake/ledgerlake/internal/history"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/query/ledger/view"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// activeCursor reads an active set.
type activeCursor struct {
	source Source
	format *view.EventFormat
	query  nodehistory.ActiveQuery
	// token makes the text from which a client goes on after an element; nil for elements without.
	token func(history.ContractKey) string
	// more says, after a read, that the set goes on.
	more bool
}

// next implements cursor with one read. An element is visible or not as a whole, so the
// limit is never passed. Before its first update a stream has no contracts.
func (c *activeCursor) next(ctx context.Context, p *page, limit int) (bool, error) {
	if c.query.Offset == 0 {
		return false, nil
	}
	c.query.Limit = min(limit, maxRead)
	read, err := c.source.LedgerActive(ctx, c.query)
	if err != nil {
		return false, err
	}
	for i := range read.Contracts {
		contract := &read.Contracts[i]
		token := ""
		if c.token != nil {
			token = c.token(contract.Key())
		}
		var visible bool
		if p.texts, visible, err = c.format.AppendActive(p.texts, contract, token); err != nil {
			return false, err
		}
		if visible {
			p.add()
		}
		c.query.After = contract.Key()
	}
	c.more = read.More
	return c.more, nil
}

// wait implements cursor: a set has an end.
func (c *activeCursor) wait(context.Context) (bool, error) { return false, nil }

func (a *API) listActive(ctx context.Context, r *reading) error {
	rules, err := a.listRules(r)
	if err != nil {
		return err
	}
	c, _, err := a.active(ctx, r, r.RawBody())
	if err != nil {
		return err
	}
	return a.list(ctx, r, rules, c, nil, nil)
}

// active reads a GetActiveContractsRequest into a cursor.
func (a *API) active(ctx context.Context, r *reading, body []byte) (c cursor, needs readers, err error) {
	known, err := r.node.knownNames(ctx)
	if err != nil {
		return nil, needs, err
	}
	q, err := view.ParseActive(body, known)
	if err != nil {
		return nil, needs, err
	}
	if needs, err = r.mayReadActive(ctx, q.Format, q.Offset); err != nil {
		return nil, needs, err
	}
	digest := r.node.activeDigest("element", q.Offset, q.Format)
	active := &activeCursor{source: r.node.Source, format: q.Format, query: nodehistory.ActiveQuery{Offset: q.Offset, Selection: q.Format.Selection()}}
	active.token = func(k history.ContractKey) string { return a.tokens.Seal(digest, keyPayload(nil, k)) }
	if q.Token != "" {
		payload, ok := a.tokens.Open(digest, q.Token)
		if active.query.After, ok = readKey(payload, ok); !ok {
			return nil, needs, failure(invalidArgument, "The streamContinuationToken does not belong to this request.")
		}
	}
	return active, needs, r.node.awaitActive(ctx, q.Offset)
}

// mayReadActive checks the rights for an active set and its offset.
func (r *reading) mayReadActive(ctx context.Context, f *view.EventFormat, at int64) (needs readers, err error) {
	needs.parties, needs.any = f.Readers()
	if err := r.who.MayRead(needs.parties, needs.any); err != nil {
		return needs, err
	}
	b, err := r.node.bounds(ctx, at)
	if err != nil {
		return needs, err
	}
	return needs, b.checkActive(at)
}

// activeDigest identifies a request for active contracts for its tokens.
func (n *node) activeDigest(what string, at int64, f *view.EventFormat) []byte {
	digest := f.Digest()
	return append(binary.AppendVarint([]byte("active "+what+" "+n.Participant+" "), at), digest[:]...)
}

// keyPayload is the payload of a token: the place of an element in its set.
func keyPayload(dst []byte, k history.ContractKey) []byte {
	return append(binary.AppendVarint(dst, int64(k.CreatedAt)), k.ContractID...)
}

// readKey reads what keyPayload wrote, if ok.
func readKey(payload []byte, ok bool) (history.ContractKey, bool) {
	created, n := binary.Varint(payload)
	if !ok || n <= 0 {
		return history.ContractKey{}, false
	}
	return history.ContractKey{CreatedAt: schemas.Micros(created), ContractID: string(payload[n:])}, true
}

func (a *API) contractEvents(ctx context.Context, r *reading) error {
	known, err := r.node.knownNames(ctx)
	if err != nil {
		return err
	}
	q, err := view.ParseContractEvents(r.RawBody(), known)
	if err != nil {
		return err
	}
	if err := r.who.MayRead(q.Format.Readers()); err != nil {
		return err
	}
	created, ended, err := r.node.Source.ContractEvents(ctx, q.ContractID)
	if err != nil {
		return err
	}
	text, visible, err := q.Format.AppendContractEvents(nil, created, ended)
	if err != nil {
		return err
	}
	if !visible {
		return &Failure{
			Code: contractNotFound, Cause: "Contract events not found, or not visible.",
			Resources: [][2]string{{"CONTRACT_ID", q.ContractID}},
		}
	}
	return r.Text(text)
}

// contract answers with the creation of a contract, also of one that is archived.
func (a *API) contract(ctx context.Context, r *reading) error {
	q, err := view.ParseContract(r.RawBody())
	if err != nil {
		return err
	}
	if err := r.who.MayRead(q.Format.Readers()); err != nil {
		return err
	}
	created, _, err := r.node.Source.ContractEvents(ctx, q.ContractID)
	if err != nil {
		return err
	}
	if created != nil {
		text, visible, err := q.Format.AppendContract(nil, created)
		if err != nil {
			return err
		}
		if visible {
			return r.Text(text)
		}
	}
	return &Failure{
		Code: contractMissing, Cause: "Contract could not be found with id " + q.ContractID + ", or none of the querying parties is a stakeholder.",
		Resources: [][2]string{{"CONTRACT_ID", q.ContractID}},
	}
}
