package view

import "fmt"

// Codes of Invalid.
const (
	// InvalidArgument is a value, or a combination of values, that is never right.
	InvalidArgument = "INVALID_ARGUMENT"
	// MissingField is a member that must be there and is not.
	MissingField = "MISSING_FIELD"
	// UnknownPackageName is a filter with a package name that no known package has.
	UnknownPackageName = "PACKAGE_NAMES_NOT_FOUND"
	// UnknownTemplateName is a filter #PACKAGE_NAME:Module:Entity whose package has no such
	// template.
	UnknownTemplateName = "NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME"
	// UnknownTemplate is a filter with an unknown template by package id, or an unknown
	// interface.
	UnknownTemplate = "TEMPLATES_OR_INTERFACES_NOT_FOUND"
)

// Invalid is a request that could be decoded and asks for what cannot be. The answer is a
// JsLedgerError.
type Invalid struct {
	// Code is one of the codes of this package.
	Code string
	// Cause is for the caller.
	Cause string
	// Resources are what was not found, as kind and name.
	Resources [][2]string
}

func (e *Invalid) Error() string { return e.Code + ": " + e.Cause }

// invalid makes an INVALID_ARGUMENT.
func invalid(format string, args ...any) *Invalid {
	return &Invalid{Code: InvalidArgument, Cause: "The submitted request has invalid arguments: " + fmt.Sprintf(format, args...)}
}

// missing makes a MISSING_FIELD.
func missing(member string) *Invalid {
	return &Invalid{Code: MissingField, Cause: "The submitted request is missing a mandatory field: " + member}
}

// unknown is a name in a filter that nothing known has.
func unknown(code, kind, name string) *Invalid {
	return &Invalid{Code: code, Cause: fmt.Sprintf("%s not found: %.300s", kindWords[kind], name), Resources: [][2]string{{kind, name}}}
}

// Kinds of resources.
const (
	packageNameKind = "PACKAGE_NAME"
	templateKind    = "TEMPLATE_ID"
	interfaceKind   = "INTERFACE_ID"
)

var kindWords = map[string]string{packageNameKind: "Package name", templateKind: "Template", interfaceKind: "Interface"}

// Undecodable is a body that is not JSON or not of the shape of the request. The answer is
// status 400 with the text as text/plain.
type Undecodable struct{ Text string }

func (e *Undecodable) Error() string { return e.Text }

func undecodable(format string, args ...any) *Undecodable {
	return &Undecodable{Text: "Invalid value for: body (" + fmt.Sprintf(format, args...) + ")"}
}
