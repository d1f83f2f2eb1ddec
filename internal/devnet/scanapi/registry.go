package scanapi

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/history"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// registryServer is the token standard's registry of the coin. Unlike all else it is at the root
// alone.
type registryServer struct{ stateServer }

func (s *registryServer) routes() []route {
	routes := []route{
		{"GET", "/registry/metadata/v1/info", always(map[string]any{"adminId": s.ledger.GovernanceParty(), "supportedApis": map[string]int{"splice-api-token-metadata-v1": 1}})},
		{"GET", "/registry/metadata/v1/instruments", s.instruments},
		{"GET", "/registry/metadata/v1/instruments/{id}", s.instrument},
		{"POST", "/registry/transfer-instruction/v1/transfer-factory", reply.Asked(s.transferFactoryV1)},
		{"POST", "/registry/transfer-instruction/v2/transfer-factory", reply.Asked(s.transferFactoryV2)},
		{"POST", "/registry/allocation-instruction/v1/allocation-factory", reply.Asked(s.allocationFactoryV1)},
		{"POST", "/registry/allocation-instruction/v2/allocation-factory", reply.Asked(s.allocationFactoryV2)},
		{"POST", "/registry/allocation-instruction/v2/{id}/choice-contexts/accept", s.noInstruction},
		{"POST", "/registry/allocation-instruction/v2/{id}/choice-contexts/withdraw", s.noInstruction},
		{"POST", "/registry/allocation/v2/settlement-factory", reply.Asked(s.settlementFactory)},
		{"POST", "/registry/allocations/v1/{id}/choice-contexts/execute-transfer", s.choice(true, model.AllocationTemplate)},
	}
	for v, allocations := range map[string][]*model.Template{"v1": {model.AllocationTemplate}, "v2": allocationTemplates} {
		instruction, allocation := "/registry/transfer-instruction/"+v+"/{id}/choice-contexts/", "/registry/allocations/"+v+"/{id}/choice-contexts/"
		routes = append(routes,
			route{"POST", instruction + "accept", s.choice(true, model.TransferInstructionTemplate)},
			route{"POST", instruction + "reject", s.choice(false, model.TransferInstructionTemplate)},
			route{"POST", instruction + "withdraw", s.choice(false, model.TransferInstructionTemplate)},
			route{"POST", allocation + "withdraw", s.choice(false, allocations...)},
			route{"POST", allocation + "cancel", s.choice(false, allocations...)},
		)
	}
	return routes
}

// tokenContext is what a choice needs beside its arguments.
type tokenContext struct {
	Data struct {
		Values map[string]tokenValue `json:"values"`
	} `json:"choiceContextData"`
	Disclosed []disclosure `json:"disclosedContracts"`
}

type tokenValue struct {
	Tag   string `json:"tag"`
	Value any    `json:"value"`
}

type disclosure struct {
	TemplateID     string          `json:"templateId"`
	ContractID     string          `json:"contractId"`
	Blob           string          `json:"createdEventBlob"`
	SynchronizerID string          `json:"synchronizerId"`
	PackageName    string          `json:"debugPackageName,omitempty"`
	Payload        json.RawMessage `json:"debugPayload,omitempty"`
	CreatedAt      string          `json:"debugCreatedAt,omitempty"`
}

// debugging is the member of all requests that says whether people read the answer.
type debugging struct {
	Exclude bool              `json:"excludeDebugFields"`
	Meta    map[string]string `json:"meta"`
}

// named is a contract that a context names to the choice by a key, or only discloses without one.
type named struct {
	key      string
	contract *model.Contract // nil: left out
}

func (s *registryServer) context(q debugging, contracts ...named) tokenContext {
	c := tokenContext{Disclosed: []disclosure{}}
	c.Data.Values = map[string]tokenValue{}
	for _, n := range contracts {
		if n.contract == nil {
			continue
		}
		a := contractAnswerOf(s.ledger, n.contract)
		d := disclosure{TemplateID: a.TemplateID, ContractID: a.ContractID, Blob: a.Blob, SynchronizerID: s.ledger.Names.Synchronizers[0]}
		if !q.Exclude {
			d.PackageName, d.Payload, d.CreatedAt = n.contract.Template.Pkg.Name, a.Payload, a.CreatedAt
		}
		c.Disclosed = append(c.Disclosed, d)
		if n.key != "" {
			c.Data.Values[n.key] = tokenValue{"AV_ContractId", a.ContractID}
		}
	}
	return c
}

