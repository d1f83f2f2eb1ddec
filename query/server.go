package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/fasthttp/router"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"
	"github.com/valyala/fasthttp/pprofhandler"

	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// Config says where a Server listens, what it serves and what it allows.
type Config struct {
	// Listener is used if set; else the server listens on Address, such as
	// "127.0.0.1:0" for a free port.
	Listener net.Listener
	Address  string
	// Mounts are the interfaces to serve. A path must not occur twice.
	Mounts []Mount
	Log    *slog.Logger // required

	// RequestTimeout bounds the work on one request, without the wait in the queue of a page
	// or dump and without the time a slow client takes for the answer; default 30 s.
	RequestTimeout time.Duration
	// ReadTimeout bounds how long a request may take to arrive; default 30 s.
	ReadTimeout time.Duration
	// StallTimeout ends a connection whose client takes less than 256 KiB of an
	// answer for so long; default 30 s.
	StallTimeout time.Duration
	// IdleTimeout closes unused connections; default 2 min.
	IdleTimeout time.Duration
	// ShutdownTimeout is how long requests may go on once Serve's context has
	// ended; default 15 s.
	ShutdownTimeout time.Duration

	// MaxBodyBytes is the largest request body; default 1 MiB.
	MaxBodyBytes int
	// MaxPageBytes is the largest answer that is gathered before it is sent; default
	// 64 MiB. It bounds memory per request, not the size of answers.
	MaxPageBytes int
	// Admission decides which requests are worked on; default one of its own.
	Admission *Admission
	// MaxTransfers is how many stored objects are sent at once, from the request to
	// the last byte; default 2048. One more is refused at once, with 503. Each takes up to
	// 80 KiB of memory, and 64 KiB more if its object is not a file.
	MaxTransfers int
	// MaxConnections bounds open connections; default 16,384.
	MaxConnections int
	// RateLimit and ClientRateLimit are requests per second, over all clients and per
	// client address; 0, the default, means no limit. The client address is that of
	// the connection: behind a proxy only RateLimit makes sense.
	RateLimit, ClientRateLimit float64

	// Hosts are names, without ports, under which clients reach the server, beside addresses and
	// names that nobody in the public DNS can have; "*" stands for all. See decision 0035.
	Hosts []string
	// Metrics turns on GET /metrics, which gives everything in this registry. The
	// server's own metrics are registered there.
	Metrics *prometheus.Registry
	// Pprof turns on GET /debug/pprof/.
	Pprof bool
	// Errors makes the error answers for paths that nobody has; default {"error": text}.
	Errors ErrorForm
	// PingInterval is how often the client of a websocket is pinged; default 5 s. One that
	// does not answer for twice the StallTimeout is cut off.
	PingInterval time.Duration
	// Now defaults to time.Now.
	Now func() time.Time
}

// defaultTransfers is the default of Config.MaxTransfers.
const defaultTransfers = 2048

func (c *Config) setDefaults() error {
	if c.Log == nil {
		return errors.New("query: Config.Log is required")
	}
	if c.Listener == nil && c.Address == "" {
		return errors.New("query: Config needs a Listener or an Address")
	}
	for _, n := range []float64{float64(c.MaxBodyBytes), float64(c.MaxPageBytes), float64(c.MaxTransfers), c.RateLimit, c.ClientRateLimit} {
		if n < 0 {
			return errors.New("query: a limit in Config is negative")
		}
	}
	c.RequestTimeout = cmp.Or(c.RequestTimeout, 30*time.Second)
	c.ReadTimeout = cmp.Or(c.ReadTimeout, 30*time.Second)
	c.StallTimeout = cmp.Or(c.StallTimeout, 30*time.Second)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 2*time.Minute)
	c.ShutdownTimeout = cmp.Or(c.ShutdownTimeout, 15*time.Second)
	c.MaxBodyBytes = cmp.Or(c.MaxBodyBytes, 1<<20)
	c.MaxPageBytes = cmp.Or(c.MaxPageBytes, 64<<20)
	c.MaxTransfers = cmp.Or(c.MaxTransfers, defaultTransfers)
	c.MaxConnections = cmp.Or(c.MaxConnections, 16<<10)
	c.PingInterval = cmp.Or(c.PingInterval, 5*time.Second)
	if c.Admission == nil {
		c.Admission = NewAdmission(AdmissionConfig{})
	}
	if c.Errors == nil {
		c.Errors = PlainErrors
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return nil
}

