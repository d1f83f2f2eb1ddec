package nodeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// submitAndWaitForTree executes commands and answers with the transaction as a tree: its events by node.
func (n *commandServer) submitAndWaitForTree(r *http.Request, q *wireCommands) (any, error) {
	o, err := n.authorizedRequest(r.Context(), q)
	if err != nil {
		return nil, err
	}
	events := &wireEventFormat{transactionFilter: transactionFilter{ByParty: map[string]*wireFilters{}}}
	for _, parties := range [][]string{o.ActAs, o.ReadAs} {
		for _, name := range parties {
			events.ByParty[name] = nil
		}
	}
	f, err := n.reads.transactionFormat(r.Context(), &wireTransactionFormat{Events: events, Shape: "TRANSACTION_SHAPE_LEDGER_EFFECTS"}, nil, nil)
	if err != nil {
		return nil, err
	}
	done, err := n.execute(r.Context(), o)
	if err != nil {
		return nil, err
	}
	answer, err := n.reads.transaction(done, f)
	if err != nil {
		return nil, err
	}
	tree, err := treeOf(answer.(rawJSON))
	return map[string]any{"transactionTree": tree}, err
}

// treeOf makes a tree of an answer with a transaction.
func treeOf(answer rawJSON) (map[string]json.RawMessage, error) {
	var members struct {
		Transaction map[string]json.RawMessage `json:"transaction"`
	}
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(answer, &members); err != nil {
		return nil, fmt.Errorf("reading a transaction of our own: %w", err)
	}
	if err := json.Unmarshal(members.Transaction["events"], &list); err != nil {
		return nil, fmt.Errorf("reading the events of a transaction of our own: %w", err)
	}
	byID := map[string]any{}
	for _, event := range list {
		for kind, value := range event {
			var node struct {
				ID int64 `json:"nodeId"`
			}
			if err := json.Unmarshal(value, &node); err != nil {
				return nil, fmt.Errorf("reading an event of our own: %w", err)
			}
			byID[strconv.FormatInt(node.ID, 10)] = map[string]any{strings.TrimSuffix(kind, "Event") + "TreeEvent": map[string]any{"value": value}}
		}
	}
	text, err := json.Marshal(byID)
	if err != nil {
		return nil, fmt.Errorf("writing a tree: %w", err)
	}
	delete(members.Transaction, "events")
	members.Transaction["eventsById"] = text
	return members.Transaction, nil
}
