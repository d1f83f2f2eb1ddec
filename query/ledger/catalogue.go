package ledger

import (
	"fmt"
	"time"
)

// Code names an error of the interface. All that it can have are in catalogue.
type Code string

const (
	invalidArgument      Code = "INVALID_ARGUMENT"
	missingField         Code = "MISSING_FIELD"
	packageNamesNotFound Code = "PACKAGE_NAMES_NOT_FOUND"
	noTemplatesForName   Code = "NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME"
	templatesNotFound    Code = "TEMPLATES_OR_INTERFACES_NOT_FOUND"
	offsetAfterEnd       Code = "OFFSET_AFTER_LEDGER_END"
	prunedDataAccessed   Code = "PARTICIPANT_PRUNED_DATA_ACCESSED"
	unauthenticated      Code = "UNAUTHENTICATED"
	permissionDenied     Code = "PERMISSION_DENIED"
	staleAuthorization   Code = "STALE_STREAM_AUTHORIZATION"
	updateNotFound       Code = "UPDATE_NOT_FOUND"
	contractMissing      Code = "CONTRACT_NOT_FOUND"
	contractNotFound     Code = "CONTRACT_EVENTS_NOT_FOUND"
	unknownPath          Code = "UNKNOWN_PATH"
	methodNotAllowed     Code = "METHOD_NOT_ALLOWED"
	listTooLong          Code = "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED"
	requestTooLarge      Code = "REQUEST_TOO_LARGE"
	tooManyStreams       Code = "MAXIMUM_NUMBER_OF_STREAMS"
	backpressure         Code = "PARTICIPANT_BACKPRESSURE"
	internalError        Code = "LEDGER_API_INTERNAL_ERROR"
	unsupported          Code = "UNSUPPORTED_OPERATION"
	serviceNotRunning    Code = "SERVICE_NOT_RUNNING"
	requestTimeOut       Code = "REQUEST_TIME_OUT"
)

// kind is what follows from a code.
type kind struct {
	// category is the error category of the network, 1 to 14.
	category int32
	// grpc is the gRPC code, which decides the status but for a few.
	grpc   int32
	status int
	// retry is when to try again, 0 for never as it is.
	retry time.Duration
	// withheld says that callers learn no cause: only the log has it.
	withheld bool
}

// catalogue has every code. docs/api-ledger.md explains them; a test holds the two together.
var catalogue = map[Code]kind{
	invalidArgument:      {category: 8, grpc: 3, status: 400},
	missingField:         {category: 8, grpc: 3, status: 400},
	prunedDataAccessed:   {category: 9, grpc: 9, status: 400},
	offsetAfterEnd:       {category: 12, grpc: 11, status: 400},
	unauthenticated:      {category: 6, grpc: 16, status: 401, withheld: true},
	permissionDenied:     {category: 7, grpc: 7, status: 403, withheld: true},
	packageNamesNotFound: {category: 11, grpc: 5, status: 404},
	noTemplatesForName:   {category: 11, grpc: 5, status: 404},
	templatesNotFound:    {category: 11, grpc: 5, status: 404},
	updateNotFound:       {category: 11, grpc: 5, status: 404},
	contractMissing:      {category: 11, grpc: 5, status: 404},
	contractNotFound:     {category: 11, grpc: 5, status: 404},
	unknownPath:          {category: 11, grpc: 5, status: 404},
	methodNotAllowed:     {category: 14, grpc: 12, status: 405},
	staleAuthorization:   {category: 2, grpc: 10, status: 409, retry: time.Second},
	listTooLong:          {category: 2, grpc: 10, status: 413},
	requestTooLarge:      {category: 8, grpc: 3, status: 413},
	tooManyStreams:       {category: 2, grpc: 8, status: 429, retry: time.Second},
	backpressure:         {category: 2, grpc: 8, status: 429, retry: time.Second},
	internalError:        {category: 4, grpc: 13, status: 500, withheld: true},
	unsupported:          {category: 14, grpc: 12, status: 501},
	serviceNotRunning:    {category: 1, grpc: 14, status: 503, retry: time.Second},
	requestTimeOut:       {category: 3, grpc: 4, status: 504, retry: time.Second},
}

// Failure is an error of the catalogue.
type Failure struct {
	Code Code
	// Cause is for the caller, unless the code withholds it.
	Cause string
	// Resources are what the error is about, as kind and name.
	Resources [][2]string
	// Err is logged and never sent; it may be nil.
	Err error
}

func (f *Failure) Error() string {
	if f.Err != nil {
		return fmt.Sprintf("%s: %s: %s", f.Code, f.Cause, f.Err)
	}
	return fmt.Sprintf("%s: %s", f.Code, f.Cause)
}

// Unwrap returns Err.
func (f *Failure) Unwrap() error { return f.Err }

// failure makes a Failure without Err.
func failure(code Code, format string, args ...any) *Failure {
	return &Failure{Code: code, Cause: fmt.Sprintf(format, args...)}
}
