package devnet

// choices are what commands can do: which contracts they create, and which choices they
// exercise, directly or as a part of others. What only the governance party does is not
// among them: that it does by itself.
type choices struct {
	creations map[*template]payloadReader
	rules     map[*template]map[string]*rule
	archival  *rule
}

// payloadReader returns the payload that create arguments stand for. The error is a *Refusal.
type payloadReader func(e *execution, a argument) (payload, error)

// rule says what a choice does.
type rule struct {
	consuming bool
	through   interfaceName // whose choice it is, or noInterface
	// controllers are the parties whose authority the choice needs.
	controllers func(e *execution, c *contract, arg argument) []party
	// run adds the consequences to the transaction and returns the result. The error is a
	// *Refusal.
	run func(e *execution, c *contract, arg argument) (value, error)
}

func newChoices() *choices {
	all := &choices{creations: map[*template]payloadReader{}, rules: map[*template]map[string]*rule{},
		archival: consuming(func(_ *execution, c *contract, _ argument) []party {
			signatories, _ := c.payload.stakeholders(nil, nil)
			return signatories
		}, toUnit)}
	for _, add := range []func(*choices){
		addTransferChoices, addCoinChoices, addTrafficChoices, addPreapprovalChoices, addTokenChoices,
		addInstallChoices, addOfferChoices, addRequestChoices, addCommandChoices, addDelegationChoices,
		addMergeChoices, addNameChoices, addLicenseChoices, addFeaturedChoices,
		addCouponChoices, addPaymentChoices, addSubscriptionChoices, addAllocationChoices, addRewardChoices,
	} {
		add(all)
	}
	return all
}

func (all *choices) on(t *template, choice string, r *rule) {
	if all.rules[t] == nil {
		all.rules[t] = map[string]*rule{}
	}
	all.rules[t][choice] = r
}

type (
	controllersOf = func(e *execution, c *contract, arg argument) []party
	runOf         = func(e *execution, c *contract, arg argument) (value, error)
)

func consuming(controllers controllersOf, run runOf) *rule {
	return &rule{consuming: true, through: noInterface, controllers: controllers, run: run}
}

func nonconsuming(controllers controllersOf, run runOf) *rule {
	return &rule{through: noInterface, controllers: controllers, run: run}
}

// of says that the choice is one of an interface.
func (r *rule) of(i interfaceName) *rule {
	r.through = i
	return r
}

// byArgument are controllers that the choice argument names.
func byArgument(labels ...string) controllersOf {
	return func(_ *execution, _ *contract, arg argument) []party {
		ps := make([]party, len(labels))
		for i, l := range labels {
			ps[i] = arg.party(l)
		}
		return ps
	}
}

// byPayload are controllers that the contract names.
func byPayload[P payload](parties func(P) []party) controllersOf {
	return func(_ *execution, c *contract, _ argument) []party { return parties(c.payload.(P)) }
}

func toUnit(*execution, *contract, argument) (value, error) { return unit(), nil }

func toEmpty(e *execution, _ *contract, _ argument) (value, error) {
	return e.tx.arena().record(emptyRecordShape), nil
}

// toResult is for choices without consequences whose result is an enum of one constructor.
func toResult(constructor string) runOf {
	return func(*execution, *contract, argument) (value, error) { return enum(constructor), nil }
}

// toPayload is for choices that return the contract itself.
func toPayload(e *execution, c *contract, _ argument) (value, error) {
	return c.payload.arguments(e.tx.arena(), c.version), nil
}

// expectsDSO checks an optional argument by which a caller makes sure of the network.
func (e *execution) expectsDSO(arg argument) error {
	if v := arg.given("expectedDso"); v != nil && party(v.num) != dso {
		return broken("expected DSO party %s, but this network's is %s", e.names.name(party(v.num)), e.names.name(dso))
	}
	return nil
}

// isDSO checks a field that must name the governance party.
func (e *execution) isDSO(p party) error {
	if p != dso {
		return broken("%s is not the DSO party, %s is", e.names.name(p), e.names.name(dso))
	}
	return nil
}

// later checks that a time has not come yet.
func (e *execution) later(what string, t int64) error {
	if t <= e.now() {
		return broken("%s %s has passed", what, microsText(t))
	}
	return nil
}

// idsOf lists contracts as a value.
func (e *execution) idsOf(cs ...*contract) value {
	ids := make([]value, len(cs))
	for i, c := range cs {
		ids[i] = contractID(c.number)
	}
	return e.tx.arena().list(ids...)
}