// Server serves the mounted interfaces on one listener.
type Server struct {
	cfg  Config
	log  *slog.Logger
	http *fasthttp.Server
	ln   net.Listener
	// local has the requests of this process itself.
	local       localListener
	localClient *http.Transport
	// transfers holds one token per transfer under way.
	transfers chan struct{}
	rates     *rates
	metrics   *metrics
	ids       requestIDs
	buffers   buffers // of answers
	pieces    buffers // of transfers
	gzip      *coders
	zstd      *coders

	// base is the parent of every request's context. It ends when the time for a
	// graceful shutdown is over.
	base    context.Context
	abandon context.CancelFunc
	hosts   hosts
	// forms are the error forms of paths without parameters.
	forms map[string]ErrorForm
	// sockets are the websockets, which end with stopping, when a shutdown begins.
	sockets  sync.WaitGroup
	stopping context.Context
	stop     context.CancelFunc
}

// New builds the server and starts to listen, so that Addr is known; connections are
// answered once Serve runs. The caller must call Serve, which closes the listener.
func New(cfg Config) (*Server, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, log: cfg.Log, ids: newRequestIDs(),
		transfers: make(chan struct{}, cfg.MaxTransfers),
		buffers:   buffers{size: newBuffer, largest: maxPooledBuffer},
		pieces:    buffers{size: copyPiece, largest: copyPiece},
		rates:     newRates(cfg.RateLimit, cfg.ClientRateLimit, cfg.Now),
		hosts:     newHosts(cfg.Hosts),
		gzip:      newGzip(),
		zstd:      newZstd(),
		forms:     map[string]ErrorForm{},
		local:     localListener{fasthttputil.NewInmemoryListener()},
	}
	s.localClient = newLocalClient(s.local)
	var err error
	if s.metrics, err = newMetrics(registerer(cfg.Metrics), cfg.Admission); err != nil {
		return nil, fmt.Errorf("registering the metrics of the HTTP server: %w", err)
	}
	handler, err := s.handler()
	if err != nil {
		return nil, err
	}
	s.base, s.abandon = context.WithCancel(context.Background())
	s.stopping, s.stop = context.WithCancel(s.base)
	s.http = &fasthttp.Server{
		Handler: handler, ErrorHandler: s.unreadable, Logger: quietLogger{s.log},
		Name: "ledgerlake", ReadBufferSize: 16 << 10, WriteBufferSize: 16 << 10, MaxRequestBodySize: cfg.MaxBodyBytes,
		ReadTimeout: cfg.ReadTimeout, IdleTimeout: cfg.IdleTimeout, Concurrency: cfg.MaxConnections,
		TCPKeepalive: true, CloseOnShutdown: true, DisablePreParseMultipartForm: true,
	}
	if s.ln = cfg.Listener; s.ln == nil {
		if s.ln, err = net.Listen("tcp", cfg.Address); err != nil {
			return nil, fmt.Errorf("listening on %s: %w", cfg.Address, err)
		}
	}
	return s, nil
}

// registerer keeps a nil registry a nil interface.
func registerer(reg *prometheus.Registry) prometheus.Registerer {
	if reg == nil {
		return nil
	}
	return reg
}

// Addr returns the address the server listens on, such as "127.0.0.1:41234".
func (s *Server) Addr() string { return s.ln.Addr().String() }

// Serve answers requests until ctx ends, lets those under way finish within
// ShutdownTimeout and returns nil. It must be called once.
func (s *Server) Serve(ctx context.Context) error {
	defer s.abandon()
	failed := make(chan error, 2)
	for _, ln := range []net.Listener{s.ln, s.local} {
		guard.Go(func() error { return s.http.Serve(progressListener{ln, s.cfg.StallTimeout}) }, func(err error) { failed <- err })
	}
	s.log.InfoContext(ctx, "http server listening", "addr", s.Addr())
	select {
	case err := <-failed:
		return fmt.Errorf("serving on %s: %w", s.Addr(), err)
	case <-ctx.Done():
	}
	return s.shutdown(failed)
}

func (s *Server) shutdown(failed <-chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.ShutdownTimeout)
	defer cancel()
	s.stop()
	err := s.http.ShutdownWithContext(ctx)
	if err == nil {
		err = s.socketsEnd(ctx)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		s.log.Warn("http server stopped with requests in progress", "addr", s.Addr())
		return nil
	}
	// When ctx ended before the listener was in use, nobody has closed it yet.
	if closeErr := s.ln.Close(); closeErr != nil && !errors.Is(closeErr, net.ErrClosed) {
		err = errors.Join(err, closeErr)
	}
	if closeErr := s.local.Close(); closeErr != nil && !errors.Is(closeErr, fasthttputil.ErrInmemoryListenerClosed) {
		err = errors.Join(err, closeErr)
	}
	if err != nil {
		return fmt.Errorf("shutting down the HTTP server on %s: %w", s.Addr(), err)
	}
	return errors.Join(<-failed, <-failed)
}

