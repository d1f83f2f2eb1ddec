package sim

import "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"

var (
	CreatePreapprovalShape     = model.NewShape("context", "inputs", "receiver", "provider", "expiresAt", "expectedDso")
	CreatePreapprovalDoneShape = model.NewShape("transferPreapprovalCid", "transferResult", "amuletPaid", "meta")
	SendShape                  = model.NewShape("context", "inputs", "amount", "sender", "description")
	SendV2Shape                = model.NewShape("context", "inputs", "amount", "sender", "description", "meta")
	ExternalContextShape       = model.NewShape("externalPartyConfigState", "featuredAppRight")
	SendDoneShape              = model.NewShape("result", "meta")
	RenewShape                 = model.NewShape("context", "inputs", "newExpiresAt")
	RenewDoneShape             = model.NewShape("transferPreapprovalCid", "transferResult", "receiver", "provider", "amuletPaid", "meta")
)

// Preapprovals are those of transfers to users.
type Preapprovals struct {
	Core
	bank     *Bank
	payments *Payments
	users    *users
	rounds   *Rounds

	list   []*model.Contract
	newest map[model.Party]*model.Contract // by receiver
}

// preapprovalLifetime is short enough for expiries to happen within the history.
func (x *Preapprovals) preapprovalLifetime() int64 { return int64(x.Config.Days) * 86400e6 / 4 }

// preapprovalFee is what the provider pays for a lifetime.
func (x *Preapprovals) preapprovalFee() model.Decimal {
	days := model.Decimal(x.Config.Days) * model.One / 4
	return model.PreapprovalFeeUSD.Times(days).Over(x.rounds.OpenRound().Price)
}

// createPreapproval has a user's validator pay for a preapproval of transfers to the user.
func (x *Preapprovals) createPreapproval() bool {
	receiver, ok := x.withoutPreapproval()
	if !ok {
		return false
	}
	provider, fee := x.Names.ValidatorOf(receiver), x.preapprovalFee()
	taken, ok := x.bank.gather(provider, fee+2*x.payments.OutputFee())
	if !ok {
		return false
	}
	a := x.Tx.Arena()
	p := Payment{Sender: provider, Coins: taken, Provider: model.NoParty, Outputs: []Output{{Receiver: provider, Amount: fee}}}
	expires := x.Clock.EffectiveAt + x.preapprovalLifetime()
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_CreateTransferPreapproval", a.Record(CreatePreapprovalShape,
		x.payments.paymentContext(&p), x.payments.inputsValue(&p), model.PartyValue(receiver), model.PartyValue(provider), model.Timestamp(expires),
		x.Tx.ExpectedDSO()), receiver, provider)
	_, result := x.payments.payAndBurn(p)
	c := x.newPreapproval(model.Preapproval{Receiver: receiver, Provider: provider, ValidFrom: x.Clock.EffectiveAt, LastRenewedAt: x.Clock.EffectiveAt, ExpiresAt: expires})
	x.Tx.Finish(at, a.Record(CreatePreapprovalDoneShape,
		x.Tx.WithMeta([]model.Value{model.ContractID(c.Number), result, model.Numeric(fee)}, model.None())...))
	return true
}

// withoutPreapproval is a user who has no preapproval yet; it gives up after some tries.
func (x *Preapprovals) withoutPreapproval() (model.Party, bool) {
	for range 4 {
		if p := x.Names.Users.Of(x.Random); x.PreapprovalOf(p) == nil && !x.users.isManaged(p) {
			return p, true
		}
	}
	return model.NoParty, false
}

// PreapprovalOf is the active preapproval of transfers to p that has not expired, or nil.
func (x *Preapprovals) PreapprovalOf(p model.Party) *model.Contract {
	c := x.newest[p]
	if c == nil || !c.Active() || c.Payload.(model.Preapproval).ExpiresAt <= x.Clock.EffectiveAt {
		return nil
	}
	return c
}

func (x *Preapprovals) newPreapproval(p model.Preapproval) *model.Contract {
	c := x.Tx.Create(model.PreapprovalTemplate, p)
	x.list = append(x.list, c)
	if x.newest == nil {
		x.newest = map[model.Party]*model.Contract{}
	}
	x.newest[p.Receiver] = c
	x.Clock.expireAt(p.ExpiresAt, func() { x.expirePreapproval(c) })
	return c
}

