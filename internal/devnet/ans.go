package devnet

import "strconv"

// ansState is the state of the name service: subscriptions by their next step.
type ansState struct {
	core
	bank     *bank
	payments *payments
	users    *users
	rounds   *rounds

	count      int           // names asked for so far
	requested  []*ansAccount // wait for the first payment
	paid       []*ansAccount // wait for a payment to be collected
	subscribed []*ansAccount // have a name
	// byReference holds all accounts once there are commands.
	byReference map[uint64]*ansAccount
}

// ansAccount is one name and the contracts around it.
type ansAccount struct {
	subscription
	reference uint64 // number of the request, by which contracts refer to the subscription
	context   *contract
	request   *contract // until the first payment
	payment   *contract // while one waits
	locked    *contract // the coin of the payment
	entry     *contract // once there is one
	agreement *contract // the Subscription, from the first payment on
	idle      *contract // between payments
}

var (
	requestEntryShape     = newShape("name", "url", "description", "user")
	requestEntryDoneShape = newShape("entryCid", "requestCid")
	acceptPaymentShape    = newShape("inputs", "context", "walletProvider")
	acceptDoneShape       = newShape("subscriptionPayment", "senderChange")
	collectPaymentShape   = newShape("user", "entryContext", "paymentCid", "transferContext")
	appContextShape       = newShape("amuletRules", "openMiningRound", "featuredAppRight")
	collectDoneShape      = newShape("entryCid", "subscriptionStateCid")
	transferContextArg    = newShape("transferContext")
	firstCollectedShape   = newShape("subscription", "subscriptionState", "amulet")
	collectedShape        = newShape("subscriptionState", "amulet")
	collectRenewalShape   = newShape("user", "entryContext", "paymentCid", "entryCid", "transferContext")
	expireEntryShape      = newShape("actor")
	expireIdleDoneShape   = newShape("terminatedSubscription")
	terminateContextShape = newShape("actor", "terminatedSubscriptionCid")
)

// requestName has a user ask for a name.
func (x *ansState) requestName() bool {
	a, user := x.tx.arena(), x.users.someUser()
	x.count++
	name := "name-" + strconv.Itoa(x.count) + ".unverified.cns"
	account := &ansAccount{subscription: nameSubscription(nameRequest{
		user: user, validator: x.names.validatorOf(user), name: name,
		url: "https://" + name + "/?q=a&b=\"c\"", description: x.users.reason(),
	}, x.entryLifetime())}
	at := x.tx.exercise(x.rules.ans, "AnsRules_RequestEntry", a.record(requestEntryShape, text(name),
		text(account.url), text(account.nameRequest.description), partyValue(user)), user)
	account.request = x.tx.create(subscriptionRequestTemplate, subscriptionRequest{account.subscription})
	account.reference = account.request.number
	account.context = x.tx.create(ansEntryContextTemplate, ansEntryContext{account.nameRequest, account.reference})
	x.tx.finish(at, a.record(requestEntryDoneShape, contractID(account.context.number), contractID(account.request.number)))
	x.requested = append(x.requested, account)
	if x.byReference != nil {
		x.byReference[account.reference] = account
	}
	return true
}

// entryLifetime is how long a name lasts: short enough for renewals and expiries
// to happen within the history.
func (x *ansState) entryLifetime() int64 { return int64(x.config.Days) * 86400e6 / 5 }

