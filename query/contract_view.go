package query

import (
	"encoding/json"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// ContractView is an active contract as the interfaces give it.
type ContractView struct {
	ContractID       string          `json:"contract_id"`
	CreatedAt        string          `json:"created_at"`
	CreatedEventBlob string          `json:"created_event_blob"`
	Payload          json.RawMessage `json:"payload"`
	TemplateID       string          `json:"template_id"`
}

// ViewOf is the view of a contract by its created event. payload is in compact JSON; blob is empty
// where it is not known.
func ViewOf(e *schemas.Event, payload []byte, blob string) *ContractView {
	return &ContractView{
		ContractID: e.ContractID, CreatedAt: string(schemas.AppendShortTime(nil, e.CreatedAt)), CreatedEventBlob: blob,
		Payload: payload, TemplateID: e.TemplateID,
	}
}

// ContractState is a contract and the synchronizer that it is on. Contract is nil for callers who
// have it.
type ContractState struct {
	Contract *ContractView `json:"contract,omitempty"`
	DomainID string        `json:"domain_id,omitempty"`
}
