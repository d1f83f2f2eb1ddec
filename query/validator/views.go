package validator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Views reads what the parties of the node see; *wallethistory.Reader does.
type Views interface {
	// Contracts are ascending by creation time and contract id.
	Contracts(ctx context.Context, q wallethistory.Query) ([]wallethistory.Contract, error)
	// Contract is schemas.ErrNotFound unless one of the parties is a stakeholder of the active contract.
	Contract(ctx context.Context, contractID string, parties ...string) (wallethistory.Contract, error)
	// Holdings are the coins of which a party is the owner, and Balance sums them up.
	Holdings(ctx context.Context, party string) (wallethistory.Holdings, error)
	Balance(ctx context.Context, party string, round int64) (wallethistory.Balance, error)
	// Log is the newest first; an event id that it does not have is schemas.ErrNotFound.
	Log(ctx context.Context, party, beforeEventID string, limit int) ([]wallethistory.Entry, error)
	// OfferStatus and TrafficStatus are schemas.ErrNotFound for tracking ids that are not known.
	OfferStatus(ctx context.Context, party, trackingID string) (wallethistory.Status, error)
	TrafficStatus(ctx context.Context, party, trackingID string) (wallethistory.Status, error)
}

// Network tells what everybody may know of the network.
type Network interface {
	// OpenRounds are the mining rounds that were opened and not summed up yet, in any order, also
	// those whose time to open has not come.
	OpenRounds(ctx context.Context) ([]Round, error)
	// Time is the ledger's, as far as it is known.
	Time(ctx context.Context) (time.Time, error)
}

// Round is an open mining round.
type Round struct {
	Number  int64
	OpensAt time.Time
}

// maxListed is the most contracts of a list without pages: more are left out.
const maxListed = 10_000

// contract is a contract with its payload in compact JSON.
type contract struct {
	wallethistory.Contract
	payload json.RawMessage
}

// reader reads contracts of the node's stream.
type reader struct {
	// views finds who reads the stream; its error is a query.Error while there is none.
	views   func(context.Context) (Views, error)
	catalog *values.Catalog
}

// contracts reads what a query finds, up to most contracts that keep accepts; keep may be nil.
// parties of the query must be those that the caller may see.
func (r *reader) contracts(ctx context.Context, q wallethistory.Query, most int, keep func(*contract) (bool, error)) ([]contract, error) {
	views, err := r.views(ctx)
	if err != nil {
		return nil, err
	}
	list := []contract{}
	for q.Limit = query.MaxListItems; ; {
		rows, err := views.Contracts(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			c := r.compacted(&rows[i])
			wanted := true
			if keep != nil {
				if wanted, err = keep(&c); err != nil {
					return nil, err
				}
			}
			if wanted {
				list = append(list, c)
			}
			if len(list) == most {
				return list, nil
			}
		}
		if len(rows) < q.Limit {
			return list, nil
		}
		last := &rows[len(rows)-1].Event
		q.After = history.ContractKey{CreatedAt: last.CreatedAt, ContractID: last.ContractID}
	}
}

func (r *reader) compacted(row *wallethistory.Contract) contract {
	w := values.Writer{Catalog: r.catalog, Want: schemas.CompactJSON}
	return contract{*row, w.For(row.Encoding).AppendCreateArguments(nil, &row.Event)}
}

// decode reads members of the payload into a struct.
func (c *contract) decode(into any) error {
	if err := json.Unmarshal(c.payload, into); err != nil {
		return fmt.Errorf("reading contract %s of %s: %w", c.Event.ContractID, c.Event.TemplateID, err)
	}
	return nil
}

// has is a keep that wants a party in one of some members of the payload. Being a stakeholder is
// not enough: the governance party is one of most contracts.
func has(party string, members ...string) func(*contract) (bool, error) {
	return func(c *contract) (bool, error) {
		var payload map[string]json.RawMessage
		if err := c.decode(&payload); err != nil {
			return false, err
		}
		for _, member := range members {
			var value string
			if json.Unmarshal(payload[member], &value) == nil && value == party {
				return true, nil
			}
		}
		return false, nil
	}
}

func (c *contract) view() *query.ContractView { return query.ViewOf(&c.Event, c.payload, c.Blob) }

func (c *contract) withState() query.ContractState {
	return query.ContractState{Contract: c.view(), DomainID: c.SynchronizerID}
}

func viewsOf(list []contract) []*query.ContractView {
	views := make([]*query.ContractView, len(list))
	for i := range list {
		views[i] = list[i].view()
	}
	return views
}

func statesOf(list []contract) []query.ContractState {
	states := make([]query.ContractState, len(list))
	for i := range list {
		states[i] = list[i].withState()
	}
	return states
}

// ofParty lists the contracts of templates in which the caller's party has one of some roles.
func (r *reader) ofParty(ctx context.Context, c *caller, most int, template string, roles ...string) ([]contract, error) {
	q := wallethistory.Query{Parties: []string{c.party}, Templates: []string{template}}
	return r.contracts(ctx, q, most, has(c.party, roles...))
}

// one is an active contract of a template that the caller sees and keep accepts.
func (r *reader) one(ctx context.Context, c *caller, contractID, template string, keep func(*contract) (bool, error)) (contract, error) {
	missing := query.Errorf(query.NotFound, "No such contract: %.80s", contractID)
	views, err := r.views(ctx)
	if err != nil {
		return contract{}, err
	}
	row, err := views.Contract(ctx, contractID, c.party)
	if errors.Is(err, schemas.ErrNotFound) || err == nil && row.Template != template {
		return contract{}, missing
	}
	if err != nil {
		return contract{}, err
	}
	found := r.compacted(&row)
	if kept, err := keep(&found); !kept || err != nil {
		return contract{}, cmp.Or(err, error(missing))
	}
	return found, nil
}

// lists makes the handler of a list of contracts of the caller's party.
func (r *reader) lists(member, template string, most int, roles ...string) func(context.Context, *caller) error {
	return func(ctx context.Context, c *caller) error {
		list, err := r.ofParty(ctx, c, most, template, roles...)
		if err != nil {
			return err
		}
		return c.JSON(map[string][]*query.ContractView{member: viewsOf(list)})
	}
}
