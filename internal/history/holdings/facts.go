package holdings

import (
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/coins"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// wholeChoices are those of which parts are needed that are in lists or maps.
var wholeChoices = []string{template.TransferFactoryTransfer, template.TransferPreapprovalSendV2, template.SettlementFactorySettleBatch}

// facts makes updates of rows.
type facts struct {
	stream  string
	catalog *values.Catalog
	logs    bool // what the event log says is wanted, too
	types   map[typeKey]*types
	body    body

	updates []coins.Update
	// Of the update under way: the index of each exercise by node number, plus 1, of the nodes below it.
	parents []int32
	open    []openExercise // of a node's own stream: those around the next event
}

type typeKey struct{ packageName, template, iface, choice string }

func newFacts(stream string, catalog *values.Catalog) facts {
	return facts{stream: stream, catalog: catalog, types: make(map[typeKey]*types), body: body{shapes: make(map[placeKey]*[fieldCount]place)}}
}

func (f *facts) reset() { f.updates = f.updates[:0] }

// typesOf returns the types of the values of an event, which may be nil.
func (f *facts) typesOf(e *store.CoinEvent) *types {
	key := typeKey{e.PackageName, e.TemplateID, e.InterfaceID, e.Choice}
	t := f.types[key]
	if t == nil {
		t = &types{argument: f.catalog.Template(e.PackageName, e.TemplateID)}
		if e.Kind == schemas.Exercised {
			t.argument = f.catalog.ChoiceArgument(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice)
			t.result = f.catalog.ChoiceResult(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice)
		}
		f.types[key] = t
	}
	return t
}

// coin reads what a coin is created with.
func (f *facts) coin(e *store.CoinEvent) coins.Coin {
	f.body.begin(e, f.typesOf(e))
	c := coins.Coin{Owner: f.body.name(owner), Amount: f.body.amount(amount), Rate: f.body.amount(rate)}
	c.Since, _ = f.body.number(since)
	if strings.HasSuffix(e.TemplateID, ":LockedAmulet") {
		c.Locked, c.Context = true, string(f.body.text(lockedFor))
	}
	return c
}

// governance is the governance party that a coin names.
func (f *facts) governance(e *store.CoinEvent) string {
	f.body.begin(e, f.typesOf(e))
	return f.body.name(governance)
}

// roundOf reads a mining round.
func (f *facts) roundOf(e *store.CoinEvent) (o openRound, ok bool) {
	f.body.begin(e, f.typesOf(e))
	n, numbered := f.body.number(number)
	at, timed := f.body.time(opensAt)
	return openRound{at, n}, numbered && timed
}

// carryOver adds a coin with which the stream begins.
func (f *facts) carryOver(admin string, e *store.CoinEvent, c coins.Coin) {
	f.updates = append(f.updates, coins.Update{
		Position: e.Position, Admin: admin, Opening: true, Events: []coins.Event{{Parent: -1, Does: coins.Creates, Coin: c, ID: e.Contract}},
	})
}

// event adds an event to its update.
func (f *facts) event(admin string, e *store.CoinEvent) {
	u := f.update(admin, e)
	event := coins.Event{Node: e.Node, Parent: f.parent(e.Node), Choice: e.Choice, ID: e.Contract, Active: e.ACSDelta}
	if u.Local {
		event.Parent = f.around(u, e)
	}
	switch {
	case e.Kind == schemas.Unassigned: // it stays a coin elsewhere
		event.Does = coins.Consumes
	case e.Kind == schemas.Exercised:
		f.exercise(u, &event, e)
	case e.Contract == 0: // an entry of the name service
		f.name(u, &event, e)
		return
	default:
		event.Does, event.Coin = coins.Creates, f.coin(e)
	}
	u.Events = append(u.Events, event)
}

// update is the one that an event belongs to. One that showed nothing of coins gives way to the next.
func (f *facts) update(admin string, e *store.CoinEvent) *coins.Update {
	n := len(f.updates)
	if n > 0 && f.updates[n-1].Position == e.Position {
		return &f.updates[n-1]
	}
	f.parents = f.parents[:0]
	if n > 0 && !f.updates[n-1].Opening && !matters(&f.updates[n-1]) {
		n--
	}
	f.updates = slices.Grow(f.updates[:n], 1)[:n+1]
	u := &f.updates[n]
	*u = coins.Update{Position: e.Position, Admin: admin, Local: e.Offset > 0, Events: u.Events[:0]}
	f.open = f.open[:0]
	return u
}

func matters(u *coins.Update) bool {
	return slices.ContainsFunc(u.Events, func(e coins.Event) bool {
		return e.Does != coins.Nothing || e.Told != nil && (len(e.Told.Legs) > 0 || e.Told.Log != nil) || e.Choice == template.AllocationSettle
	})
}

// parent is the index of the exercise around a node, -1 if there is none.
func (f *facts) parent(node int32) int {
	if int(node) >= len(f.parents) {
		return -1
	}
	return int(f.parents[node]) - 1
}

// around is the index of the exercise around an event of a node's own stream, -1 if none is seen.
func (f *facts) around(u *coins.Update, e *store.CoinEvent) int {
	for n := len(f.open); n > 0 && f.open[n-1].last < e.Node; n-- {
		f.open = f.open[:n-1]
	}
	parent := -1
	if n := len(f.open); n > 0 {
		parent = f.open[n-1].index
	}
	if e.Kind == schemas.Exercised {
		f.open = append(f.open, openExercise{len(u.Events), e.LastDescendant})
	}
	return parent
}

// openExercise is one by its index, with the last node below it.
type openExercise struct {
	index int
	last  int32
}

func (f *facts) exercise(u *coins.Update, event *coins.Event, e *store.CoinEvent) {
	for _, child := range e.Children {
		if int(child) >= len(f.parents) {
			f.parents = append(f.parents, make([]int32, int(child)+1-len(f.parents))...)
		}
		f.parents[child] = int32(len(u.Events)) + 1
	}
	if e.Contract != 0 {
		event.Does = coins.Consumes
	}
	event.Unclear = u.Local && f.typesOf(e).argument == nil
	if coins.IsTold(e.Choice) || f.logs && e.Choice == template.EventLogHoldingsChange {
		event.Template, event.Told = schemas.TemplateName(e.PackageName, e.TemplateID), f.told(e)
	}
}

// name gives the payment for a name its reference.
func (f *facts) name(u *coins.Update, event *coins.Event, e *store.CoinEvent) {
	if event.Parent < 0 || u.Events[event.Parent].Told == nil {
		return
	}
	f.body.begin(e, f.typesOf(e))
	u.Events[event.Parent].Told.Reference = string(f.body.text(entryName))
}

// told reads what a choice says.
func (f *facts) told(e *store.CoinEvent) *coins.Told {
	f.body.begin(e, f.typesOf(e))
	b := &f.body
	t := &coins.Told{
		Sender: b.name(sender), Paid: b.amount(paid), Round: -1,
		Reference: string(b.text(member)), Reason: string(b.text(description)),
	}
	if n, ok := b.number(round); ok {
		t.Round = n
	}
	if e.Choice == template.CoinRulesBuyMemberTraffic {
		t.Bought = &coins.Purchase{Buyer: b.name(buyer)}
		t.Bought.Bytes, _ = b.number(trafficAmount)
	}
	if t.Summed = b.text(appReward) != nil; t.Summed {
		t.Minted = f.minted()
	}
	if t.Reference == "" && !strings.HasPrefix(e.Choice, "TransferPreapproval_") && e.InterfaceID != "" && e.Consuming {
		t.Reference = e.ContractID() // an instruction, or an allocation
	}
	if e.Choice == template.EventLogHoldingsChange || slices.Contains(wholeChoices, e.Choice) {
		f.whole(e, t)
	}
	return t
}

// minted is what a summary says of rewards. Those for liveness are a part of the validator's.
func (f *facts) minted() (list []coins.ClassAmount) {
	b := &f.body
	faucets := b.amount(liveness)
	for _, m := range [...]coins.ClassAmount{
		{Class: coins.App, Amount: b.amount(appReward)}, {Class: coins.ValidatorUsage, Amount: b.amount(validator).Minus(faucets)},
		{Class: coins.ValidatorLiveness, Amount: faucets}, {Class: coins.Operator, Amount: b.amount(operator)},
		{Class: coins.ActivityRecord, Amount: b.amount(activity)}, {Class: coins.DevelopmentFund, Amount: b.amount(development)},
	} {
		if m.Amount.Sign() != 0 {
			list = append(list, m)
		}
	}
	return list
}

// whole reads what is in lists and maps.
func (f *facts) whole(e *store.CoinEvent, t *coins.Told) {
	of := f.typesOf(e)
	argument, result := f.body.values()
	given, answer := compact(argument, of.argument, e.Encoding), compact(result, of.result, e.Encoding)
	switch e.Choice {
	case template.TransferFactoryTransfer:
		t.Reason = reason(given.At("transfer", "meta"))
		_, output := answer.At("output").Variant()
		t.Reference = output.At("transferInstructionCid").Text()
	case template.TransferPreapprovalSendV2:
		if r := reason(given.At("meta")); r != "" {
			t.Reason = r
		}
	case template.SettlementFactorySettleBatch:
		for _, v := range given.At("transferLegs").Elements() {
			if v.At("instrumentId").Text() != template.CoinInstrument {
				continue
			}
			if amount, ok := amountOf(v); ok {
				t.Legs = append(t.Legs, coins.TransferLeg{
					ID: v.At("transferLegId").Text(), Sender: v.At("sender", "owner").Text(), Receiver: v.At("receiver", "owner").Text(),
					Reason: reason(v.At("meta")), Amount: amount,
				})
			}
		}
	case template.EventLogHoldingsChange:
		t.Log = f.log(given)
	}
}

// amountOf is that of a leg; ok is false if it is none of a coin.
func amountOf(leg jsonscan.Value) (amount decimal.Decimal, ok bool) {
	amount, err := decimal.Parse(leg.At("amount").Text())
	return amount, err == nil && amount.Storable()
}

// log reads what the event log says of coins.
func (f *facts) log(given jsonscan.Value) *coins.Log {
	keys := func(list jsonscan.Value) (keys []uint64) {
		for _, id := range list.Elements() {
			keys = append(keys, store.PlaceKey(f.stream, store.ByContract, id.Text()))
		}
		return keys
	}
	l := &coins.Log{Account: given.At("account", "owner").Text(), In: keys(given.At("inputHoldingCids")), Out: keys(given.At("outputHoldingCids"))}
	for _, v := range given.At("transferLegSides").Elements() {
		amount, ok := amountOf(v)
		if !ok || v.At("instrumentId").Text() != template.CoinInstrument {
			continue
		}
		if v.At("side").Text() == "SenderSide" {
			amount = amount.Neg()
		}
		l.Sides = append(l.Sides, coins.LegSide{ID: v.At("transferLegId").Text(), Reason: reason(v.At("meta")), Other: v.At("otherside", "owner").Text(), Amount: amount})
	}
	return l
}

func reason(metadata jsonscan.Value) string { return metadata.At("values", template.ReasonKey).Text() }

// compact is a value in compact JSON, nil where it cannot be converted.
func compact(stored []byte, kind *values.Type, encoding schemas.Encoding) jsonscan.Value {
	if encoding == schemas.CompactJSON {
		return slices.Clone(stored)
	}
	if kind == nil {
		return nil
	}
	converted, err := values.AppendCompact(nil, stored, kind)
	if err != nil {
		return nil
	}
	return converted
}
