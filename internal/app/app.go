// Package app is what a process of the product is made of: services, streams, servers and jobs,
// and how they are put together. Whatever it starts ends with it.
package app

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/engine"
)

// Build says what program this is.
type Build struct {
	Version string
	// Time is that of the commit, in UTC; of a build that does not know its commit that of
	// the program's file, which is about when it was built.
	Time time.Time
	// Committed says that Time is that of the commit.
	Committed bool
}

// App is the product in one process, of which a command uses the parts that it needs.
type App struct {
	p         *process
	db        *database
	objects   *objects
	listeners *listeners
	wallets   *wallets
	servers   *servers
	worker    *worker
}

// New returns the product. Nothing is started yet.
func New(cfg *settings.Config, build Build, log *slog.Logger) *App {
	p := &process{cfg: cfg, build: build, log: log}
	db := &database{p: p}
	objects := &objects{p: p, db: db}
	listeners := &listeners{p: p, bound: make(map[string]net.Listener)}
	wallets := &wallets{p: p, db: db}
	return &App{
		p: p, db: db, objects: objects, listeners: listeners, wallets: wallets,
		servers: &servers{p: p, db: db, objects: objects, listeners: listeners, wallets: wallets},
		worker:  &worker{p: p, objects: objects, wallets: wallets},
	}
}

// CloseInto ends everything, for a deferred call: a clean-up failure never hides the first error.
func (a *App) CloseInto(err *error) {
	if closeErr := a.p.close(); closeErr != nil && *err == nil {
		*err = closeErr
	}
}

// open connects to the store and to the object storage: first to what is given, which may refuse
// us, and then to what has to be started.
func (a *App) open(ctx context.Context) error {
	first, second := a.db.open, a.objects.open
	if a.p.cfg.S3Endpoint != "" {
		first, second = second, first
	}
	if err := first(ctx); err != nil {
		return err
	}
	return second(ctx)
}

// Child runs an embedded service if the arguments of this process say that it is one: services
// are children that run the same program. It returns the exit status, and whether it was one.
func Child(args []string) (status int, ok bool) {
	if len(args) == 0 {
		return 0, false
	}
	switch args[0] {
	case engine.ChildCommand:
		return engine.ChildMain(args[1:]), true
	case bucket.GatewayCommand:
		return bucket.GatewayMain(args[1:]), true
	}
	return 0, false
}
