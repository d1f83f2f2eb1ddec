package bucket

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ledgerlake/ledgerlake/internal/child"
)

// GatewayCommand is the hidden subcommand under which a program that calls
// StartGateway must run GatewayMain with the arguments that follow it.
const GatewayCommand = "s3-gateway"

// Names below the gateway's data folder.
const (
	objectsDir  = "objects"      // one folder per bucket, one file per object
	sidecarDir  = "metadata"     // only where the file system has no attributes
	lockFile    = "LOCK"         // held for as long as a gateway serves the folder
	secretsFile = "gateway.json" // keys, readable by the owner only
	logFile     = "gateway.log"  // what the child process prints; gateway.log.1 is the part before
)

const (
	// startTimeout is how long a gateway may take until it answers: it starts in well
	// under a second, but the machine may be busy.
	startTimeout = 20 * time.Second
	// probeTimeout is how long one question for its readiness may take.
	probeTimeout = time.Second
	// stopTimeout is how long it may take to stop before it is killed.
	stopTimeout = 15 * time.Second
	// portAttempts is how often a free port is looked for: another program may take
	// it between the look and the start.
	portAttempts = 3
)

// GatewayConfig configures an embedded gateway.
type GatewayConfig struct {
	// DataDir holds the objects and all the gateway needs to find them again. It is
	// created if missing, readable by the owner only. One gateway at a time serves it.
	DataDir string
	// Log is required.
	Log *slog.Logger
	// Port on 127.0.0.1. 0 means any free one.
	Port int
	// Executable is a program that runs GatewayMain under GatewayCommand. It defaults
	// to the running program.
	Executable string
}

// Gateway is a running embedded S3 gateway. When its process ends by itself it is started
// again, at the same endpoint. It serves S3 on the loopback interface
// only, path style, in region us-east-1.
type Gateway struct {
	// Endpoint is its base URL, e.g. "http://127.0.0.1:40123". The port changes from
	// start to start unless it was given.
	Endpoint string
	// AccessKey and SecretKey are random, made when the data folder was, and stay.
	AccessKey string
	SecretKey string

	*child.Supervisor
	dir        string // absolute
	port       int
	executable string // "" for the running program
	settings   gatewaySettings
	lock       *os.File
	log        *slog.Logger
}

// StartGateway serves the data folder and returns when the gateway answers. ctx bounds
// the start; the gateway then runs until Close or until this process ends, however it
// ends. When another process serves the folder the error is ErrInUse.
func StartGateway(ctx context.Context, cfg GatewayConfig) (*Gateway, error) {
	dir, err := prepareDataDir(cfg.DataDir)
	if err != nil {
		return nil, fmt.Errorf("starting the s3 gateway: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	lock, err := lockDir(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("starting the s3 gateway: %w", err)
	}
	g, first, err := startLocked(ctx, cfg, dir, lock)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting the s3 gateway in %s: %w", dir, err), lock.Close())
	}
	g.Supervisor = child.Supervise(ctx, child.Config{
		Name: "s3 gateway", Log: g.log.With("endpoint", g.Endpoint, "dir", dir), Again: g.launch,
		StartTimeout: startTimeout, StopTimeout: stopTimeout, Release: g.release,
	}, first)
	g.log.InfoContext(ctx, "s3 gateway started", "endpoint", g.Endpoint, "dir", dir, "pid", g.PID())
	return g, nil
}

// prepareDataDir creates the folder and returns its absolute path.
func prepareDataDir(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("no data folder given")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("data folder %s: %w", dir, err)
	}
	if err := os.MkdirAll(filepath.Join(dir, objectsDir), 0o700); err != nil {
		return "", fmt.Errorf("creating data folder: %w", err)
	}
	return dir, nil
}

