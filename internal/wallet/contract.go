package wallet

import (
	"encoding/json"
	"fmt"
	"time"
)

// Contract is an active contract.
type Contract struct {
	ID string
	// TemplateID is as the ledger has it, "package-id:Module:Entity".
	TemplateID string
	// Payload is the create argument in compact JSON.
	Payload        json.RawMessage
	CreatedAt      time.Time
	SynchronizerID string
	// Blob lets those who do not see the contract use it; empty if it is not known.
	Blob string
}

// decode reads members of the payload into a struct.
func (c *Contract) decode(into any) error {
	if err := json.Unmarshal(c.Payload, into); err != nil {
		return fmt.Errorf("reading the payload of contract %s of %s: %w", c.ID, c.TemplateID, err)
	}
	return nil
}
