package query

import (
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// ErrorAnswer is what a caller gets for an error.
type ErrorAnswer struct {
	Status      int
	ContentType string
	Body        []byte
	// RetryAfter is sent if it is positive.
	RetryAfter time.Duration
	// Logged is what is logged of the error, nil for those that only concern the caller.
	Logged error
}

// ErrorForm makes the error answers of an interface. It is the only place where its errors
// become statuses.
type ErrorForm func(r *Request, err error) ErrorAnswer

// TextType is the type of answers in plain text.
const TextType = "text/plain; charset=utf-8"

// PlainErrors is the form {"error": text}.
func PlainErrors(r *Request, err error) ErrorAnswer {
	status, text, retryAfter := Status(err)
	if status == fasthttp.StatusUnauthorized {
		r.SetHeader(fasthttp.HeaderWWWAuthenticate, "Bearer")
	}
	text = strings.ToValidUTF8(text, "\uFFFD") // it may repeat what the caller sent
	a := ErrorAnswer{
		Status: status, ContentType: jsonType, RetryAfter: retryAfter,
		Body: append(jsonscan.AppendString([]byte(`{"error":`), []byte(text)), '}'),
	}
	if e := classify(err); e.Code == Internal || e.Err != nil {
		a.Logged = err
	}
	return a
}
