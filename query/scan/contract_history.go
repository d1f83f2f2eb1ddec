package scan

import (
	"context"
	"encoding/binary"
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/scan/horizon"
	"github.com/ledgerlake/ledgerlake/query/scan/pages"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// stepKey is where a page of a contract's history begins: after a step.
type stepKey struct {
	after schemas.Position
	node  int32
}

func (k stepKey) payload() []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(k.after.MigrationID))
	b = binary.BigEndian.AppendUint64(b, uint64(k.after.RecordTime))
	b = binary.BigEndian.AppendUint32(b, uint32(k.node))
	return append(b, k.after.UpdateID...)
}

func parseStepKey(payload []byte) (stepKey, error) {
	const fixed = 20
	if len(payload) < fixed {
		return stepKey{}, invalidToken()
	}
	return stepKey{
		after: schemas.Position{
			MigrationID: int64(binary.BigEndian.Uint64(payload)), RecordTime: schemas.Micros(binary.BigEndian.Uint64(payload[8:])),
			UpdateID: string(payload[fixed:]),
		},
		node: int32(binary.BigEndian.Uint32(payload[16:])),
	}, nil
}

// contractHistories serves the histories of contracts.
type contractHistories struct {
	source      Source
	horizon     *horizon.Horizon
	tokens      tokens
	catalog     *values.Catalog
	maxPageSize int
	chunkBytes  int64
	sizes       query.Sizes
}

// history serves what happened to a contract over all migrations: its creation,
// exercises and archival, reassignments and imports, in the order of history.
func (c *contractHistories) history(ctx context.Context, r *query.Request) error {
	id, err := r.Path("contract_id")
	if err != nil {
		return err
	}
	p := r.Query()
	size, encoding := p.OptionalLimit("page_size", c.maxPageSize), encodingOf(p)
	token, continued := p.OptionalText("after")
	if len(id) > maxIDBytes {
		p.Fail("The contract id is too long.")
	}
	if err := p.Err(); err != nil {
		return err
	}
	begin := stepKey{after: schemas.Start, node: -1}
	if continued {
		payload, err := c.tokens.open(contractDigest(id), token)
		if err != nil {
			return err
		}
		if begin, err = parseStepKey(payload); err != nil {
			return err
		}
	}
	through, err := c.horizon.Watermark.Get(ctx)
	if err != nil {
		return err
	}
	pg := c.newContractPage(id, encoding, begin, through, size)
	pg.Ended = func() {
		if pg.final {
			r.Immutable()
		}
	}
	return pg.Produce(ctx, r)
}

func contractDigest(id string) []byte { return []byte("contract " + id) }

// contractPage is a page of a contract's history.
type contractPage struct {
	pages.List[history.ContractStep, stepKey]
	of      *contractHistories
	id      string
	through schemas.Position
	// final says of the rows that were read last that nothing can be added to the page after
	// them: it is full, or the contract has been archived.
	final bool
}

func (c *contractHistories) newContractPage(id string, encoding schemas.Encoding, begin stepKey, through schemas.Position, size int) *contractPage {
	p := &contractPage{of: c, id: id, through: through}
	open := append(jsonscan.AppendString([]byte(`{"contract_id":`), []byte(id)), `,"history":[`...)
	p.List = pages.List[history.ContractStep, stepKey]{
		Sizes: &c.sizes, Target: c.chunkBytes, After: begin, Left: size,
		Open: string(open), Read: p.readOneMore, Write: c.stepWriter(encoding),
		Key: func(s *history.ContractStep) stepKey { return stepKey{s.Update.Position(), s.Node()} },
	}
	return p
}

// readOneMore reads one step more than is wanted, which tells whether the page ends with a
// token.
func (p *contractPage) readOneMore(ctx context.Context, after stepKey, limit int) ([]history.ContractStep, error) {
	steps, err := p.of.source.ContractHistory(ctx, history.ContractQuery{
		ContractID: p.id, After: after.after, AfterNode: after.node, Through: p.through, Limit: limit + 1,
	})
	if err != nil {
		return nil, err
	}
	if len(steps) == 0 && after.after == schemas.Start {
		return nil, query.Errorf(query.NotFound, "Contract %.200s not found.", p.id)
	}
	p.Close = `]}`
	if n := len(steps); n > 0 {
		p.final = stepKind(&steps[n-1].Update) == "archived"
	}
	if len(steps) > limit {
		p.final = true
		steps = steps[:limit]
		p.Close = `],"next_page_token":"` + p.of.tokens.Seal(contractDigest(p.id), p.Key(&steps[limit-1]).payload()) + `"}`
	}
	return steps, nil
}

// stepWriter renders steps: the event as updates have it, and where it stands. An import
// is a creation at the record time that marks imports.
func (c *contractHistories) stepWriter(want schemas.Encoding) func(dst []byte, s *history.ContractStep) []byte {
	w := newUpdateWriter(c.catalog, schemas.UpdateForm{}, want)
	return func(dst []byte, s *history.ContractStep) []byte {
		u, form := &s.Update, w.form
		form.Values = w.values.For(u.Encoding)
		dst = append(dst, `{"event":`...)
		if u.Kind == schemas.Transaction {
			dst = schemas.AppendEventForm(dst, u.UpdateID, &u.Events[0], form)
		} else {
			dst = schemas.AppendReassignmentEventForm(dst, u, form)
		}
		dst = append(append(dst, `,"kind":"`...), stepKind(u)...)
		dst = strconv.AppendInt(append(dst, `","migration_id":`...), u.MigrationID, 10)
		dst = schemas.AppendRecordTime(append(dst, `,"record_time":"`...), u.RecordTime)
		dst = jsonscan.AppendString(append(dst, `","synchronizer_id":`...), []byte(u.SynchronizerID))
		dst = jsonscan.AppendString(append(dst, `,"update_id":`...), []byte(u.UpdateID))
		return append(dst, '}')
	}
}

// stepKind names what happened.
func stepKind(u *schemas.Update) string {
	switch {
	case u.Kind != schemas.Transaction:
		return string(u.Kind)
	case u.IsImport():
		return "imported"
	case u.Events[0].Kind == schemas.Created:
		return "created"
	case u.Events[0].Consuming:
		return "archived"
	}
	return "exercised"
}