// last is the newest contract of a template that keep selects, nil for none.
func (s *registryServer) last(t *model.Template, keep func(*model.Contract) bool) *model.Contract {
	all := s.ledger.OfTemplate(t, keep)
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1].Contract
}

// factory is the one of everything that the coin can do.
func (s *registryServer) factory() named { return named{"", s.last(model.ExternalRulesTemplate, nil)} }

func (s *registryServer) configState() named {
	return named{"external-party-config-state", s.last(model.ConfigStateTemplate, nil)}
}

func (s *registryServer) pricing() ([]named, error) {
	round, ok := s.latestRound()
	if !ok {
		return nil, reply.NotFound("No open mining round")
	}
	return []named{{"amulet-rules", s.last(model.AmuletRulesTemplate, nil)}, {"open-round", round.Contract}, s.configState()}, nil
}

func (s *registryServer) featured(provider model.Party) named {
	var right *model.Contract
	if all := s.rightsOf(s.ledger.Names.Name(provider)); len(all) > 0 {
		right = all[0].Contract
	}
	return named{"featured-app-right", right}
}

func (s *registryServer) answerOf(factory named, kind string, q debugging, contracts ...named) (any, error) {
	if factory.contract == nil {
		return nil, reply.NotFound("No external party rules")
	}
	answer := map[string]any{"factoryId": ledger.ContractIDOf(s.ledger, factory.contract), "choiceContext": s.context(q, append(contracts, factory)...)}
	if kind != "" {
		answer["transferKind"] = kind
	}
	return answer, nil
}

type instrumentID struct{ Admin, ID string }

func (s *registryServer) checkInstrument(i instrumentID) error {
	if i.Admin != s.ledger.GovernanceParty() || i.ID != model.InstrumentAmuletInPayload {
		return reply.BadRequest("there is no instrument %.100s of %.200s here", i.ID, i.Admin)
	}
	return nil
}

type transferV1 struct {
	debugging
	Arguments *struct {
		Transfer *struct {
			Sender, Receiver *string
			Instrument       instrumentID `json:"instrumentId"`
		} `json:"transfer"`
	} `json:"choiceArguments"`
}

func (s *registryServer) transferFactoryV1(_ *http.Request, q *transferV1) (any, error) {
	if q.Arguments == nil || q.Arguments.Transfer == nil {
		return nil, reply.BadRequest("choiceArguments.transfer is required")
	}
	t := q.Arguments.Transfer
	return s.transferFactory(q.debugging, t.Sender, t.Receiver, t.Instrument)
}

// account is one of the second version: one without an owner is special.
type account struct {
	Owner *string `json:"owner"`
}

type transferV2 struct {
	debugging
	Arguments *struct {
		Transfer *struct {
			Sender, Receiver account
			Instrument       instrumentID `json:"instrumentId"`
		} `json:"transfer"`
	} `json:"choiceArguments"`
}

func (s *registryServer) transferFactoryV2(_ *http.Request, q *transferV2) (any, error) {
	if q.Arguments == nil || q.Arguments.Transfer == nil {
		return nil, reply.BadRequest("choiceArguments.transfer is required")
	}
	t := q.Arguments.Transfer
	return s.transferFactory(q.debugging, t.Sender.Owner, t.Receiver.Owner, t.Instrument)
}

func (s *registryServer) transferFactory(q debugging, sender, receiver *string, instrument instrumentID) (any, error) {
	if sender == nil || receiver == nil {
		return nil, reply.BadRequest("a transfer has a sender and a receiver with an owner")
	}
	if err := s.checkInstrument(instrument); err != nil {
		return nil, err
	}
	contracts, err := s.pricing()
	if err != nil {
		return nil, err
	}
	kind, now := "offer", s.ledger.RecordTime()
	if *sender == *receiver {
		kind = "self"
	} else if approval := s.last(model.PreapprovalTemplate, func(c *model.Contract) bool {
		p := c.Payload.(model.Preapproval)
		return s.ledger.Names.Name(p.Receiver) == *receiver && p.ExpiresAt > now
	}); approval != nil {
		kind = "direct"
		contracts = append(contracts, named{"transfer-preapproval", approval}, s.featured(approval.Payload.(model.Preapproval).Provider))
	}
	return s.answerOf(s.factory(), kind, q, contracts...)
}

