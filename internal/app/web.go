package app

import (
	"context"
	"net"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history/answers"
	"github.com/ledgerlake/ledgerlake/internal/history/explore"
	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/query/console"
	"github.com/ledgerlake/ledgerlake/query/console/boards"
	bulkpages "github.com/ledgerlake/ledgerlake/query/console/bulk"
	"github.com/ledgerlake/ledgerlake/query/console/explorer"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/values"
	"github.com/ledgerlake/ledgerlake/query/scan"
)

// statusFresh is how old the state of history on a page may be.
const statusFresh = time.Second

// newConsole returns the pages for browsers.
func (s *servers) newConsole(listener net.Listener, key []byte, readiness *health) (*console.Console, error) {
	wallets := s.walletClient()
	status := &memo.Value[page.Status]{Now: time.Now, TTL: statusFresh, Load: func(ctx context.Context) (page.Status, error) {
		return s.pageStatus(ctx, readiness)
	}}
	catalog, err := s.objects.published()
	if err != nil {
		return nil, err
	}
	return console.New(console.Config{
		Pages: page.Config{Key: key, Status: status.Get, Network: s.networkName(), Version: s.p.build.Version, Log: s.p.log, Sections: sections(wallets)},
		Explorer: explorer.Config{
			History: s.db.reader.WithSide(), Explore: explore.NewReader(s.db.db, s.db.reader), Metrics: metrics.NewReader(s.db.db),
			Labels: values.NewLabels(s.db.packages.Catalog), Scan: scan.Prefixes[len(scan.Prefixes)-1],
		},
		Boards: boards.Config{Metrics: metrics.NewReader(s.db.db), Answers: answers.NewReader(s.db.db)},
		Bulk:   bulkpages.Config{Catalog: catalog, Objects: s.objects.bucket, Agree: s.p.cfg.ExportAgree},
		Login:  s.signIn(listener, wallets),
		Wallet: s.walletPages(wallets),
	})
}

// networkName is what pages call the network.
func (s *servers) networkName() string {
	if s.p.development() {
		return "simulated network"
	}
	return ""
}

// pageStatus is how far public history is.
func (s *servers) pageStatus(ctx context.Context, readiness *health) (status page.Status, err error) {
	at, err := s.db.reader.Watermark(ctx)
	if err != nil {
		return status, err
	}
	status.Through, status.Migration = at.RecordTime, at.MigrationID
	if !readiness.Backfilled(ctx) {
		status.Behind = "it is still being read from the network."
	}
	if err := s.db.damage.err(); err != nil {
		status.Damaged = err.Error()
	}
	return status, nil
}
