package node

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

// tokens gives the access token of a node. It is safe for concurrent use.
type tokens struct {
	source func(context.Context) (string, error) // nil = none
	file   string
	now    func() time.Time

	mu      sync.Mutex
	token   string
	expires time.Time // zero = never, or unknown
	renew   time.Time // when to ask for the next one, zero = never
	changed time.Time // modification time of file
}

// get returns the token to use now, "" for a node without authorization. A token that
// is about to expire, or whose file has changed, is replaced first; as long as no
// other is there, the old one is used to its end.
func (t *tokens) get(ctx context.Context) (string, error) {
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

// refuse replaces the given token, which the node did not accept, unless that has
// happened meanwhile.
func (t *tokens) refuse(ctx context.Context, token string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.source == nil && t.file == "" || t.token != token {
		return nil
	}
	return t.load(ctx)
}

// renewAt returns when a stream that uses the token should change to a newer one,
// zero if never.
func (t *tokens) renewAt() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.renew
}

func (t *tokens) expired() bool { return !t.expires.IsZero() && !t.now().Before(t.expires) }

func (t *tokens) load(ctx context.Context) error {
	token, changed, err := t.read(ctx)
	if err != nil {
		return fmt.Errorf("reading the node's access token: %w", err)
	}
	// A line break at the end of a file is not part of the token, nor is the word before
	// it that some tools write.
	token = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(token), "Bearer "))
	if token == "" || strings.ContainsAny(token, " \t\r\n,;") {
		return errors.New("reading the node's access token: it is empty or no token")
	}
	t.token, t.changed = token, changed
	t.expires = expiry(token)
	t.renew = time.Time{}
	if !t.expires.IsZero() {
		left := t.expires.Sub(t.now())
		// A token that is still the old one is asked for again in a while, not at once.
		t.renew = t.now().Add(max(left-min(renewBefore, left/2), minRenewWait))
	}
	return nil
}

// minRenewWait keeps a token source that returns old tokens from being asked all the time.
const minRenewWait = 500 * time.Millisecond

func (t *tokens) read(ctx context.Context) (token string, changed time.Time, err error) {
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

// expiry reads the claim exp of a JWT without verifying it, which is the node's task.
// It returns the zero time for tokens without the claim, or of another kind.
func expiry(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return time.Time{}
	}
	var claims struct {
		Expires *float64 `json:"exp"`
	}
	if json.Unmarshal(payload, &claims) != nil || claims.Expires == nil || *claims.Expires <= 0 || *claims.Expires > 1e11 {
		return time.Time{}
	}
	return time.UnixMilli(int64(*claims.Expires * 1000))
}

// current returns the token that get gave last.
func (t *tokens) current() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.token
}
