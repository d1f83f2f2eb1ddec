package wallet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// TransferCommand is an order of an external party to the operator to send coins.
type TransferCommand struct {
	ID, Sender, Receiver string
	Amount               decimal.Decimal
	ExpiresAt            time.Time
	Nonce                int64
}

// transferCommandPayload is TransferCommand.
type transferCommandPayload struct {
	Sender    string          `json:"sender"`
	Receiver  string          `json:"receiver"`
	Delegate  string          `json:"delegate"`
	Amount    decimal.Decimal `json:"amount"`
	ExpiresAt time.Time       `json:"expiresAt"`
	Nonce     int64           `json:"nonce,string"`
}

// TransferCommands are those that the operator is to carry out, oldest first.
func (w *External) TransferCommands(ctx context.Context) ([]TransferCommand, error) {
	q := ContractQuery{Parties: []string{w.operator}, Templates: []string{template.TransferCommand}}
	return listed(ctx, w.reader, q, func(c *Contract, p *transferCommandPayload) (TransferCommand, bool) {
		return TransferCommand{ID: c.ID, Sender: p.Sender, Receiver: p.Receiver, Amount: p.Amount, ExpiresAt: p.ExpiresAt, Nonce: p.Nonce},
			p.Delegate == w.operator
	})
}

// CommandCounter tells which nonce of a sender is the next one to be used up.
type CommandCounter struct {
	ID   string
	Next int64
}

// CommandCounter returns the counter of a sender, nil as long as the network has made none for
// it.
func (w *External) CommandCounter(ctx context.Context, sender string) (*CommandCounter, error) {
	type payload struct {
		Sender string `json:"sender"`
		Next   int64  `json:"nextNonce,string"`
	}
	counters, err := listed(ctx, w.reader, ContractQuery{Parties: []string{sender}, Templates: []string{template.TransferCommandCounter}, Key: sender},
		func(c *Contract, p *payload) (CommandCounter, bool) {
			return CommandCounter{c.ID, p.Next}, p.Sender == sender
		})
	if err != nil || len(counters) == 0 {
		return nil, err
	}
	return &counters[len(counters)-1], nil
}

const sendCommandChoice = template.TransferCommandSend

// ErrNotSent means that a transfer command was carried out, and its transfer failed: its nonce
// is used up all the same.
var ErrNotSent = errors.New("the transfer of the command has failed")

// SendCommand carries a transfer command out with the sender's coins, largest first, then its
// app rewards, by the receiver's preapproval if there is one. The counter is the sender's.
// It is ErrNotSent if the transfer fails.
func (w *External) SendCommand(ctx context.Context, c TransferCommand, counter *CommandCounter) (Done, error) {
	m, err := w.network.Market(ctx)
	if err != nil {
		return Done{}, err
	}
	funds, err := w.coins.Funds(ctx, c.Sender, m)
	if err != nil {
		return Done{}, err
	}
	approval, err := w.network.preapproval(ctx, c.Receiver, m.At)
	if err != nil {
		return Done{}, err
	}
	spent := funds.commandInputs()
	argument := map[string]any{"context": m.context(spent), "inputs": spent.Inputs(maxInputs), "transferPreapprovalCidO": nil, "transferCounterCid": counter.ID}
	disclosed := append(m.disclosed(), spent.featured)
	if approval != nil {
		argument["transferPreapprovalCidO"] = approval.ID
		disclosed = append(disclosed, approval)
	}
	s := exerciseAs(w.operator, template.TransferCommand, c.ID, sendCommandChoice, argument)
	s.ReadAs, s.Disclosed = []string{c.Sender}, disclose(disclosed...)
	tx, done, err := w.submit(ctx, s)
	if err != nil {
		return done, err
	}
	var result struct {
		Result outcome `json:"result"`
	}
	if err := tx.Result(sendCommandChoice, &result); err != nil {
		return done, err
	}
	if result.Result.Tag != "TransferCommandResultSuccess" {
		return done, commandFailure(result.Result.Value)
	}
	return done, nil
}

// commandInputs are those of the funds that a transfer command is paid with: coins, then app
// rewards.
func (f *Funds) commandInputs() *Funds {
	paid := &Funds{Coins: f.Coins, featured: f.featured}
	for _, in := range f.Rewards {
		if in.Tag == "InputAppRewardCoupon" {
			paid.Rewards = append(paid.Rewards, in)
		}
	}
	return paid
}

// commandFailure says why a transfer failed.
func commandFailure(raw json.RawMessage) error {
	var failure struct {
		Reason outcome `json:"reason"`
	}
	if err := json.Unmarshal(raw, &failure); err != nil {
		return fmt.Errorf("reading why a transfer command has failed: %w", err)
	}
	return fmt.Errorf("%w: %s %s", ErrNotSent, failure.Reason.Tag, failure.Reason.Value)
}
