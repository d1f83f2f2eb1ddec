package verify

import (
	"fmt"
	"slices"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/coins"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
	"github.com/ledgerlake/ledgerlake/schemas/values/payload"
)

// repeaters are choices whose result repeats that of the choice by which they do their work.
var repeaters = map[string]bool{"TransferPreapprovalProposal_Accept": true}

// mintedRewards are the fields of a transfer's summary that say what it mints. What was minted from
// records of liveness, inputValidatorFaucetAmount, is a part of the validator's reward.
var mintedRewards = []string{"inputAppRewardAmount", "inputValidatorRewardAmount", "inputSvRewardAmount"}

// optionalRewards came with later versions.
var optionalRewards = []string{"inputUnclaimedActivityRecordAmount", "inputDevelopmentFundAmount"}

// coinID identifies a coin in memory: the audit.LifetimeHash of its contract id.
type coinID = uint64

// coin is what is known of a coin that was created.
type coin struct {
	id     coinID
	worth  decimal.Decimal
	burner bool // created, or spent, below a choice that burns
	// part is the number of the root that it stands below; active says that it entered or
	// left the set of active contracts. Both are told by a node's own stream only.
	part   int
	active bool
	// node is the number of the event, for findings.
	node int32
}

// claim is what a choice says that it does to the supply.
type claim struct {
	minted, burned decimal.Decimal
	// within is a part of burned that some versions count a second time in what was paid.
	within decimal.Decimal
	burner bool
	part   int
}

// coinUpdate is what one update does to coins.
type coinUpdate struct {
	position schemas.Position
	imported bool
	round    int64 // -1 if none is named
	created  []coin
	spent    []coin // worth is not known
	claims   []claim
	// unknown says that a choice is not in the catalogue: it may burn.
	unknown  bool
	findings []Finding
	// parts are those of an update of a node's own stream; see coins_node.go.
	local bool
	parts []coinPart
}

// at names an event of the update by its number.
func (c *coinUpdate) at(node int32) string {
	return fmt.Sprintf("%s, event %d", where(c.position), node)
}

// coinKinds are what was found out about choices and shapes, for all readers of a run. They
// are safe for concurrent use; what they give is not changed any more.
type coinKinds struct {
	mu     sync.RWMutex
	kinds  map[choiceKey]*choiceKind
	places map[shapeKey]*places
}

func newCoinKinds() *coinKinds {
	return &coinKinds{kinds: make(map[choiceKey]*choiceKind), places: make(map[shapeKey]*places)}
}

// coinReader reads updates for what they do to coins. It is used by one goroutine.
type coinReader struct {
	catalog *values.Catalog
	known   *coinKinds
	coins   map[string]*values.Type // by template id; nil for one that is no coin
	parent  []int                   // index of the event around it, -1 for none, by index of event
	burner  []bool                  // by index of event
	claimed []bool                  // an event below a choice says what it does, by index of event
	parts   []int                   // of a node's own stream: number of its part, by index of event
	open    []int                   // exercises around an event
	// made and gone are the coins of many updates, so that each needs no list of its own.
	made, gone []coin
	fields     []payload.Value // of the record that is being read

	facts   []audit.EventFacts // of the events of the update
	read    places             // of an event of which the texts are read
	scalars [][]byte           // of the event under way
	texts   []byte             // argument and result of it, if they must be read
}

type choiceKey struct{ packageName, template, iface, choice string }

// choiceKind is what is known of a choice of one template.
type choiceKind struct {
	known            bool
	argument, result *values.Type
	mints            bool
	paid             bool     // its result says what was paid
	summary          []string // where in its result a transfer is summed up, nil if nowhere
	fields           summaryFields
}

// summaryFields are where a transfer's summary, and each output that it gave, have their
// fields: -1 for one that there is not.
type summaryFields struct {
	rewards, optionalRewards                 []int
	outputFees, senderChangeFee, holdingFees int
	inputAmuletAmount, senderChangeAmount    int
	outputAmount, outputRatio                int
}

