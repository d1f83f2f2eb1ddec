package node

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// jwt makes a token that expires at the given time; its signature means nothing.
func jwt(name string, expires time.Time) string {
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"none"}`)) + "." + part(fmt.Appendf(nil, `{"sub":%q,"exp":%d}`, name, expires.Unix())) + ".sig"
}

func TestTokenIsSentEverywhere(t *testing.T) {
	t.Parallel()
	token := jwt("alice", time.Now().Add(time.Hour))
	for _, source := range []Source{WebSocket, Lists} {
		u, sink := newUpstream(t, newGenerator(51).elements(50)), newSink()
		u.token = token
		ing := newIngester(t, u, sink, func(c *Config) {
			c.Source = source
			c.Token = func(context.Context) (string, error) { return token, nil }
		})
		if err := ing.Backfill(testContext(t)); err != nil {
			t.Fatal(err)
		}
		sameLines(t, sink.lines, u.lines(0, u.end))
	}
}

func TestTokenFileIsReadAgain(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	write := func(token string) {
		if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old.token.1")
	g := newGenerator(52)
	u, sink := newUpstream(t, g.elements(50)), newSink()
	u.token = "old.token.1"
	ing := newIngester(t, u, sink, func(c *Config) { c.TokenFile = file })
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	u.set(func(u *upstream) { u.token = "new.token.2" })
	u.grow(g.elements(20)...)
	write("new.token.2")
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, u.lines(0, u.end))
}

func TestTokenThatExpiresInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, code := range []string{codeUnauthenticated, codeStaleToken} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			u, sink := newUpstream(t, newGenerator(53).elements(300)), newSink()
			u.token = "token.1.a"
			var asked atomic.Int64
			u.frame = func(n int, wire string) (string, error) {
				if n == 120 {
					u.set(func(u *upstream) { u.token = "token.2.a" })
					return errorFrame(code, 6, "the token has expired"), nil
				}
				return wire, nil
			}
			ing := newIngester(t, u, sink, func(c *Config) {
				c.Token = func(context.Context) (string, error) { return fmt.Sprintf("token.%d.a", asked.Add(1)), nil }
			})
			u.set(func(u *upstream) {
				inner := u.frame
				u.frame = func(n int, wire string) (string, error) {
					if asked.Load() > 1 {
						return wire, nil
					}
					return inner(n, wire)
				}
			})
			if err := ing.Backfill(testContext(t)); err != nil {
				t.Fatal(err)
			}
			sameLines(t, sink.lines, u.lines(0, u.end))
			if asked.Load() != 2 {
				t.Errorf("the token was asked for %d times", asked.Load())
			}
		})
	}
}

func TestTokenIsRenewedAheadOfItsExpiry(t *testing.T) {
	t.Parallel()
	g := newGenerator(54)
	u, sink := newUpstream(t, g.elements(20)), newSink()
	var asked atomic.Int64
	ing := newIngester(t, u, sink, func(c *Config) {
		c.Token = func(context.Context) (string, error) {
			if asked.Add(1) == 1 {
				return jwt("alice", time.Now().Add(4*time.Second)), nil
			}
			return jwt("alice", time.Now().Add(time.Hour)), nil
		}
	})
	stop := running(t, ing)
	sink.await(t, func() bool { return sink.at.Offset >= u.end })
	until(t, func() bool { return asked.Load() == 2 && ing.Status().Reconnects == 1 })
	u.grow(g.elements(20)...)
	sink.await(t, func() bool { return sink.at.Offset >= u.end })
	_ = stop()
	sameLines(t, sink.lines, u.lines(0, u.end))
	if s := ing.Status(); s.Retries > 0 {
		t.Errorf("status %+v", s)
	}
}

func TestTokenThatStaysRefusedStops(t *testing.T) {
	t.Parallel()
	secret := jwt("mallory", time.Now().Add(time.Hour))
	u := newUpstream(t, newGenerator(55).elements(20))
	u.token = "another"
	asked := 0
	ing := newIngester(t, u, newSink(), func(c *Config) {
		c.Token = func(context.Context) (string, error) { asked++; return secret, nil }
		c.BaseURL = strings.Replace(c.BaseURL, "http://", "http://user:password@", 1)
	})
	err := ing.Backfill(testContext(t))
	checkStopped(t, ing, err, ErrDenied, "even after it was renewed", "401")
	if asked < 2 {
		t.Error("the token was not renewed")
	}
	if text := err.Error(); strings.Contains(text, secret) || strings.Contains(text, "password") {
		t.Errorf("the error shows credentials: %s", text)
	}
}

func TestTokenSourceThatFailsIsAskedAgain(t *testing.T) {
	t.Parallel()
	u, sink := newUpstream(t, newGenerator(56).elements(20)), newSink()
	asked := 0
	ing := newIngester(t, u, sink, func(c *Config) {
		c.Token = func(context.Context) (string, error) {
			if asked++; asked < 3 {
				return "", errors.New("the issuer is away")
			}
			return "a.b.c", nil
		}
	})
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if s := ing.Status(); s.Retries != 2 || !strings.Contains(s.LastError, "the issuer is away") {
		t.Errorf("status %+v", s)
	}
}
