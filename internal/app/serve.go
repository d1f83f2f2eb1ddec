package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/copies"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/openapi"
	"github.com/ledgerlake/ledgerlake/query/scan"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

func newServe(a *app) *cobra.Command {
	var damaged bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "serve the scan, ledger and validator interfaces from the store",
		Long: `serve answers the network's scan interface (updates, events, active contract set,
present state, backfilling, bulk objects) from the store, at / and at /api/scan, and, on an
address of its own (--ledger-listen), the ledger query interface of a node whose stream is
in the store. Run as many as you need beside one ingest. With --scan-url it asks that
service for the few things that depend on a request and are not in history, such as the
participants of a party, and keeps what it is told. With a key for tokens and --node-url it
asks that node what users may read. With --node-url and a key for the tokens of wallets
it serves the validator interface as well, below /api/validator or on an address of its own
(--validator-listen); what changes the ledger goes to the node as commands, or to an existing
validator (--wallet-mode forward).`,
		Example: "  ledgerlake serve --clickhouse-dsn clickhouse://default@127.0.0.1:9000/default --listen 0.0.0.0:8080\n" +
			"  ledgerlake serve --data /srv/ledgerlake",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			s := newStack(a)
			defer s.closeInto(&err)
			if err := s.checkLocal(cmd.Context()); err != nil {
				return err
			}
			if err := s.bindAll(); err != nil {
				return err
			}
			if err := s.open(cmd.Context()); err != nil {
				return err
			}
			if err := s.refuseDamaged(cmd.Context(), damaged); err != nil {
				if errors.Is(err, schemas.ErrDamaged) {
					return fmt.Errorf("%w; --serve-damaged serves what is left", err)
				}
				return err
			}
			server, err := s.newServer(nil, a.cfg.ScanURLs)
			if err != nil {
				return err
			}
			ledgerServer, err := s.newLedgerServer(nil)
			if err != nil {
				return err
			}
			validatorServer, err := s.newValidatorServer(a.cfg.ScanURLs)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "scan interface: http://%s/ and http://%s/api/scan/\n", server.Addr(), server.Addr())
			if url := ledgerAt(&a.cfg, server, ledgerServer); url != "" {
				fmt.Fprintf(a.stdout, "ledger interface: %s\n", url)
			}
			a.printValidator(s)
			return s.supervise(cmd.Context(), append(serving(server, ledgerServer, validatorServer), s.watchDamage)...)
		},
	}
	cmd.Flags().BoolVar(&damaged, "serve-damaged", false, "serve a store that has lost rows: pages that lack some fail where that shows, and else are shorter than history")
	return cmd
}

// serving are the servers that there are, as parts.
func serving(servers ...*query.Server) (parts []func(context.Context) error) {
	for _, server := range servers {
		if server != nil {
			parts = append(parts, server.Serve)
		}
	}
	return parts
}

// newServer listens and returns the query tier over the store and the bucket. streams are
// those that this process ingests, or nil; scanURLs are the upstreams that may be asked for
// what history does not tell, if any.
func (s *stack) newServer(streams *streams, scanURLs []string) (*query.Server, error) {
	cfg := &s.app.cfg
	key, err := s.app.tokenKey()
	if err != nil {
		return nil, err
	}
	catalog, err := s.app.catalog()
	if err != nil {
		return nil, err
	}
	listener, err := s.listen(cfg.Listen, "listen")
	if err != nil {
		return nil, err
	}
	publicURL := cfg.PublicURL
	if publicURL == "" {
		publicURL = "http://" + listener.Addr().String()
	}
	bulk, err := s.newBulk()
	if err != nil {
		return nil, err
	}
	asked, err := s.askedFacts(scanURLs)
	if err != nil {
		return nil, err
	}
	api, err := scan.New(scan.Config{
		Facts: asked, Naming: query.Naming(cfg.Naming),
		Source: newScanHistory(s.reader.WithSide()), Health: &health{reader: s.reader, log: s.app.log}, Log: s.app.log,
		Bulk: bulk, BulkFormats: bulkFormats(cfg), PublicURL: publicURL, TokenKey: key, Catalog: catalog,
		CacheBytes: cfg.AnswerCache, Copies: s.copies(catalog),
		ChunkBytes: int64(s.pageBytes() / 2), DumpBytes: s.admission().DumpBytes(), Spare: s.admission().Spare,
		NodeID: "ledgerlake", Version: s.app.build.Version, CommitTime: s.app.build.Time,
		Ports: map[string]int{"scan": listener.Addr().(*net.TCPAddr).Port},
	})
	if err != nil {
		return nil, err
	}
	documents, err := openapi.Documents(query.Naming(cfg.Naming))
	if err != nil {
		return nil, err
	}
	page := &statusPage{db: s.db, streams: streams, damage: &s.damage}
	s.scanProxy = api.ProxyRoutes()
	mounts := []query.Mount{api.Mount(), openapi.Mount(documents...), page.mount()}
	if mounts, err = s.mountValidator(listener, s.scanProxy, scanURLs, mounts); err != nil {
		return nil, err
	}
	if cfg.LedgerShares() {
		ledger, err := s.newLedger(listener)
		if err != nil {
			return nil, err
		}
		mounts[0] = api.SharedMount() // the two interfaces have paths in common
		mounts = append(mounts, ledger.Mount())
	}
	return query.New(query.Config{
		Listener: listener, Mounts: mounts, Log: s.app.log, Admission: s.admission(), MaxPageBytes: s.pageBytes(),
		ClientRateLimit: cfg.RateLimit, Metrics: newRegistry(page), Pprof: cfg.Profiling, Hosts: cfg.Hosts(),
	})
}

// scanHistory is public history with the state of the network that it tells.
type scanHistory struct {
	*history.Reader
	*history.State
}

func newScanHistory(r *history.Reader) scanHistory { return scanHistory{r, r.State()} }

// pageBytes is the most of an answer that is gathered before it is sent: of some pages at once
// there must be room for all of that.
func (s *stack) pageBytes() int { return int(min(s.admission().PageBytes()/4, 64<<20)) }

// copies are those by update id, or nil if there are to be none.
func (s *stack) copies(catalog *values.Catalog) *copies.Items {
	if !s.app.cfg.LookupRows {
		return nil
	}
	return copies.NewItems(s.db, s.reader.Stream(), catalog)
}

// askedFacts returns what asks upstreams on behalf of clients, nil without any.
func (s *stack) askedFacts(scanURLs []string) (scan.Facts, error) {
	if len(scanURLs) == 0 || s.app.cfg.FactsInterval == 0 {
		return nil, nil
	}
	return s.newFacts(scanURLs)
}

// health answers readiness from the store.
type health struct {
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

// Ready asks the store for its watermark.
func (h *health) Ready(ctx context.Context) error {
	_, err := h.reader.Watermark(ctx)
	return err
}
