package validator

import (
	"context"
	"errors"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
)

func preapprovalOperations() []operation {
	return []operation{
		{method: "POST", path: "/v0/wallet/transfer-preapproval", name: "request_preapproval", write: true, handle: requestPreapproval},
		{method: "POST", path: "/v0/wallet/transfer-preapproval/send", name: "send_by_preapproval", write: true, handle: sendByPreapproval},
	}
}

// preapprovalMember names the preapproval in answers.
const preapprovalMember = "transfer_preapproval_contract_id"

// requestPreapproval answers with the preapproval that there is, with status 409, if there is one.
func requestPreapproval(ctx context.Context, c *caller) error {
	done, err := c.commands.Preapprovals.Request(ctx, c.actor())
	var there *wallet.Error
	if errors.As(err, &there) && errors.Is(there.Kind, wallet.ErrConflict) && there.ContractID != "" {
		return c.JSONAs(409, map[string]string{preapprovalMember: there.ContractID})
	}
	return contractAnswer(c, preapprovalMember, done, err)
}

func sendByPreapproval(ctx context.Context, c *caller) error {
	p := c.Body()
	r := wallet.SendRequest{
		Receiver: partyOf(p, "receiver_party_id"), Amount: amountOf(p, "amount"),
		DeduplicationID: textOf(p, "deduplication_id", 1, maxTrackingID), Description: optionalTextOf(p, "description", maxDescription),
	}
	if err := p.Err(); err != nil {
		return err
	}
	done, err := c.commands.Preapprovals.Send(ctx, c.actor(), r)
	return empty(c, done, err)
}
