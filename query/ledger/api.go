package ledger

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/auth"
	"github.com/ledgerlake/ledgerlake/query/ledger/view"
	"github.com/ledgerlake/ledgerlake/query/openapi"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Config says what the interface reads and what it allows.
type Config struct {
	// Node finds the stream to serve. Its error is ErrNoStream while there is none. It is
	// asked until it has given one.
	Node func(ctx context.Context) (Node, error) // required
	// Health says whether the store answers.
	Health func(ctx context.Context) error // required
	Log    *slog.Logger                    // required
	// Auth checks tokens. Without it everybody may read everything.
	Auth *auth.Verifier
	// NodeURL is where the node's own interface is. What only a node can do is passed on to it, with
	// the caller's token; without it that is refused. Leave it out where everybody may ask without a token.
	NodeURL string
	// NodeClient sends what is passed on; default one that follows no redirects.
	NodeClient *http.Client
	// Catalog knows templates and interfaces that the stream may not have shown yet;
	// defaults to values.Default().
	Catalog *values.Catalog
	// TokenKey signs page tokens; at least 16 bytes. Servers that share clients must share it.
	TokenKey []byte
	// Prefix is put before every path, such as "/ledger"; default none.
	Prefix string
	// CacheBytes bounds the memory for answers of lists that never change; default none.
	CacheBytes int64
	// ListLimit is the most elements of a list; default 200.
	ListLimit int
	// MaxPageSize is the most elements of a page; default 1000.
	MaxPageSize int
	// ListIdle is how long a list without an end waits for another element; default 500 ms.
	ListIdle time.Duration
	// MaxStreams and MaxUserStreams are how many websockets there may be at once, of all users and
	// of one; default 256 and 64.
	MaxStreams, MaxUserStreams int
	// MaxReads is how many pages are read at once for websockets; default 4.
	MaxReads int
	// CheckpointDelay is the longest time between two checkpoints on a websocket; default 1 s.
	CheckpointDelay time.Duration
	// RenewInterval is how often the rights of a websocket's user are looked up again; default 10 s.
	RenewInterval time.Duration
	// EndInterval is how often the end of the stream is read while somebody waits for it to move, and
	// how long it may be remembered; default 20 ms.
	EndInterval time.Duration
	// Version is that of this program.
	Version string
	// Now defaults to time.Now.
	Now func() time.Time
}

func (c *Config) setDefaults() error {
	switch {
	case c.Node == nil || c.Health == nil || c.Log == nil:
		return errors.New("ledger: Config.Node, Health and Log are required")
	case len(c.TokenKey) < 16:
		return errors.New("ledger: Config.TokenKey must have at least 16 bytes")
	case c.ListLimit < 0 || c.MaxPageSize < 0 || c.MaxStreams < 0 || c.MaxUserStreams < 0 || c.MaxReads < 0:
		return errors.New("ledger: a limit in Config is negative")
	case c.Prefix != "" && (c.Prefix[0] != '/' || c.Prefix[len(c.Prefix)-1] == '/'):
		return errors.New("ledger: Config.Prefix must begin with a slash and not end with one")
	}
	if c.Catalog == nil {
		c.Catalog = values.Default()
	}
	c.ListLimit = cmp.Or(c.ListLimit, 200)
	c.MaxPageSize = cmp.Or(c.MaxPageSize, 1000)
	c.ListIdle = cmp.Or(c.ListIdle, 500*time.Millisecond)
	c.MaxStreams = cmp.Or(c.MaxStreams, 256)
	c.MaxUserStreams = cmp.Or(c.MaxUserStreams, 64)
	c.MaxReads = cmp.Or(c.MaxReads, 4)
	c.CheckpointDelay = cmp.Or(c.CheckpointDelay, time.Second)
	c.RenewInterval = cmp.Or(c.RenewInterval, 10*time.Second)
	c.EndInterval = cmp.Or(c.EndInterval, 20*time.Millisecond)
	if c.Now == nil {
		c.Now = time.Now
	}
	return nil
}

// API is the ledger query interface. It is safe for concurrent use.
type API struct {
	cfg    Config
	tokens query.PageTokens
	// found is the node, once it is known; finding is held while it is looked for.
	found   atomic.Pointer[node]
	finding sync.Mutex
	streams *streams
	answers *answers
	passing passing
	// sizes are those of the elements of lists and pages.
	sizes query.Sizes
	// reads holds one token per page that is being read for a websocket.
	reads chan struct{}
}

// New checks the configuration.
func New(cfg Config) (*API, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	answers, err := newAnswers(cfg.CacheBytes)
	if err != nil {
		return nil, err
	}
	a := &API{
		cfg: cfg, tokens: query.PageTokens{Key: cfg.TokenKey},
		answers: answers,
		streams: newStreams(cfg.MaxStreams, cfg.MaxUserStreams), reads: make(chan struct{}, cfg.MaxReads),
	}
	return a, a.passTo(cfg.NodeURL, cfg.NodeClient)
}

// Mount returns the interface with its own form of errors.
func (a *API) Mount() query.Mount {
	return query.Mount{Prefixes: []string{a.cfg.Prefix}, Routes: a.Routes(), Errors: a.Errors}
}

