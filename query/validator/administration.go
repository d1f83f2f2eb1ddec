package validator

import (
	"context"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

const adminPreapprovalsPath = "/v0/admin/transfer-preapprovals"

// administration are the operations on the preapprovals that the operator provides.
type administration struct {
	reader   *reader
	accounts *accounts
	network  Network
}

func (d *administration) operations() []operation {
	byParty := adminPreapprovalsPath + "/by-party/{receiver-party}"
	ops := []operation{
		{method: "GET", path: adminPreapprovalsPath, name: "preapprovals", handle: d.preapprovals},
		{method: "GET", path: byParty, name: "preapproval", handle: d.preapproval},
		{method: "DELETE", path: byParty, name: "cancel_preapproval", write: true, handle: cancelPreapproval},
	}
	for i := range ops {
		ops[i].access = operatorOnly
	}
	return ops
}

// provided are the preapprovals that the operator provides, of a receiver or of all if that is "".
// Those that have expired are left out.
func (d *administration) provided(ctx context.Context, receiver string) ([]contract, error) {
	operator, err := d.accounts.operator.Get(ctx)
	if err != nil {
		return nil, err
	}
	now, err := d.network.Time(ctx)
	if err != nil {
		return nil, err
	}
	q := wallethistory.Query{Parties: []string{operator.Party}, Templates: []string{template.TransferPreapproval}, Key: receiver}
	return d.reader.contracts(ctx, q, maxListed, func(c *contract) (bool, error) {
		var p struct{ Provider, Receiver, ExpiresAt string }
		if err := c.decode(&p); err != nil {
			return false, err
		}
		expires, err := schemas.ParseTime(p.ExpiresAt)
		return p.Provider == operator.Party && (receiver == "" || p.Receiver == receiver) && expires.Time().After(now), err
	})
}

func (d *administration) preapprovals(ctx context.Context, c *caller) error {
	list, err := d.provided(ctx, "")
	if err != nil {
		return err
	}
	return c.JSON(map[string][]query.ContractState{"contracts": statesOf(list)})
}

func (d *administration) preapproval(ctx context.Context, c *caller) error {
	receiver, err := c.Path("receiver-party")
	if err != nil {
		return err
	}
	list, err := d.provided(ctx, receiver)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return query.Errorf(query.NotFound, "No TransferPreapproval found for party: %s", receiver)
	}
	return c.JSON(map[string]query.ContractState{"transfer_preapproval": list[len(list)-1].withState()})
}

func cancelPreapproval(ctx context.Context, c *caller) error {
	receiver, err := c.Path("receiver-party")
	if err != nil {
		return err
	}
	done, err := c.commands.Preapprovals.Cancel(ctx, receiver)
	return empty(c, done, err)
}
