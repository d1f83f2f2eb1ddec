package bucket

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
	"github.com/versity/versitygw/s3api"
)

// Limits of the gateway, which has this machine's processes as its only clients.
const (
	gatewayConnections = 4096
	gatewayRequests    = 1024
	copyLimit          = 5 << 30 // the largest object that S3 copies in one request
)

// How the gateway's process stops; together they stay below the parent's stopTimeout.
const (
	drainTimeout = 10 * time.Second // for open requests to finish
	cutoff       = time.Second      // then for answers to be sent
)

// GatewayMain is the gateway's process. It serves until SIGTERM or until its standard
// input ends, and returns the exit code. args are those after GatewayCommand:
//
//	--data DIR --port N
//
// The first line of standard input holds the settings as JSON.
func GatewayMain(args []string) int {
	flags := flag.NewFlagSet(GatewayCommand, flag.ContinueOnError)
	dir := flags.String("data", "", "data folder, absolute")
	port := flags.Int("port", 0, "port on 127.0.0.1")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if os.Getenv(childEnv) == "" {
		fmt.Fprintf(os.Stderr, "%s is started by ledgerlake itself, not by hand\n", GatewayCommand)
		return 2
	}
	if err := serveGateway(*dir, *port, os.Stdin); err != nil {
		fmt.Fprintf(os.Stderr, "s3 gateway: %v\n", err)
		return 1
	}
	return 0
}

// serveGateway reads the settings from stdin and serves until told to stop.
func serveGateway(dir string, port int, stdin io.Reader) error {
	// The terminal's Ctrl-C is for the parent, which stops us when it is done.
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP)
	signals, restore := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer restore()
	// Its own cancel: that of signals would have a SIGTERM that follows kill us.
	ctx, cancel := context.WithCancel(signals)
	defer cancel()
	input := bufio.NewReader(stdin)
	var settings gatewaySettings
	if err := json.NewDecoder(input).Decode(&settings); err != nil {
		return fmt.Errorf("reading settings: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, input) // ends when the parent closes it or dies
		cancel()
	}()
	backend, err := openBackend(dir, settings.Metadata)
	if err != nil {
		return err
	}
	var open requests
	return runUntilStopped(ctx, &open, func(ctx context.Context) error {
		return embedgw.RunVersityGW(ctx, backend, &embedgw.Config{
			RootUserAccess:    settings.AccessKey,
			RootUserSecret:    settings.SecretKey,
			IAMService:        newSingleAccount(settings),
			Ports:             []string{fmt.Sprintf("127.0.0.1:%d", port)},
			MaxConnections:    gatewayConnections,
			MaxRequests:       gatewayRequests,
			MultipartMaxParts: maxParts,
			KeepAlive:         true,
			Quiet:             true,
			DisableACLs:       true,
			S3Options:         []s3api.Option{s3api.WithMiddleware("/", open.count)},
		})
	})
}

// runUntilStopped returns what run returns. When ctx ends it lets the open requests
// finish and then has run stop, for which it waits no longer than cutoff: run waits
// 10 s for each connection over which no request was ever sent, and HTTP clients open
// such connections in advance.
func runUntilStopped(ctx context.Context, open *requests, run func(context.Context) error) error {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- run(running) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	open.drain(drainTimeout)
	stop()
	select {
	case err := <-ended:
		return err
	case <-time.After(cutoff):
		return nil
	}
}

// openBackend opens the folder of objects. It changes the working directory, which
// is one of the reasons for this being a process of its own.
func openBackend(dir, metadata string) (*posix.Posix, error) {
	var opts posix.PosixOpts
	opts.CopyObjectThreshold = copyLimit
	opts.SetNewDirPerm(0o700)
	opts.SetNewFilePerm(0o600)
	storer, err := openMetadata(dir, metadata, &opts)
	if err != nil {
		return nil, err
	}
	backend, err := posix.New(filepath.Join(dir, objectsDir), storer, opts)
	if err != nil {
		return nil, fmt.Errorf("opening objects: %w", err)
	}
	return backend, nil
}

func openMetadata(dir, kind string, opts *posix.PosixOpts) (meta.MetadataStorer, error) {
	switch kind {
	case metadataXattr:
		return meta.XattrMeta{}, nil
	case metadataSidecar:
		opts.SideCarDir = filepath.Join(dir, sidecarDir)
		if err := os.MkdirAll(opts.SideCarDir, 0o700); err != nil {
			return nil, fmt.Errorf("creating the folder of metadata: %w", err)
		}
		return meta.NewSideCar(opts.SideCarDir)
	}
	return nil, fmt.Errorf("unknown metadata kind %q", kind)
}

// singleAccount knows the gateway's only account. The one that versitygw brings tells
// an unknown access key with status 404, which for HEAD and DELETE looks just like a
// missing object.
type singleAccount struct {
	auth.IAMService
}

func newSingleAccount(settings gatewaySettings) auth.IAMService {
	return singleAccount{auth.NewIAMServiceSingle(auth.Account{
		Access: settings.AccessKey,
		Secret: settings.SecretKey,
		Role:   auth.RoleAdmin,
	})}
}

// GetUserAccount returns the account of the access key, or auth.ErrNoSuchUser, which
// becomes status 403 and code InvalidAccessKeyId.
func (s singleAccount) GetUserAccount(access string) (auth.Account, error) {
	account, err := s.IAMService.GetUserAccount(access)
	if err != nil {
		return auth.Account{}, auth.ErrNoSuchUser
	}
	return account, nil
}

// requests counts the gateway's requests in progress. versitygw cancels all of them
// when it is told to stop, so it is told only after they have ended.
type requests struct {
	open atomic.Int64
}

// count is a middleware. A request counts until its body was received and its effect
// is stored; an answer that is still being sent does not count any more.
func (r *requests) count(c fiber.Ctx) error {
	r.open.Add(1)
	defer r.open.Add(-1)
	return c.Next()
}

// drain waits until no request is open, for at most limit.
func (r *requests) drain(limit time.Duration) {
	for deadline := time.Now().Add(limit); r.open.Load() > 0 && time.Now().Before(deadline); {
		time.Sleep(2 * time.Millisecond)
	}
}
