package openapi

import (
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/query"
)

// Document is an OpenAPI or AsyncAPI document with the name that its addresses have.
type Document struct {
	Name string
	YAML []byte
}

// Scan is the document of the scan interface, in YAML.
//
//go:embed scan.yaml
var Scan []byte

// Ledger is the document of the ledger query interface, in YAML.
//
//go:embed ledger.yaml
var Ledger []byte

// Validator is the document of the validator interface, in YAML.
//
//go:embed validator.yaml
var Validator []byte

// LedgerAsync is the AsyncAPI document of its websockets, in YAML. Its schemas are in Ledger.
//
//go:embed ledger-async.yaml
var LedgerAsync []byte

// Documents are those of all interfaces that are served, in the spelling of the answers.
func Documents(naming query.Naming) ([]Document, error) {
	list := []Document{{Name: "scan", YAML: Scan}, {Name: "ledger", YAML: Ledger}, {Name: "ledger-async", YAML: LedgerAsync}, {Name: "validator", YAML: Validator}}
	if naming != query.Network {
		return list, nil
	}
	for i := range list {
		var err error
		if list[i].YAML, err = NetworkSpelling(list[i].YAML); err != nil {
			return nil, fmt.Errorf("document %s: %w", list[i].Name, err)
		}
	}
	return list, nil
}
