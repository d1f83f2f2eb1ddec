package app

import (
	"cmp"
	"context"
	"net"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app/operating"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/history/accounts"
	"github.com/ledgerlake/ledgerlake/internal/history/answers"
	"github.com/ledgerlake/ledgerlake/internal/history/explore"
	"github.com/ledgerlake/ledgerlake/internal/history/inventory"
	"github.com/ledgerlake/ledgerlake/internal/history/metrics"
	"github.com/ledgerlake/ledgerlake/internal/history/network"
	"github.com/ledgerlake/ledgerlake/internal/history/tables"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/jobs"
	"github.com/ledgerlake/ledgerlake/query/console"
	"github.com/ledgerlake/ledgerlake/query/console/boards"
	bulkpages "github.com/ledgerlake/ledgerlake/query/console/bulk"
	"github.com/ledgerlake/ledgerlake/query/console/explorer"
	networkpages "github.com/ledgerlake/ledgerlake/query/console/network"
	"github.com/ledgerlake/ledgerlake/query/console/operations"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/parties"
	"github.com/ledgerlake/ledgerlake/query/console/values"
	"github.com/ledgerlake/ledgerlake/query/scan"
)

// statusFresh is how old the state of history on a page may be.
const statusFresh = time.Second

// newConsole returns the pages for browsers.
func (s *servers) newConsole(listener net.Listener, key []byte, readiness *health, streams *statusPage) (*console.Console, error) {
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
		Boards:     boards.Config{Metrics: metrics.NewReader(s.db.db), Answers: answers.NewReader(s.db.db), Instance: s.instance(listener)},
		Bulk:       bulkpages.Config{Catalog: catalog, Objects: s.objects.bucket, Agree: s.p.cfg.ExportAgree},
		Operations: s.newOperations(listener, streams, catalog),
		Login:      s.signIn(listener, wallets),
		Wallet:     s.walletPages(wallets),
		Parties:    s.partyPages(),
		Network:    networkpages.Config{Network: s.networkReader(), Accounts: accounts.NewReader(s.db.db, s.db.reader.Stream()), Metrics: metrics.NewReader(s.db.db)},
	})
}

// partyPages says what the pages of parties and templates read.
func (s *servers) partyPages() parties.Config {
	stream := s.db.reader.Stream()
	return parties.Config{
		Accounts: accounts.NewReader(s.db.db, stream), Network: s.networkReader(), Explore: explore.NewReader(s.db.db, s.db.reader),
		Inventory: inventory.NewReader(s.db.db, stream), Tables: tables.NewReader(s.db.db, stream),
	}
}

func (s *servers) networkReader() *network.Reader {
	return network.NewReader(s.db.db, s.db.reader, s.db.packages.Catalog)
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

// instance says where other tools find the data of this instance.
func (s *servers) instance(listener net.Listener) boards.Instance {
	cfg := s.p.cfg
	i := boards.Instance{Address: cmp.Or(cfg.PublicURL, "http://"+listener.Addr().String()), Region: cfg.S3Region, Bucket: cfg.S3Bucket, Prefix: cfg.S3Prefix}
	if cfg.S3Endpoint != "" {
		i.Endpoint = settings.MaskURL(cfg.S3Endpoint)
	}
	return i
}

// newOperations says what the pages for operators show.
func (s *servers) newOperations(listener net.Listener, status *statusPage, catalog *published.Catalog) operations.Config {
	cfg := operations.Config{
		Open:    s.isOpen(listener),
		Streams: func(ctx context.Context) ([]operations.Stream, error) { return streamsOf(ctx, status) },
		Engine:  func(ctx context.Context) (operations.Engine, error) { return operating.Engine(ctx, s.db.db) },
		Objects: func(ctx context.Context) (operations.Objects, error) {
			return operating.Objects(ctx, s.p.cfg.S3Bucket, catalog)
		},
		Jobs: s.p.queueOf,
	}
	for _, e := range s.p.cfg.Effective() {
		cfg.Settings = append(cfg.Settings, operations.Setting{Group: string(e.Group), Name: e.Name, Value: e.Value, Usage: e.Usage, Changed: e.Changed})
	}
	return cfg
}

// isOpen reports whether whoever reaches a listener may operate this instance without signing in: only this machine does,
// under no name that others know it by, and there is nobody to sign in as, or anybody signs in as whomever they like.
func (s *servers) isOpen(listener net.Listener) bool {
	at, ok := listener.Addr().(*net.TCPAddr)
	nobody := s.validatorAt == "" && (s.p.cfg.ValidatorShares() || s.p.cfg.ValidatorListen == settings.ValidatorOff)
	return ok && at.IP.IsLoopback() && len(s.p.cfg.Hosts()) == 0 && (nobody || s.anybodySignsIn(listener))
}

// streamsOf is the status page for the console.
func streamsOf(ctx context.Context, status *statusPage) (list []operations.Stream, err error) {
	reports, err := status.reports(ctx)
	for _, r := range reports {
		of := operations.Stream{
			Name: r.Stream, Watermark: r.Watermark, WatermarkTime: r.WatermarkTime, Batches: r.Batches, Items: r.Items, Events: r.Events,
			LastCommit: r.LastCommit, Damage: r.StoreDamage,
		}
		if r.Live != nil {
			of.Live = shownLive(r.Live)
		}
		list = append(list, of)
	}
	return list, err
}

func shownLive(l *LiveStream) *operations.Live {
	live := &operations.Live{
		Phase: l.Phase, Detail: l.Detail, Position: l.Position, Lag: l.lag(), LagOffsets: l.LagOffsets, Rate: l.Rate, ETA: l.eta(),
		Updates: l.Updates, Retries: l.Retries, Disagreements: l.Disagreements, LastError: l.LastError, LastErrorAt: l.LastErrorAt,
	}
	for _, u := range l.Upstreams {
		live.Upstreams = append(live.Upstreams, operations.Upstream{
			URL: u.URL, State: u.State, End: u.End, Lag: seconds(u.LagSeconds), Latency: seconds(u.LatencySeconds), Requests: u.Requests,
			Retries: u.Retries, Disagreements: u.Disagreements, LastError: u.LastError, LastErrorAt: u.LastErrorAt,
		})
	}
	return live
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// queueOf is the queue that this process reaches, nil for none.
func (p *process) queueOf() operations.Jobs {
	if q := p.queue.Load(); q != nil {
		return *q
	}
	return nil
}

// watchQueue reaches the queue of other processes, if one is configured, to show its jobs. What is served does not
// depend on it.
func (p *process) watchQueue(ctx context.Context) {
	if p.cfg.RedisURL == "" {
		return
	}
	queue, err := jobs.Open(ctx, jobs.Config{RedisURL: p.cfg.RedisURL, Log: p.log})
	if err != nil {
		p.log.WarnContext(ctx, "the console shows no jobs: the queue does not answer", "err", err)
		return
	}
	p.onClose(queue.Close)
	p.queue.Store(&operating.Jobs{Queue: queue})
}
