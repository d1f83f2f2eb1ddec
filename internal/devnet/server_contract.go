package devnet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// contractAnswer is a contract as the state operations give it.
type contractAnswer struct {
	TemplateID string          `json:"template_id"`
	ContractID string          `json:"contract_id"`
	Payload    json.RawMessage `json:"payload"`
	Blob       string          `json:"created_event_blob"`
	CreatedAt  string          `json:"created_at"`
}

// placedContract is a contract and the synchronizer that it is on. The contract is
// absent if the client knows it already.
type placedContract struct {
	Contract *contractAnswer `json:"contract,omitempty"`
	DomainID string          `json:"domain_id,omitempty"`
}

func contractAnswerOf(l *Ledger, c *contract) *contractAnswer {
	var values arena
	arguments := c.payload.arguments(&values, c.version)
	return &contractAnswer{
		TemplateID: l.names.templateIDs[c.template.number][c.version],
		ContractID: contractIDOf(l, c),
		Payload:    appendCompact(nil, l.names, &arguments),
		Blob:       string(appendBlob(nil, &l.names.ids, c.number)),
		CreatedAt:  string(schemas.AppendShortTime(nil, schemas.Micros(c.createdAt))),
	}
}

func placed(l *Ledger, c contractState) placedContract {
	return placedContract{contractAnswerOf(l, c.contract), l.names.synchronizers[c.synchronizer]}
}

// placedUnlessCached leaves out the contract if cached is its id.
func placedUnlessCached(l *Ledger, c contractState, cached ...string) placedContract {
	p := placedContract{DomainID: l.names.synchronizers[c.synchronizer]}
	id := contractIDOf(l, c.contract)
	for _, known := range cached {
		if known == id {
			return p
		}
	}
	p.Contract = contractAnswerOf(l, c.contract)
	return p
}

func contractAnswers(l *Ledger, cs []contractState) []*contractAnswer {
	answers := make([]*contractAnswer, len(cs))
	for i, c := range cs {
		answers[i] = contractAnswerOf(l, c.contract)
	}
	return answers
}

func placedAll(l *Ledger, cs []contractState) []placedContract {
	answers := make([]placedContract, len(cs))
	for i, c := range cs {
		answers[i] = placed(l, c)
	}
	return answers
}

// sendState answers with v, whose texts go out as they are.
func sendState(w http.ResponseWriter, v any) error {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("encoding answer: %w", err)
	}
	w.Header().Set("Content-Type", contentType)
	w.Write(bytes.TrimSpace(body.Bytes())) // if the client is gone, nobody is left to tell
	return nil
}
