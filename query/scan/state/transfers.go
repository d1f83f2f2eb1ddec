package state

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// transfers serves preapprovals and commands of transfers.
type transfers struct{ contracts *contracts }

// preapproval serves the newest preapproval of a receiver that has not expired.
func (t *transfers) preapproval(ctx context.Context, r *query.Request) error {
	party, err := r.Path("party")
	if err != nil {
		return err
	}
	found, err := t.preapprovalOf(ctx, party)
	if err != nil {
		return err
	}
	if found == nil {
		return query.Errorf(query.NotFound, "No TransferPreapproval found for party: %s", party)
	}
	return r.JSON(map[string]query.ContractState{"transfer_preapproval": found.withState()})
}

// preapprovalOf returns the newest preapproval of a receiver that has not expired, nil for none.
func (t *transfers) preapprovalOf(ctx context.Context, receiver string) (*contract, error) {
	q, at, err := t.contracts.of(ctx, template.TransferPreapproval)
	if err != nil {
		return nil, err
	}
	q.Key = receiver
	list, err := t.contracts.read(ctx, q)
	if err != nil {
		return nil, err
	}
	for i := len(list) - 1; i >= 0; i-- {
		var p struct {
			ExpiresAt string `json:"expiresAt"`
		}
		if err := list[i].decode(&p); err != nil {
			return nil, err
		}
		expires, err := schemas.ParseTime(p.ExpiresAt)
		if err != nil {
			return nil, fmt.Errorf("expiry of contract %s: %w", list[i].Event.ContractID, err)
		}
		if expires > at.RecordTime {
			return &list[i], t.contracts.findBlobs(ctx, template.TransferPreapproval, receiver, list[i:i+1])
		}
	}
	return nil, nil
}

// commandCounter serves the counter of a sender's transfer commands.
func (t *transfers) commandCounter(ctx context.Context, r *query.Request) error {
	party, err := r.Path("party")
	if err != nil {
		return err
	}
	q, _, err := t.contracts.of(ctx, template.TransferCommandCounter)
	if err != nil {
		return err
	}
	q.Observer = party
	list, err := t.contracts.read(ctx, q)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return query.Errorf(query.NotFound, "No transfer command counter found for party %s. Use nonce 0 for its first transfer command.", party)
	}
	list = list[len(list)-1:]
	if err := t.contracts.addBlobs(ctx, list); err != nil {
		return err
	}
	return r.JSON(map[string]query.ContractState{"transfer_command_counter": list[0].withState()})
}

const (
	// maxCommands is the most commands of one sender and nonce that are told.
	maxCommands = 100
	// commandAge is how far back commands are looked for.
	commandAge = schemas.Micros(24 * 3600 * 1e6)
)

type commandStatus struct {
	Contract *query.ContractView `json:"contract"`
	Status   any                 `json:"status"`
}

type commandState struct {
	Status string `json:"status"`
}

type commandFailure struct {
	FailureKind string `json:"failure_kind"`
	Reason      string `json:"reason"`
	Status      string `json:"status"`
}

// commandStatus serves what became of the transfer commands with a sender and a nonce that
// were created within the last day.
func (t *transfers) commandStatus(ctx context.Context, r *query.Request) error {
	p := r.Query()
	sender, nonce := p.Text("sender"), p.Int64("nonce")
	if err := p.Err(); err != nil {
		return err
	}
	q, at, err := t.contracts.of(ctx, template.TransferCommand)
	if err != nil {
		return err
	}
	q.Key, q.Limit = sender+" "+strconv.FormatInt(nonce, 10), maxCommands
	rows, err := t.contracts.source.StateContractsSince(ctx, q, at.RecordTime-commandAge)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return query.Errorf(query.NotFound, "No transfer command with this sender and nonce was created within the last 24 hours.")
	}
	answer := make(map[string]commandStatus, len(rows))
	list := t.contracts.compacted(rows)
	if err := t.contracts.addBlobs(ctx, list); err != nil {
		return err
	}
	for _, c := range list {
		status, err := t.statusOf(ctx, &c, at)
		if err != nil {
			return err
		}
		answer[c.Event.ContractID] = commandStatus{c.answer(), status}
	}
	return r.JSON(map[string]any{"transfer_commands_by_contract_id": answer})
}

// statusOf tells what became of a command by the choice that ended it.
func (t *transfers) statusOf(ctx context.Context, c *contract, at schemas.Position) (any, error) {
	if c.ArchivedAt > at.RecordTime {
		return commandState{"created"}, nil
	}
	end, encoding, err := t.endOf(ctx, c, at.MigrationID)
	if err != nil {
		return nil, err
	}
	switch end.Choice {
	case "TransferCommand_Send":
		return t.sentOrFailed(end, encoding)
	case "TransferCommand_Expire":
		return commandFailure{"expired", "The TransferCommand has expired", "failed"}, nil
	case "TransferCommand_Withdraw":
		return commandFailure{"withdrawn", "The TransferCommand has been withdrawn by the sender", "failed"}, nil
	}
	return commandFailure{"failed", "The TransferCommand has been ended by " + end.Choice, "failed"}, nil
}

// endOf finds the exercise that ended a contract.
func (t *transfers) endOf(ctx context.Context, c *contract, migrationID int64) (*schemas.Event, schemas.Encoding, error) {
	// Synchronizers may each have an update of the record time.
	const synchronizers = 16
	updates, err := t.contracts.source.Updates(ctx, history.Range{
		After: schemas.EndOf(migrationID, c.ArchivedAt-1), Through: schemas.EndOf(migrationID, c.ArchivedAt), Limit: synchronizers,
	})
	if err != nil {
		return nil, "", err
	}
	for i := range updates {
		for j := range updates[i].Events {
			if e := &updates[i].Events[j]; e.Consuming && e.ContractID == c.Event.ContractID {
				return e, updates[i].Encoding, nil
			}
		}
	}
	return nil, "", fmt.Errorf("no event at %s ends contract %s", c.ArchivedAt, c.Event.ContractID)
}

// sentOrFailed reads the result of sending.
func (t *transfers) sentOrFailed(end *schemas.Event, encoding schemas.Encoding) (any, error) {
	w := values.Writer{Catalog: t.contracts.catalog, Want: schemas.CompactJSON}
	var sent struct {
		Result struct {
			Tag   string `json:"tag"`
			Value struct {
				Reason json.RawMessage `json:"reason"`
			} `json:"value"`
		} `json:"result"`
	}
	if err := json.Unmarshal(w.For(encoding).AppendExerciseResult(nil, end), &sent); err != nil {
		return nil, fmt.Errorf("reading the result of %s on %s: %w", end.Choice, end.ContractID, err)
	}
	if sent.Result.Tag == "TransferCommandResultSuccess" {
		return commandState{"sent"}, nil
	}
	return commandFailure{"failed", reasonText(sent.Result.Value.Reason), "failed"}, nil
}

// reasonText writes a reason, a variant in compact JSON, as people read it:
// ITR_InsufficientFunds(7.5000000000). What is no such variant is given as it is.
func reasonText(reason []byte) string {
	var variant struct {
		Tag   string                     `json:"tag"`
		Value map[string]json.RawMessage `json:"value"`
	}
	if json.Unmarshal(reason, &variant) != nil || variant.Tag == "" {
		return string(reason)
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(variant.Value)) {
		var text string
		if json.Unmarshal(variant.Value[name], &text) != nil {
			text = string(variant.Value[name])
		}
		parts = append(parts, text)
	}
	return variant.Tag + "(" + strings.Join(parts, ",") + ")"
}