type allocationV1 struct {
	debugging
	Arguments *struct {
		Allocation *struct {
			Leg *struct {
				Sender, Receiver *string
				Instrument       instrumentID `json:"instrumentId"`
			} `json:"transferLeg"`
		} `json:"allocation"`
	} `json:"choiceArguments"`
}

func (s *registryServer) allocationFactoryV1(_ *http.Request, q *allocationV1) (any, error) {
	if q.Arguments == nil || q.Arguments.Allocation == nil || q.Arguments.Allocation.Leg == nil {
		return nil, reply.BadRequest("choiceArguments.allocation.transferLeg is required")
	}
	leg := q.Arguments.Allocation.Leg
	if leg.Sender == nil || leg.Receiver == nil {
		return nil, reply.BadRequest("a leg has a sender and a receiver")
	}
	if err := s.checkInstrument(leg.Instrument); err != nil {
		return nil, err
	}
	contracts, err := s.pricing()
	if err != nil {
		return nil, err
	}
	return s.answerOf(s.factory(), "", q.debugging, contracts...)
}

type allocationV2 struct {
	debugging
	Arguments *struct {
		Allocation *struct {
			Admin      string
			Authorizer account
		} `json:"allocation"`
	} `json:"choiceArguments"`
}

func (s *registryServer) allocationFactoryV2(_ *http.Request, q *allocationV2) (any, error) {
	switch {
	case q.Arguments == nil || q.Arguments.Allocation == nil:
		return nil, reply.BadRequest("choiceArguments.allocation is required")
	case q.Arguments.Allocation.Authorizer.Owner == nil:
		return nil, reply.BadRequest("the authorizer is a special account")
	case q.Arguments.Allocation.Admin != s.ledger.GovernanceParty():
		return nil, reply.BadRequest("this is not the registry of %.200s", q.Arguments.Allocation.Admin)
	}
	return s.answerOf(s.factory(), "", q.debugging, s.configState())
}

func (s *registryServer) noInstruction(*http.Request) (any, error) {
	return nil, reply.BadRequest("the coin has no allocation instructions")
}

// allocationTemplates are those that the second version of the token standard knows.
var allocationTemplates = []*model.Template{model.AllocationTemplate, model.AllocationV2Template}

// byID is the active contract with an id, nil if there is none of the templates.
func (s *registryServer) byID(id string, templates ...*model.Template) *model.Contract {
	for _, t := range templates {
		if c := s.last(t, func(c *model.Contract) bool { return ledger.ContractIDOf(s.ledger, c) == id }); c != nil {
			return c
		}
	}
	return nil
}

// lockedFor is the coin that is locked for a contract, nil if it is gone; number is 0 for none.
func (s *registryServer) lockedFor(c *model.Contract) (coin *model.Contract, number uint64) {
	switch p := c.Payload.(type) {
	case model.TransferInstruction:
		number = p.Locked
	case model.AmuletAllocation:
		number = p.Locked
	case model.AllocationV2:
		number = p.Locked
	}
	return s.last(model.LockedAmuletTemplate, func(c *model.Contract) bool { return c.Number == number }), number
}

// choice answers with the context of a choice on an instruction or an allocation, which either
// delivers its coin or gives it back.
func (s *registryServer) choice(delivers bool, templates ...*model.Template) handler {
	return reply.Asked(func(r *http.Request, q *debugging) (any, error) {
		c := s.byID(r.PathValue("id"), templates...)
		if c == nil {
			return nil, reply.NotFound("No active %s %s", templates[0].Entity(), r.PathValue("id"))
		}
		coin, _ := s.lockedFor(c)
		if coin == nil && delivers {
			return nil, reply.NotFound("The locked coin of %s is gone", r.PathValue("id"))
		}
		var contracts []named
		if coin != nil {
			contracts = []named{{"", coin}, s.configState()}
		}
		if p, ok := c.Payload.(model.AmuletAllocation); ok && delivers {
			contracts = append(contracts, s.featured(p.Leg.Executor))
		}
		answer := s.context(*q, contracts...)
		answer.Data.Values["expire-lock"] = tokenValue{"AV_Bool", coin != nil}
		return answer, nil
	})
}

