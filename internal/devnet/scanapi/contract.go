package scanapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// ContractAnswer is a contract as the state operations give it.
type ContractAnswer struct {
	TemplateID string          `json:"template_id"`
	ContractID string          `json:"contract_id"`
	Payload    json.RawMessage `json:"payload"`
	Blob       string          `json:"created_event_blob"`
	CreatedAt  string          `json:"created_at"`
}

// PlacedContract is a contract and the synchronizer that it is on. The contract is
// absent if the client knows it already.
type PlacedContract struct {
	Contract *ContractAnswer `json:"contract,omitempty"`
	DomainID string          `json:"domain_id,omitempty"`
}

func contractAnswerOf(l *ledger.Ledger, c *model.Contract) *ContractAnswer {
	var values model.Arena
	arguments := c.Payload.Arguments(&values, c.Version)
	return &ContractAnswer{
		TemplateID: l.Names.TemplateIDs[c.Template.Number][c.Version],
		ContractID: ledger.ContractIDOf(l, c),
		Payload:    model.AppendCompact(nil, l.Names, &arguments),
		Blob:       string(model.AppendBlob(nil, &l.Names.IDs, c.Number)),
		CreatedAt:  string(schemas.AppendShortTime(nil, schemas.Micros(c.CreatedAt))),
	}
}

func placed(l *ledger.Ledger, c ledger.ContractState) PlacedContract {
	return PlacedContract{contractAnswerOf(l, c.Contract), l.Names.Synchronizers[c.Synchronizer]}
}

// placedUnlessCached leaves out the contract if cached is its id.
func placedUnlessCached(l *ledger.Ledger, c ledger.ContractState, cached ...string) PlacedContract {
	p := PlacedContract{DomainID: l.Names.Synchronizers[c.Synchronizer]}
	id := ledger.ContractIDOf(l, c.Contract)
	for _, known := range cached {
		if known == id {
			return p
		}
	}
	p.Contract = contractAnswerOf(l, c.Contract)
	return p
}

func contractAnswers(l *ledger.Ledger, cs []ledger.ContractState) []*ContractAnswer {
	answers := make([]*ContractAnswer, len(cs))
	for i, c := range cs {
		answers[i] = contractAnswerOf(l, c.Contract)
	}
	return answers
}

func placedAll(l *ledger.Ledger, cs []ledger.ContractState) []PlacedContract {
	answers := make([]PlacedContract, len(cs))
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
	w.Header().Set("Content-Type", reply.ContentType)
	w.Write(bytes.TrimSpace(body.Bytes())) // if the client is gone, nobody is left to tell
	return nil
}
