package openapi

import _ "embed"

// Document is an OpenAPI document with the name that its addresses have.
type Document struct {
	Name string
	YAML []byte
}

// Scan is the document of the scan interface, in YAML.
//
//go:embed scan.yaml
var Scan []byte

// Documents are those of all interfaces that are served.
func Documents() []Document { return []Document{{Name: "scan", YAML: Scan}} }
