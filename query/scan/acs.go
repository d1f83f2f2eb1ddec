package scan

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/scan/horizon"
	"github.com/ledgerlake/ledgerlake/query/scan/pages"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// setVersion is what the versions of an operation on active sets differ in.
type setVersion struct {
	// numbered page tokens are integers.
	numbered bool
	// events are given in place of active contracts.
	events bool
}

var (
	v0Set = setVersion{numbered: true, events: true}
	v1Set = setVersion{numbered: true}
	v2Set = setVersion{}
)

// activeSets serves active contract sets, and the holdings among them.
type activeSets struct {
	source  Source
	horizon *horizon.Horizon
	catalog *values.Catalog
	tokens  tokens
	// places remembers the keys at places of sets, see acs_token.go.
	places      *query.AnswerCache
	maxPageSize int
	chunkBytes  int64
	dumpBytes   int64
	// version is that of this program: another one may write values differently.
	version string
	sizes   query.Sizes
}

// activeContracts serves a page of the contracts active at an instant.
func (a *activeSets) activeContracts(v setVersion) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		p := r.Body()
		return a.acsPage(ctx, r, p, filteredSetOf(p), v)
	}
}

// acsPage answers with a page of an active set that p asks for.
func (a *activeSets) acsPage(ctx context.Context, r *query.Request, p *query.Params, req acsRequest, v setVersion) error {
	req.size = p.Limit("page_size", a.maxPageSize)
	token := readToken(p, v)
	if err := p.Err(); err != nil {
		return err
	}
	begin, err := a.acsBegin(ctx, &req, token)
	if err != nil {
		return err
	}
	if token.given || req.Match != matchAtOrBefore {
		r.Immutable() // else a newer snapshot may come that is asked for just as well
	}
	return a.newACSPage(&req, begin, v).Produce(ctx, r)
}

// acsBegin decides which active set is meant and where in it the page begins. A token
// fixes the set of its first page, even if at_or_before would find a newer one now.
func (a *activeSets) acsBegin(ctx context.Context, req *acsRequest, token pageToken) (acsKey, error) {
	switch {
	case token.given && token.numbered:
		return a.openNumber(ctx, req, token.number)
	case token.given:
		payload, err := a.tokens.open(req.digest(), token.text)
		if err != nil {
			return acsKey{}, err
		}
		return parseACSKey(payload)
	}
	at, err := a.instantOf(ctx, req)
	return acsKey{at: at}, err
}

// instantOf returns the instant of the active set that is meant, or an Error of class
// NotFound.
func (a *activeSets) instantOf(ctx context.Context, req *acsRequest) (schemas.Micros, error) {
	if req.Match == anyInstant {
		return req.Time, a.requireInstant(ctx, req)
	}
	s, err := snapshotsIn(ctx, a.horizon, req.MigrationID)
	if err != nil {
		return 0, err
	}
	if req.Match == matchExact {
		if !s.has(req.Time) {
			return 0, query.Errorf(query.NotFound, "No snapshot at %s in migration %d.", req.Time, req.MigrationID)
		}
		return req.Time, nil
	}
	at, ok := s.atOrBefore(req.Time)
	if !ok {
		return 0, query.Errorf(query.NotFound, "No snapshot at or before %s in migration %d.", req.Time, req.MigrationID)
	}
	return at, nil
}

// requireInstant makes sure that the active set at any instant is known.
func (a *activeSets) requireInstant(ctx context.Context, req *acsRequest) error {
	contracts, err := a.horizon.ContractsAt(ctx, req.MigrationID, req.Time)
	if err != nil {
		return err
	}
	_, _, held, err := a.horizon.Migration(ctx, req.MigrationID)
	switch {
	case err != nil:
		return err
	case !held || contracts.MigrationID < req.MigrationID:
		return query.Errorf(query.NotFound, "No data for migration %d.", req.MigrationID)
	case contracts.MigrationID == req.MigrationID && contracts.RecordTime < req.Time:
		return query.Errorf(query.NotFound, "The contracts active at %s are not available yet.", req.Time)
	}
	return nil
}

// acsRow is a contract with its place in the set.
type acsRow struct {
	history.ActiveContract
	place int64
}

// acsPage is a page whose tail holds a token unless it is the last one.
type acsPage struct {
	pages.List[acsRow, acsKey]
	sets    *activeSets
	req     *acsRequest
	version setVersion
	query   history.ActiveQuery
	// keep decides on what the filters of the store let through.
	keep func(*history.ActiveContract) (bool, error)
}

