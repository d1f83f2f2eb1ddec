package nodeapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
)

// LedgerError is the error body of the node: JsLedgerError. A bare one is also how a
// websocket stream ends early.
type LedgerError struct {
	Code          string            `json:"code"`
	Cause         string            `json:"cause"`
	CorrelationID *string           `json:"correlationId"`
	TraceID       *string           `json:"traceId"`
	Context       map[string]string `json:"context"`
	Resources     [][2]string       `json:"resources"`
	Category      int32             `json:"errorCategory"`
	GRPC          int32             `json:"grpcCodeValue"`
	RetryInfo     *string           `json:"retryInfo"`
	Definite      *bool             `json:"definiteAnswer"`
}

// Error is the code and the cause.
func (e *LedgerError) Error() string { return e.Code + ": " + e.Cause }

// Codes of gRPC that the node answers with.
const (
	grpcInvalidArgument    = 3
	grpcNotFound           = 5
	grpcAlreadyExists      = 6
	grpcPermissionDenied   = 7
	grpcFailedPrecondition = 9
	grpcAborted            = 10
	grpcOutOfRange         = 11
	grpcInternal           = 13
	grpcUnauthenticated    = 16
)

// Error categories.
const (
	categoryContention         = 2
	categoryInternal           = 4
	categoryCredentials        = 6
	categoryPermission         = 7
	categoryInvalidIndependent = 8
	categoryInvalidState       = 9
	categoryExists             = 10
	categoryMissing            = 11
	categorySeekAfterEnd       = 12
)

func newLedgerError(code string, grpc, category int32, format string, args ...any) *LedgerError {
	return &LedgerError{Code: code, Cause: fmt.Sprintf(format, args...), GRPC: grpc, Category: category,
		Context: map[string]string{"category": strconv.Itoa(int(category)), "participant": "devnet"}, Resources: [][2]string{}}
}

func invalidArgument(format string, args ...any) error {
	return newLedgerError("INVALID_ARGUMENT", grpcInvalidArgument, categoryInvalidIndependent,
		"The submitted request has invalid arguments: "+format, args...)
}

// unauthenticated withholds the reason, as a node does.
func unauthenticated() error {
	return newLedgerError("UNAUTHENTICATED", grpcUnauthenticated, categoryCredentials,
		"An error occurred. Please contact the operator and inquire about the request <no-correlation-id>")
}

func permissionDenied() error {
	return newLedgerError("PERMISSION_DENIED", grpcPermissionDenied, categoryPermission,
		"An error occurred. Please contact the operator and inquire about the request <no-correlation-id>")
}

func staleAuthorization() error {
	return newLedgerError("STALE_STREAM_AUTHORIZATION", grpcAborted, categoryContention,
		"Stale stream authorization. Retry quickly.")
}

func prunedData(begin, pruned int64) error {
	e := newLedgerError("PARTICIPANT_PRUNED_DATA_ACCESSED", grpcFailedPrecondition, categoryInvalidState,
		"Transactions request from %d precedes pruned offset %d", begin, pruned)
	e.Context["earliest_offset"] = strconv.FormatInt(pruned, 10)
	return e
}

func afterLedgerEnd(member string, offset, end int64) error {
	return newLedgerError("OFFSET_AFTER_LEDGER_END", grpcOutOfRange, categorySeekAfterEnd,
		"%s offset (%d) is after ledger end (%d)", member, offset, end)
}

func unknownTemplate(code, what, name string) error {
	e := newLedgerError(code, grpcNotFound, categoryMissing, "%s not found: %s", what, name)
	e.Resources = append(e.Resources, [2]string{"TEMPLATE_ID", name})
	return e
}

func listTooLong(limit int) error {
	return newLedgerError("JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED", grpcAborted, categoryContention,
		"The number of matching elements (%d) is greater than the node limit (%d).", limit+1, limit)
}

// AsLedgerError is how a stream tells of any error.
func AsLedgerError(err error) *LedgerError {
	var known *LedgerError
	if errors.As(err, &known) {
		return known
	}
	var text *reply.RequestError
	if errors.As(err, &text) {
		errors.As(invalidArgument("%s", text.Text), &known)
		return known
	}
	return newLedgerError("LEDGER_API_INTERNAL_ERROR", grpcInternal, categoryInternal, "An error occurred.")
}

// Status is the HTTP status that belongs to the error.
func (e *LedgerError) Status() int {
	switch e.GRPC {
	case grpcInvalidArgument, grpcFailedPrecondition, grpcOutOfRange:
		return http.StatusBadRequest
	case grpcUnauthenticated:
		return http.StatusUnauthorized
	case grpcPermissionDenied:
		return http.StatusForbidden
	case grpcNotFound:
		return http.StatusNotFound
	case grpcAlreadyExists:
		return http.StatusConflict
	case grpcAborted:
		if e.Code == "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED" {
			return http.StatusRequestEntityTooLarge
		}
		return http.StatusConflict
	}
	return http.StatusInternalServerError
}

// nodeHandler answers a request; an error becomes a JsLedgerError, or a text if the
// request cannot be decoded.
type nodeHandler func(w http.ResponseWriter, r *http.Request) error

// ServeHTTP answers with the status that belongs to the handler's error.
func (h nodeHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := h(w, r)
	if err == nil {
		return
	}
	var text *reply.RequestError
	if errors.As(err, &text) {
		http.Error(w, text.Text, text.Status)
		return
	}
	e := AsLedgerError(err)
	body, _ := json.Marshal(e) // texts and numbers always marshal
	w.Header().Set("Content-Type", reply.ContentType)
	w.WriteHeader(e.Status())
	w.Write(body) // if the client is gone, nobody is left to tell
}
