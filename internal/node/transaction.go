package node

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Transaction is what came of a command.
type Transaction struct {
	UpdateID       string    `json:"updateId"`
	CommandID      string    `json:"commandId"`
	Offset         int64     `json:"offset"`
	EffectiveAt    time.Time `json:"effectiveAt"`
	RecordTime     time.Time `json:"recordTime"`
	SynchronizerID string    `json:"synchronizerId"`
	Events         []Event   `json:"events"`
}

// Event is a node of a transaction's tree: one of its members is set.
type Event struct {
	Created   *Created   `json:"CreatedEvent"`
	Exercised *Exercised `json:"ExercisedEvent"`
}

// Created is the creation of a contract.
type Created struct {
	NodeID     int32           `json:"nodeId"`
	ContractID string          `json:"contractId"`
	TemplateID string          `json:"templateId"`
	Argument   json.RawMessage `json:"createArgument"`
	CreatedAt  time.Time       `json:"createdAt"`
	Blob       string          `json:"createdEventBlob"`
	// Views are what interfaces show, if they were asked for.
	Views []View `json:"interfaceViews"`
}

// View is what an interface shows of a contract.
type View struct {
	InterfaceID string `json:"interfaceId"`
	Status      struct {
		Code int `json:"code"`
	} `json:"viewStatus"`
	// Value is there if the code is 0.
	Value json.RawMessage `json:"viewValue"`
}

// Exercised is the exercise of a choice.
type Exercised struct {
	NodeID         int32           `json:"nodeId"`
	LastDescendant int32           `json:"lastDescendantNodeId"`
	ContractID     string          `json:"contractId"`
	TemplateID     string          `json:"templateId"`
	Choice         string          `json:"choice"`
	Argument       json.RawMessage `json:"choiceArgument"`
	Consuming      bool            `json:"consuming"`
	Result         json.RawMessage `json:"exerciseResult"`
}

// Entity is the last part of a template id.
func Entity(templateID string) string { return templateID[strings.LastIndexByte(templateID, ':')+1:] }

// Result reads the result of the first exercise of a choice into a struct. It is an error
// if there is none.
func (t *Transaction) Result(choice string, into any) error {
	for _, e := range t.Events {
		if e.Exercised == nil || e.Exercised.Choice != choice {
			continue
		}
		if err := json.Unmarshal(e.Exercised.Result, into); err != nil {
			return fmt.Errorf("reading the result of %s in update %s: %w", choice, t.UpdateID, err)
		}
		return nil
	}
	return fmt.Errorf("update %s has no exercise of %s", t.UpdateID, choice)
}

// CreatedOf returns the first contract of a template that was created, named by the last
// part of its id; nil if there is none.
func (t *Transaction) CreatedOf(entity string) *Created {
	for _, e := range t.Events {
		if e.Created != nil && Entity(e.Created.TemplateID) == entity {
			return e.Created
		}
	}
	return nil
}
