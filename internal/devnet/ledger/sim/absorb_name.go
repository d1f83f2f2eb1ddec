package sim

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

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
	if account.payment == nil || !account.payment.Active() {
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
