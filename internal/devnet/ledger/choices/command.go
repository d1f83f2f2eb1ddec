package choices

import (
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
