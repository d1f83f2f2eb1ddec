package choices

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

var (
	holdingsChangeShape = model.NewShape("admin", "account", "inputHoldingCids", "transferLegSides", "outputHoldingCids", "observers", "extraArgs")
	extraArgsShape      = model.NewShape("context", "meta")
	choiceContextShape  = model.NewShape("values")
)

// holdingsChange is what a choice has done to the coins of an owner.
type holdingsChange struct {
	owner model.Party
	// in are the numbers of the coins that were archived.
	in   []uint64
	legs []model.LegSide
	out  []*model.Contract
	// reason is that of the change as a whole, may be empty.
	reason string
}

// logChange reports a change in the event log, to its owner. The governance party's own are not
// reported, and the older package has no log.
func (e *Execution) logChange(ctx transferContext, h holdingsChange) {
	if e.Tx.Version() == 0 || h.owner == model.Dso || len(h.in)+len(h.legs)+len(h.out) == 0 {
		return
	}
	a, owner := e.Tx.Arena(), model.PartyValue(h.owner)
	legs := model.ListOf(a, h.legs, func(s model.LegSide) model.Value {
		if s.Other == model.Dso { // what it receives is out of circulation
			s.Other = model.BurnAccount
		}
		return s.Value(a)
	})
	at := e.Tx.Exercise(e.fetch(ctx.state), "EventLog_HoldingsChange", a.Record(holdingsChangeShape, model.PartyValue(model.Dso), model.AccountValue(a, h.owner),
		model.ListOf(a, h.in, model.ContractID), legs, e.Tx.IDs(h.out...), a.List(owner),
		a.Record(extraArgsShape, a.Record(choiceContextShape, a.TextMap()), model.Metadata(a, model.ReasonMetaKey, h.reason))), model.Dso)
	e.Tx.Through(at, model.EventLogInterface)
	e.Tx.Current.Nodes[at].Observers = []model.Party{h.owner}
	e.Tx.Finish(at, a.Record(model.EmptyRecordShape))
}

// logSending reports an order with one output that sends a leg, and what it mints of rewards.
func (e *Execution) logSending(o order, s *sim.Settlement, leg model.LegSide) {
	sent := holdingsChange{owner: o.sender, in: o.coins(), out: changeOf(s)}
	if rewards := s.Inputs() - s.InCoins; rewards > 0 {
		sent.legs = append(sent.legs, model.LegSide{Id: "mint", Other: model.MintAccount, Amount: rewards, Meta: []string{model.ReasonMetaKey, "mint rewards"}})
	}
	e.logTransfer(o.context, sent, leg, s.Created[0])
}

// logTransfer reports a leg to both owners: what else the sender's coins did is in sent, and the
// receiver got a coin.
func (e *Execution) logTransfer(ctx transferContext, sent holdingsChange, leg model.LegSide, coin *model.Contract) {
	leg.Sends = true
	receives := model.LegSide{Id: leg.Id, Other: sent.owner, Amount: leg.Amount, Meta: leg.Meta}
	sent.legs = append(sent.legs, leg)
	if leg.Other == sent.owner {
		sent.legs, sent.out = append(sent.legs, receives), append(sent.out, coin)
		e.logChange(ctx, sent)
		return
	}
	e.logChange(ctx, sent)
	e.logChange(ctx, holdingsChange{owner: leg.Other, legs: []model.LegSide{receives}, out: []*model.Contract{coin}, reason: sent.reason})
}

// logLocking reports that coins of the sender of an order were locked.
func (e *Execution) logLocking(o order, s *sim.Settlement) {
	e.logChange(o.context, holdingsChange{owner: o.sender, in: o.coins(), out: append(s.Created, changeOf(s)...), reason: "lock"})
}

// Why locked coins become others.
const (
	lockReleased = "holders released lock"
	lockExpired  = "owner released expired lock"
)

// logUnlocking reports that a locked coin became another one.
func (e *Execution) logUnlocking(ctx transferContext, locked, coin *model.Contract, reason string) {
	e.logChange(ctx, holdingsChange{owner: model.CoinOf(coin).Owner, in: []uint64{locked.Number}, out: []*model.Contract{coin}, reason: reason})
}

// coins are the numbers of the coins among the inputs.
func (o *order) coins() (numbers []uint64) {
	for i := range o.inputs {
		if o.inputs[i].Text == "InputAmulet" {
			numbers = append(numbers, uint64(o.inputs[i].Elems[0].Num))
		}
	}
	return numbers
}

// changeOf is the change of a transfer as a list of at most one.
func changeOf(s *sim.Settlement) []*model.Contract {
	if s.Change == nil {
		return nil
	}
	return []*model.Contract{s.Change}
}
