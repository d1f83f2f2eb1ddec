package state

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// ansEntry is a name. Those of the governance party and of super-validators have no
// contract and do not expire.
type ansEntry struct {
	ContractID  string `json:"contract_id,omitempty"`
	User        string `json:"user"`
	Name        string `json:"name"`
	URL         string `json:"url"`
	Description string `json:"description"`
	ExpiresAt   string `json:"expires_at,omitempty"`
}

// entryOf reads an entry; ok is false for one that has expired.
func entryOf(c *contract, now schemas.Micros) (e ansEntry, ok bool, err error) {
	var payload struct {
		User, Name, URL, Description, ExpiresAt string
	}
	if err := c.decode(&payload); err != nil {
		return e, false, err
	}
	expires, err := schemas.ParseTime(payload.ExpiresAt)
	if err != nil || expires <= now {
		return e, false, err
	}
	return ansEntry{
		ContractID: c.Event.ContractID, User: payload.User, Name: payload.Name, URL: payload.URL, Description: payload.Description,
		ExpiresAt: string(schemas.AppendShortTime(nil, expires)),
	}, true, nil
}

// names serves entries of the name service.
type names struct {
	contracts   *contracts
	governance  *governance
	facts       *factReader
	maxPageSize int
}

// ansPage is how many entries are read at a time.
const ansPage = 1000

// eachEntry calls take with the entries that q selects and that have not expired, oldest
// first, until it returns false.
func (n *names) eachEntry(ctx context.Context, q history.StateQuery, now schemas.Micros, take func(ansEntry) bool) error {
	for q.Limit = ansPage; ; {
		list, err := n.contracts.read(ctx, q)
		if err != nil {
			return err
		}
		for i := range list {
			e, ok, err := entryOf(&list[i], now)
			if err != nil {
				return err
			}
			if ok && !take(e) {
				return nil
			}
		}
		if len(list) < q.Limit {
			return nil
		}
		last := &list[len(list)-1].Event
		q.AfterCreatedAt, q.AfterContractID = last.CreatedAt, last.ContractID
	}
}

// list serves names that begin with a prefix, oldest first, and behind them those of
// the governance party and its members if there is room.
func (n *names) list(ctx context.Context, r *query.Request) error {
	p := r.Query()
	prefix, _ := p.OptionalText("name_prefix")
	size := p.Limit("page_size", n.maxPageSize)
	if err := p.Err(); err != nil {
		return err
	}
	q, at, err := n.contracts.of(ctx, template.NameEntry)
	if err != nil {
		return err
	}
	q.KeyPrefix = prefix
	entries := []ansEntry{}
	err = n.eachEntry(ctx, q, at.RecordTime, func(e ansEntry) bool {
		entries = append(entries, e)
		return len(entries) < size
	})
	if err != nil {
		return err
	}
	own, err := n.governanceEntries(ctx)
	if err != nil {
		return err
	}
	for _, e := range own {
		if len(entries) < size && strings.HasPrefix(e.Name, prefix) {
			entries = append(entries, e)
		}
	}
	return r.JSON(map[string]any{"entries": entries})
}

// ofParty serves the first name of a party, by name.
func (n *names) ofParty(ctx context.Context, r *query.Request) error {
	party, err := r.Path("party")
	if err != nil {
		return err
	}
	own, err := n.governanceEntries(ctx)
	if err != nil {
		return err
	}
	entries := slices.DeleteFunc(own, func(e ansEntry) bool { return e.User != party })
	// The governance party is a signatory of all entries, and the user of none.
	if len(entries) == 0 || !strings.HasPrefix(entries[0].Name, governanceName) {
		q, at, err := n.contracts.of(ctx, template.NameEntry)
		if err != nil {
			return err
		}
		q.Signatory = party
		var first []ansEntry
		err = n.eachEntry(ctx, q, at.RecordTime, func(e ansEntry) bool {
			if e.User == party && (len(first) == 0 || e.Name < first[0].Name) {
				first = []ansEntry{e}
			}
			return true
		})
		if err != nil {
			return err
		}
		entries = append(first, entries...)
	}
	return oneEntry(r, entries, "party: "+party)
}

// named serves the entry of a name.
func (n *names) named(ctx context.Context, r *query.Request) error {
	name, err := r.Path("name")
	if err != nil {
		return err
	}
	q, at, err := n.contracts.of(ctx, template.NameEntry)
	if err != nil {
		return err
	}
	q.Key = name
	var entries []ansEntry
	err = n.eachEntry(ctx, q, at.RecordTime, func(e ansEntry) bool {
		entries = append(entries, e)
		return false
	})
	if err != nil {
		return err
	}
	own, err := n.governanceEntries(ctx)
	if err != nil {
		return err
	}
	for _, e := range own {
		if e.Name == name {
			entries = append(entries, e)
		}
	}
	return oneEntry(r, entries, "name: "+name)
}

func oneEntry(r *query.Request, entries []ansEntry, what string) error {
	if len(entries) == 0 {
		return query.Errorf(query.NotFound, "No name service entry found for %s.", what)
	}
	return r.JSON(map[string]ansEntry{"entry": entries[0]})
}

// governanceName is how the name of the governance party begins.
const governanceName = "dso."

// governanceEntries are the names that the governance party gives itself and its members,
// dso.<suffix> and <name>.sv.<suffix>.
func (n *names) governanceEntries(ctx context.Context) ([]ansEntry, error) {
	party, err := n.governance.party(ctx)
	var unknown *query.Error
	if errors.As(err, &unknown) && unknown.Code == query.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	suffix, err := n.suffix(ctx)
	if err != nil {
		return nil, err
	}
	entries := []ansEntry{{User: party, Name: governanceName + suffix}}
	svs, err := n.governance.superValidators(ctx)
	if err != nil {
		return nil, err
	}
	for _, sv := range svs {
		if sv.name != "" {
			entries = append(entries, ansEntry{User: sv.party, Name: strings.ToLower(sv.name) + ".sv." + suffix})
		}
	}
	slices.SortStableFunc(entries[1:], func(a, b ansEntry) int { return cmp.Compare(a.Name, b.Name) })
	return entries, nil
}

// suffix is the acronym of the name service in lower case, as the upstream calls it.
func (n *names) suffix(ctx context.Context) (string, error) {
	const usual = "cns"
	fact, err := n.facts.get(ctx, facts.Of(facts.InstanceNames))
	if errors.Is(err, schemas.ErrNotFound) {
		return usual, nil
	}
	if err != nil {
		return "", err
	}
	var network struct {
		Acronym string `json:"name_service_name_acronym"`
	}
	if err := json.Unmarshal(fact.Body, &network); err != nil {
		return "", err
	}
	return cmp.Or(strings.ToLower(network.Acronym), usual), nil
}
