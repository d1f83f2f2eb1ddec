package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// stack holds the services that the parts work on, embedded or given, and ends those
// it started, last first.
type stack struct {
	app     *app
	closers []func() error

	dsn    string
	engine *engine.Engine // nil unless it is our own
	db     *store.DB
	reader *history.Reader
	bucket *bucket.Client
	// objects is the folder of the bucket's files, "" unless the gateway is our own.
	objects  string
	exporter *export.Exporter // made on first use
	// admitting is what the servers of this process share, made on first use.
	admitting *query.Admission

	// makesStore says that the command makes a store where there is none.
	makesStore bool
	// readsBucket says that the command reads objects and must not make a bucket for them.
	readsBucket bool
	// bound are listeners that no server has taken yet, by their setting.
	bound map[string]net.Listener

	// exportLimits limit what is exported.
	exportLimits exportLimits

	// simulated says that the upstream is the simulated network of this process, whose time is
	// its own.
	simulated bool
	// devnetNode is the URL of the simulated network's node, "" without one.
	devnetNode string
	// devnetClock says that its time is that of the wall clock. Only then are there wallets by
	// themselves: without them its history is that of its seed alone.
	devnetClock bool
	wallets     *walletParts // made on first use
	// scanProxy are the lookups of the scan interface that the validator interface has as well.
	scanProxy []query.Route
	// validatorAt is where the validator interface is, "" for nowhere.
	validatorAt string

	// damage is what is known of rows that the store has lost.
	damage damageWatch

	// deaths are embedded services that can end by themselves.
	deaths []death
}

type death struct {
	name string
	done <-chan struct{}
	err  func() error
}

// stopTimeout is how long an embedded engine may take to end before it is killed. Those who
// stop us, such as docker compose, wait for 30 s.
const stopTimeout = 25 * time.Second

// timeAhead is how far record times may be ahead of this machine's clock, 0 for no limit.
func (s *stack) timeAhead() time.Duration {
	if s.simulated {
		return 0
	}
	return s.app.cfg.TimeAhead
}

func newStack(a *app) *stack { return &stack{app: a, bound: make(map[string]net.Listener)} }

func (s *stack) onClose(f func() error) { s.closers = append(s.closers, f) }

// close ends everything and returns what went wrong.
func (s *stack) close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	s.closers = nil
	return errors.Join(errs...)
}

// closeInto is close for a deferred call: a clean-up failure never hides the first error.
func (s *stack) closeInto(err *error) {
	if closeErr := s.close(); closeErr != nil && *err == nil {
		*err = closeErr
	}
}

// watch returns an error as soon as an embedded service ends by itself, nil when ctx ends.
func (s *stack) watch(ctx context.Context) error {
	ended := make(chan error, len(s.deaths))
	for _, d := range s.deaths {
		guard.Go(func() error {
			select {
			case <-d.done:
				return fmt.Errorf("the %s ended: %w", d.name, errOr(d.err(), errors.New("without saying why")))
			case <-ctx.Done():
				return nil
			}
		}, func(err error) {
			if err != nil {
				ended <- err
			}
		})
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return nil
	}
}

func errOr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// open connects to the store and to the object storage: first to what is given, which may refuse
// us, and then to what has to be started.
func (s *stack) open(ctx context.Context) error {
	first, second := s.openStore, s.openBucket
	if s.app.cfg.S3Endpoint != "" {
		first, second = second, first
	}
	if err := first(ctx); err != nil {
		return err
	}
	return second(ctx)
}

// openStore connects to ClickHouse, embedded or given, and brings its tables up to date.
func (s *stack) openStore(ctx context.Context) error {
	if err := s.checkLocal(ctx); err != nil {
		return err
	}
	s.dsn = s.app.cfg.ClickHouseDSN
	if s.dsn == "" {
		if err := s.startEngine(ctx); err != nil {
			return err
		}
	} else if err := s.reachStore(ctx); err != nil {
		return err
	}
	if err := indexer.Migrate(ctx, s.dsn); err != nil {
		return err
	}
	db, err := store.Open(ctx, s.dsn)
	if err != nil {
		return err
	}
	s.onClose(func() error { db.Close(); return nil })
	s.db, s.reader = db, history.NewReader(db, schemas.ScanStream)
	if s.app.cfg.LookupRows {
		return indexer.CreateLookupRows(ctx, db)
	}
	return nil
}

// reachStore makes sure that the ClickHouse that is given answers and lets us in.
func (s *stack) reachStore(ctx context.Context) error {
	conn, err := engine.Open(ctx, s.dsn)
	if err != nil {
		return fmt.Errorf("--clickhouse-dsn: %w", err)
	}
	return conn.Close()
}

