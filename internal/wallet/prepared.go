package wallet

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of the message PreparedTransaction of the node's interactive submission, down to
// the id of a contract that is created.
const (
	fieldTransaction = 1    // PreparedTransaction
	fieldNodes       = 3    // DamlTransaction
	fieldNodeV1      = 1000 // DamlTransaction.Node
	fieldCreate      = 1    // v1.Node
	fieldContractID  = 2    // v1.Create
)

var errNotPrepared = errors.New("its form is unknown")

// createdIn returns the id of the first contract that a prepared transaction creates. What
// follows it when the transaction is executed is not known yet.
func createdIn(prepared []byte) (string, error) {
	id, err := firstCreated(prepared)
	if err != nil {
		return "", fmt.Errorf("looking for the contract that a prepared transaction creates: %w", err)
	}
	return id, nil
}

func firstCreated(prepared []byte) (string, error) {
	transaction, err := fieldOf(prepared, fieldTransaction)
	if err != nil {
		return "", err
	}
	for rest := transaction; len(rest) > 0; {
		var field protowire.Number
		var content []byte
		if field, content, rest, err = takeField(rest); err != nil {
			return "", err
		}
		if field != fieldNodes {
			continue
		}
		if id, err := createdByNode(content); err != nil || id != "" {
			return id, err
		}
	}
	return "", errors.New("it creates no contract")
}

// createdByNode returns the contract that a node creates, "" for other nodes.
func createdByNode(content []byte) (string, error) {
	for _, field := range []protowire.Number{fieldNodeV1, fieldCreate, fieldContractID} {
		var err error
		if content, err = fieldOf(content, field); err != nil || content == nil {
			return "", err
		}
	}
	return string(content), nil
}

// fieldOf returns the first bytes field with a number of a protobuf message, nil if it has
// none.
func fieldOf(message []byte, number protowire.Number) ([]byte, error) {
	for len(message) > 0 {
		field, content, rest, err := takeField(message)
		if err != nil {
			return nil, err
		}
		if field == number && content != nil {
			return content, nil
		}
		message = rest
	}
	return nil, nil
}

// takeField takes the first field off a protobuf message. content is nil for numbers.
func takeField(message []byte) (field protowire.Number, content, rest []byte, err error) {
	field, kind, size := protowire.ConsumeTag(message)
	if size < 0 {
		return 0, nil, nil, errNotPrepared
	}
	value := message[size:]
	if size = protowire.ConsumeFieldValue(field, kind, value); size < 0 {
		return 0, nil, nil, errNotPrepared
	}
	if kind == protowire.BytesType {
		content, _ = protowire.ConsumeBytes(value)
	}
	return field, content, value[size:], nil
}