func newCoinReader(catalog *values.Catalog, known *coinKinds) *coinReader {
	return &coinReader{catalog: catalog, known: known, coins: make(map[string]*values.Type)}
}

// forget makes new lists of coins: outcomes keep those that there were.
func (r *coinReader) forget() {
	r.made, r.gone = make([]coin, 0, len(r.made)+len(r.made)/8), make([]coin, 0, len(r.gone)+len(r.gone)/8)
}

// update returns what u does to coins, given the facts of its events; ok is false if it does
// nothing.
func (r *coinReader) update(u *schemas.Update, facts []audit.EventFacts) (c coinUpdate, ok bool) {
	r.facts = facts
	c = coinUpdate{position: u.Position(), imported: u.IsImport(), round: -1, local: u.Local != nil}
	if u.Kind != schemas.Transaction {
		return r.reassigned(c, u)
	}
	r.findParents(u)
	r.burner = slices.Grow(r.burner[:0], len(u.Events))[:len(u.Events)]
	r.claimed = slices.Grow(r.claimed[:0], len(u.Events))[:len(u.Events)]
	clear(r.claimed)
	for i := range u.Events {
		e := &u.Events[i]
		r.burner[i] = r.parent[i] >= 0 && r.burner[r.parent[i]] || e.Kind == schemas.Exercised && coins.BurnsUnstated(e.Choice)
	}
	if c.local {
		r.findParts(&c, u)
	}
	made, gone := len(r.made), len(r.gone)
	// From the last event back, so that a choice knows of the transfers below it.
	for i := len(u.Events) - 1; i >= 0; i-- {
		r.event(&c, u, i)
		if p := r.parent[i]; p >= 0 && r.claimed[i] {
			r.claimed[p] = true
		}
	}
	c.created, c.spent = r.made[made:len(r.made):len(r.made)], r.gone[gone:len(r.gone):len(r.gone)]
	return c, len(c.created)+len(c.spent)+len(c.claims)+len(c.findings) > 0
}

// findParents fills r.parent. A node number that does not exist is left to others.
func (r *coinReader) findParents(u *schemas.Update) {
	r.parent = slices.Grow(r.parent[:0], len(u.Events))[:len(u.Events)]
	if u.Local != nil {
		r.findNodeParents(u)
		return
	}
	for i := range r.parent {
		r.parent[i] = -1
	}
	for i := range u.Events {
		for _, n := range u.Events[i].Children {
			if int(n) > i && int(n) < len(r.parent) {
				r.parent[n] = i
			}
		}
	}
}

func (r *coinReader) event(c *coinUpdate, u *schemas.Update, i int) {
	e := &u.Events[i]
	coinType := r.coinType(e)
	isCoin := coinType != nil
	if e.Kind == schemas.Created {
		if isCoin {
			worth, ok := r.worth(u, i, coinType)
			if !ok {
				c.findings = append(c.findings, Finding{What: "a coin without a readable amount", Where: c.at(e.Node)})
			}
			r.made = append(r.made, coin{id: r.facts[i].Contract, worth: worth, burner: r.burner[i], node: e.Node, part: r.part(i), active: e.Local != nil && e.Local.ACSDelta})
		}
		return
	}
	if isCoin && e.Consuming {
		r.gone = append(r.gone, coin{id: r.facts[i].Contract, burner: r.burner[i], node: e.Node, part: r.part(i), active: e.Local != nil && e.Local.ACSDelta})
	}
	r.choice(c, u, i)
}

// coinType returns the type of the contract of e if that is a coin, else nil.
func (r *coinReader) coinType(e *schemas.Event) *values.Type {
	if e.PackageName != template.CoinPackage {
		return nil
	}
	t, seen := r.coins[e.TemplateID]
	if !seen {
		t = coinType(r.catalog, e)
		r.coins[e.TemplateID] = t
	}
	return t
}

