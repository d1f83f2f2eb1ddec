package nodeapi

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// A prepared transaction is a protobuf message. Clients find in it what they would find in
// that of any node, and the rest in fields that others do not have:
//
//	message PreparedTransaction { Transaction transaction = 1; Metadata metadata = 2; }
//	message Transaction { repeated Node nodes = 3; string tree = 1000; }
//	message Node { string node_id = 1; VersionedNode v1 = 1000; }
//	message VersionedNode { Create create = 1; }
//	message Create { string contract_id = 2; }
//	message Metadata { string content = 1000; }
//
// There is a node for each contract that is created. tree is what Prepared.Transaction
// describes, content is a preparedMetadata, both canonical JSON. What is signed is
//
//	SHA-256(purpose ‖ scheme ‖ SHA-256(purpose ‖ transaction) ‖ SHA-256(purpose ‖ metadata))
//
// of the bytes of the two fields, with the purpose 00000030 and the scheme 02 or 03 for V2
// and V3.
type preparedTransaction struct{ Transaction, Metadata []byte }

// preparedMetadata is the rest of what an external party signs.
type preparedMetadata struct {
	// Created are the ids of the contracts to be created, whole: none is lengthened when
	// the transaction is executed.
	Created        []string           `json:"createdContractIds"`
	Inputs         []string           `json:"inputContractIds"`
	LedgerTime     time.Time          `json:"ledgerTime"`
	PreparedAt     time.Time          `json:"preparedAt"`
	Submission     choices.Submission `json:"submission"`
	SynchronizerID string             `json:"synchronizerId"`
}

const (
	transactionField = 1 // of a prepared transaction
	metadataField    = 2
	nodesField       = 3 // of its transaction
	nodeIDField      = 1 // of a node
	versionField     = 1000
	createField      = 1
	contractIDField  = 2 // of the creation of a contract
	contentField     = 1000
)

// NewPreparedTransaction returns what is to be signed of a submission.
func NewPreparedTransaction(p *ledger.Prepared, preparedAt time.Time) (t preparedTransaction, err error) {
	tree, err := jsonscan.AppendCanonical(nil, p.Transaction)
	if err != nil {
		return t, fmt.Errorf("encoding a prepared transaction: %w", err)
	}
	if t.Transaction, err = appendCreations(nil, tree); err != nil {
		return t, fmt.Errorf("encoding a prepared transaction: %w", err)
	}
	t.Transaction = appendField(t.Transaction, contentField, tree)
	metadata, err := json.Marshal(preparedMetadata{Created: p.Created, Inputs: p.Inputs, LedgerTime: p.LedgerTime,
		PreparedAt: preparedAt, Submission: p.Submission, SynchronizerID: p.SynchronizerID})
	if err == nil {
		metadata, err = jsonscan.AppendCanonical(nil, metadata)
	}
	if err != nil {
		return t, fmt.Errorf("encoding the metadata of a prepared transaction: %w", err)
	}
	t.Metadata = appendField(nil, contentField, metadata)
	return t, nil
}

// appendCreations appends the nodes of a tree that create contracts.
func appendCreations(dst, tree []byte) ([]byte, error) {
	var nodes []struct {
		ContractID string          `json:"contractId"`
		Arguments  json.RawMessage `json:"createArguments"`
	}
	if err := json.Unmarshal(tree, &nodes); err != nil {
		return dst, err
	}
	for i, n := range nodes {
		if n.Arguments == nil {
			continue
		}
		create := appendField(nil, createField, appendField(nil, contractIDField, n.ContractID))
		node := appendField(appendField(nil, nodeIDField, strconv.Itoa(i)), versionField, create)
		dst = appendField(dst, nodesField, node)
	}
	return dst, nil
}

// Encode returns the message.
func (t preparedTransaction) Encode() []byte {
	return appendField(appendField(nil, transactionField, t.Transaction), metadataField, t.Metadata)
}

// DecodePrepared reads what encode wrote.
func DecodePrepared(b []byte) (t preparedTransaction, err error) {
	if t.Transaction, b, err = takeField(b, transactionField); err != nil {
		return t, err
	}
	if t.Metadata, b, err = takeField(b, metadataField); err != nil {
		return t, err
	}
	if len(b) > 0 {
		return t, errNoMessage
	}
	return t, nil
}

// Tree returns the tree of the transaction.
func (t preparedTransaction) Tree() (json.RawMessage, error) {
	rest := t.Transaction
	for {
		_, after, err := takeField(rest, nodesField)
		if err != nil {
			break
		}
		rest = after
	}
	tree, rest, err := takeField(rest, contentField)
	if err == nil && len(rest) > 0 {
		err = errNoMessage
	}
	return tree, err
}

// Content reads the metadata.
func (t preparedTransaction) Content() (m preparedMetadata, err error) {
	content, rest, err := takeField(t.Metadata, contentField)
	if err != nil || len(rest) > 0 {
		return m, errNoMessage
	}
	if err := json.Unmarshal(content, &m); err != nil {
		return m, err
	}
	if len(m.Submission.ActAs) == 0 || len(m.Submission.Commands) == 0 || m.Submission.Reserved == 0 {
		return m, errNoMessage
	}
	return m, nil
}

// hashingScheme is a version of how prepared transactions are hashed.
type hashingScheme struct {
	name string
	mark byte
}

var hashingSchemes = []hashingScheme{{"HASHING_SCHEME_VERSION_V2", 2}, {"HASHING_SCHEME_VERSION_V3", 3}}

// schemeNamed returns a scheme; none is V2.
func schemeNamed(name string) (hashingScheme, error) {
	if name == "" {
		return hashingSchemes[0], nil
	}
	for _, s := range hashingSchemes {
		if s.name == name {
			return s, nil
		}
	}
	return hashingScheme{}, invalidField("hashing_scheme_version", "%q is not one of this node", name)
}

// details tells how the hash comes about, for people who compare.
func (t preparedTransaction) details(s hashingScheme) string {
	return fmt.Sprintf("transaction %x\nhash of transaction %x\nmetadata %x\nhash of metadata %x\nhashing scheme %02x\nhash %s\n",
		t.Transaction, purposeHash(purposePrepared, t.Transaction), t.Metadata, purposeHash(purposePrepared, t.Metadata),
		s.mark, base64.StdEncoding.EncodeToString(PreparedHash(s.mark, t.Transaction, t.Metadata)))
}
