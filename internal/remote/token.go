package remote

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// renewBefore is how long before its expiry a token is renewed, or half of its life
// if that is shorter.
const renewBefore = time.Minute

// Tokens gives the access token of an upstream. It is safe for concurrent use.
type Tokens struct {
	source func(context.Context) (string, error) // nil = none
	file   string
	now    func() time.Time

	mu      sync.Mutex
	token   string
	expires time.Time // zero = never, or unknown
	renew   time.Time // when to ask for the next one, zero = never
	changed time.Time // modification time of file
}

// NewTokens takes tokens from a function or from a file, which is read again when it
// changes. Without both, there are none.
func NewTokens(source func(context.Context) (string, error), file string, now func() time.Time) *Tokens {
	return &Tokens{source: source, file: file, now: now}
}

// Get returns the token to use now, "" for one without authorization. A token that
// is about to expire, or whose file has changed, is replaced first; as long as no
// other is there, the old one is used to its end.
func (t *Tokens) Get(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	due := t.token == "" || !t.renew.IsZero() && !t.now().Before(t.renew)
	if !due && t.file != "" {
		info, err := os.Stat(t.file)
		due = err == nil && !info.ModTime().Equal(t.changed)
	}
	if !due || t.source == nil && t.file == "" {
		return t.token, nil
	}
	if err := t.load(ctx); err != nil && (t.token == "" || t.expired()) {
		return "", err
	}
	return t.token, nil
}

// Refuse replaces the given token, which the upstream did not accept, unless that has
// happened meanwhile.
func (t *Tokens) Refuse(ctx context.Context, token string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.source == nil && t.file == "" || t.token != token {
		return nil
	}
	return t.load(ctx)
}

// RenewAt returns when a stream that uses the token should change to a newer one,
// zero if never.
func (t *Tokens) RenewAt() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.renew
}

func (t *Tokens) expired() bool { return !t.expires.IsZero() && !t.now().Before(t.expires) }

func (t *Tokens) load(ctx context.Context) error {
	token, changed, err := t.read(ctx)
	if err != nil {
		return fmt.Errorf("reading the access token: %w", err)
	}
	// A line break at the end of a file is not part of the token, nor is the word before
	// it that some tools write.
	token = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(token), "Bearer "))
	if token == "" || strings.ContainsAny(token, " \t\r\n,;") {
		return errors.New("reading the access token: it is empty or malformed")
	}
	t.token, t.changed = token, changed
	t.expires = expiry(token)
	t.renew = time.Time{}
	if !t.expires.IsZero() {
		left := t.expires.Sub(t.now())
		// A token that is still the old one is asked for again in a while, not at once.
		t.renew = t.now().Add(max(left-min(renewBefore, left/2), MinRenewWait))
	}
	return nil
}

// MinRenewWait keeps a token source that returns old tokens from being asked all the time.
const MinRenewWait = 500 * time.Millisecond

func (t *Tokens) read(ctx context.Context) (token string, changed time.Time, err error) {
	if t.source != nil {
		token, err = t.source(ctx)
		return token, changed, err
	}
	info, err := os.Stat(t.file) // before reading: a later change is then seen as one
	if err != nil {
		return "", changed, err
	}
	text, err := os.ReadFile(t.file)
	return string(text), info.ModTime(), err
}

// expiry reads the claim exp of a JWT without verifying it, which is the upstream's task.
// It returns the zero time for tokens without the claim, or of another kind.
func expiry(token string) time.Time {
	var claims struct {
		Expires *float64 `json:"exp"`
	}
	if !readClaims(token, &claims) || claims.Expires == nil || *claims.Expires <= 0 || *claims.Expires > 1e11 {
		return time.Time{}
	}
	return time.UnixMilli(int64(*claims.Expires * 1000))
}

// Subject reads the claim sub of a JWT, without verifying it, "" if it has none.
func Subject(token string) string {
	var claims struct {
		Subject string `json:"sub"`
	}
	if !readClaims(token, &claims) {
		return ""
	}
	return claims.Subject
}

// readClaims reads the payload of a JWT; ok is false for tokens of another kind.
func readClaims(token string, into any) (ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return false
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	return err == nil && json.Unmarshal(payload, into) == nil
}

// Current returns the token that Get gave last.
func (t *Tokens) Current() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.token
}
