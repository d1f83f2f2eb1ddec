package devnet

import (
	"context"
	"encoding/json"
	"time"
)

// Submission is a list of commands that are executed together or not at all.
type Submission struct {
	UserID    string `json:"userId,omitempty"`
	CommandID string `json:"commandId"`
	// WorkflowID is the workflow of the transaction, may be empty.
	WorkflowID string `json:"workflowId,omitempty"`
	// ActAs are the parties that authorize the commands, at least one. ReadAs are further
	// ones whose contracts the commands may use.
	ActAs  []string `json:"actAs"`
	ReadAs []string `json:"readAs,omitempty"`
	// Commands has at least one.
	Commands []Command `json:"commands"`
	// Disclosed are contracts that neither ActAs nor ReadAs are stakeholders of. Contracts of
	// which the governance party is the only stakeholder need not be named: every scan hands
	// them out.
	Disclosed []DisclosedContract `json:"disclosedContracts,omitempty"`
	// MinLedgerTime, if not zero, is the least that the contracts see as now.
	MinLedgerTime time.Time `json:"minLedgerTime,omitzero"`
	// MaxRecordTime, if not zero, is the latest record time that the transaction may have.
	MaxRecordTime time.Time `json:"maxRecordTime,omitzero"`
	// SynchronizerID, if not empty, is the synchronizer on which to execute.
	SynchronizerID string `json:"synchronizerId,omitempty"`
	// External says that ActAs signed the transaction themselves: it then has a hash.
	External bool `json:"external,omitempty"`
	// Reserved is what Prepare returned, else 0: the ids of the contracts to be created.
	// A submission with the same Reserved is executed once.
	Reserved uint64 `json:"reserved,omitempty"`
}

// Command creates a contract, exercises a choice on one, or both in a row:
//
//	             TemplateID   ContractID   CreateArguments   Choice, Argument
//	create       yes                       yes
//	exercise     yes          yes                            yes
//	both         yes                       yes               yes
//
// TemplateID is #package-name:Module:Entity or package-id:Module:Entity, of a template, or
// of an interface for its choices. Arguments are compact_json, in which numbers may stand
// for the texts of int64 and numeric values.
type Command struct {
	TemplateID      string          `json:"templateId"`
	ContractID      string          `json:"contractId,omitempty"`
	CreateArguments json.RawMessage `json:"createArguments,omitempty"`
	Choice          string          `json:"choice,omitempty"`
	Argument        json.RawMessage `json:"choiceArgument,omitempty"`
}

// DisclosedContract makes a contract known to a submission.
type DisclosedContract struct {
	ContractID string `json:"contractId,omitempty"`
	TemplateID string `json:"templateId,omitempty"`
	// Blob is the contract's createdEventBlob, in base64. It names the contract if
	// ContractID is empty.
	Blob string `json:"createdEventBlob"`
}

// Committed says where a submission stands in history.
type Committed struct {
	UpdateID string
	// Offset is that of the node's stream, 0 if no participant's view is kept. Whether the
	// node's parties see the update at that offset depends on who is informed of it.
	Offset         int64
	RecordTime     time.Time
	EffectiveAt    time.Time
	SynchronizerID string
	// PaidTrafficCost is in bytes.
	PaidTrafficCost int64
	// Results has for each command what the choice returned, in compact_json, or the id of
	// the contract that it created.
	Results []json.RawMessage
}

// Prepared is what a submission would do, for external parties to sign.
type Prepared struct {
	// Submission is to be submitted, with Reserved set and names resolved.
	Submission Submission
	// LedgerTime is what the contracts saw as now.
	LedgerTime     time.Time
	SynchronizerID string
	// Inputs are the ids of the contracts that were used, in order of first use, and Created
	// those that will be created and not archived at once, in order of their creation.
	Inputs, Created []string
	// Transaction is the tree as canonical JSON: a list of the nodes in preorder, each
	//
	//	{"contractId","createArguments","signatories","observers","templateId"}
	//	{"actingParties","choice","choiceArgument","consuming","contractId","descendants",
	//	 "exerciseResult","interfaceId","templateId"}
	//
	// with values in compact_json, where descendants is the number of nodes below and
	// interfaceId is left out without one.
	Transaction json.RawMessage
}

// Submit executes commands now, as one transaction, and returns once it is visible on the
// streams. What the ledger does not execute is a *Refusal. Commands are executed one
// submission at a time; the caller has checked that the user may act as the parties.
func (l *Ledger) Submit(ctx context.Context, s Submission) (Committed, error) {
	return l.submit(ctx, s, nil)
}

// Allocation is a party that was added to the ledger.
type Allocation struct {
	Party string
	// Offset is that of the topology transaction on the node's stream, 0 if no
	// participant's view is kept.
	Offset     int64
	RecordTime time.Time
}