// coinType returns the type of a coin, locked or not, nil for any other contract.
func coinType(catalog *values.Catalog, e *schemas.Event) *values.Type {
	if !template.Is(template.Coin, e.PackageName, e.TemplateID) && !template.Is(template.LockedCoin, e.PackageName, e.TemplateID) {
		return nil
	}
	return catalog.Template(e.PackageName, e.TemplateID)
}

// coinWorth reads the amount of a coin, locked or not.
func coinWorth(kind *values.Type, e *schemas.Event, encoding schemas.Encoding) (decimal.Decimal, bool) {
	return worthOf(payload.New(e.Argument, kind, encoding)).Amount()
}

// worthOf returns the amount of a coin, locked or not, out of what it was created with.
func worthOf(p payload.Value) payload.Value {
	if inner := p.Field("amulet"); inner.JSON != nil {
		p = inner
	}
	return p.Path("amount", "initialAmount")
}

func (r *coinReader) kind(e *schemas.Event) *choiceKind {
	key := choiceKey{e.PackageName, e.TemplateID, e.InterfaceID, e.Choice}
	r.known.mu.RLock()
	k := r.known.kinds[key]
	r.known.mu.RUnlock()
	if k != nil {
		return k
	}
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	if k = r.known.kinds[key]; k == nil { // else another reader was faster
		k = r.newKind(e)
		r.known.kinds[key] = k
	}
	return k
}

func (r *coinReader) newKind(e *schemas.Event) *choiceKind {
	k := &choiceKind{
		argument: r.catalog.ChoiceArgument(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice),
		result:   r.catalog.ChoiceResult(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice),
		mints:    e.Choice == template.CoinRulesMint,
	}
	k.known = k.argument != nil
	if repeaters[e.Choice] {
		return k
	}
	k.paid = fieldType(k.result, "amuletPaid") != nil
	for _, path := range [][]string{{"summary"}, {"transferResult", "summary"}, {"result", "summary"}} {
		if t := fieldType(k.result, path...); t != nil && t.Kind == values.KindRecord && k.summary == nil {
			k.summary = path
			k.fields = newSummaryFields(t, k.argument)
		}
	}
	return k
}

// fieldType returns the type of a field of a field of a record, nil if there is none.
func fieldType(t *values.Type, labels ...string) *values.Type {
	for _, label := range labels {
		if t == nil || t.Kind != values.KindRecord {
			return nil
		}
		i := fieldIndex(t, label)
		if i < 0 {
			return nil
		}
		t = t.Fields[i].Type
	}
	return t
}

// fieldIndex returns where a record has a field, -1 if it has none of that name.
func fieldIndex(t *values.Type, label string) int {
	return slices.IndexFunc(t.Fields, func(f values.Field) bool { return f.Label == label })
}

func newSummaryFields(summary, argument *values.Type) summaryFields {
	f := summaryFields{
		outputFees: fieldIndex(summary, "outputFees"), senderChangeFee: fieldIndex(summary, "senderChangeFee"),
		holdingFees: fieldIndex(summary, "holdingFees"), inputAmuletAmount: fieldIndex(summary, "inputAmuletAmount"),
		senderChangeAmount: fieldIndex(summary, "senderChangeAmount"), outputAmount: -1, outputRatio: -1,
	}
	for _, label := range mintedRewards {
		f.rewards = append(f.rewards, fieldIndex(summary, label))
	}
	for _, label := range optionalRewards {
		f.optionalRewards = append(f.optionalRewards, fieldIndex(summary, label))
	}
	if list := fieldType(argument, "transfer", "outputs"); list != nil && list.Kind == values.KindList && list.Elem.Kind == values.KindRecord {
		f.outputAmount, f.outputRatio = fieldIndex(list.Elem, "amount"), fieldIndex(list.Elem, "receiverFeeRatio")
	}
	return f
}

