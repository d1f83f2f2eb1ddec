package validator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/auth"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Config says what the interface reads, what it may do and who may use it.
type Config struct {
	// Auth checks tokens. Config.Audience of it should be set: without, tokens for the ledger
	// interface are good here, too.
	Auth *auth.Verifier // required
	// Users knows what users may do.
	Users Users // required
	// Views finds who reads the node's stream; its error is a query.Error while there is none.
	Views func(ctx context.Context) (Views, error) // required
	// History finds who reads the node's stream as it is; its error is as that of Views.
	History func(ctx context.Context) (NodeHistory, error) // required
	// Network tells the rounds and the time of the ledger.
	Network Network // required
	// Commands finds who sends commands to the node; nil if that is not allowed, and then
	// operations that change the ledger answer 501, unless there is Forward.
	Commands func(ctx context.Context) (*Commands, error)
	// Forward sends operations that change the ledger to an existing validator instead.
	Forward *Forward
	// Operator finds the party and the user of the operator.
	Operator func(ctx context.Context) (Operator, error) // required
	// Health says whether requests can be answered.
	Health func(ctx context.Context) error // required
	Log    *slog.Logger                    // required

	// ScanProxy are the lookups of our own scan interface, with the paths of the proxy.
	ScanProxy []query.Route
	// ScanURL is a scan that is asked while ours has no history, and for the registries of the
	// token standard; "" for none. ScanClient defaults to one with a timeout.
	ScanURL    string
	ScanClient *http.Client

	// Development allows what only development networks have: tap and granting oneself the right
	// of a featured app.
	Development bool
	// TransferCommands allows the deprecated transfers by external parties.
	TransferCommands bool
	// Catalog converts values between encodings; defaults to values.Default().
	Catalog *values.Catalog
	// Naming is the spelling of members of answers; default query.Neutral.
	Naming query.Naming
	// MaxPageSize caps page_size and limit; default and most is 1000.
	MaxPageSize int
	// OperatorTTL is how long the operator is remembered; default 1 min.
	OperatorTTL time.Duration
	// NodeID, Version and CommitTime are reported by /status and /version, and so are Ports by the
	// name of their interface.
	NodeID     string
	Version    string
	CommitTime time.Time
	Ports      map[string]int
	// Now defaults to time.Now.
	Now func() time.Time
}

// Users knows the users of the node.
type Users interface {
	auth.Users
	// Forget has the rights of a user asked anew: they have just been changed.
	Forget(user string)
}

// Operator is who runs the validator.
type Operator struct {
	Party string
	// User is the name of its ledger user.
	User string
}

func (c *Config) setDefaults() error {
	switch {
	case c.Auth == nil || c.Users == nil || c.Views == nil || c.History == nil || c.Network == nil || c.Operator == nil || c.Health == nil || c.Log == nil:
		return errors.New("validator: Config.Auth, Users, Views, History, Network, Operator, Health and Log are required")
	case c.Naming != "" && c.Naming != query.Neutral && c.Naming != query.Network:
		return fmt.Errorf("validator: Config.Naming %q is neither %q nor %q", c.Naming, query.Neutral, query.Network)
	case c.MaxPageSize < 0 || c.MaxPageSize > query.MaxListItems:
		return errors.New("validator: Config.MaxPageSize must be from 1 to 1000")
	}
	if c.Catalog == nil {
		c.Catalog = values.Default()
	}
	c.MaxPageSize = cmp.Or(c.MaxPageSize, query.MaxListItems)
	c.OperatorTTL = cmp.Or(c.OperatorTTL, time.Minute)
	if c.Now == nil {
		c.Now = time.Now
	}
	return nil
}
