package scan

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// How record_time selects a snapshot. anyInstant is chosen by giving "at" instead.
const (
	matchExact      = "exact"
	matchAtOrBefore = "at_or_before"
	anyInstant      = "at"
)

// acsRequest is a request for a page of active contracts.
type acsRequest struct {
	MigrationID int64
	Time        schemas.Micros
	Match       string
	Parties     []string
	Templates   []string
	token       string
	size        int
}

func (a *API) acsRequest(p *query.Params) (acsRequest, error) {
	req := acsRequest{
		MigrationID: p.Int64("migration_id"), size: p.Limit("page_size", a.cfg.MaxPageSize),
		Match:   p.OneOf("record_time_match", matchExact, matchAtOrBefore),
		Parties: p.Texts("party_ids"), Templates: p.Texts("templates"),
	}
	req.token, _ = p.OptionalText("after")
	at, anywhere := p.OptionalTime("at")
	if !anywhere {
		req.Time = p.Time("record_time")
	} else if req.Time, req.Match = at, anyInstant; p.Has("record_time") {
		p.Fail("Members at and record_time exclude each other.")
	}
	for _, t := range req.Templates {
		if !isTemplateName(t) {
			p.Fail("Template %q must have the form PACKAGE_NAME:MODULE_NAME:ENTITY_NAME.", t)
		}
	}
	// Order and repetition of the filters mean nothing.
	for _, list := range []*[]string{&req.Parties, &req.Templates} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return req, p.Err()
}

func isTemplateName(name string) bool {
	parts := strings.Split(name, ":")
	return len(parts) == 3 && !slices.Contains(parts, "")
}

// digest identifies the request for its page tokens.
func (req *acsRequest) digest() []byte {
	// Integers and strings always marshal; unexported members are left out.
	text, _ := json.Marshal(req)
	return append([]byte("acs "), text...)
}

// acsKey is where a page begins: after a contract of a fixed active set.
type acsKey struct {
	at         schemas.Micros
	createdAt  schemas.Micros
	contractID string
}

func (k acsKey) payload() []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(k.at))
	b = binary.BigEndian.AppendUint64(b, uint64(k.createdAt))
	return append(b, k.contractID...)
}

func parseACSKey(payload []byte) (acsKey, error) {
	if len(payload) <= 16 {
		return acsKey{}, fmt.Errorf("page token payload of %d bytes is too short", len(payload))
	}
	return acsKey{
		at:         schemas.Micros(binary.BigEndian.Uint64(payload)),
		createdAt:  schemas.Micros(binary.BigEndian.Uint64(payload[8:])),
		contractID: string(payload[16:]),
	}, nil
}

// activeContracts serves a page of the contracts active at an instant.
func (a *API) activeContracts(ctx context.Context, r *query.Request) error {
	req, err := a.acsRequest(r.Body())
	if err != nil {
		return err
	}
	begin, err := a.acsBegin(ctx, &req)
	if err != nil {
		return err
	}
	return r.Produce(ctx, a.newACSPage(&req, begin).next)
}

// acsBegin decides which active set is meant and where in it the page begins. A token
// fixes the set of its first page, even if at_or_before would find a newer one now.
func (a *API) acsBegin(ctx context.Context, req *acsRequest) (acsKey, error) {
	if req.token != "" {
		payload, err := a.tokens.open(req.digest(), req.token)
		if err != nil {
			return acsKey{}, err
		}
		return parseACSKey(payload)
	}
	if req.Match == anyInstant {
		return acsKey{at: req.Time}, a.requireInstant(ctx, req)
	}
	s, err := a.snapshotsIn(ctx, req.MigrationID)
	if err != nil {
		return acsKey{}, err
	}
	if req.Match == matchExact {
		if !s.has(req.Time) {
			return acsKey{}, query.Errorf(query.NotFound, "No snapshot at %s in migration %d.", req.Time, req.MigrationID)
		}
		return acsKey{at: req.Time}, nil
	}
	at, ok := s.atOrBefore(req.Time)
	if !ok {
		return acsKey{}, query.Errorf(query.NotFound, "No snapshot at or before %s in migration %d.", req.Time, req.MigrationID)
	}
	return acsKey{at: at}, nil
}

// requireInstant makes sure that the active set at any instant is known.
func (a *API) requireInstant(ctx context.Context, req *acsRequest) error {
	contracts, err := a.horizon.contracts.get(ctx)
	if err != nil {
		return err
	}
	_, _, held, err := a.horizon.migration(ctx, req.MigrationID)
	switch {
	case err != nil:
		return err
	case !held || contracts.MigrationID < req.MigrationID:
		return query.Errorf(query.NotFound, "No data for migration %d.", req.MigrationID)
	case contracts.MigrationID == req.MigrationID && contracts.RecordTime < req.Time:
		return query.Errorf(query.NotFound, "The contracts active at %s are not known yet.", req.Time)
	}
	return nil
}

// acsPage is a page whose tail holds a token unless it is the last one.
type acsPage struct {
	page[history.ActiveContract, acsKey]
	api       *API
	req       *acsRequest
	set       schemas.Micros
	templates []string
}

func (a *API) newACSPage(req *acsRequest, begin acsKey) *acsPage {
	p := &acsPage{api: a, req: req, set: begin.at, templates: bothSpellings(req.Templates)}
	p.page = page[history.ActiveContract, acsKey]{
		sizes: &a.contractSizes, target: a.cfg.ChunkBytes, after: begin, left: req.size,
		open: `{"created_events":[`, write: contractWriter(a.cfg.Catalog), read: p.readOneMore,
		key: func(c *history.ActiveContract) acsKey {
			return acsKey{at: begin.at, createdAt: c.Event.CreatedAt, contractID: c.Event.ContractID}
		},
	}
	return p
}

// readOneMore reads one contract more than is wanted, which tells whether the page
// ends with a token.
func (p *acsPage) readOneMore(ctx context.Context, after acsKey, limit int) ([]history.ActiveContract, error) {
	rows, err := p.api.source.ActiveContracts(ctx, history.ActiveQuery{
		MigrationID: p.req.MigrationID, At: p.set,
		AfterCreatedAt: after.createdAt, AfterContractID: after.contractID,
		Parties: p.req.Parties, Templates: p.templates, Limit: limit + 1,
	})
	if err != nil {
		return nil, err
	}
	token := ""
	if len(rows) > limit {
		rows = rows[:limit]
		token = p.api.tokens.seal(p.req.digest(), p.key(&rows[limit-1]).payload())
	}
	p.close = p.tail(token)
	return rows, nil
}

func (p *acsPage) tail(token string) string {
	tail := fmt.Sprintf(`],"migration_id":%d`, p.req.MigrationID)
	if token != "" {
		tail += `,"next_page_token":"` + token + `"`
	}
	return tail + `,"record_time":"` + p.set.String() + `"}`
}

// contractWriter renders active contracts, whose arguments are always compact.
func contractWriter(catalog *values.Catalog) func(dst []byte, c *history.ActiveContract) []byte {
	w := valueWriter{catalog: catalog, want: schemas.CompactJSON}
	return func(dst []byte, c *history.ActiveContract) []byte {
		return schemas.AppendActiveContract(dst, &c.Event, c.CreatedIn, w.writer(c.Encoding))
	}
}

// bothSpellings adds to each template its name in the network's spelling and in the
// neutral one, since the store keeps names as they came.
func bothSpellings(templates []string) []string {
	var all []string
	for _, t := range templates {
		all = append(all, t, values.Network(t), values.Neutral(t))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