func (a *activeSets) newACSPage(req *acsRequest, begin acsKey, v setVersion) *acsPage {
	p := &acsPage{sets: a, req: req, version: v, query: req.query(begin.at), keep: keepAll}
	if req.Owners != nil {
		p.keep = a.ownedBy(req.Owners)
	}
	write := a.contractWriter()
	if v.events {
		write = a.createdWriter()
	}
	p.List = pages.List[acsRow, acsKey]{
		Sizes: &a.sizes, Target: a.chunkBytes, After: begin, Left: req.size,
		Open: `{"created_events":[`, Read: p.readOneMore,
		Write: func(dst []byte, row *acsRow) []byte { return write(dst, &row.ActiveContract) },
		Key:   func(row *acsRow) acsKey { return keyOf(begin.at, &row.ActiveContract, row.place) },
	}
	return p
}

func keepAll(*history.ActiveContract) (bool, error) { return true, nil }

// query selects the contracts of the request from the active set at an instant; Limit is
// left to the caller.
func (req *acsRequest) query(at schemas.Micros) history.ActiveQuery {
	return history.ActiveQuery{MigrationID: req.MigrationID, At: at, Parties: req.Parties, Templates: values.Spellings(req.Templates...)}
}

// readOneMore reads one contract more than is wanted, which tells whether the page
// ends with a token.
func (p *acsPage) readOneMore(ctx context.Context, after acsKey, limit int) ([]acsRow, error) {
	rows, err := p.kept(ctx, after, limit+1)
	if err != nil {
		return nil, err
	}
	p.Close = p.tail(nil)
	if len(rows) > limit {
		rows = rows[:limit]
		key := p.Key(&rows[limit-1])
		p.Close = p.tail(&key)
	}
	return rows, nil
}

// kept reads contracts until so many of them are kept or there are no more.
func (p *acsPage) kept(ctx context.Context, after acsKey, wanted int) ([]acsRow, error) {
	var kept []acsRow
	for {
		q := p.query.From(after.createdAt, after.contractID, wanted-len(kept))
		contracts, err := p.sets.source.ActiveContracts(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range contracts {
			after = keyOf(after.at, &contracts[i], after.place+1)
			ok, err := p.keep(&contracts[i])
			if err != nil {
				return nil, err
			}
			if ok {
				kept = append(kept, acsRow{contracts[i], after.place})
			}
		}
		if len(contracts) < q.Limit || len(kept) == wanted {
			return kept, nil
		}
	}
}

// tail ends the page, with a token for what follows last unless that is nil.
func (p *acsPage) tail(last *acsKey) string {
	tail := fmt.Sprintf(`],"migration_id":%d`, p.req.MigrationID)
	if last != nil {
		tail += `,"next_page_token":` + p.sets.sealKey(p.req, *last, p.version)
	}
	return tail + `,"record_time":"` + p.query.At.String() + `"}`
}

// contractWriter renders active contracts, whose arguments are always compact.
func (a *activeSets) contractWriter() func(dst []byte, c *history.ActiveContract) []byte {
	w := values.Writer{Catalog: a.catalog, Want: schemas.CompactJSON}
	return func(dst []byte, c *history.ActiveContract) []byte {
		return schemas.AppendActiveContract(dst, &c.Event, c.CreatedIn, schemas.UpdateForm{Values: w.For(c.Encoding)})
	}
}

// createdWriter renders active contracts as the created events of v0. The network's ids of
// these are local to a node; ours name the contract.
func (a *activeSets) createdWriter() func(dst []byte, c *history.ActiveContract) []byte {
	w := values.Writer{Catalog: a.catalog, Want: schemas.CompactJSON}
	return func(dst []byte, c *history.ActiveContract) []byte {
		e := c.Event
		e.EventID = schemas.EventID(e.ContractID, 0)
		return schemas.AppendEventForm(dst, "", &e, schemas.UpdateForm{NodeLocal: true, Values: w.For(c.Encoding)})
	}
}

// compactArguments returns the create arguments of a contract in compact_json, or an error
// for a template whose type is not known.
func (a *activeSets) compactArguments(c *history.ActiveContract) ([]byte, error) {
	if c.Encoding == schemas.CompactJSON {
		return c.Event.Argument, nil
	}
	return values.AppendCompact(nil, c.Event.Argument, a.catalog.Template(c.Event.PackageName, c.Event.TemplateID))
}