// Routes lists the operations.
func (a *API) Routes() []query.Route {
	return append(a.passing.routes(), []query.Route{
		{Method: "POST", Path: "/v2/updates", Name: "ledger.updates", Class: query.Page, Handle: a.read(a.listUpdates(view.Formats))},
		{Method: "POST", Path: "/v2/updates/flats", Name: "ledger.flats", Class: query.Page, Handle: a.read(a.listUpdates(view.Formats))},
		{Method: "GET", Path: "/v2/updates", Name: "ledger.updates.stream", Handle: a.read(a.streamUpdates(view.Formats))},
		{Method: "POST", Path: "/v2/updates/get-updates-page", Name: "ledger.updates.page", Class: query.Page, Handle: a.read(a.updatesPage)},
		{Method: "POST", Path: "/v2/updates/update-by-id", Name: "ledger.update_by_id", Handle: a.read(a.byBody(view.ParseUpdateByID))},
		{Method: "POST", Path: "/v2/updates/update-by-offset", Name: "ledger.update_by_offset", Handle: a.read(a.byBody(view.ParseUpdateByOffset))},
		{Method: "GET", Path: "/v2/updates/flats", Name: "ledger.flats.stream", Handle: a.read(a.streamUpdates(view.Formats))},
		{Method: "POST", Path: "/v2/updates/trees", Name: "ledger.trees", Class: query.Page, Handle: a.read(a.listUpdates(view.Trees))},
		{Method: "GET", Path: "/v2/updates/trees", Name: "ledger.trees.stream", Handle: a.read(a.streamUpdates(view.Trees))},
		{Method: "POST", Path: "/v2/updates/transaction-by-id", Name: "ledger.transaction_by_id", Handle: a.read(a.byBody(view.ParseTransactionByID))},
		{Method: "POST", Path: "/v2/updates/transaction-by-offset", Name: "ledger.transaction_by_offset", Handle: a.read(a.byBody(view.ParseTransactionByOffset))},
		{Method: "GET", Path: "/v2/updates/transaction-tree-by-id/{update-id}", Name: "ledger.tree_by_id", Handle: a.read(a.tree("update-id", view.TreeByID))},
		{Method: "GET", Path: "/v2/updates/transaction-tree-by-offset/{offset}", Name: "ledger.tree_by_offset", Handle: a.read(a.tree("offset", treeByOffset))},

		{Method: "POST", Path: "/v2/state/active-contracts", Name: "ledger.active", Class: query.Page, Handle: a.read(a.listActive)},
		{Method: "GET", Path: "/v2/state/active-contracts", Name: "ledger.active.stream", Handle: a.read(a.streamActive)},
		{Method: "POST", Path: "/v2/state/active-contracts-page", Name: "ledger.active.page", Class: query.Page, Handle: a.read(a.activePage)},
		{Method: "GET", Path: "/v2/state/active-contracts-page", Name: "ledger.active.page.old", Class: query.Page, Handle: a.read(a.activePage)},
		{Method: "POST", Path: "/v2/contracts/contract-by-id", Name: "ledger.contract", Handle: a.read(a.contract)},
		{Method: "POST", Path: "/v2/events/events-by-contract-id", Name: "ledger.contract_events", Handle: a.read(a.contractEvents)},

		{Method: "GET", Path: "/v2/state/ledger-end", Name: "ledger.end", Handle: a.read(a.ledgerEnd)},
		{Method: "GET", Path: "/v2/state/latest-pruned-offsets", Name: "ledger.pruned", Handle: a.read(a.prunedOffsets)},
		{Method: "GET", Path: "/v2/state/connected-synchronizers", Name: "ledger.synchronizers", Handle: a.read(a.synchronizers)},

		{Method: "GET", Path: "/v2/version", Name: "ledger.version", Handle: a.version},
		openapi.TextRoute("/docs/openapi", openapi.Ledger),
		openapi.TextRoute("/docs/asyncapi", openapi.LedgerAsync),
		{Method: "GET", Path: "/livez", Name: "ledger.livez", Handle: a.livez, Probe: true},
		{Method: "GET", Path: "/readyz", Name: "ledger.readyz", Handle: a.readyz, Probe: true},
	}...)
}

// reading is a request of a user who is known, about a node that is known.
type reading struct {
	*query.Request
	who  *auth.Principal
	node *node
}

// read makes a handler of an operation that needs a node and a good token.
func (a *API) read(handle func(ctx context.Context, r *reading) error) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		r.TraceID() // from here on the log has it
		n, err := a.node(ctx)
		if err != nil {
			return err
		}
		who, err := a.principal(ctx, r)
		if err != nil {
			return err
		}
		return handle(ctx, &reading{r, who, n})
	}
}

// Caller returns who sends a request, and the participant whose stream they ask for. Its errors are those of
// Verifier.Verify, and ErrNoStream.
func (a *API) Caller(ctx context.Context, r *query.Request) (who *auth.Principal, participant string, err error) {
	if who, err = a.principal(ctx, r); err != nil {
		return nil, "", err
	}
	n, err := a.node(ctx)
	if err != nil {
		return nil, "", err
	}
	return who, n.Participant, nil
}

// principal is who sends a request, by its token.
func (a *API) principal(ctx context.Context, r *query.Request) (*auth.Principal, error) {
	if a.cfg.Auth == nil {
		return &auth.Principal{Unchecked: true}, nil
	}
	return a.cfg.Auth.Verify(ctx, auth.TokenOf(r.Header("Authorization"), r.Header("Sec-WebSocket-Protocol")))
}
