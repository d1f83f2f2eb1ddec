package choices

import (
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// Refusal is the error of a command that the ledger did not execute. Nothing of it has
// happened.
//
// Within this package a refusal is thrown, as an exception of the contract language is: the
// functions that execute commands panic with a *Refusal, and attempt catches it.
type Refusal struct {
	// Code is the error code of the ledger API, such as CONTRACT_NOT_FOUND.
	Code string
	// Message says what was wrong with which value.
	Message string
	// Context holds further facts. A refusal by a rule of the coin has error_id here, such
	// as insufficient-funds, with the values that belong to it.
	Context map[string]string
	// Resources are pairs of kind and id that the refusal is about; may be nil.
	Resources [][2]string
	// invalid is set if a transfer is invalid: a batch of operations reports that as the
	// outcome of one of them and continues. It returns a variant of InvalidTransferReason.
	invalid func(a *model.Arena) model.Value
}

// Error is the code and the message.
func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

// Codes of refusals.
const (
	CodeInvalidArgument      = "INVALID_ARGUMENT"
	CodeMissingField         = "MISSING_FIELD"
	CodePreprocessing        = "COMMAND_PREPROCESSING_FAILED" // a value does not have its type
	CodeFailed               = "UNHANDLED_EXCEPTION"          // a rule of a contract says no
	CodeContractNotFound     = "CONTRACT_NOT_FOUND"
	CodeTemplateNotFound     = "TEMPLATES_OR_INTERFACES_NOT_FOUND"
	CodePackageNotFound      = "PACKAGE_NAMES_NOT_FOUND"
	CodeDuplicateCommand     = "DUPLICATE_COMMAND"
	CodeNotExecutable        = "FAILED_TO_EXECUTE_TRANSACTION" // too late, or on another synchronizer
	codeAuthorization        = CodeInvalidArgument
	ErrorInsufficientFunds   = "insufficient-funds"
	ErrorTooManyInputs       = "maximum-inputs-exceeded"
	errorTooManyOutputs      = "maximum-outputs-exceeded"
	errorUnknownSynchronizer = "unknown-synchronizer"
	errorTopUpTooSmall       = "insufficient-topup-amount"
)

// Refuse returns a refusal with a code of the ledger API.
func Refuse(code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

// broken is the refusal by a rule of a contract.
func broken(format string, args ...any) *Refusal { return Refuse(CodeFailed, format, args...) }

// with adds a fact to the context.
func (r *Refusal) with(key, value string) *Refusal {
	if r.Context == nil {
		r.Context = map[string]string{}
	}
	r.Context[key] = value
	return r
}

// asInvalid makes the refusal that of an invalid transfer.
func (r *Refusal) asInvalid(reason func(a *model.Arena) model.Value) *Refusal {
	r.invalid = reason
	return r
}

// require throws a refusal by a rule of a contract unless the rule is kept.
func require(kept bool, format string, args ...any) {
	if !kept {
		panic(broken(format, args...))
	}
}

// attempt calls f and returns the refusal that f threw, or nil.
func attempt(f func()) (refusal *Refusal) {
	defer func() {
		switch thrown := recover().(type) {
		case nil:
		case *Refusal:
			refusal = thrown
		default:
			panic(thrown)
		}
	}()
	f()
	return nil
}

// attemptTransfer is attempt for refusals of invalid transfers; others go on being thrown.
func attemptTransfer(f func()) *Refusal {
	refusal := attempt(f)
	if refusal != nil && refusal.invalid == nil {
		panic(refusal)
	}
	return refusal
}

// contractNotFound is the refusal for a contract that is not active, or that the
// submitters do not see.
func contractNotFound(id string) *Refusal {
	r := Refuse(CodeContractNotFound, "Contract could not be found with id %s", id)
	r.Resources = [][2]string{{"CONTRACT_ID", id}}
	return r
}
