// Package reply has what the services of the simulated network answer with in common.
package reply

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// RequestError is an error that the caller learns, with its status.
type RequestError struct {
	Status int
	Text   string
}

func (e *RequestError) Error() string { return e.Text }

func BadRequest(format string, args ...any) error {
	return &RequestError{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

func NotFound(format string, args ...any) error {
	return &RequestError{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

// Asked has the body of a request decoded into a Q before handle answers it.
func Asked[Q any](handle func(r *http.Request, q *Q) (any, error)) func(r *http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		q := new(Q)
		if err := Decode(r, q); err != nil {
			return nil, err
		}
		return handle(r, q)
	}
}

// Decode reads the body of a request into v, a pointer.
func Decode(r *http.Request, v any) error {
	body, err := Body(r)
	if err != nil {
		return err
	}
	return Unmarshal(body, v)
}

// Body reads the body of a request.
func Body(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, MaxBody))
	if err != nil {
		return nil, BadRequest("reading body: %v", err)
	}
	return body, nil
}

// Unmarshal reads JSON of a request into v, a pointer.
func Unmarshal(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return BadRequest("invalid body: %v", err)
	}
	return nil
}

func SendJSON(w http.ResponseWriter, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding answer: %w", err)
	}
	w.Header().Set("Content-Type", ContentType)
	w.Write(body) // if the client is gone, nobody is left to tell
	return nil
}

const (
	ContentType = "application/json; charset=utf-8"
	MaxBody     = 1 << 20
	MaxPage     = 1000
)
