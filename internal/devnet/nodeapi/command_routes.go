package nodeapi

import (
	"context"
	"net/http"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
)

// submitAndWait executes commands and answers with where they stand in history.
func (n *commandServer) submitAndWait(w http.ResponseWriter, r *http.Request) error {
	done, err := n.submitBody(r)
	if err != nil {
		return err
	}
	return reply.SendJSON(w, map[string]any{"updateId": done.UpdateID, "completionOffset": done.Offset})
}

// submitAsync executes commands as well: what is refused is said at once, the rest is told
// by the completions.
func (n *commandServer) submitAsync(w http.ResponseWriter, r *http.Request) error {
	if _, err := n.submitBody(r); err != nil {
		return err
	}
	return reply.SendJSON(w, struct{}{})
}

// submitBody executes the commands of a request.
func (n *commandServer) submitBody(r *http.Request) (ledger.Committed, error) {
	var q wireCommands
	if err := readRequest(r, &q); err != nil {
		return ledger.Committed{}, err
	}
	o, err := n.authorizedRequest(r.Context(), &q)
	if err != nil {
		return ledger.Committed{}, err
	}
	return n.execute(r.Context(), o)
}

// submitAndWaitForTransaction executes commands and answers with the transaction.
func (n *commandServer) submitAndWaitForTransaction(w http.ResponseWriter, r *http.Request) error {
	var q struct {
		Commands *wireCommands          `json:"commands"`
		Format   *wireTransactionFormat `json:"transactionFormat"`
	}
	if err := readRequest(r, &q); err != nil {
		return err
	}
	if q.Commands == nil {
		return reply.BadRequest("invalid body: commands is required")
	}
	o, err := n.authorizedRequest(r.Context(), q.Commands)
	if err != nil {
		return err
	}
	f, err := n.reads.transactionFormat(r.Context(), q.Format, o.ActAs, o.ReadAs)
	if err != nil {
		return err
	}
	done, err := n.execute(r.Context(), o)
	if err != nil {
		return err
	}
	return n.reads.sendTransaction(w, done, f)
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

// sendTransaction answers with a transaction as a format has it, perhaps without events.
func (n *readServer) sendTransaction(w http.ResponseWriter, done ledger.Committed, f *updateFormat) error {
	item, ok := n.itemAt(done.Offset)
	if !ok {
		return nodeRefusal("UPDATE_NOT_FOUND", "Update %s is not visible to the parties of this participant", done.UpdateID)
	}
	update, err := n.cut(item, f, true)
	if err != nil {
		return err
	}
	return sendText(w, `{"transaction":`, transactionOf(update), `}`)
}
