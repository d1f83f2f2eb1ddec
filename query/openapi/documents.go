package openapi

import _ "embed"

// Scan is the document of the scan interface, in YAML.
//
//go:embed scan.yaml
var Scan []byte
