package nodeapi

import (
	"context"
	"net/http"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
)

// submitAndWait executes commands and answers with where they stand in history.
func (n *commandServer) submitAndWait(r *http.Request, q *wireCommands) (any, error) {
	done, err := n.submit(r.Context(), q)
	return map[string]any{"updateId": done.UpdateID, "completionOffset": done.Offset}, err
}

// submitAsync executes commands as well: what is refused is said at once, the rest is told
// by the completions.
func (n *commandServer) submitAsync(r *http.Request, q *wireCommands) (any, error) {
	_, err := n.submit(r.Context(), q)
	return struct{}{}, err
}

// submit executes commands that the user may submit.
func (n *commandServer) submit(ctx context.Context, q *wireCommands) (ledger.Committed, error) {
	o, err := n.authorizedRequest(ctx, q)
	if err != nil {
		return ledger.Committed{}, err
	}
	return n.execute(ctx, o)
}

type transactionRequest struct {
	Commands *wireCommands          `json:"commands"`
	Format   *wireTransactionFormat `json:"transactionFormat"`
}

// submitAndWaitForTransaction executes commands and answers with the transaction.
func (n *commandServer) submitAndWaitForTransaction(r *http.Request, q *transactionRequest) (any, error) {
	if q.Commands == nil {
		return nil, reply.BadRequest("invalid body: commands is required")
	}
	o, err := n.authorizedRequest(r.Context(), q.Commands)
	if err != nil {
		return nil, err
	}
	f, err := n.reads.transactionFormat(r.Context(), q.Format, o.ActAs, o.ReadAs)
	if err != nil {
		return nil, err
	}
	done, err := n.execute(r.Context(), o)
	if err != nil {
		return nil, err
	}
	return n.reads.transaction(done, f)
}

// authorizedRequest decodes commands that the user may submit.
func (n *commandServer) authorizedRequest(ctx context.Context, q *wireCommands) (commandRequest, error) {
	who := principalOf(ctx)
	o, err := n.commandRequest(who, q)
	if err != nil {
		return o, err
	}
	if err := who.mayActAs(o.ActAs); err != nil {
		return o, err
	}
	for _, name := range o.ReadAs {
		if err := who.mayReadAs(name); err != nil {
			return o, err
		}
	}
	return o, n.checkSubmitters(o.ActAs)
}

// execute executes a request unless it was executed before, and keeps its completion.
func (n *commandServer) execute(ctx context.Context, o commandRequest) (ledger.Committed, error) {
	c := o.change()
	if err := n.completions.Begin(c, o.period, n.reads.currentEnd(), n.ledger.Now().UnixMicro()); err != nil {
		return ledger.Committed{}, err
	}
	// Once begun, a command is executed even if the client has left: it may ask for the
	// outcome by its id.
	note := newKeptCompletion(&o)
	done, err := n.ledger.SubmitNoted(context.WithoutCancel(ctx), o.Submission, note)
	if err != nil {
		n.completions.Finish(c, nil)
		return ledger.Committed{}, asNodeError(err)
	}
	n.completions.Finish(c, completionOf(note, &o.Submission, done))
	return done, nil
}

// transactionFormat decodes the format of a transaction that is waited for. Without one it
// is the change of the active contracts of the parties.
func (n *readServer) transactionFormat(ctx context.Context, w *wireTransactionFormat, actAs, readAs []string) (*updateFormat, error) {
	if w == nil {
		events := &wireEventFormat{transactionFilter: transactionFilter{ByParty: map[string]*wireFilters{}}}
		for _, parties := range [][]string{actAs, readAs} {
			for _, name := range parties {
				events.ByParty[name] = nil
			}
		}
		w = &wireTransactionFormat{Events: events, Shape: "TRANSACTION_SHAPE_ACS_DELTA"}
	}
	f := &updateFormat{}
	if err := n.formats.transactions(f, w); err != nil {
		return nil, err
	}
	return f, principalOf(ctx).mayReadUpdates(f)
}

// transaction answers with a transaction as a format has it, perhaps without events.
func (n *readServer) transaction(done ledger.Committed, f *updateFormat) (any, error) {
	item, ok := n.itemAt(done.Offset)
	if !ok {
		return nil, nodeRefusal("UPDATE_NOT_FOUND", "Update %s is not visible to the parties of this participant", done.UpdateID)
	}
	update, err := n.cut(item, f, true)
	if err != nil {
		return nil, err
	}
	return answerTransaction(update), nil
}
