package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"runtime/debug"
	"sync/atomic"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/copies"
	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/internal/history/tables"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/analytics"
	"github.com/ledgerlake/ledgerlake/query/auth"
	"github.com/ledgerlake/ledgerlake/query/openapi"
	"github.com/ledgerlake/ledgerlake/query/scan"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// servers serve the interfaces of a process.
type servers struct {
	p         *process
	db        *database
	objects   *objects
	listeners *listeners
	wallets   *wallets

	// admitting is what the servers of this process share, made on first use.
	admitting *query.Admission
	// scanProxy are the lookups of the scan interface that the validator interface has as well.
	scanProxy []query.Route
	// walletServer leads to the server that has the validator interface, users knows its users; nil without one.
	walletServer walletServer
	users        *auth.NodeUsers
	// validatorAt is where the validator interface is, "" for nowhere.
	validatorAt string
}

// newServer listens and returns the query tier over the store and the bucket. streams are
// those that this process ingests, or nil; scanURLs are the upstreams that may be asked for
// what history does not tell, if any.
func (s *servers) newServer(streams *streams, scanURLs []string) (*query.Server, error) {
	cfg := s.p.cfg
	key, err := s.tokenKey()
	if err != nil {
		return nil, err
	}
	listener, err := s.listeners.listen(cfg.Listen, "listen")
	if err != nil {
		return nil, err
	}
	bulk, err := s.objects.newBulk()
	if err != nil {
		return nil, err
	}
	asked, err := s.db.askedFacts(scanURLs)
	if err != nil {
		return nil, err
	}
	scanURL := ""
	if len(scanURLs) > 0 {
		scanURL = scanURLs[0]
	}
	finder, err := s.db.blobsFrom(scanURL)
	if err != nil {
		return nil, err
	}
	side := s.db.reader.WithSide()
	readiness := &health{db: s.db.db, reader: s.db.reader, log: s.p.log}
	config := scan.Config{
		Naming: query.Naming(cfg.Naming),
		Source: scanHistory{side, side.State(), side.Rounds()}, Health: readiness, Log: s.p.log,
		Blobs: finder, UpstreamURL: scanURL, Bulk: bulk, BulkFormats: bulkFormats(cfg), PublicURL: cmp.Or(cfg.PublicURL, "http://"+listener.Addr().String()), TokenKey: key, Catalog: s.db.packages.Catalog,
		CacheBytes: cfg.AnswerCache, Copies: s.copies(),
		ChunkBytes: int64(s.pageBytes() / 2), DumpBytes: s.admission().DumpBytes(), Spare: s.admission().Spare,
		NodeID: "ledgerlake", Version: s.p.build.Version, CommitTime: s.p.build.Time,
		Ports: map[string]int{"scan": listener.Addr().(*net.TCPAddr).Port},
	}
	if asked != nil {
		config.Facts = asked
	}
	api, err := scan.New(config)
	if err != nil {
		return nil, err
	}
	page := &statusPage{db: s.db.db, streams: streams, damage: &s.db.damage}
	s.scanProxy = api.ProxyRoutes()
	mounts := []query.Mount{api.Mount(), page.mount()}
	if mounts, err = s.mountValidator(listener, s.scanProxy, scanURLs, mounts); err != nil {
		return nil, err
	}
	mounts = append(mounts, analytics.New(analytics.Config{Open: analytics.Public(tables.NewReader(s.db.db, s.db.reader.Stream())), Metrics: metrics.NewReader(s.db.db), Prefixes: analytics.PublicPrefixes, TokenKey: key}).Mount())
	if cfg.LedgerShares() {
		ledger, private, err := s.newLedger(listener)
		if err != nil {
			return nil, err
		}
		mounts[0] = api.SharedMount() // the two interfaces have paths in common
		mounts = append(mounts, ledger.Mount(), private)
	}
	pages, err := s.newConsole(listener, key, readiness, page)
	if err != nil {
		return nil, err
	}
	return s.serverOf(listener, page, query.Config{Mounts: append(mounts, pages.Mount()), Errors: pages.Errors})
}

// serverOf returns a server of the mounts and errors of config, with the documents of all interfaces.
func (s *servers) serverOf(listener net.Listener, page *statusPage, config query.Config) (*query.Server, error) {
	cfg := s.p.cfg
	documents, err := openapi.Documents(query.Naming(cfg.Naming))
	if err != nil {
		return nil, err
	}
	config.Mounts = append(config.Mounts, openapi.Mount(documents...))
	config.Listener, config.Log, config.Hosts = listener, s.p.log, cfg.Hosts()
	config.Admission, config.MaxPageBytes, config.ClientRateLimit = s.admission(), s.pageBytes(), cfg.RateLimit
	config.Metrics, config.Pprof = newRegistry(page), cfg.Profiling
	return query.New(config)
}

