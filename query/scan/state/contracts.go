package state

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/scan/horizon"
	"github.com/ledgerlake/ledgerlake/query/scan/pages"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// contracts reads present contracts.
type contracts struct {
	source  Source
	horizon *horizon.Horizon
	catalog *values.Catalog
	// blobs finds what public history does not have, nil for nobody who could.
	blobs Blobs
	// chunkBytes is about how much of a list is read at a time.
	chunkBytes int64
	sizes      query.Sizes
}

// of returns a query for the present contracts of a template and the position that they are for,
// see horizon.Present.
func (s *contracts) of(ctx context.Context, template string) (history.StateQuery, schemas.Position, error) {
	q := history.StateQuery{Templates: values.Spellings(values.Network(template)), Limit: maxSetContracts + 1}
	at, err := s.horizon.Present(ctx)
	q.MigrationID, q.At = at.MigrationID, at.RecordTime
	return q, at, err
}

// contract is a contract with its payload in compact JSON.
type contract struct {
	history.StateContract
	payload []byte
	blob    string // "" where it is not known
}

func (s *contracts) compacted(rows []history.StateContract) []contract {
	list := make([]contract, len(rows))
	w := values.Writer{Catalog: s.catalog, Want: schemas.CompactJSON}
	for i := range rows {
		list[i] = contract{StateContract: rows[i], payload: w.For(rows[i].Encoding).AppendCreateArguments(nil, &rows[i].Event)}
	}
	return list
}

// read returns what a query finds.
func (s *contracts) read(ctx context.Context, q history.StateQuery) ([]contract, error) {
	rows, err := s.source.StateContracts(ctx, q)
	if err != nil {
		return nil, err
	}
	return s.compacted(rows), nil
}

// decode reads members of the payload into a struct.
func (c *contract) decode(into any) error {
	if err := json.Unmarshal(c.payload, into); err != nil {
		return fmt.Errorf("reading contract %s of %s: %w", c.Event.ContractID, c.Event.TemplateID, err)
	}
	return nil
}

// answer is the contract as the state operations give it.
func (c *contract) answer() *query.ContractView { return query.ViewOf(&c.Event, c.payload, c.blob) }

func (c *contract) withState() query.ContractState {
	return query.ContractState{Contract: c.answer(), DomainID: c.SynchronizerID}
}

// unlessCached leaves the contract out if the caller has it.
func (c *contract) unlessCached(have bool) query.ContractState {
	if have {
		return query.ContractState{DomainID: c.SynchronizerID}
	}
	return c.withState()
}

// answer answers with all present contracts that q selects, however many, as the
// member name of an object.
func (s *contracts) answer(ctx context.Context, r *query.Request, name string, q history.StateQuery, answer func(*contract) any) error {
	p := &pages.List[contract, *contract]{
		Sizes: &s.sizes, Target: s.chunkBytes, Left: maxAnswerContracts, Open: `{"` + name + `":[`, Close: `]}`,
		Key: func(c *contract) *contract { return c },
		Read: func(ctx context.Context, after *contract, limit int) ([]contract, error) {
			q := q
			q.Limit = limit
			if after != nil {
				q.AfterCreatedAt, q.AfterContractID = after.Event.CreatedAt, after.Event.ContractID
			}
			list, err := s.read(ctx, q)
			if err != nil {
				return nil, err
			}
			return list, s.addBlobs(ctx, list)
		},
		Write: func(dst []byte, c *contract) []byte { return appendJSON(dst, answer(c)) },
	}
	if p.Sizes.Average() == 0 {
		p.Sizes.Saw(1, firstSizeGuess) // an unbounded list is never read at once
	}
	return p.Produce(ctx, r)
}

const (
	// maxAnswerContracts is more than a list without pages ever has.
	maxAnswerContracts = 1 << 30
	// firstSizeGuess is what a contract is taken for while none was seen.
	firstSizeGuess = 2 << 10
)

// appendJSON appends v, which is made of texts, numbers and valid JSON, without escapes
// that JSON does not demand.
func appendJSON(dst []byte, v any) []byte {
	w := appender{dst}
	e := json.NewEncoder(&w)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("encoding %T: %v", v, err)) // cannot be: see above
	}
	return w.dst[:len(w.dst)-1] // without the line's end
}

type appender struct{ dst []byte }

// Write appends p.
func (w *appender) Write(p []byte) (int, error) {
	w.dst = append(w.dst, p...)
	return len(p), nil
}

// errNone answers for a ledger that has no contract of a kind yet.
func errNone(what string) error { return query.Errorf(query.NotFound, "No %s found.", what) }