// payForName makes the first payment for a name, or a renewal.
func (x *ansState) payForName() bool {
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
		if !x.users.isManaged(account.user) && account.entry.active() && account.idle.payload.(subscriptionIdle).dueAt < x.clock.effectiveAt {
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
func (x *ansState) pay(account *ansAccount, c *contract, choice string, renewal bool) bool {
	amount := entryFeeUSD.over(x.rounds.openRound().price)
	taken, ok := x.bank.gather(account.user, amount+2*x.payments.outputFee())
	if !ok {
		return false
	}
	a, r := x.tx.arena(), x.rounds.openRound()
	lock := lockedAmulet{holder: dso, expiresAt: x.clock.effectiveAt + account.lifetime}
	p := payment{sender: account.user, coins: taken, provider: account.validator,
		outputs: []output{{receiver: account.user, amount: amount, lock: &lock}}}
	at := x.tx.consume(c, choice, a.record(acceptPaymentShape, x.payments.inputsValue(&p),
		x.payments.paymentContext(&p), partyValue(account.validator)), account.user)
	s, _ := x.payments.transfer(p)
	account.locked = s.created[0]
	template := initialPaymentTemplate
	if renewal {
		template = renewalPaymentTemplate
	}
	account.payment = x.tx.create(template, subscriptionPayment{subscription: account.subscription, renewal: renewal,
		dueAt: x.clock.effectiveAt, amount: amount, locked: account.locked.number, round: r.number, agreement: numberOf(account.agreement), reference: account.reference})
	x.tx.finish(at, a.record(acceptDoneShape, contractID(account.payment.number), x.payments.changeID(s)))
	x.paid = append(x.paid, account)
	return true
}

// collectNamePayment burns a waiting payment and in return issues or renews the name.
func (x *ansState) collectNamePayment() bool {
	account := popOldest(&x.paid)
	if account == nil {
		return false
	}
	a, context := x.tx.arena(), x.appContext()
	var at int
	if account.entry == nil {
		at = x.tx.exercise(x.rules.ans, "AnsRules_CollectInitialEntryPayment", a.record(collectPaymentShape,
			partyValue(account.user), contractID(account.context.number), contractID(account.payment.number), context), dso)
	} else {
		at = x.tx.exercise(x.rules.ans, "AnsRules_CollectEntryRenewalPayment", a.record(collectRenewalShape,
			partyValue(account.user), contractID(account.context.number), contractID(account.payment.number),
			contractID(account.entry.number), context), dso)
	}
	expires := x.clock.effectiveAt + account.lifetime
	if account.entry.isActive() {
		expires = account.entry.payload.(ansEntry).expiresAt + account.lifetime
	}
	coin := x.takePayment(account, context, expires-account.lifetime/3)
	x.bank.burn(x.bank.spend(coin))
	x.bank.wallets[dso].coins = without(x.bank.wallets[dso].coins, coin)
	x.issueName(account, expires)
	x.tx.finish(at, a.record(collectDoneShape, contractID(account.entry.number), contractID(account.idle.number)))
	x.subscribed = append(x.subscribed, account)
	return true
}

// appContext is what the governance party collects payments in.
func (x *ansState) appContext() value {
	return x.tx.arena().record(appContextShape, contractID(x.rules.amulet.number), contractID(x.rounds.openRound().contract.number), none())
}

// takePayment has the governance party take the payment of an account, whose next one is due
// at a time. It returns the coin that the party got.
func (x *ansState) takePayment(account *ansAccount, context value, due int64) *contract {
	a, first := x.tx.arena(), account.agreement == nil
	choice := "SubscriptionPayment_Collect"
	if first {
		choice = "SubscriptionInitialPayment_Collect"
	}
	at := x.tx.consume(account.payment, choice, a.record(transferContextArg, context), dso)
	coin := x.unlockPayment(account)
	// Where there are fees the governance party bears them.
	paid, _ := x.payments.transfer(payment{sender: account.user, coins: []*contract{coin}, provider: noParty,
		outputs: []output{{receiver: dso, amount: coinOf(coin).amount - x.payments.outputFee()}}})
	if first {
		account.agreement = x.tx.create(subscriptionTemplate, agreement{account.subscription, account.reference})
	}
	account.idle = x.tx.create(subscriptionIdleTemplate, subscriptionIdle{subscription: account.subscription,
		dueAt: due, agreement: account.agreement.number, reference: account.reference})
	state, got := contractID(account.idle.number), contractID(paid.created[0].number)
	if first {
		x.tx.finish(at, a.record(firstCollectedShape, contractID(account.agreement.number), state, got))
	} else {
		x.tx.finish(at, a.record(collectedShape, state, got))
	}
	return paid.created[0]
}

// unlockPayment returns the coin of the payment of an account to the user.
func (x *ansState) unlockPayment(account *ansAccount) *contract {
	p := account.locked.payload.(lockedAmulet)
	coin := x.payments.unlockBy(account.locked, "LockedAmulet_Unlock", p.owner, p.holder)
	account.payment, account.locked = nil, nil
	return coin
}

// issueName creates the entry of an account, in place of an older one that is
// still active.
func (x *ansState) issueName(account *ansAccount, expires int64) {
	if account.entry.isActive() {
		x.tx.archive(account.entry)
	}
	entry := x.tx.create(ansEntryTemplate, ansEntry{account.nameRequest, expires})
	account.entry = entry
	// The governance party takes its time: names that have expired are still around.
	x.clock.expireAt(expires+3*x.clock.tick, func() { x.expireName(account, entry) })
}

// expireName archives an entry whose time is over, and the subscription if no
// payment is under way.
func (x *ansState) expireName(account *ansAccount, entry *contract) {
	if !entry.active() {
		return
	}
	a := x.tx.arena()
	x.tx.finish(x.tx.consume(entry, "AnsEntry_Expire", a.record(expireEntryShape, partyValue(dso)), dso), a.record(emptyRecordShape))
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
func (x *ansState) terminate(account *ansAccount) {
	a := x.tx.arena()
	at := x.tx.consume(account.idle, "SubscriptionIdleState_ExpireSubscription",
		a.record(expireEntryShape, partyValue(dso)), dso)
	if account.agreement.isActive() {
		x.tx.archive(account.agreement)
	}
	ended := x.tx.create(terminatedTemplate, terminatedSubscription{account.subscription, account.reference})
	x.tx.finish(at, a.record(expireIdleDoneShape, contractID(ended.number)))
	at = x.tx.consume(account.context, "AnsEntryContext_Terminate",
		a.record(terminateContextShape, partyValue(dso), contractID(ended.number)), dso)
	x.tx.archive(ended)
	x.tx.finish(at, a.record(emptyRecordShape))
}
