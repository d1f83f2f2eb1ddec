package devnet

import (
	"net/http"
	"strconv"
)

func (s *stateServer) preapprovalOf(w http.ResponseWriter, r *http.Request) error {
	receiver, now := r.PathValue("party"), s.ledger.RecordTime()
	found := s.ledger.ofTemplate(preapprovalTemplate, func(c *contract) bool {
		p := c.payload.(preapproval)
		return s.ledger.names.name(p.receiver) == receiver && p.expiresAt > now
	})
	if len(found) == 0 {
		return notFound("No TransferPreapproval found for party: %s", receiver)
	}
	return sendState(w, map[string]any{"transfer_preapproval": placed(s.ledger, found[0])})
}

func (s *stateServer) commandCounterOf(w http.ResponseWriter, r *http.Request) error {
	sender := r.PathValue("party")
	found := s.ledger.ofTemplate(commandCounterTemplate, func(c *contract) bool {
		return s.ledger.names.name(c.payload.(commandCounter).sender) == sender
	})
	if len(found) == 0 {
		return notFound("No TransferCommandCounter found for party: %s", sender)
	}
	return sendState(w, map[string]any{"transfer_command_counter": placed(s.ledger, found[0])})
}

// maxCommands bounds the commands of one sender and nonce in an answer.
const maxCommands = 100

func (s *stateServer) commandStatus(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	sender := q.Get("sender")
	if sender == "" {
		return badRequest("sender is required")
	}
	nonce, err := strconv.ParseInt(q.Get("nonce"), 10, 64)
	if err != nil {
		return badRequest("nonce: %q is not a number", q.Get("nonce"))
	}
	found := commandsOf(s.ledger, sender, nonce)
	if len(found) == 0 {
		return notFound("Couldn't find any TransferCommands for sender %s and nonce %d created in the last 24h", sender, nonce)
	}
	answers := map[string]any{}
	for _, c := range found {
		answers[contractIDOf(s.ledger, c.contract)] = map[string]any{
			"contract": contractAnswerOf(s.ledger, c.contract), "status": c.answer()}
	}
	return sendState(w, map[string]any{"transfer_commands_by_contract_id": answers})
}

// commandsOf returns the commands of a sender and nonce of which something was heard
// within the last day.
func commandsOf(l *Ledger, sender string, nonce int64) []command {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []command
	for _, c := range l.executor.commands.recent {
		p := c.contract.payload.(transferCommand)
		if l.names.name(p.sender) == sender && p.nonce == nonce && c.contract.createdAt >= l.executor.clock.recordTime-commandMemory && len(found) < maxCommands {
			found = append(found, *c)
		}
	}
	return found
}

func (c *command) answer() map[string]string {
	switch c.status {
	case commandCreated, commandSent:
		return map[string]string{"status": string(c.status)}
	}
	return map[string]string{"status": string(commandFailed), "failure_kind": string(c.status), "reason": c.reason}
}