func (s *stack) startEngine(ctx context.Context) error {
	cfg := &s.app.cfg
	if err := makeFolder(cfg.Data); err != nil {
		return err
	}
	e, err := engine.Start(ctx, engine.Config{
		DataDir: cfg.EngineFolder(), Library: cfg.Engine, MaxMemory: cfg.EngineMemory, StopGrace: stopTimeout, Log: s.app.log,
	})
	if err != nil {
		return err
	}
	s.onClose(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		return e.Stop(ctx)
	})
	s.deaths = append(s.deaths, death{"embedded ClickHouse engine", e.Done(), e.Err})
	s.engine, s.dsn = e, e.DSN()
	return nil
}

// readerDSN names the store for who only reads it, and for other processes.
func (s *stack) readerDSN() string {
	if s.engine != nil {
		return s.engine.ReaderDSN()
	}
	return s.dsn
}

// openBucket connects to the object storage, embedded or given, and makes the bucket.
func (s *stack) openBucket(ctx context.Context) error {
	cfg := &s.app.cfg
	at := bucket.Config{
		Endpoint: cfg.S3Endpoint, Region: cfg.S3Region, Bucket: cfg.S3Bucket, Prefix: cfg.S3Prefix,
		AccessKey: cfg.S3AccessKey, SecretKey: cfg.S3SecretKey, PathStyle: true,
	}
	if cfg.S3Endpoint == "" {
		if s.readsBucket {
			if err := checkFolder(cfg.Data, cfg.BucketFolder(), false); err != nil {
				return err
			}
		}
		gateway, err := bucket.StartGateway(ctx, bucket.GatewayConfig{DataDir: cfg.BucketFolder(), Log: s.app.log})
		if err != nil {
			return err
		}
		s.onClose(gateway.Close)
		s.deaths = append(s.deaths, death{"embedded S3 gateway", gateway.Done(), gateway.Err})
		at, s.objects = gateway.Config(cfg.S3Bucket), gateway.Folder(cfg.S3Bucket)
		at.Prefix = cfg.S3Prefix
	}
	if cfg.S3Endpoint != "" {
		if err := reach(ctx, "s3-endpoint", cfg.S3Endpoint); err != nil {
			return err
		}
	}
	client, err := bucket.New(ctx, at)
	if err != nil {
		return err
	}
	ready := client.EnsureBucket
	if s.readsBucket {
		ready = client.CheckBucket
	}
	if err := ready(ctx); err != nil {
		return explainBucket(cfg, err)
	}
	s.bucket = client
	return nil
}

// requestsShare is the part of the memory limit that requests may reserve, as 1/requestsShare.
// The rest is for answers that are kept, websockets, connections and garbage.
const requestsShare = 2

// admission decides which requests are worked on, for all servers of this process together.
func (s *stack) admission() *query.Admission {
	if s.admitting == nil {
		limit := debug.SetMemoryLimit(-1) // only asks for it: GOMEMLIMIT wins over the setting
		if limit == math.MaxInt64 {
			limit = s.app.cfg.MemoryLimit
		}
		s.admitting = query.NewAdmission(query.AdmissionConfig{Memory: limit / requestsShare, MaxConcurrent: s.app.cfg.MaxConcurrent})
	}
	return s.admitting
}

// explainBucket says why the object storage can't be used, and what to do.
func explainBucket(c *settings.Config, err error) error {
	switch {
	case errors.Is(err, bucket.ErrDenied):
		return fmt.Errorf("--s3-endpoint %s: the object storage refuses our keys: correct --s3-access-key and --s3-secret-key, or allow them bucket %s", settings.MaskURL(c.S3Endpoint), c.S3Bucket)
	case errors.Is(err, bucket.ErrNoBucket), errors.Is(err, bucket.ErrNotFound):
		return fmt.Errorf("--s3-bucket %s: the object storage has no such bucket: correct the name", c.S3Bucket)
	case c.S3Endpoint == "":
		return err
	}
	return fmt.Errorf("--s3-endpoint %s: what answers there does not act as S3-compatible storage: correct the address: %w", settings.MaskURL(c.S3Endpoint), err)
}

// tokenKey returns the secret that signs page tokens: the configured one, or one that
// is made once and kept beside the data.
func (a *app) tokenKey() ([]byte, error) {
	if a.cfg.TokenKey != "" {
		if len(a.cfg.TokenKey) < 16 {
			return nil, errors.New("--token-key must have at least 16 characters")
		}
		return []byte(a.cfg.TokenKey), nil
	}
	path := filepath.Join(a.cfg.Data, "token.key")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if err := makeTokenKey(path); err != nil {
			return nil, fmt.Errorf("making a key for page tokens: %w", err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the key for page tokens: %w", err)
	}
	key := strings.TrimSpace(string(raw))
	if len(key) < 16 {
		return nil, fmt.Errorf("%s holds no key: delete the file to have a new one made", path)
	}
	return []byte(key), nil
}

// makeTokenKey writes a new key to path, whole or not at all. When another process is
// faster, its key stands.
func makeTokenKey(path string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".token-*") // readable by the owner only
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	_, err = fmt.Fprintln(file, rand.Text()+rand.Text())
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}
