package choices

import "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"

// choices are what commands can do: which contracts they create, and which choices they
// exercise, directly or as a part of others. What only the governance party does is not
// among them: that it does by itself.
type choices struct {
	creations map[*model.Template]payloadReader
	rules     map[*model.Template]map[string][]*rule // one for each interface that has such a choice
	archival  *rule
}

// payloadReader returns the payload that create arguments stand for, or throws a refusal.
type payloadReader func(e *Execution, a model.Argument) model.Payload

// rule says what a choice does.
type rule struct {
	consuming bool
	through   model.InterfaceName // whose choice it is, or noInterface
	// controllers are the parties whose authority the choice needs; observers, if not nil, are
	// further ones that are informed of it.
	controllers, observers controllersOf
	// run adds the consequences to the transaction and returns the result, or throws a refusal.
	run runOf
}

func newChoices() *choices {
	all := &choices{creations: map[*model.Template]payloadReader{}, rules: map[*model.Template]map[string][]*rule{},
		archival: consuming(func(_ *Execution, c *model.Contract, _ model.Argument) []model.Party {
			signatories, _ := c.Payload.Stakeholders(nil, nil)
			return signatories
		}, toUnit)}
	for _, add := range []func(*choices){
		addTransferChoices, addCoinChoices, addTrafficChoices, addPreapprovalChoices, addTokenChoices,
		addInstallChoices, addOfferChoices, addRequestChoices, addCommandChoices, addDelegationChoices,
		addMergeChoices, addProxyChoices, addNameChoices, addLicenseChoices, addFeaturedChoices,
		addCouponChoices, addPaymentChoices, addSubscriptionChoices, addAllocationChoices, addAllocationV2Choices, addRewardChoices, addPingChoices, addExchangeChoices,
	} {
		add(all)
	}
	return all
}

func (all *choices) on(t *model.Template, choice string, r *rule) {
	if all.rules[t] == nil {
		all.rules[t] = map[string][]*rule{}
	}
	all.rules[t][choice] = append(all.rules[t][choice], r)
}

type (
	controllersOf = func(e *Execution, c *model.Contract, arg model.Argument) []model.Party
	runOf         = func(e *Execution, c *model.Contract, arg model.Argument) model.Value
)

func consuming(controllers controllersOf, run runOf) *rule {
	return &rule{consuming: true, through: model.NoInterface, controllers: controllers, run: run}
}

func nonconsuming(controllers controllersOf, run runOf) *rule {
	return &rule{through: model.NoInterface, controllers: controllers, run: run}
}

// of says that the choice is one of an interface.
func (r *rule) of(i model.InterfaceName) *rule {
	r.through = i
	return r
}

// seenBy says who else is informed of the choice.
func (r *rule) seenBy(observers controllersOf) *rule {
	r.observers = observers
	return r
}

// byArgument are controllers that the choice argument names.
func byArgument(labels ...string) controllersOf {
	return func(_ *Execution, _ *model.Contract, arg model.Argument) []model.Party {
		ps := make([]model.Party, len(labels))
		for i, l := range labels {
			ps[i] = arg.Party(l)
		}
		return ps
	}
}

// byPayload are controllers that the contract names.
func byPayload[P model.Payload](parties func(P) []model.Party) controllersOf {
	return func(_ *Execution, c *model.Contract, _ model.Argument) []model.Party { return parties(c.Payload.(P)) }
}

func toUnit(*Execution, *model.Contract, model.Argument) model.Value {
	return model.Unit()
}

func toEmpty(e *Execution, _ *model.Contract, _ model.Argument) model.Value {
	return e.Tx.Arena().Record(model.EmptyRecordShape)
}

// toResult is for choices without consequences whose result is an enum of one constructor.
func toResult(constructor string) runOf {
	return func(*Execution, *model.Contract, model.Argument) model.Value {
		return model.Enum(constructor)
	}
}

// toPayload is for choices that return the contract itself.
func toPayload(e *Execution, c *model.Contract, _ model.Argument) model.Value {
	return c.Payload.Arguments(e.Tx.Arena(), c.Version)
}

// expectsDSO checks an optional argument by which a caller makes sure of the network.
func (e *Execution) expectsDSO(arg model.Argument) {
	if v := arg.Given("expectedDso"); v != nil {
		p := model.Party(v.Num)
		require(p == model.Dso, "expected DSO party %s, but this network's is %s", e.Names.Name(p), e.Names.Name(model.Dso))
	}
}

// isDSO checks a field that must name the governance party.
func (e *Execution) isDSO(p model.Party) {
	require(p == model.Dso, "%s is not the DSO party, %s is", e.Names.Name(p), e.Names.Name(model.Dso))
}

// later checks that a time has not come yet.
func (e *Execution) later(what string, t int64) {
	require(t > e.Now(), "%s %s has passed", what, microsText(t))
}
