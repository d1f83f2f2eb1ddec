package nodeapi

import (
	"errors"
	"maps"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
)

// errorClass is what a code stands for: its gRPC code and its category.
type errorClass struct{ grpc, category int32 }

// errorClasses are the codes by which the node, or the ledger, refuses what concerns commands,
// users and parties.
var errorClasses = map[string]errorClass{
	choices.CodeInvalidArgument:    {grpcInvalidArgument, categoryInvalidIndependent},
	"MISSING_FIELD":                {grpcInvalidArgument, categoryInvalidIndependent},
	"INVALID_FIELD":                {grpcInvalidArgument, categoryInvalidIndependent},
	"COMMAND_PREPROCESSING_FAILED": {grpcInvalidArgument, categoryInvalidIndependent},
	"INVALID_DAR":                  {grpcInvalidArgument, categoryInvalidIndependent},

	"FAILED_TO_EXECUTE_TRANSACTION": {grpcFailedPrecondition, categoryInvalidState},
	"INVALID_DEDUPLICATION_PERIOD":  {grpcFailedPrecondition, categoryInvalidState},
	"TOO_MANY_USER_RIGHTS":          {grpcFailedPrecondition, categoryInvalidState},

	choices.CodeContractNotFound:                         {grpcNotFound, categoryMissing},
	choices.CodeTemplateNotFound:                         {grpcNotFound, categoryMissing},
	choices.CodePackageNotFound:                          {grpcNotFound, categoryMissing},
	"PACKAGE_NOT_FOUND":                                  {grpcNotFound, categoryMissing},
	"CONTRACT_EVENTS_NOT_FOUND":                          {grpcNotFound, categoryMissing},
	"UPDATE_NOT_FOUND":                                   {grpcNotFound, categoryMissing},
	"USER_NOT_FOUND":                                     {grpcNotFound, categoryMissing},
	"PARTY_NOT_FOUND":                                    {grpcNotFound, categoryMissing},
	"IDENTITY_PROVIDER_CONFIG_NOT_FOUND":                 {grpcNotFound, categoryMissing},
	"NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT": {grpcNotFound, categoryMissing},

	"IDENTITY_PROVIDER_CONFIG_ALREADY_EXISTS":        {grpcAlreadyExists, categoryExists},
	"IDENTITY_PROVIDER_CONFIG_ISSUER_ALREADY_EXISTS": {grpcAlreadyExists, categoryExists},
	"DUPLICATE_COMMAND":                              {grpcAlreadyExists, categoryExists},
	"USER_ALREADY_EXISTS":                            {grpcAlreadyExists, categoryExists},
	"SUBMISSION_ALREADY_IN_FLIGHT":                   {grpcAborted, categoryContention},
	"CONCURRENT_USER_UPDATE_DETECTED":                {grpcAborted, categoryContention},
	"CONCURRENT_PARTY_DETAILS_UPDATE_DETECTED":       {grpcAborted, categoryContention},
	"JSON_API_PACKAGE_SELECTION_FAILED":              {grpcFailedPrecondition, categoryInvalidState},
}

// nodeRefusal returns the error of a code of errorClasses.
func nodeRefusal(code, format string, args ...any) *LedgerError {
	class, ok := errorClasses[code]
	if !ok {
		class = errorClass{grpcInternal, categoryInternal}
	}
	return newLedgerError(code, class.grpc, class.category, format, args...)
}

// asNodeError turns what the ledger refuses into the node's error; other errors pass.
func asNodeError(err error) error {
	var refusal *choices.Refusal
	if !errors.As(err, &refusal) {
		return err
	}
	grpc, category := RefusalClass(refusal)
	e := newLedgerError(refusal.Code, grpc, category, "%s", refusal.Message)
	maps.Copy(e.Context, refusal.Context)
	e.Resources = append(e.Resources, refusal.Resources...)
	definite := true
	e.Definite = &definite
	e.Context["definite_answer"] = "true"
	return e
}

// missingField is the error for a member that is there but empty.
func missingField(name string) error {
	return nodeRefusal("MISSING_FIELD", "The submitted command is missing a mandatory field: %s", name)
}

func invalidField(name, format string, args ...any) error {
	e := nodeRefusal("INVALID_FIELD", "The submitted command has a field with invalid value: Invalid field %s: "+format, append([]any{name}, args...)...)
	e.Context["field_name"] = name
	return e
}

// RefusalClass returns the gRPC code and the error category that belong to the code of a
// refusal: a rule of a contract says no, unless the code is a known one.
func RefusalClass(r *choices.Refusal) (code, category int32) {
	if class, ok := errorClasses[r.Code]; ok {
		return class.grpc, class.category
	}
	return grpcFailedPrecondition, categoryInvalidState
}
