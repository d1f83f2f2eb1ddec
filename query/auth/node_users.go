package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/ledgerlake/ledgerlake/internal/memo"
)

// NodeConfig says which node knows the users.
type NodeConfig struct {
	// BaseURL is that of the node's ledger interface.
	BaseURL string
	// Token returns our own token for it, "" for none; the user of it must be an
	// administrator of the node. nil means none.
	Token func(ctx context.Context) (string, error)
	// TTL is how long an answer is remembered, and so how long a right that was taken away
	// lasts; default 10 s.
	TTL time.Duration
	// Client defaults to one with a timeout of 10 s.
	Client *http.Client
	// Now defaults to time.Now.
	Now func() time.Time
}

// maxKnownUsers is how many users are remembered.
const maxKnownUsers = 10_000

// nodeAnswer is what a node said about a user.
type nodeAnswer struct {
	rights Rights
	err    error
}

// NodeUsers asks a node for the rights of its users.
type NodeUsers struct {
	cfg   NodeConfig
	known *memo.Recent[string, nodeAnswer]
	asks  singleflight.Group
}

// NewNodeUsers returns Users that ask a node.
func NewNodeUsers(cfg NodeConfig) *NodeUsers {
	cfg.BaseURL = strings.TrimRight(cfg.BaseURL, "/")
	cfg.TTL = cmp.Or(cfg.TTL, 10*time.Second)
	if cfg.Client == nil {
		cfg.Client = &http.Client{Timeout: 10 * time.Second}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &NodeUsers{cfg: cfg, known: memo.NewRecent[string, nodeAnswer](maxKnownUsers, cfg.TTL, cfg.Now)}
}

// Forget drops what is remembered of a user, whose rights have changed.
func (u *NodeUsers) Forget(user string) {
	u.asks.Forget(user)
	u.known.Remove(user)
}

// askTimeout bounds one question to the node: it serves all who wait for it.
const askTimeout = 10 * time.Second

// Rights implements Users.
func (u *NodeUsers) Rights(ctx context.Context, user string) (Rights, error) {
	if m, ok := u.known.Get(user); ok {
		return m.rights, m.err
	}
	answer := u.asks.DoChan(user, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		rights, err := u.ask(ctx, user)
		// A failure of the node is not remembered: the next request tries again.
		if err == nil || errors.Is(err, ErrUnauthenticated) {
			u.known.Put(user, nodeAnswer{rights, err}, u.cfg.Now())
		}
		return rights, err
	})
	select {
	case <-ctx.Done():
		return Rights{}, ctx.Err()
	case got := <-answer:
		rights, _ := got.Val.(Rights)
		return rights, got.Err
	}
}

func (u *NodeUsers) ask(ctx context.Context, user string) (Rights, error) {
	var about struct {
		User nodeUser `json:"user"`
	}
	path := "/v2/users/" + url.PathEscape(user)
	if err := u.get(ctx, path, &about); err != nil {
		return Rights{}, err
	}
	var list struct {
		Rights []nodeRight `json:"rights"`
	}
	if err := u.get(ctx, path+"/rights", &list); err != nil {
		return Rights{}, err
	}
	rights := Rights{
		Deactivated: about.User.Deactivated, PrimaryParty: about.User.PrimaryParty,
		ActAs: map[string]bool{}, ReadAs: map[string]bool{}, ExecuteAs: map[string]bool{},
	}
	for _, r := range list.Rights {
		r.addTo(&rights)
	}
	return rights, nil
}

type nodeUser struct {
	PrimaryParty string `json:"primaryParty"`
	Deactivated  bool   `json:"isDeactivated"`
}

// nodeRight is a right as a node reports it. Unknown kinds give nothing.
type nodeRight struct {
	Kind map[string]struct {
		Value struct {
			Party string `json:"party"`
		} `json:"value"`
	} `json:"kind"`
}

func (n nodeRight) addTo(r *Rights) {
	for kind, right := range n.Kind {
		switch party := right.Value.Party; kind {
		case "CanActAs":
			r.ActAs[party] = true
		case "CanReadAs":
			r.ReadAs[party] = true
		case "CanExecuteAs":
			r.ExecuteAs[party] = true
		case "CanReadAsAnyParty":
			r.ReadAsAny = true
		case "CanExecuteAsAnyParty":
			r.ExecuteAsAny = true
		case "ParticipantAdmin":
			r.ParticipantAdmin = true
		}
	}
}

// maxUserAnswer bounds what a node may tell of a user, in bytes.
const maxUserAnswer = 8 << 20

// get asks the node. Its errors are ErrUnauthenticated when the node has no such user.
func (u *NodeUsers) get(ctx context.Context, path string, into any) (err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.cfg.BaseURL+path, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if u.cfg.Token != nil {
		token, err := u.cfg.Token(ctx)
		if err != nil {
			return fmt.Errorf("%w: our token for the node: %w", ErrUnavailable, err)
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
	}
	response, err := u.cfg.Client.Do(request)
	if err != nil {
		return fmt.Errorf("%w: asking the node: %w", ErrUnavailable, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxUserAnswer))
	switch {
	case err != nil:
		return fmt.Errorf("%w: reading the node's answer: %w", ErrUnavailable, err)
	case response.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w: the node has no such user", ErrUnauthenticated)
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("%w: the node answers GET %s with status %d", ErrUnavailable, path, response.StatusCode)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%w: the node's answer to GET %s: %w", ErrUnavailable, path, err)
	}
	return nil
}
