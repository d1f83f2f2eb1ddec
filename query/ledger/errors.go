package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/auth"
	"github.com/ledgerlake/ledgerlake/query/ledger/view"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// JsLedgerError is the body of an error answer, and of the last frame of a websocket that
// ends with an error.
type JsLedgerError struct {
	Code          string            `json:"code"`
	Cause         string            `json:"cause"`
	CorrelationID string            `json:"correlationId"`
	TraceID       string            `json:"traceId"`
	Context       map[string]string `json:"context"`
	Resources     [][2]string       `json:"resources"`
	ErrorCategory int32             `json:"errorCategory"`
	GRPCCodeValue int32             `json:"grpcCodeValue"`
	// RetryInfo is a time such as "1 second", "" for errors that stay.
	RetryInfo      string `json:"retryInfo,omitempty"`
	DefiniteAnswer bool   `json:"definiteAnswer"`
}

// ids name a request in answers and in the log.
type ids struct{ correlation, trace string }

// describe gives an error of any kind as a JsLedgerError.
func (a *API) describe(f *Failure, id ids) *JsLedgerError {
	k := catalogue[f.Code]
	e := &JsLedgerError{
		Code: string(f.Code), Cause: strings.ToValidUTF8(f.Cause, "\uFFFD"), CorrelationID: id.correlation, TraceID: id.trace,
		ErrorCategory: k.category, GRPCCodeValue: k.grpc, Resources: f.Resources,
		Context: map[string]string{
			"category": strconv.Itoa(int(k.category)), "definite_answer": "false", "tid": id.trace,
		},
	}
	if participant := a.participant(); participant != "" {
		e.Context["participant"] = participant
	}
	if e.Resources == nil {
		e.Resources = [][2]string{}
	}
	if k.withheld {
		e.Cause = fmt.Sprintf("An error occurred. Please contact the operator and inquire about the request %s with tid %s", id.correlation, id.trace)
	}
	if k.retry > 0 {
		e.RetryInfo = retryText(k.retry)
	}
	return e
}

// retryText writes whole seconds as the network does.
func retryText(d time.Duration) string {
	if d == time.Second {
		return "1 second"
	}
	return fmt.Sprintf("%d seconds", int(d.Seconds()))
}

// undecodable is a request that is answered with status 400 and its text: nothing could be
// made of it.
type undecodable struct{ text string }

func (u *undecodable) Error() string { return u.text }

// badParameter says that a query parameter is of another kind.
func badParameter(name string) error {
	return &undecodable{"Invalid value for: query parameter " + name}
}

// failureOf finds the code for an error of any layer. Its second result is the text of an
// undecodable request, else "".
func failureOf(err error) (*Failure, string) {
	var f *Failure
	var invalid *view.Invalid
	var bad *view.Undecodable
	var text *undecodable
	var tier *query.Error
	var hand *query.HandshakeError
	switch {
	case errors.As(err, &f):
		return f, ""
	case errors.As(err, &invalid):
		return failureOfView(invalid), ""
	case errors.As(err, &bad):
		return failure(invalidArgument, "%s", bad.Text), bad.Text
	case errors.As(err, &text):
		return failure(invalidArgument, "%s", text.text), text.text
	case errors.Is(err, auth.ErrUnauthenticated):
		return &Failure{Code: unauthenticated, Err: err}, ""
	case errors.Is(err, auth.ErrDenied):
		return &Failure{Code: permissionDenied, Err: err}, ""
	case errors.Is(err, auth.ErrUnavailable):
		return &Failure{Code: serviceNotRunning, Cause: "The rights of users cannot be read at the moment.", Err: err}, ""
	case errors.Is(err, schemas.ErrUnavailable):
		return &Failure{Code: serviceNotRunning, Cause: "The store does not answer at the moment.", Err: err}, ""
	case errors.Is(err, ErrNoStream):
		return &Failure{Code: serviceNotRunning, Cause: "The stream of the node is not available yet.", Err: err}, ""
	case errors.As(err, &hand):
		if hand.Origin {
			return &Failure{Code: permissionDenied, Err: hand}, ""
		}
		return failure(invalidArgument, "The operation is a websocket: %s", hand), ""
	case errors.As(err, &tier):
		return failureOfTier(tier)
	case errors.Is(err, context.DeadlineExceeded):
		return &Failure{Code: requestTimeOut, Cause: "The request took too long and was stopped.", Err: err}, ""
	case errors.Is(err, context.Canceled):
		return &Failure{Code: serviceNotRunning, Cause: "The server is shutting down.", Err: err}, ""
	}
	return &Failure{Code: internalError, Err: err}, ""
}

func failureOfView(e *view.Invalid) *Failure {
	code := Code(e.Code)
	if _, ok := catalogue[code]; !ok {
		return &Failure{Code: internalError, Err: fmt.Errorf("an error outside the catalogue: %w", e)}
	}
	return &Failure{Code: code, Cause: e.Cause, Resources: e.Resources}
}

// failureOfTier finds the code for what the query tier itself refuses.
func failureOfTier(e *query.Error) (*Failure, string) {
	switch e.Code {
	case query.Invalid, query.SlowRequest, query.HeaderTooLarge:
		return failure(invalidArgument, "%s", e.Msg), e.Msg
	case query.NotFound:
		return failure(unknownPath, "%s", e.Msg), ""
	case query.MethodNotAllowed:
		return failure(methodNotAllowed, "%s", e.Msg), ""
	case query.TooLarge:
		return failure(requestTooLarge, "%s", e.Msg), ""
	case query.RateLimited, query.Aborted, query.Unavailable:
		return &Failure{Code: backpressure, Cause: e.Msg, Err: e.Err}, ""
	case query.Denied:
		return &Failure{Code: permissionDenied, Err: e}, ""
	case query.Unauthenticated:
		return &Failure{Code: unauthenticated, Err: e}, ""
	case query.Internal:
		return &Failure{Code: internalError, Err: e}, ""
	}
	return failure(invalidArgument, "%s", e.Msg), "" // what else is the client's own doing
}

// Errors is the interface's form of error answers.
func (a *API) Errors(r *query.Request, err error) query.ErrorAnswer {
	f, text := failureOf(err)
	if text != "" {
		return query.ErrorAnswer{Status: 400, ContentType: query.TextType, Body: []byte(strings.ToValidUTF8(text, "\uFFFD"))}
	}
	k := catalogue[f.Code]
	e := a.describe(f, idsOf(r))
	var tier *query.Error
	if errors.As(err, &tier) && tier.RetryAfter > k.retry && k.retry > 0 {
		k.retry = tier.RetryAfter // the tier knows how busy it is
		e.RetryInfo = retryText(k.retry)
	}
	answer := query.ErrorAnswer{
		Status: k.status, ContentType: "application/json; charset=utf-8", Body: e.text(), RetryAfter: k.retry,
	}
	if f.Err != nil || k.withheld {
		answer.Logged = err
	}
	return answer
}

func idsOf(r *query.Request) ids { return ids{r.ID(), r.TraceID()} }

// text gives e as JSON.
func (e *JsLedgerError) text() []byte {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // texts and numbers always marshal
	}
	return text
}