// pick returns one of the fields that payload.fields gave, absent for -1.
func pick(fields []payload.Value, i int) payload.Value {
	if i >= 0 && i < len(fields) {
		return fields[i]
	}
	return payload.Value{}
}

// choice reads what an exercise says of the supply.
func (r *coinReader) choice(c *coinUpdate, u *schemas.Update, i int) {
	e := &u.Events[i]
	k := r.kind(e)
	if !k.known {
		c.unknown = true
		if c.local {
			c.parts[r.part(i)].whole = false
		}
		return
	}
	if !k.mints && !k.paid && k.summary == nil {
		return
	}
	pl := r.choicePlaces(u, i, k)
	if k.mints {
		minted, ok := r.number(pl, pl.minted)
		if !ok {
			c.findings = append(c.findings, Finding{What: "a mint without a readable amount", Where: c.at(e.Node)})
		}
		c.claims = append(c.claims, claim{minted: minted, burner: r.burner[i], part: r.part(i)})
		c.noteRound(r.textOf(pl, pl.round))
		return
	}
	paid, _ := r.number(pl, pl.paid)
	if !pl.summed && paid == (decimal.Decimal{}) {
		return
	}
	cl := claim{burned: paid, burner: r.burner[i], part: r.part(i)}
	if pl.summed && !r.claimed[i] { // else the transfer below says it
		r.claimed[i] = true
		r.transfer(c, e, pl, paid, &cl)
	}
	c.noteRound(r.textOf(pl, pl.round))
	c.claims = append(c.claims, cl)
}

func (c *coinUpdate) noteRound(number []byte) {
	n := int64(0)
	for _, d := range number {
		if d < '0' || d > '9' {
			return
		}
		n = n*10 + int64(d-'0')
	}
	if len(number) > 0 {
		c.round = max(c.round, n)
	}
}

// transfer reads the summary of a transfer, which must add up: inputs are outputs, change
// and fees.
func (r *coinReader) transfer(c *coinUpdate, e *schemas.Event, pl *places, paid decimal.Decimal, cl *claim) {
	at := func() string { return c.at(e.Node) }
	number := func(s slot) decimal.Decimal {
		a, ok := r.number(pl, s)
		if !ok {
			c.findings = append(c.findings, Finding{What: "a transfer's summary cannot be read", Where: at()})
		}
		return a
	}
	for _, reward := range pl.rewards {
		cl.minted = cl.minted.Plus(number(reward))
	}
	outputFees := decimal.Decimal{}
	for _, fee := range pl.outputFees {
		outputFees = outputFees.Plus(number(fee))
	}
	fees := outputFees.Plus(number(pl.senderChangeFee)).Plus(number(pl.holdingFees))
	cl.burned = cl.burned.Plus(fees)
	if paid != (decimal.Decimal{}) {
		cl.within = outputFees
	}
	inputs := number(pl.inputs).Plus(cl.minted)
	outputs := number(pl.changes).Plus(fees)
	shared := false // a receiver who bears a part of the fee gets less than the output says
	switch {
	case pl.listed:
		for i := range pl.outputs {
			outputs = outputs.Plus(number(pl.outputs[i]))
			if ratio, ok := r.number(pl, pl.ratios[i]); ok && ratio != (decimal.Decimal{}) {
				shared = true
			}
		}
	case paid != (decimal.Decimal{}):
		outputs = outputs.Plus(paid)
	default:
		return // it does not list what it gives: only what it creates can be checked
	}
	if inputs != outputs && inputs != outputs.Minus(cl.within) && !(shared && outputFees != (decimal.Decimal{})) {
		c.findings = append(c.findings, Finding{
			What: "a transfer does not add up", Where: at(),
			Expected: inputs.String() + " out, as much as in", Found: outputs.String(),
		})
	}
}
