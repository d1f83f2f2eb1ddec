package openapi

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"

	"github.com/ledgerlake/ledgerlake/query"
)

// Document is an OpenAPI or AsyncAPI document with the name that its addresses have.
type Document struct {
	Name string
	YAML []byte
}

var (
	//go:embed scan.yaml
	scanSource string
	//go:embed ledger.yaml
	ledgerSource string
	//go:embed validator.yaml
	validatorSource string
	//go:embed analytics.yaml
	analyticsSource string
)

// The documents of the interfaces, in YAML as they are served.
var (
	Scan      = withSharedResponses(scanSource)
	Ledger    = withSharedResponses(ledgerSource)
	Validator = withSharedResponses(validatorSource)
	Analytics = withSharedResponses(analyticsSource)
)

// LedgerAsync is the AsyncAPI document of the ledger interface's websockets, in YAML. Its schemas are in Ledger.
//
//go:embed ledger-async.yaml
var LedgerAsync []byte

// Documents are those of all interfaces that are served, in the spelling of the answers.
func Documents(naming query.Naming) ([]Document, error) {
	list := []Document{{Name: "scan", YAML: Scan}, {Name: "ledger", YAML: Ledger}, {Name: "ledger-async", YAML: LedgerAsync}, {Name: "validator", YAML: Validator}, {Name: "analytics", YAML: Analytics}}
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

// withSharedResponses expands a document's lines x-shared-responses. The one at the beginning names
// the response in components that each status has, and is left out; one of an operation lists the
// statuses for which it has that response:
//
//	x-shared-responses: {400: BadRequest, 500: InternalError}
//	    x-shared-responses: [400, 500]
//
// stands for
//
//	'400': {$ref: '#/components/responses/BadRequest'}
//	'500': {$ref: '#/components/responses/InternalError'}
func withSharedResponses(source string) []byte {
	var document bytes.Buffer
	names := map[string]string{} // by status
	for line := range strings.Lines(source) {
		indent, list, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "x-shared-responses: ")
		switch {
		case !ok:
			document.WriteString(line)
		case indent == "":
			for entry := range strings.SplitSeq(strings.Trim(list, "{}"), ", ") {
				status, name, _ := strings.Cut(entry, ": ")
				names[status] = name
			}
		default:
			for status := range strings.SplitSeq(strings.Trim(list, "[]"), ", ") {
				fmt.Fprintf(&document, "%s'%s': {$ref: '#/components/responses/%s'}\n", indent, status, names[status])
			}
		}
	}
	return document.Bytes()
}
