package sim

import (
	"slices"
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// NameService is the state of the name service: subscriptions by their next step.
type NameService struct {
	Core
	bank     *Bank
	payments *Payments
	users    *users
	rounds   *Rounds

	count      int           // names asked for so far
	requested  []*ansAccount // wait for the first payment
	paid       []*ansAccount // wait for a payment to be collected
	subscribed []*ansAccount // have a name
	// byReference holds all accounts once there are commands.
	byReference map[uint64]*ansAccount
}

// ansAccount is one name and the contracts around it.
type ansAccount struct {
	model.Subscription
	reference uint64 // number of the request, by which contracts refer to the subscription
	context   *model.Contract
	request   *model.Contract // until the first payment
	payment   *model.Contract // while one waits
	locked    *model.Contract // the coin of the payment
	entry     *model.Contract // once there is one
	agreement *model.Contract // the Subscription, from the first payment on
	idle      *model.Contract // between payments
}

var (
	requestEntryShape     = model.NewShape("name", "url", "description", "user")
	RequestEntryDoneShape = model.NewShape("entryCid", "requestCid")
	AcceptPaymentShape    = model.NewShape("inputs", "context", "walletProvider")
	acceptDoneShape       = model.NewShape("subscriptionPayment", "senderChange")
	collectPaymentShape   = model.NewShape("user", "entryContext", "paymentCid", "transferContext")
	appContextShape       = model.NewShape("amuletRules", "openMiningRound", "featuredAppRight")
	collectDoneShape      = model.NewShape("entryCid", "subscriptionStateCid")
	transferContextArg    = model.NewShape("transferContext")
	FirstCollectedShape   = model.NewShape("subscription", "subscriptionState", "amulet")
	CollectedShape        = model.NewShape("subscriptionState", "amulet")
	collectRenewalShape   = model.NewShape("user", "entryContext", "paymentCid", "entryCid", "transferContext")
	ExpireEntryShape      = model.NewShape("actor")
	expireIdleDoneShape   = model.NewShape("terminatedSubscription")
	terminateContextShape = model.NewShape("actor", "terminatedSubscriptionCid")
)

// requestName has a user ask for a name.
func (x *NameService) requestName() bool {
	a, user := x.Tx.Arena(), x.users.someUser()
	x.count++
	name := "name-" + strconv.Itoa(x.count) + ".unverified.cns"
	account := &ansAccount{Subscription: model.NameSubscription(model.NameRequest{
		User: user, Validator: x.Names.ValidatorOf(user), Name: name,
		Url: "https://" + name + "/?q=a&b=\"c\"", Description: x.users.reason(),
	}, x.EntryLifetime())}
	at := x.Tx.Exercise(x.Rules.ans, "AnsRules_RequestEntry", a.Record(requestEntryShape, model.Text(name),
		model.Text(account.Url), model.Text(account.NameRequest.Description), model.PartyValue(user)), user)
	account.request = x.Tx.Create(model.SubscriptionRequestTemplate, model.SubscriptionRequest{Subscription: account.Subscription})
	account.reference = account.request.Number
	account.context = x.Tx.Create(model.AnsEntryContextTemplate, model.AnsEntryContext{NameRequest: account.NameRequest, Reference: account.reference})
	x.Tx.Finish(at, a.Record(RequestEntryDoneShape, model.ContractID(account.context.Number), model.ContractID(account.request.Number)))
	x.requested = append(x.requested, account)
	if x.byReference != nil {
		x.byReference[account.reference] = account
	}
	return true
}

// EntryLifetime is how long a name lasts: short enough for renewals and expiries
// to happen within the history.
func (x *NameService) EntryLifetime() int64 { return int64(x.Config.Days) * 86400e6 / 5 }

// payForName makes the first payment for a name, or a renewal.
func (x *NameService) payForName() bool {
	if account := popOldest(&x.requested); account != nil {
		if x.pay(account, account.request, "SubscriptionRequest_AcceptAndMakePayment", false) {
			account.request = nil
			return true
		}
		x.requested = append(x.requested, account)
		return false
	}
	for i, account := range x.subscribed {
		if i == 4 {
			return false
		}
		if !x.users.isManaged(account.User) && account.entry.Active() && account.idle.Payload.(model.SubscriptionIdle).DueAt < x.Clock.EffectiveAt {
			if !x.pay(account, account.idle, "SubscriptionIdleState_MakePayment", true) {
				return false
			}
			account.idle = nil
			x.subscribed = append(x.subscribed[:i], x.subscribed[i+1:]...)
			return true
		}
	}
	return false
}

// popOldest removes the first element of a queue, or returns nil.
func popOldest(queue *[]*ansAccount) *ansAccount {
	if len(*queue) == 0 {
		return nil
	}
	first := (*queue)[0]
	(*queue)[0] = nil
	*queue = (*queue)[1:]
	return first
}

// pay locks the entry fee of an account by a choice on c, which it consumes. It
// returns false if the user has not enough coins.
func (x *NameService) pay(account *ansAccount, c *model.Contract, choice string, renewal bool) bool {
	amount := model.EntryFeeUSD.Over(x.rounds.OpenRound().Price)
	taken, ok := x.bank.gather(account.User, amount+2*x.payments.OutputFee())
	if !ok {
		return false
	}
	a, r := x.Tx.Arena(), x.rounds.OpenRound()
	lock := model.LockedAmulet{Holder: model.Dso, ExpiresAt: x.Clock.EffectiveAt + account.Lifetime}
	p := Payment{Sender: account.User, Coins: taken, Provider: account.Validator,
		Outputs: []Output{{Receiver: account.User, Amount: amount, Lock: &lock}}}
	at := x.Tx.Consume(c, choice, a.Record(AcceptPaymentShape, x.payments.inputsValue(&p),
		x.payments.paymentContext(&p), model.PartyValue(account.Validator)), account.User)
	s, _ := x.payments.transfer(p)
	account.locked = s.Created[0]
	template := model.InitialPaymentTemplate
	if renewal {
		template = model.RenewalPaymentTemplate
	}
	account.payment = x.Tx.Create(template, model.SubscriptionPayment{Subscription: account.Subscription, Renewal: renewal,
		DueAt: x.Clock.EffectiveAt, Amount: amount, Locked: account.locked.Number, Round: r.Number, Agreement: model.NumberOf(account.agreement), Reference: account.reference})
	x.Tx.Finish(at, a.Record(acceptDoneShape, model.ContractID(account.payment.Number), x.payments.ChangeID(s)))
	x.paid = append(x.paid, account)
	return true
}

// collectNamePayment burns a waiting payment and in return issues or renews the name.
func (x *NameService) collectNamePayment() bool {
	account := popOldest(&x.paid)
	if account == nil || !account.locked.IsActive() { // else its owner has unlocked the coin
		return false
	}
	a, context := x.Tx.Arena(), x.appContext()
	var at int
	if account.entry == nil {
		at = x.Tx.Exercise(x.Rules.ans, "AnsRules_CollectInitialEntryPayment", a.Record(collectPaymentShape,
			model.PartyValue(account.User), model.ContractID(account.context.Number), model.ContractID(account.payment.Number), context), model.Dso)
	} else {
		at = x.Tx.Exercise(x.Rules.ans, "AnsRules_CollectEntryRenewalPayment", a.Record(collectRenewalShape,
			model.PartyValue(account.User), model.ContractID(account.context.Number), model.ContractID(account.payment.Number),
			model.ContractID(account.entry.Number), context), model.Dso)
	}
	expires := x.Clock.EffectiveAt + account.Lifetime
	if account.entry.IsActive() {
		expires = account.entry.Payload.(model.AnsEntry).ExpiresAt + account.Lifetime
	}
	coin := x.takePayment(account, context, expires-account.Lifetime/3)
	x.bank.Burn(x.bank.Spend(coin))
	x.bank.Wallets[model.Dso].Coins = without(x.bank.Wallets[model.Dso].Coins, coin)
	x.issueName(account, expires)
	x.Tx.Finish(at, a.Record(collectDoneShape, model.ContractID(account.entry.Number), model.ContractID(account.idle.Number)))
	x.subscribed = append(x.subscribed, account)
	return true
}

// appContext is what the governance party collects payments in.
func (x *NameService) appContext() model.Value {
	return x.Tx.Arena().Record(appContextShape, model.ContractID(x.Rules.Amulet.Number), model.ContractID(x.rounds.OpenRound().Contract.Number), model.None())
}

// takePayment has the governance party take the payment of an account, whose next one is due
// at a time. It returns the coin that the party got.
func (x *NameService) takePayment(account *ansAccount, context model.Value, due int64) *model.Contract {
	a, first := x.Tx.Arena(), account.agreement == nil
	choice := "SubscriptionPayment_Collect"
	if first {
		choice = "SubscriptionInitialPayment_Collect"
	}
	at := x.Tx.Consume(account.payment, choice, a.Record(transferContextArg, context), model.Dso)
	coin := x.unlockPayment(account)
	// Where there are fees the governance party bears them.
	paid, _ := x.payments.transfer(Payment{Sender: account.User, Coins: []*model.Contract{coin}, Provider: model.NoParty,
		Outputs: []Output{{Receiver: model.Dso, Amount: model.CoinOf(coin).Amount - x.payments.OutputFee()}}})
	if first {
		account.agreement = x.Tx.Create(model.SubscriptionTemplate, model.Agreement{Subscription: account.Subscription, Reference: account.reference})
	}
	account.idle = x.Tx.Create(model.SubscriptionIdleTemplate, model.SubscriptionIdle{Subscription: account.Subscription,
		DueAt: due, Agreement: account.agreement.Number, Reference: account.reference})
	state, got := model.ContractID(account.idle.Number), model.ContractID(paid.Created[0].Number)
	if first {
		x.Tx.Finish(at, a.Record(FirstCollectedShape, model.ContractID(account.agreement.Number), state, got))
	} else {
		x.Tx.Finish(at, a.Record(CollectedShape, state, got))
	}
	return paid.Created[0]
}

// unlockPayment returns the coin of the payment of an account to the user.
func (x *NameService) unlockPayment(account *ansAccount) *model.Contract {
	p := account.locked.Payload.(model.LockedAmulet)
	coin := x.payments.unlockBy(account.locked, "LockedAmulet_Unlock", p.Owner, p.Holder)
	account.payment, account.locked = nil, nil
	return coin
}

// issueName creates the entry of an account, in place of an older one that is
// still active.
func (x *NameService) issueName(account *ansAccount, expires int64) {
	if account.entry.IsActive() {
		x.Tx.Archive(account.entry)
	}
	entry := x.Tx.Create(model.AnsEntryTemplate, model.AnsEntry{NameRequest: account.NameRequest, ExpiresAt: expires})
	account.entry = entry
	// The governance party takes its time: names that have expired are still around.
	x.Clock.expireAt(expires+3*x.Clock.tick, func() { x.expireName(account, entry) })
}

// expireName archives an entry whose time is over, and the subscription if no
// payment is under way.
func (x *NameService) expireName(account *ansAccount, entry *model.Contract) {
	if !entry.Active() {
		return
	}
	a := x.Tx.Arena()
	x.Tx.Finish(x.Tx.Consume(entry, "AnsEntry_Expire", a.Record(ExpireEntryShape, model.PartyValue(model.Dso)), model.Dso), a.Record(model.EmptyRecordShape))
	if account.idle == nil {
		return
	}
	x.terminate(account)
	for i, other := range x.subscribed {
		if other == account {
			x.subscribed = append(x.subscribed[:i], x.subscribed[i+1:]...)
			break
		}
	}
}

// terminate ends the subscription of an account.
func (x *NameService) terminate(account *ansAccount) {
	a := x.Tx.Arena()
	at := x.Tx.Consume(account.idle, "SubscriptionIdleState_ExpireSubscription",
		a.Record(ExpireEntryShape, model.PartyValue(model.Dso)), model.Dso)
	if account.agreement.IsActive() {
		x.Tx.Archive(account.agreement)
	}
	ended := x.Tx.Create(model.TerminatedTemplate, model.TerminatedSubscription{Subscription: account.Subscription, Reference: account.reference})
	x.Tx.Finish(at, a.Record(expireIdleDoneShape, model.ContractID(ended.Number)))
	at = x.Tx.Consume(account.context, "AnsEntryContext_Terminate",
		a.Record(terminateContextShape, model.PartyValue(model.Dso), model.ContractID(ended.Number)), model.Dso)
	x.Tx.Archive(ended)
	x.Tx.Finish(at, a.Record(model.EmptyRecordShape))
}

// indexAccounts finds the accounts of the name service by the number that the contracts of
// a subscription refer to it by.
func (x *NameService) indexAccounts() {
	x.byReference = map[uint64]*ansAccount{}
	for _, list := range [][]*ansAccount{x.requested, x.paid, x.subscribed} {
		for _, account := range list {
			x.byReference[account.reference] = account
		}
	}
}

// accountOf is the account that a contract of a subscription belongs to; a new one for the
// request of a new subscription.
func (x *NameService) accountOf(c *model.Contract) *ansAccount {
	reference := model.ReferenceOf(c)
	account := x.byReference[reference]
	if account == nil {
		account = &ansAccount{reference: reference}
		x.byReference[reference] = account
	}
	switch p := c.Payload.(type) {
	case model.SubscriptionRequest:
		account.Subscription = p.Subscription
	case model.SubscriptionPayment:
		account.Subscription = p.Subscription
	}
	return account
}

// collectPayment burns a payment and issues or renews the name, unless somebody else was
// faster with the name.
func (x *NameService) collectPayment(account *ansAccount) {
	if !account.payment.IsActive() || !account.locked.IsActive() {
		return
	}
	if account.entry == nil && x.nameTaken(account.Name) {
		x.rejectPayment(account)
		return
	}
	x.paid = append([]*ansAccount{account}, x.paid...)
	x.collectNamePayment()
}

func (x *NameService) nameTaken(name string) bool {
	return slices.ContainsFunc(x.Tx.Active, func(c *model.Contract) bool {
		p, ok := c.Payload.(model.AnsEntry)
		return ok && p.Name == name
	})
}

var rejectPaymentShape = model.NewShape("paymentCid", "transferContext")

// rejectPayment gives a first payment back.
func (x *NameService) rejectPayment(account *ansAccount) {
	a, context := x.Tx.Arena(), x.appContext()
	at := x.Tx.Exercise(x.Rules.ans, "AnsRules_RejectEntryInitialPayment", a.Record(rejectPaymentShape,
		model.ContractID(account.payment.Number), context), model.Dso)
	rejection := x.Tx.Consume(account.payment, "SubscriptionInitialPayment_Reject", a.Record(transferContextArg, context), model.Dso)
	returned := a.Record(MintDoneShape, x.payments.AmuletSum(x.unlockPayment(account)))
	x.Tx.Finish(rejection, returned)
	x.Tx.Finish(at, returned)
}

// forgetSubscription ends the account of a subscription that was rejected or cancelled. The
// name stays until it expires.
func (x *NameService) forgetSubscription(c *model.Contract) {
	account := x.byReference[model.ReferenceOf(c)]
	if account == nil || account.payment.IsActive() {
		return
	}
	account.idle, account.request = nil, nil
	same := func(a *ansAccount) bool { return a == account }
	x.subscribed = slices.DeleteFunc(x.subscribed, same)
	x.requested = slices.DeleteFunc(x.requested, same)
}
