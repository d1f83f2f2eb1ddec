package analytics

import (
	"context"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history/tables"
	"github.com/ledgerlake/ledgerlake/query"
)

// Source reads the tables; *tables.Reader does.
type Source interface {
	Tables(ctx context.Context) ([]tables.Table, error)
	Page(ctx context.Context, t *tables.Table, q tables.Request) (tables.Page, error)
}

// Config says what is served. All members are required but Now.
type Config struct {
	Source Source
	// TokenKey is the key of page tokens, the same for all servers of one store.
	TokenKey []byte
	Now      func() time.Time // default time.Now
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

// Prefixes are the places where the interface is served, beside that of scan.
var Prefixes = []string{"", "/api/scan"}

// Mount returns the interface for its prefixes.
func (a *API) Mount() query.Mount { return query.Mount{Prefixes: Prefixes, Routes: a.Routes()} }

// Routes lists the operations.
func (a *API) Routes() []query.Route {
	return []query.Route{
		{Method: "GET", Path: "/v0/analytics/tables", Name: "analytics.tables", Handle: a.list},
		{Method: "GET", Path: "/v0/analytics/tables/{table}", Name: "analytics.table", Class: query.Page, Handle: a.rows},
	}
}