// startLocked starts the child process in a folder that is locked for us.
func startLocked(ctx context.Context, cfg GatewayConfig, dir string, lock *os.File) (*Gateway, *child.Process, error) {
	if cfg.Log == nil {
		return nil, nil, errors.New("no logger given")
	}
	settings, err := loadSettings(dir)
	if err != nil {
		return nil, nil, err
	}
	for attempt := 1; ; attempt++ {
		g, p, err := startOnce(ctx, cfg, dir, lock, settings)
		if err == nil {
			return g, p, nil
		}
		taken := strings.Contains(err.Error(), "address already in use")
		if !taken || cfg.Port != 0 || attempt == portAttempts {
			return nil, nil, err
		}
	}
}

// startOnce starts the child on one port and waits until it answers.
func startOnce(ctx context.Context, cfg GatewayConfig, dir string, lock *os.File, settings gatewaySettings) (*Gateway, *child.Process, error) {
	port := cfg.Port
	if port == 0 {
		var err error
		if port, err = freePort(ctx); err != nil {
			return nil, nil, err
		}
	}
	g := &Gateway{
		Endpoint:  fmt.Sprintf("http://127.0.0.1:%d", port),
		AccessKey: settings.AccessKey, SecretKey: settings.SecretKey,
		dir: dir, port: port, executable: cfg.Executable, settings: settings, lock: lock, log: cfg.Log,
	}
	p, err := g.launch(ctx)
	return g, p, err
}

// launch starts a child and waits until it answers.
func (g *Gateway) launch(ctx context.Context) (*child.Process, error) {
	p, err := g.startChild()
	if err != nil {
		return nil, err
	}
	if err := g.awaitReady(ctx, p); err != nil {
		return nil, errors.Join(err, p.Kill())
	}
	return p, nil
}

// freePort returns a port of the loopback interface that is free right now.
func freePort(ctx context.Context) (int, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	return port, listener.Close()
}

// awaitReady asks until the gateway answers a request signed with its keys. That also
// proves that it is ours: another program on the port could not accept them.
func (g *Gateway) awaitReady(ctx context.Context, p *child.Process) error {
	cfg := g.Config("ready").withDefaults()
	cfg.MaxAttempts = 1
	probe, err := New(ctx, cfg)
	if err != nil {
		return err
	}
	for {
		err := g.probe(ctx, probe)
		if err == nil {
			return nil
		}
		select {
		case <-p.Done():
			return p.Ended("while starting")
		case <-ctx.Done():
			return fmt.Errorf("no answer from %s: %w: %w", g.Endpoint, context.Cause(ctx), err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// probe asks once. It gives up early, because another program that has taken the port
// may accept the connection and never answer.
func (g *Gateway) probe(ctx context.Context, client *Client) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	_, err := client.s3.ListBuckets(ctx, &s3.ListBucketsInput{})
	return err
}

// Config returns the configuration of a client for a bucket of this gateway.
func (g *Gateway) Config(bucket string) Config {
	return Config{
		Endpoint:  g.Endpoint,
		Bucket:    bucket,
		AccessKey: g.AccessKey,
		SecretKey: g.SecretKey,
		PathStyle: true,
	}
}

// Folder is where the objects of a bucket lie, as files named by their keys. They are there
// to be read only: what a write means beyond its bytes only the gateway knows.
func (g *Gateway) Folder(bucket string) string { return filepath.Join(g.dir, objectsDir, bucket) }

// Close lets the gateway finish writes that are under way, for at most 10 s, and ends
// it; reads that go on longer than that are cut. The data folder is free afterwards.
// Closing twice is fine.
func (g *Gateway) Close() error { return g.Stop(context.Background()) }

// release frees the data folder when the gateway is gone for good.
func (g *Gateway) release() error {
	g.log.Info("s3 gateway stopped", "endpoint", g.Endpoint)
	return g.lock.Close()
}

// String names the gateway without its secret.
func (g *Gateway) String() string { return "s3 gateway at " + g.Endpoint }

// GoString is String, so that %#v does not reveal the secret either.
func (g *Gateway) GoString() string { return g.String() }

// LogValue implements slog.LogValuer without the secret.
func (g *Gateway) LogValue() slog.Value { return slog.StringValue(g.String()) }
