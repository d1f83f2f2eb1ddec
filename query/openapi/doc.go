// Package openapi holds the OpenAPI documents of the interfaces and serves them: as YAML
// and JSON for programs, and as pages for people. The documents are written by hand; what
// keeps them true is package openapitest, which holds the answers of tests against them.
package openapi
