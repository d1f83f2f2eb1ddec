package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Config says what the frame of all pages needs.
type Config struct {
	// Key encrypts cookies and signs forms; 32 bytes. Processes behind one balancer share it.
	Key []byte
	// Status tells how far history is. It is asked for each page, and must remember its answer.
	Status func(ctx context.Context) (Status, error)
	// Network names the network in the frame, such as "simulated network"; may be "".
	Network string
	// Renew has a new token put into a session whose token is about to end, see Session.TokenExpires;
	// nil where tokens are not renewed.
	Renew func(ctx context.Context, session *Session) error
	// Sections are the entries of the navigation that this process serves; nil for all.
	Sections []Section
	// Version is that of the product.
	Version string
	Log     *slog.Logger
	// Now defaults to time.Now.
	Now func() time.Time
}

// Pages makes the routes of pages. It is safe for concurrent use.
type Pages struct {
	cfg      Config
	sessions *sessions
}

// New checks the configuration.
func New(cfg Config) (*Pages, error) {
	if cfg.Status == nil || cfg.Log == nil {
		return nil, errors.New("page: Config needs Status and Log")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	sessions, err := newSessions(cfg.Key, cfg.Now)
	if err != nil {
		return nil, err
	}
	return &Pages{cfg: cfg, sessions: sessions}, nil
}

// policy lets a page load nothing but what this server has, run no script that stands in a page, and
// be shown in no frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// htmlType is the type of pages.
const htmlType = "text/html; charset=utf-8"

// Get is the route of a page that changes nothing.
func (p *Pages) Get(path, name string, h Handler) query.Route {
	return query.Route{Method: "GET", Path: path, Name: "console." + name, Handle: p.handle(h)}
}

// Post is the route of a form. The form must carry the token of its session: see Session.Form.
func (p *Pages) Post(path, name string, h Handler) query.Route {
	return query.Route{Method: "POST", Path: path, Name: "console." + name, Handle: p.handle(func(ctx context.Context, v *View) (Page, error) {
		if err := p.sessions.checkForm(v); err != nil {
			return Page{}, err
		}
		return h(ctx, v)
	})}
}

// Stream is the route of an answer that its handler sends itself, such as a file or live events. It
// has the request's session and instant, but no frame. One of class Dump may stream for as long as it takes.
func (p *Pages) Stream(path, name string, class query.Class, h func(ctx context.Context, v *View) error) query.Route {
	return query.Route{Method: "GET", Path: path, Name: "console." + name, Class: class, Transfer: class == query.Dump, Handle: func(ctx context.Context, r *query.Request) error {
		v, err := p.view(ctx, r)
		if err != nil {
			return err
		}
		r.SetHeader("X-Content-Type-Options", "nosniff")
		return h(ctx, v)
	}}
}

func (p *Pages) handle(h Handler) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		v, err := p.view(ctx, r)
		var made Page
		if err == nil {
			made, err = call(ctx, v, h)
		}
		if err != nil {
			made = p.failed(v, err)
		}
		return p.answer(ctx, v, made)
	}
}

// call makes an error of a panic, so that it is a page, too.
func call(ctx context.Context, v *View, h Handler) (made Page, err error) {
	err = guard.Call(func() (err error) {
		made, err = h(ctx, v)
		return err
	})
	return made, err
}

// view reads what all pages read of a request. It returns a View also beside an error.
func (p *Pages) view(ctx context.Context, r *query.Request) (*View, error) {
	v := &View{Request: r, Partial: r.Header("HX-Request") == "true", theme: cookie(r, themeCookie), path: "/"}
	v.Who, v.Lapsed = p.sessions.read(r)
	if err := p.renew(ctx, v); err != nil {
		return v, err
	}
	var err error
	if v.path, err = r.RoutePath(); err != nil {
		return v, err
	}
	if v.Status, err = p.cfg.Status(ctx); err != nil {
		return v, &query.Error{Code: query.Unavailable, Msg: "The store does not answer.", Err: err}
	}
	v.At, err = v.Time("at")
	return v, err
}

