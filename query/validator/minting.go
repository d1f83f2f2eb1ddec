package validator

import (
	"context"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Where minting delegations and proposals of them are.
const (
	proposalsPath   = "/v0/wallet/minting-delegation-proposals"
	delegationsPath = "/v0/wallet/minting-delegations"
)

// minting collects rewards for others.
type minting struct {
	reader      *reader
	accounts    *accounts
	maxPageSize int
}

// operations are those of a user who collects rewards for others.
func (m *minting) operations() []operation {
	return []operation{
		{method: "GET", path: proposalsPath, name: "minting_proposals", handle: m.proposals},
		{method: "POST", path: proposalsPath + "/{contract_id}/accept", name: "accept_minting_proposal", write: true, handle: byPath(acceptMintingProposal)},
		{method: "POST", path: proposalsPath + "/{contract_id}/reject", name: "reject_minting_proposal", write: true, handle: byPath(rejectMintingProposal)},
		{method: "GET", path: delegationsPath, name: "minting_delegations", handle: m.delegations},
		{method: "POST", path: delegationsPath + "/{contract_id}/reject", name: "reject_minting_delegation", write: true, handle: byPath(rejectMintingDelegation)},
	}
}

func acceptMintingProposal(ctx context.Context, c *caller, contractID string) error {
	done, err := c.commands.Minting.Accept(ctx, c.actor(), contractID)
	return contractAnswer(c, "contract_id", done, err)
}

func rejectMintingProposal(ctx context.Context, c *caller, contractID string) error {
	done, err := c.commands.Minting.RejectProposal(ctx, c.actor(), contractID)
	return empty(c, done, err)
}

func rejectMintingDelegation(ctx context.Context, c *caller, contractID string) error {
	done, err := c.commands.Minting.Reject(ctx, c.actor(), contractID)
	return empty(c, done, err)
}

// hosted is a contract of a delegation and whether the node hosts who is minted for.
type hosted struct {
	Contract *query.ContractView `json:"contract"`
	Hosted   bool                `json:"beneficiary_hosted"`
}

// delegationTerms are the members of a delegation that matter here.
type delegationTerms struct {
	Beneficiary, Delegate string
}

func (m *minting) proposals(ctx context.Context, c *caller) error {
	return m.page(ctx, c, "proposals", template.MintingDelegationProposal, func(c *contract) (delegationTerms, error) {
		var p struct{ Delegation delegationTerms }
		err := c.decode(&p)
		return p.Delegation, err
	})
}

func (m *minting) delegations(ctx context.Context, c *caller) error {
	return m.page(ctx, c, "delegations", template.MintingDelegation, func(c *contract) (terms delegationTerms, err error) {
		err = c.decode(&terms)
		return terms, err
	})
}

// page serves a page of contracts of which the caller is the delegate. A token is a number,
// as the network has it: the creation time of the last contract in microseconds, and how many
// of that very time came before and with it.
func (m *minting) page(ctx context.Context, c *caller, member, template string, termsOf func(*contract) (delegationTerms, error)) error {
	p := c.Query()
	token, _ := p.OptionalInt64("after")
	limit := p.OptionalLimit("limit", m.maxPageSize)
	if err := p.Err(); err != nil {
		return err
	}
	var last mintingToken
	skip := mintingToken{schemas.Micros(token / sameTime), token % sameTime}
	page := []hosted{}
	q := wallethistory.Query{Parties: []string{c.party}, Templates: []string{template}}
	list, err := m.reader.contracts(ctx, q, maxListed, func(candidate *contract) (bool, error) {
		terms, err := termsOf(candidate)
		return terms.Delegate == c.party, err
	})
	if err != nil {
		return err
	}
	answer := map[string]any{}
	for i := range list {
		last = last.next(list[i].Event.CreatedAt)
		if !skip.before(last) {
			continue
		}
		if len(page) == limit {
			break
		}
		terms, err := termsOf(&list[i])
		if err != nil {
			return err
		}
		isHosted, err := m.accounts.isHosted(ctx, terms.Beneficiary)
		if err != nil {
			return err
		}
		page = append(page, hosted{list[i].view(), isHosted})
		if len(page) == limit && i < len(list)-1 {
			answer["next_page_token"] = int64(last.createdAt)*sameTime + last.count
		}
	}
	answer[member] = page
	return c.JSON(answer)
}

// sameTime is more contracts of a list than are ever created at the same microsecond.
const sameTime = 1000

// mintingToken is where a page ends.
type mintingToken struct {
	createdAt schemas.Micros
	count     int64 // of contracts of that time up to there
}

// next is the place of the next contract of a list.
func (t mintingToken) next(createdAt schemas.Micros) mintingToken {
	if t.createdAt == createdAt {
		return mintingToken{createdAt, t.count + 1}
	}
	return mintingToken{createdAt, 1}
}

func (t mintingToken) before(other mintingToken) bool {
	return t.createdAt < other.createdAt || t.createdAt == other.createdAt && t.count < other.count
}
