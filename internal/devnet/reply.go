package devnet

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// requestError is an error that the caller learns, with its status.
type requestError struct {
	status int
	text   string
}

func (e *requestError) Error() string { return e.text }

func badRequest(format string, args ...any) error {
	return &requestError{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &requestError{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

func sendJSON(w http.ResponseWriter, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding answer: %w", err)
	}
	w.Header().Set("Content-Type", contentType)
	w.Write(body) // if the client is gone, nobody is left to tell
	return nil
}

const (
	contentType = "application/json; charset=utf-8"
	maxBody     = 1 << 20
	maxPage     = 1000
)