// instants are the ways to write one, by how browsers and people do.
var instants = []string{"2006-01-02", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02 15:04:05"}

// parseInstant reads a time of UTC.
func parseInstant(text string) (schemas.Micros, error) {
	for _, layout := range instants {
		if at, err := time.Parse(layout, text); err == nil {
			return schemas.MicrosOf(at), nil
		}
	}
	return schemas.ParseTime(text)
}

// answer sends a page.
func (p *Pages) answer(ctx context.Context, v *View, made Page) error {
	v.SetHeader("Content-Security-Policy", policy)
	v.SetHeader("X-Content-Type-Options", "nosniff")
	v.SetHeader("Referrer-Policy", "same-origin")
	v.SetHeader("Cache-Control", "no-store")
	if made.See != "" {
		if v.Partial {
			v.SetHeader("HX-Redirect", made.See)
			return v.Empty(200)
		}
		v.SetHeader("Location", made.See)
		return v.Empty(303)
	}
	body := made.Body
	if !v.Partial {
		body = frame(p, v, made)
	}
	var out bytes.Buffer
	// A handler that reserves memory ends the time that the request had before.
	if err := body.Render(context.WithoutCancel(ctx), &out); err != nil {
		return fmt.Errorf("making the page %q: %w", made.Title, err)
	}
	return v.ContentAs(max(made.Code, 200), htmlType, out.Bytes())
}

// failed is the page of an error, which it logs if it concerns us.
func (p *Pages) failed(v *View, err error) Page {
	status, text, _ := query.Status(err)
	var e *query.Error
	if status >= 500 && (!errors.As(err, &e) || e.Err != nil) {
		p.cfg.Log.Error("page failed", "path", v.path, "request_id", v.ID(), "status", status, "err", err)
	}
	return Page{Title: titles[status], Code: status, Body: failure(v, status, text)}
}

// titles are those of pages of errors.
var titles = map[int]string{
	400: "That does not work", 401: "Please sign in", 403: "Not allowed", 404: "Not found", 409: "Conflict", 429: "Too many requests",
	500: "Something went wrong", 501: "Not offered here", 503: "Not available now",
}

// Missing is the error of something that history does not have. hint says what to do.
func Missing(hint string) error { return query.Errorf(query.NotFound, "%s", hint) }

// shorten cuts a text to n characters.
func shorten(text string, n int) string {
	runes := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	if len(runes) <= n {
		return string(runes)
	}
	return string(runes[:n-1]) + "…"
}

// Unrouted answers requests for paths that nobody has: with a page for browsers, else as other
// interfaces do.
func (p *Pages) Unrouted(r *query.Request, err error) query.ErrorAnswer {
	answer := query.PlainErrors(r, err)
	if answer.Status != 404 || !strings.Contains(r.Header("Accept"), "text/html") {
		return answer
	}
	v := &View{Request: r, path: "/", theme: cookie(r, themeCookie)}
	var out bytes.Buffer
	if frame(p, v, Page{Title: titles[404], Body: failure(v, 404, "There is no such page.")}).Render(context.Background(), &out) == nil {
		r.SetHeader("Content-Security-Policy", policy)
		answer.ContentType, answer.Body = htmlType, out.Bytes()
	}
	return answer
}

// Empty is a component of nothing.
var Empty = templ.NopComponent

// serves reports whether the process serves a section.
func (p *Pages) serves(s Section) bool {
	return p.cfg.Sections == nil || slices.Contains(p.cfg.Sections, s)
}

// Sections are all sections that have an entry in the navigation.
func Sections() (all []Section) {
	for _, e := range entries {
		all = append(all, e.section)
	}
	return all
}

// entries are the navigation of this process.
func (p *Pages) entries() []entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return !p.serves(e.section) })
}