// handler builds the router over all mounts.
func (s *Server) handler() (h fasthttp.RequestHandler, err error) {
	defer func() { // the router reports a doubled or malformed path by a panic
		if p := recover(); p != nil {
			err = fmt.Errorf("building the routes: %v", p)
		}
	}()
	r := router.New()
	r.RedirectTrailingSlash, r.RedirectFixedPath, r.HandleOPTIONS = false, false, false
	r.NotFound = s.reject(Errorf(NotFound, "There is no such path."))
	r.MethodNotAllowed = s.reject(Errorf(MethodNotAllowed, "The path does not support this method."))
	for _, m := range append([]Mount{s.ownRoutes()}, s.cfg.Mounts...) {
		for _, prefix := range m.Prefixes {
			for _, route := range m.Routes {
				form := m.Errors
				if form == nil {
					form = PlainErrors
				}
				handle := s.route(route, form)
				s.forms[prefix+route.Path] = form
				r.Handle(route.Method, prefix+route.Path, handle)
				if route.Method == fasthttp.MethodGet {
					r.Handle(fasthttp.MethodHead, prefix+route.Path, handle)
				}
			}
		}
	}
	return s.atTheEdge(r.Handler), nil
}

func (s *Server) ownRoutes() Mount {
	m := Mount{Prefixes: []string{""}}
	if s.cfg.Metrics != nil {
		m.Routes = append(m.Routes, metricsRoute(s.cfg.Metrics))
	}
	if s.cfg.Pprof {
		m.Routes = append(m.Routes, Route{
			Method: "GET", Path: "/debug/pprof/{name:*}", Name: "pprof", Probe: true, Handle: adapt(pprofhandler.PprofHandler),
		})
	}
	return m
}

// adapt makes a Handler of a plain fasthttp handler.
func adapt(h fasthttp.RequestHandler) Handler {
	return func(_ context.Context, r *Request) error {
		h(r.rc)
		return nil
	}
}

// reject answers requests that have no route.
func (s *Server) reject(err *Error) fasthttp.RequestHandler {
	return func(rc *fasthttp.RequestCtx) {
		s.refuse(rc, err)
	}
}

// route puts the wrappers around a handler. Their order is a decision: everything is
// logged and counted, a panic included; refused requests take no place; the wait for the
// first place counts against the deadline. A transfer has a place while its object is looked
// up, and counts as a transfer until its last byte is sent.
func (s *Server) route(route Route, form ErrorForm) fasthttp.RequestHandler {
	return func(rc *fasthttp.RequestCtx) {
		s.metrics.inFlight.Inc()
		c := &call{server: s, route: route.Name, class: route.Class, id: s.ids.of(rc), start: s.cfg.Now()}
		// Not rc as a context: it ends only at server shutdown and is reused after.
		c.ctx, c.cancel = context.WithCancel(s.base)
		err := guard.Call(func() error {
			s.answer(&Request{rc: rc, server: s, call: c, path: route.Path, reply: reply{rc: rc, server: s, call: c}}, route, form)
			return nil
		})
		if err != nil { // not of the handler, whose panics have an answer
			rc.Response.Reset()
			rc.Response.SetConnectionClose()
			rc.Response.SetStatusCode(statuses[Internal])
			c.failed(err, statuses[Internal])
		}
		c.status = rc.Response.StatusCode()
		if !c.sending { // no body that would end the request later
			c.end(int64(len(rc.Response.Body())), nil)
		}
	}
}

// answer has a request handled and makes the answer of an error.
func (s *Server) answer(r *Request, route Route, form ErrorForm) {
	c := r.call
	r.SetHeader("X-Request-Id", c.id)
	if !route.Probe {
		c.watch(r.rc.Conn())
	}
	ctx, handled := c.deadline(route)
	if err := handled(s.guarded(ctx, route, r)); err != nil {
		logged := r.fail(err, form)
		c.failed(logged, r.rc.Response.StatusCode())
	}
}

// guarded runs the handler behind the limits and turns a panic into an error.
func (s *Server) guarded(ctx context.Context, route Route, r *Request) (err error) {
	defer guard.Recover(&err)
	if !route.Probe {
		if err := s.letIn(ctx, route, r); err != nil {
			return err
		}
	}
	return route.Handle(ctx, r)
}

// letIn holds a request against the limits. See Local for those of this process.
func (s *Server) letIn(ctx context.Context, route Route, r *Request) error {
	local, client := isLocal(r.rc), clientAddr(r.rc)
	if !local {
		if err := s.rates.allow(client); err != nil {
			return err
		}
	}
	if route.Transfer {
		if err := r.call.beginTransfer(); err != nil {
			return err
		}
	}
	if local {
		return nil
	}
	return r.call.admit(ctx, Light, client, 0)
}

func clientAddr(rc *fasthttp.RequestCtx) netip.Addr {
	addr, _ := netip.AddrFromSlice(rc.RemoteIP())
	return addr
}

// quietLogger takes the server's own messages, which concern single connections.
type quietLogger struct{ log *slog.Logger }

func (l quietLogger) Printf(format string, args ...any) {
	l.log.Debug("http connection", "event", fmt.Sprintf(format, args...))
}
