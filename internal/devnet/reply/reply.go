// Package reply has what the services of the simulated network answer with in common.
package reply

import (
	"encoding/json"
	"fmt"
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
