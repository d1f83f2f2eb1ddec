package validator

import (
	"context"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// appPaymentsPath is where payments that apps ask for are.
const appPaymentsPath = "/v0/wallet/app-payment-requests"

// appPayments are payments that apps ask for.
type appPayments struct{ reader *reader }

// operations are those of a user who is asked to pay.
func (a *appPayments) operations() []operation {
	return []operation{
		{method: "GET", path: appPaymentsPath, name: "app_payment_requests", handle: a.lists("payment_requests", template.AppPaymentRequest)},
		{method: "GET", path: appPaymentsPath + "/{contract_id}", name: "app_payment_request", handle: byPath(a.request)},
		{method: "POST", path: appPaymentsPath + "/{contract_id}/accept", name: "accept_app_payment", write: true, handle: byPath(acceptAppPayment)},
		{method: "POST", path: appPaymentsPath + "/{contract_id}/reject", name: "reject_app_payment", write: true, handle: byPath(rejectAppPayment)},
		{method: "GET", path: "/v0/wallet/accepted-app-payments", name: "accepted_app_payments", handle: a.lists("accepted_app_payments", template.AcceptedAppPayment)},
	}
}

// lists makes the handler of a list of contracts by which the caller pays.
func (a *appPayments) lists(member, template string) func(context.Context, *caller) error {
	return func(ctx context.Context, c *caller) error {
		list, err := a.reader.ofParty(ctx, c, maxListed, template, "sender")
		if err != nil {
			return err
		}
		return c.JSON(map[string][]query.ContractState{member: statesOf(list)})
	}
}

func (a *appPayments) request(ctx context.Context, c *caller, contractID string) error {
	request, err := a.reader.one(ctx, c, contractID, template.AppPaymentRequest, has(c.party, "sender"))
	if err != nil {
		return err
	}
	return c.JSON(request.withState())
}

func acceptAppPayment(ctx context.Context, c *caller, contractID string) error {
	done, err := c.commands.AppPayments.Accept(ctx, c.actor(), contractID)
	return contractAnswer(c, "accepted_payment_contract_id", done, err)
}

func rejectAppPayment(ctx context.Context, c *caller, contractID string) error {
	done, err := c.commands.AppPayments.Reject(ctx, c.actor(), contractID)
	return empty(c, done, err)
}
