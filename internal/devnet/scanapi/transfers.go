package scanapi

import (
	"net/http"
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
)

func (s *stateServer) preapprovalOf(r *http.Request) (any, error) {
	receiver, now := r.PathValue("party"), s.ledger.RecordTime()
	return s.first(model.PreapprovalTemplate, "transfer_preapproval", receiver, func(c *model.Contract) bool {
		p := c.Payload.(model.Preapproval)
		return s.ledger.Names.Name(p.Receiver) == receiver && p.ExpiresAt > now
	})
}

// first answers with the first contract of a template that keep selects for a party.
func (s *stateServer) first(t *model.Template, name, party string, keep func(*model.Contract) bool) (any, error) {
	found := s.ledger.OfTemplate(t, keep)
	if len(found) == 0 {
		return nil, reply.NotFound("No %s found for party: %s", t.Entity(), party)
	}
	return map[string]any{name: placed(s.ledger, found[0])}, nil
}

func (s *stateServer) commandCounterOf(r *http.Request) (any, error) {
	sender := r.PathValue("party")
	return s.first(model.CommandCounterTemplate, "transfer_command_counter", sender, func(c *model.Contract) bool {
		return s.ledger.Names.Name(c.Payload.(model.CommandCounter).Sender) == sender
	})
}

// maxCommands bounds the commands of one sender and nonce in an answer.
const maxCommands = 100

func (s *stateServer) commandStatus(r *http.Request) (any, error) {
	q := r.URL.Query()
	sender := q.Get("sender")
	if sender == "" {
		return nil, reply.BadRequest("sender is required")
	}
	nonce, err := strconv.ParseInt(q.Get("nonce"), 10, 64)
	if err != nil {
		return nil, reply.BadRequest("nonce: %q is not a number", q.Get("nonce"))
	}
	found := CommandsOf(s.ledger, sender, nonce)
	if len(found) == 0 {
		return nil, reply.NotFound("Couldn't find any TransferCommands for sender %s and nonce %d created in the last 24h", sender, nonce)
	}
	answers := map[string]any{}
	for _, c := range found {
		answers[ledger.ContractIDOf(s.ledger, c.Contract)] = map[string]any{
			"contract": contractAnswerOf(s.ledger, c.Contract), "status": statusOf(&c)}
	}
	return map[string]any{"transfer_commands_by_contract_id": answers}, nil
}

// CommandsOf returns the commands of a sender and nonce of which something was heard
// within the last day.
func CommandsOf(l *ledger.Ledger, sender string, nonce int64) []sim.CommandState {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	var found []sim.CommandState
	for _, c := range l.Executor.Commands.Recent {
		p := c.Contract.Payload.(model.TransferCommand)
		if l.Names.Name(p.Sender) == sender && p.Nonce == nonce && c.Contract.CreatedAt >= l.Executor.Clock.RecordTime-sim.CommandMemory && len(found) < maxCommands {
			found = append(found, *c)
		}
	}
	return found
}

func statusOf(c *sim.CommandState) map[string]string {
	switch c.Status {
	case sim.CommandCreated, sim.CommandSent:
		return map[string]string{"status": string(c.Status)}
	}
	return map[string]string{"status": string(sim.CommandFailed), "failure_kind": string(c.Status), "reason": c.Reason}
}