// scanHistory is public history with the state of the network that it tells.
type scanHistory struct {
	*history.Reader
	*history.State
	*history.Rounds
}

// copies are those by update id, or nil if there are to be none.
func (s *servers) copies() *copies.Items {
	if !s.p.cfg.LookupRows {
		return nil
	}
	return copies.NewItems(s.db.db, s.db.reader.Stream(), s.db.packages.Catalog)
}

// health answers readiness from the store.
type health struct {
	db         *store.DB
	reader     *history.Reader
	log        *slog.Logger
	backfilled atomic.Bool // once true it stays true
}

// Backfilled reports whether the stream has reached its upstream's end once.
func (h *health) Backfilled(ctx context.Context) bool {
	if h.backfilled.Load() {
		return true
	}
	reached, err := h.reader.Backfilled(ctx)
	if err != nil {
		h.log.WarnContext(ctx, "cannot tell whether the backfill is complete", "err", err)
		return false
	}
	if reached {
		h.backfilled.Store(true)
	}
	return reached
}

// Ready asks all of the store.
func (h *health) Ready(ctx context.Context) error { return h.db.Ping(ctx) }

// running are the servers of a process; of the last two there may be none.
type running struct{ scan, ledger, validator *query.Server }

// parts are the servers that there are.
func (r running) parts() (parts []func(context.Context) error) {
	for _, server := range []*query.Server{r.scan, r.ledger, r.validator} {
		if server != nil {
			parts = append(parts, server.Serve)
		}
	}
	return parts
}

// parts are what serves, and what gives the operator a wallet.
func (s *servers) parts(r running) []func(context.Context) error {
	return append(r.parts(), s.operatorParts()...)
}

// start listens on all addresses. streams are those that this process ingests, or nil; scanURLs
// are the upstreams that may be asked for what history does not tell, if any.
func (s *servers) start(streams *streams, scanURLs []string) (r running, err error) {
	if r.scan, err = s.newServer(streams, scanURLs); err != nil {
		return r, err
	}
	if r.ledger, err = s.newLedgerServer(streams); err != nil {
		return r, err
	}
	if r.validator, err = s.newValidatorServer(scanURLs); err != nil {
		return r, err
	}
	if s.walletServer.server = r.validator; r.validator == nil {
		s.walletServer.server = r.scan
	}
	return r, nil
}

// addresses are where the servers listen.
func (s *servers) addresses(r running) Addresses {
	at := Addresses{
		Scan: r.scan.Addr(), Ledger: ledgerAt(s.p.cfg, r.scan, r.ledger), Validator: s.validatorAt,
		ClickHouse: settings.MaskURL(s.db.readerDSN()), Simulated: s.p.development(), LiveClock: s.p.devnetClock,
	}
	if s.p.cfg.ValidatorAuthSecret == "" {
		at.Secret = DevelopmentSecret
	}
	return at
}

// Serve serves from the store until ctx ends. damaged says that a store that has lost rows is
// served, too. ready is called once the servers listen.
func (a *App) Serve(ctx context.Context, damaged bool, ready func(Addresses)) error {
	if err := a.db.checkLocal(ctx); err != nil {
		return err
	}
	if err := a.listeners.bindAll(); err != nil {
		return err
	}
	if err := a.open(ctx); err != nil {
		return err
	}
	if err := a.db.refuseDamaged(ctx, damaged); err != nil {
		if errors.Is(err, schemas.ErrDamaged) {
			return fmt.Errorf("%w; --serve-damaged serves what is left", err)
		}
		return err
	}
	served, err := a.servers.start(nil, a.p.cfg.ScanURLs)
	if err != nil {
		return err
	}
	a.p.watchQueue(ctx)
	ready(a.servers.addresses(served))
	return a.p.supervise(ctx, append(a.servers.parts(served), a.db.watchDamage, a.db.packages.Run)...)
}

// requestsShare is the part of the memory limit that requests may reserve, as 1/requestsShare.
// The rest is for answers that are kept, websockets, connections and garbage.
const requestsShare = 2

// admission decides which requests are worked on, for all servers of this process together.
func (s *servers) admission() *query.Admission {
	if s.admitting == nil {
		limit := debug.SetMemoryLimit(-1) // only asks for it: GOMEMLIMIT wins over the setting
		if limit == math.MaxInt64 {
			limit = s.p.cfg.MemoryLimit
		}
		s.admitting = query.NewAdmission(query.AdmissionConfig{Memory: limit / requestsShare, MaxConcurrent: s.p.cfg.MaxConcurrent})
	}
	return s.admitting
}

// pageBytes is the most of an answer that is gathered before it is sent: of some pages at once
// there must be room for all of that.
func (s *servers) pageBytes() int { return int(min(s.admission().PageBytes()/4, 64<<20)) }