type settlement struct {
	debugging
	Arguments *struct {
		Legs []struct {
			Sender, Receiver account
		} `json:"transferLegs"`
		Allocations []struct {
			ID string `json:"allocationCid"`
		} `json:"allocations"`
	} `json:"choiceArguments"`
}

// maxSettled is the most legs, parties and allocations of a settlement.
const maxSettled = 100

func (s *registryServer) settlementFactory(_ *http.Request, q *settlement) (any, error) {
	if q.Arguments == nil || q.Arguments.Legs == nil || q.Arguments.Allocations == nil {
		return nil, reply.BadRequest("choiceArguments.transferLegs and allocations are required")
	}
	parties := map[string]bool{}
	for _, leg := range q.Arguments.Legs {
		for _, owner := range []*string{leg.Sender.Owner, leg.Receiver.Owner} {
			if owner != nil {
				parties[*owner] = true
			}
		}
	}
	if max(len(q.Arguments.Legs), len(q.Arguments.Allocations), len(parties)) > maxSettled {
		return nil, reply.BadRequest("a settlement has at most %d legs, parties and allocations", maxSettled)
	}
	contracts := []named{s.configState()}
	for _, a := range q.Arguments.Allocations {
		c := s.byID(a.ID, allocationTemplates...)
		if c == nil {
			return nil, reply.NotFound("No active allocation %.200s", a.ID)
		}
		coin, number := s.lockedFor(c)
		if coin == nil && number != 0 {
			return nil, reply.NotFound("The locked coin of %s is gone", a.ID)
		}
		if !slices.ContainsFunc(contracts, func(n named) bool { return n.contract == coin }) {
			contracts = append(contracts, named{"", coin})
		}
	}
	return s.answerOf(s.factory(), "", q.debugging, contracts...)
}

// supply is the sum of all coins in the newest snapshot, and its time; false while there is none.
func (s *registryServer) supply(r *http.Request) (sum model.Decimal, at int64, ok bool, err error) {
	for id := int64(history.ImportMigration); id >= 0; id-- {
		at, ok := s.store.SnapshotBefore(id, s.ledger.RecordTime())
		if !ok {
			continue
		}
		then, err := s.ledger.SnapshotAt(r.Context(), id, at)
		if err != nil {
			return 0, 0, false, err
		}
		for _, c := range then.Active {
			if c.Template == model.AmuletTemplate || c.Template == model.LockedAmuletTemplate {
				sum += model.CoinOf(c.Contract).Amount
			}
		}
		return sum, at, true, nil
	}
	return 0, 0, false, nil
}

func (s *registryServer) coin(r *http.Request) (map[string]any, error) {
	coin := map[string]any{"id": model.InstrumentAmuletInPayload, "name": instanceNames["amulet_name"], "symbol": instanceNames["amulet_name_acronym"], "decimals": 10}
	apis := map[string]int{"splice-api-token-metadata-v1": 1, "splice-api-token-transfer-events-v2": 1}
	for _, api := range []string{"holding", "transfer-instruction", "allocation", "allocation-instruction"} {
		apis["splice-api-token-"+api+"-v1"], apis["splice-api-token-"+api+"-v2"] = 1, 1
	}
	coin["supportedApis"] = apis
	sum, at, ok, err := s.supply(r)
	if ok {
		coin["totalSupply"], coin["totalSupplyAsOf"] = sum.String(), schemas.Micros(at).String()
	}
	return coin, err
}

func (s *registryServer) instruments(r *http.Request) (any, error) {
	coin, err := s.coin(r)
	return map[string]any{"instruments": []any{coin}}, err
}

func (s *registryServer) instrument(r *http.Request) (any, error) {
	if id := r.PathValue("id"); id != model.InstrumentAmuletInPayload {
		return nil, reply.NotFound("No instrument %.100s", id)
	}
	return s.coin(r)
}
