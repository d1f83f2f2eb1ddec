package state

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// factoryAnswer is a factory and what its choice needs. Kind is told of transfers only.
type factoryAnswer struct {
	FactoryID string        `json:"factoryId"`
	Kind      transferKind  `json:"transferKind,omitempty"`
	Context   choiceContext `json:"choiceContext"`
}

// choiceContext is what a choice of the token standard needs beside its arguments.
type choiceContext struct {
	Data struct {
		Values map[string]contextValue `json:"values"`
	} `json:"choiceContextData"`
	Disclosed []disclosedContract `json:"disclosedContracts"`
}

type contextValue struct {
	Tag   string `json:"tag"`
	Value any    `json:"value"`
}

type disclosedContract struct {
	TemplateID     string `json:"templateId"`
	ContractID     string `json:"contractId"`
	Blob           string `json:"createdEventBlob"`
	SynchronizerID string `json:"synchronizerId"`
	// For people, unless they do not want it:
	PackageName string          `json:"debugPackageName,omitempty"`
	Payload     json.RawMessage `json:"debugPayload,omitempty"`
	CreatedAt   string          `json:"debugCreatedAt,omitempty"`
}

// contextBuilder gathers the context of a choice.
type contextBuilder struct {
	registry *registry
	debug    bool
	values   map[string]contextValue
	list     []contract // to disclose
}

// newContext begins the context for a request, whose body p is.
func (g *registry) newContext(p *query.Params) *contextBuilder {
	return &contextBuilder{registry: g, debug: !(p.Has("excludeDebugFields") && p.Bool("excludeDebugFields")), values: map[string]contextValue{}}
}

// flag tells the choice something.
func (b *contextBuilder) flag(key string, value bool) {
	b.values[key] = contextValue{template.AnyBool, value}
}

// add names a contract to the choice and discloses it, unless there is none.
func (b *contextBuilder) add(key string, c *contract) {
	if c != nil {
		b.values[key] = contextValue{template.AnyContractID, c.Event.ContractID}
		b.list = append(b.list, *c)
	}
}

// addLatest adds the newest contract of a template, if there is any.
func (b *contextBuilder) addLatest(ctx context.Context, key, template string) error {
	c, err := b.registry.governance.sets.latest(ctx, template)
	b.add(key, c)
	return err
}

// factoryOf is factory, unless the request p is wrong or about another instrument.
func (b *contextBuilder) factoryOf(ctx context.Context, p *query.Params, of instrumentID) (string, error) {
	if err := p.Err(); err != nil {
		return "", err
	}
	if err := b.registry.requireCoin(ctx, of); err != nil {
		return "", err
	}
	return b.factory(ctx)
}

// factory discloses the contract that is the factory of all that the coin has, and returns its id.
func (b *contextBuilder) factory(ctx context.Context) (string, error) {
	c, err := b.registry.governance.sets.latest(ctx, template.ExternalPartyCoinRules)
	if err != nil {
		return "", err
	}
	if c == nil {
		return "", errNone("external party coin rules")
	}
	b.list = append(b.list, *c)
	return c.Event.ContractID, nil
}

// addLocked discloses a locked coin for a choice that spends or unlocks it.
func (b *contextBuilder) addLocked(ctx context.Context, coin *contract) error {
	b.list = append(b.list, *coin)
	b.flag(template.ContextExpireLock, true)
	return b.addLatest(ctx, template.ContextConfigState, template.ExternalPartyConfigState)
}

// answer answers with what shape makes of the context. Where a blob is not known, another scan
// answers in place of this one.
func (b *contextBuilder) answer(ctx context.Context, r *query.Request, shape func(choiceContext) any) error {
	if err := b.registry.contracts.addBlobs(ctx, b.list); err != nil {
		return err
	}
	for i := range b.list {
		if b.list[i].blob == "" {
			return b.registry.ask(ctx, r, &b.list[i])
		}
	}
	synchronizer, err := b.registry.synchronizer(ctx)
	if err != nil {
		return err
	}
	result := choiceContext{Disclosed: make([]disclosedContract, len(b.list))}
	result.Data.Values = b.values
	for i := range b.list {
		result.Disclosed[i] = b.list[i].disclosed(synchronizer, b.debug)
	}
	return r.JSON(shape(result))
}

func (c *contract) disclosed(synchronizer string, debug bool) disclosedContract {
	d := disclosedContract{TemplateID: c.Event.TemplateID, ContractID: c.Event.ContractID, Blob: c.blob, SynchronizerID: synchronizer}
	if debug {
		d.PackageName, d.Payload = c.Event.PackageName, c.payload
		d.CreatedAt = string(schemas.AppendShortTime(nil, c.Event.CreatedAt))
	}
	return d
}

// synchronizer is the one on which the coin is used.
func (g *registry) synchronizer(ctx context.Context) (string, error) {
	c, err := g.governance.sets.latest(ctx, template.CoinRules)
	if err != nil {
		return "", err
	}
	if c == nil {
		return "", errNone("coin rules")
	}
	var rules struct {
		Schedule struct {
			Initial struct {
				Synchronizer struct {
					Active string `json:"activeSynchronizer"`
				} `json:"decentralizedSynchronizer"`
			} `json:"initialValue"`
		} `json:"configSchedule"`
	}
	if err := c.decode(&rules); err != nil {
		return "", err
	}
	if active := rules.Schedule.Initial.Synchronizer.Active; active != "" {
		return active, nil
	}
	return c.SynchronizerID, nil
}

// ask answers with what another scan answers to the same request: the blob of a contract is known
// there only.
func (g *registry) ask(ctx context.Context, r *query.Request, missing *contract) error {
	what := fmt.Sprintf("contract %s of %s", missing.Event.ContractID, template.Entity(missing.Event.TemplateID))
	if g.contracts.blobs == nil {
		return noBlob(what, "no node and no other scan is configured that could have it", nil)
	}
	path, err := r.RoutePath()
	if err != nil {
		return err
	}
	status, answer, asked, err := g.contracts.blobs.Registry(ctx, registryPath(path), r.RawBody())
	switch {
	case err != nil:
		return noBlob(what, "the scan that is asked for it does not answer", err)
	case !asked:
		return noBlob(what, "no stream of a node in this store has it, and no scan is configured to ask: ingest the stream of a node whose parties see it, or name a scan with --scan-url", nil)
	}
	return r.JSONAs(status, json.RawMessage(answer))
}

func noBlob(what, why string, err error) error {
	return &query.Error{Code: query.Unavailable, Msg: "The blob of " + what + ", which must be disclosed, is not in public history, and " + why + ".", Err: err}
}