// somePreapproval removes a random active preapproval from the list; the caller
// puts it back if it stays active.
func (x *Preapprovals) somePreapproval() *model.Contract {
	for {
		c := takeAny(x.Random, &x.list)
		if c == nil || c.Active() {
			return c
		}
	}
}

// sendToPreapproval sends coins in one step to a receiver with a preapproval.
func (x *Preapprovals) sendToPreapproval() bool {
	c := x.somePreapproval()
	if c == nil {
		return false
	}
	x.list = append(x.list, c)
	to, sender := c.Payload.(model.Preapproval), x.users.someUser()
	if to.ExpiresAt <= x.Clock.EffectiveAt { // and waits to be archived
		return false
	}
	p, spendable, ok := x.payments.takeFunds(sender, 3, 1)
	if !ok {
		return false
	}
	p.Provider = to.Provider
	amount := max(1, spendable.Times(x.Random.DecimalBetween(model.One/100, model.One/2)))
	p.Outputs = []Output{{Receiver: to.Receiver, Amount: amount}}
	x.sendThrough(c, p, amount, x.users.reason())
	return true
}

// sendThrough executes a payment by a preapproval and returns the result of the transfer.
func (x *Preapprovals) sendThrough(c *model.Contract, p Payment, amount model.Decimal, description string) model.Value {
	a := x.Tx.Arena()
	at := x.Tx.Exercise(c, "TransferPreapproval_Send", a.Record(SendShape,
		x.payments.paymentContext(&p), x.payments.inputsValue(&p),
		model.Numeric(amount), model.PartyValue(p.Sender), model.OptionalText(a, description)), p.Sender)
	_, result := x.payments.transfer(p)
	meta := a.Some(model.Metadata(a, model.SenderMetaKey, x.Names.Name(p.Sender), model.TxKindMetaKey, "transfer"))
	x.Tx.Finish(at, a.Record(SendDoneShape, x.Tx.WithMeta([]model.Value{result}, meta)...))
	return result
}

// renewPreapproval has the provider pay for another lifetime, or sometimes cancel.
func (x *Preapprovals) renewPreapproval() bool {
	c := x.somePreapproval()
	if c == nil || x.users.isManaged(c.Payload.(model.Preapproval).Receiver) || x.users.isManaged(c.Payload.(model.Preapproval).Provider) {
		return false
	}
	a, p := x.Tx.Arena(), c.Payload.(model.Preapproval)
	if x.Random.Percent(10) {
		x.Tx.Finish(x.Tx.Consume(c, "TransferPreapproval_Cancel", a.Record(cancelShape, model.PartyValue(p.Receiver)), p.Receiver), model.Enum("TransferPreapproval_CancelResult"))
		return true
	}
	fee := x.preapprovalFee()
	taken, ok := x.bank.gather(p.Provider, fee+2*x.payments.OutputFee())
	if !ok {
		x.list = append(x.list, c)
		return false
	}
	pay := Payment{Sender: p.Provider, Coins: taken, Provider: model.NoParty, Outputs: []Output{{Receiver: p.Provider, Amount: fee}}}
	p.ExpiresAt += x.preapprovalLifetime()
	p.LastRenewedAt = x.Clock.EffectiveAt
	at := x.Tx.Consume(c, "TransferPreapproval_Renew", a.Record(RenewShape,
		x.payments.paymentContext(&pay), x.payments.inputsValue(&pay),
		model.Timestamp(p.ExpiresAt)), p.Provider)
	_, result := x.payments.payAndBurn(pay)
	renewed := x.newPreapproval(p)
	x.Tx.Finish(at, a.Record(RenewDoneShape, x.Tx.WithMeta([]model.Value{model.ContractID(renewed.Number), result,
		model.PartyValue(p.Receiver), model.PartyValue(p.Provider), model.Numeric(fee)}, model.None())...))
	return true
}

var cancelShape = model.NewShape("p")

func (x *Preapprovals) expirePreapproval(c *model.Contract) {
	if c.Active() {
		x.Tx.Finish(x.Tx.Consume(c, "TransferPreapproval_Expire", x.Tx.Arena().Record(model.EmptyRecordShape), model.Dso), x.Tx.Arena().Record(model.EmptyRecordShape))
	}
}
