package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
)

// Config says which node to write to and how. Zero values stand for the defaults.
type Config struct {
	// BaseURL is the node's ledger JSON API, with the path prefix that it may have.
	// Required.
	BaseURL string
	// HTTPClient defaults to a client with its own connection pool.
	HTTPClient *http.Client
	// Log is required.
	Log *slog.Logger

	// Token returns the access token, nil for a node without authorization. It is asked
	// when the last token is about to expire or was refused.
	Token func(context.Context) (string, error)
	// TokenFile holds the access token, instead of Token; it is read again when it changes.
	TokenFile string
	// User is the ledger user who submits. Default: the subject of the token, or
	// "ledgerlake" without one.
	User string

	// RequestTimeout ends a call. Default 30s.
	RequestTimeout time.Duration
	// ResolveTimeout is how long the completion of a command is waited for, after the
	// answer to it was lost, each time that it was sent. Default 5s.
	ResolveTimeout time.Duration
	// Attempts is how often a command is sent whose outcome is not known. Default 3.
	Attempts int
	// Poll is the wait between two looks for a completion. Default 100ms.
	Poll time.Duration
	// PageSize is the most elements of a list that are asked for at a time. It must not
	// exceed the node's own limit. Default 200.
	PageSize int

	// Version is sent as User-Agent ledgerlake/<version>.
	Version string
	// Now defaults to time.Now.
	Now func() time.Time
}

func (c *Config) setDefaults() error {
	switch {
	case c.Log == nil:
		return errors.New("the client of a node needs a logger")
	case c.Token != nil && c.TokenFile != "":
		return errors.New("the node's token has two sources, a function and a file")
	case c.RequestTimeout < 0 || c.ResolveTimeout < 0 || c.Attempts < 0 || c.Poll < 0 || c.PageSize < 0:
		return errors.New("limits of the client of a node must not be negative")
	}
	c.RequestTimeout = cmp.Or(c.RequestTimeout, 30*time.Second)
	c.ResolveTimeout = cmp.Or(c.ResolveTimeout, 5*time.Second)
	c.Attempts = cmp.Or(c.Attempts, 3)
	c.Poll = cmp.Or(c.Poll, 100*time.Millisecond)
	c.PageSize = cmp.Or(c.PageSize, 200)
	c.Version = cmp.Or(c.Version, "dev")
	if c.Now == nil {
		c.Now = time.Now
	}
	return nil
}

// Client calls one node. It is safe for concurrent use.
type Client struct {
	cfg    Config
	http   *http.Client
	base   string // without a slash at the end
	name   string // base without credentials
	tokens *remote.Tokens
	ends   ledgerEnds
}

// New makes a client; it calls nobody yet.
func New(cfg Config) (*Client, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	u, err := url.Parse(cfg.BaseURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("node %q is not an http or https URL", remote.Redact(u))
	}
	c := &Client{
		cfg: cfg, http: cfg.HTTPClient, base: strings.TrimRight(u.JoinPath().String(), "/"), name: remote.Redact(u),
		tokens: remote.NewTokens(cfg.Token, cfg.TokenFile, cfg.Now),
	}
	if c.http == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = 16
		c.http = &http.Client{Transport: transport}
	}
	return c, nil
}

// SubmittingUser is the ledger user in whose name commands are submitted.
func (c *Client) SubmittingUser(ctx context.Context) (string, error) {
	if c.cfg.User != "" {
		return c.cfg.User, nil
	}
	token, err := c.tokens.Get(ctx)
	if err != nil {
		return "", err
	}
	return cmp.Or(remote.Subject(token), "ledgerlake"), nil
}
