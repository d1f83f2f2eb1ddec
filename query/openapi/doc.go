// Package openapi holds the OpenAPI documents of the interfaces and serves them: as YAML
// and JSON for programs, and as pages for people. The documents are written by hand;
// package openapitest keeps them true: it checks the answers that tests get against them. What
// most operations answer alike is written once: see withSharedResponses.
package openapi
