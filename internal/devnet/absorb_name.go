package devnet

import "slices"

// indexAccounts finds the accounts of the name service by the number that the contracts of
// a subscription refer to it by.
func (x *executor) indexAccounts() {
	x.ans.byReference = map[uint64]*ansAccount{}
	for _, list := range [][]*ansAccount{x.ans.requested, x.ans.paid, x.ans.subscribed} {
		for _, account := range list {
			x.ans.byReference[account.reference] = account
		}
	}
}

// accountOf is the account that a contract of a subscription belongs to; a new one for the
// request of a new subscription.
func (x *executor) accountOf(c *contract) *ansAccount {
	reference := referenceOf(c)
	account := x.ans.byReference[reference]
	if account == nil {
		account = &ansAccount{reference: reference}
		x.ans.byReference[reference] = account
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
func (x *executor) collectPayment(account *ansAccount) {
	if account.payment == nil || !account.payment.active() {
		return
	}
	if account.entry == nil && x.nameTaken(account.name) {
		x.rejectPayment(account)
		return
	}
	x.ans.paid = append([]*ansAccount{account}, x.ans.paid...)
	x.collectNamePayment()
}

func (x *executor) nameTaken(name string) bool {
	return slices.ContainsFunc(x.active, func(c *contract) bool {
		p, ok := c.payload.(ansEntry)
		return ok && p.name == name
	})
}

var rejectPaymentShape = newShape("paymentCid", "transferContext")

// rejectPayment gives a first payment back.
func (x *executor) rejectPayment(account *ansAccount) {
	a, context := x.arena(), x.appContext()
	at := x.exercise(x.rules.ans, "AnsRules_RejectEntryInitialPayment", a.record(rejectPaymentShape,
		contractID(account.payment.number), context), dso)
	rejection := x.consume(account.payment, "SubscriptionInitialPayment_Reject", a.record(transferContextArg, context), dso)
	returned := a.record(mintDoneShape, x.amuletSum(x.unlockPayment(account)))
	x.finish(rejection, returned)
	x.finish(at, returned)
}

// forgetSubscription ends the account of a subscription that was rejected or cancelled. The
// name stays until it expires.
func (x *executor) forgetSubscription(c *contract) {
	account := x.ans.byReference[referenceOf(c)]
	if account == nil || account.payment.isActive() {
		return
	}
	account.idle, account.request = nil, nil
	same := func(a *ansAccount) bool { return a == account }
	x.ans.subscribed = slices.DeleteFunc(x.ans.subscribed, same)
	x.ans.requested = slices.DeleteFunc(x.ans.requested, same)
}

// numberOf is the number of a contract, 0 if there is none.
func numberOf(c *contract) uint64 {
	if c == nil {
		return 0
	}
	return c.number
}

// isActive is active for a contract that there may not be.
func (c *contract) isActive() bool { return c != nil && c.active() }
