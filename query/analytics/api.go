package analytics

import (
	"context"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/internal/history/tables"
	"github.com/ledgerlake/ledgerlake/query"
)

// Source reads the tables; *tables.Reader does.
type Source interface {
	// Stream names the stream that the tables are of.
	Stream() string
	Tables(ctx context.Context) ([]tables.Table, error)
	Page(ctx context.Context, t *tables.Table, q tables.Request) (tables.Page, error)
}

// Metrics reads metrics; *metrics.Reader does.
type Metrics interface {
	Read(ctx context.Context, q metrics.Request) (metrics.Answer, error)
}

// Config says what is served. All members are required but Now.
type Config struct {
	// Open returns what a caller asks, and what they may read of it.
	Open func(ctx context.Context, r *query.Request) (Source, tables.Access, error)
	// Metrics reads metrics of public history; a node's stream has none.
	Metrics Metrics
	// Private says that it is the stream of a node, which has paths of its own.
	Private bool
	// Prefixes are the places where the interface is served.
	Prefixes []string
	// TokenKey is the key of page tokens, the same for all servers of one store.
	TokenKey []byte
	Now      func() time.Time // default time.Now
}

// Public opens a source of public history, which everybody may read.
func Public(source Source) func(context.Context, *query.Request) (Source, tables.Access, error) {
	return func(context.Context, *query.Request) (Source, tables.Access, error) {
		return source, tables.Access{All: true}, nil
	}
}

// API is the interface. It is safe for concurrent use.
type API struct {
	cfg    Config
	tokens query.PageTokens
	sizes  query.Sizes // of rows
}

// New returns the interface.
func New(cfg Config) *API {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &API{cfg: cfg, tokens: query.PageTokens{Key: cfg.TokenKey}}
}

// PublicPrefixes are the places where public history is served, beside that of scan.
var PublicPrefixes = []string{"", "/api/scan"}

// Mount returns the interface for its prefixes.
func (a *API) Mount() query.Mount { return query.Mount{Prefixes: a.cfg.Prefixes, Routes: a.Routes()} }

// Routes lists the operations.
func (a *API) Routes() []query.Route {
	path, name := "/v0/analytics/", "analytics."
	if a.cfg.Private {
		path, name = path+"private/", name+"private_"
	}
	routes := []query.Route{
		{Method: "GET", Path: path + "tables", Name: name + "tables", Handle: a.list},
		{Method: "GET", Path: path + "tables/{table}", Name: name + "table", Class: query.Page, Handle: a.rows},
	}
	if a.cfg.Private {
		return routes
	}
	return append(routes,
		query.Route{Method: "GET", Path: path + "metrics", Name: name + "metrics", Handle: a.listMetrics},
		query.Route{Method: "GET", Path: path + "metrics/{metric}", Name: name + "metric", Class: query.Page, Handle: a.metric})
}
