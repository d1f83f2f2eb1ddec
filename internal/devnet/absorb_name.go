package devnet

import "slices"

// indexAccounts finds the accounts of the name service by the number that the contracts of
// a subscription refer to it by.
func (x *ansState) indexAccounts() {
	x.byReference = map[uint64]*ansAccount{}
	for _, list := range [][]*ansAccount{x.requested, x.paid, x.subscribed} {
		for _, account := range list {
			x.byReference[account.reference] = account
		}
	}
}

// accountOf is the account that a contract of a subscription belongs to; a new one for the
// request of a new subscription.
func (x *ansState) accountOf(c *contract) *ansAccount {
	reference := referenceOf(c)
	account := x.byReference[reference]
	if account == nil {
		account = &ansAccount{reference: reference}
		x.byReference[reference] = account
	}
	switch p := c.payload.(type) {
	case subscriptionRequest:
		account.subscription = p.subscription
	case subscriptionPayment:
		account.subscription = p.subscription
	}
	return account
}

// collectPayment burns a payment and issues or renews the name, unless somebody else was
// faster with the name.
func (x *ansState) collectPayment(account *ansAccount) {
	if account.payment == nil || !account.payment.active() {
		return
	}
	if account.entry == nil && x.nameTaken(account.name) {
		x.rejectPayment(account)
		return
	}
	x.paid = append([]*ansAccount{account}, x.paid...)
	x.collectNamePayment()
}

func (x *ansState) nameTaken(name string) bool {
	return slices.ContainsFunc(x.tx.active, func(c *contract) bool {
		p, ok := c.payload.(ansEntry)
		return ok && p.name == name
	})
}

var rejectPaymentShape = newShape("paymentCid", "transferContext")

// rejectPayment gives a first payment back.
func (x *ansState) rejectPayment(account *ansAccount) {
	a, context := x.tx.arena(), x.appContext()
	at := x.tx.exercise(x.rules.ans, "AnsRules_RejectEntryInitialPayment", a.record(rejectPaymentShape,
		contractID(account.payment.number), context), dso)
	rejection := x.tx.consume(account.payment, "SubscriptionInitialPayment_Reject", a.record(transferContextArg, context), dso)
	returned := a.record(mintDoneShape, x.payments.amuletSum(x.unlockPayment(account)))
	x.tx.finish(rejection, returned)
	x.tx.finish(at, returned)
}

// forgetSubscription ends the account of a subscription that was rejected or cancelled. The
// name stays until it expires.
func (x *ansState) forgetSubscription(c *contract) {
	account := x.byReference[referenceOf(c)]
	if account == nil || account.payment.isActive() {
		return
	}
	account.idle, account.request = nil, nil
	same := func(a *ansAccount) bool { return a == account }
	x.subscribed = slices.DeleteFunc(x.subscribed, same)
	x.requested = slices.DeleteFunc(x.requested, same)
}
