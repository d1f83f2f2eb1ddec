package page

import (
	"context"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// View is a request for a page.
type View struct {
	*query.Request
	// Who has signed in, nil for nobody.
	Who *Session
	// Lapsed says that Who is nil because a session is over.
	Lapsed bool
	// At is the instant as of which the page is wanted, nil for now: parameter at.
	At *schemas.Micros
	// Status is how far history is.
	Status Status
	// Partial says that only the body is wanted, to replace a part of a page that is there.
	Partial bool

	theme string
	path  string
}

// Page is what a Handler answers.
type Page struct {
	// Title is the title of the window, without the name of the product.
	Title string
	// Section is the entry of the navigation that the page belongs to.
	Section Section
	Body    templ.Component
	// Code is the status of the answer; default 200.
	Code int
	// See sends the browser to another address of the console instead, by GET.
	See string
}

// Handler answers a request with a page. Its errors become pages, too: see query.Status.
type Handler func(ctx context.Context, v *View) (Page, error)

// Section is an entry of the navigation.
type Section string

// The sections, in the order of the navigation.
const (
	Home       Section = "home"
	Updates    Section = "updates"
	Templates  Section = "templates"
	Rounds     Section = "rounds"
	Rewards    Section = "rewards"
	Validators Section = "validators"
	Names      Section = "names"
	Governance Section = "governance"
	Analytics  Section = "analytics"
	Bulk       Section = "bulk"
	Wallet     Section = "wallet"
	Operations Section = "operations"
	// Nowhere is for pages that no entry leads to.
	Nowhere Section = ""
)

// entry is a link of the navigation.
type entry struct {
	section     Section
	label, path string
}

// entries are the navigation. Those of the last group are there if the process serves them.
var entries = []entry{
	{Home, "Overview", "/"}, {Updates, "Updates", "/updates"}, {Templates, "Templates", "/templates"}, {Rounds, "Rounds", "/rounds"},
	{Rewards, "Rewards", "/rewards"}, {Validators, "Validators", "/validators"}, {Names, "Names", "/names"}, {Governance, "Governance", "/governance"},
	{Analytics, "Analytics", "/analytics"}, {Bulk, "Files", "/bulk"}, {Wallet, "Wallet", "/wallet"}, {Operations, "Operations", "/operations"},
}

// Status is how far history is, as it is shown on every page.
type Status struct {
	// Through is the record time up to which public history is complete, zero before there is any.
	Through schemas.Micros
	// Migration is that of Through.
	Migration int64
	// Behind says what is missing, such as "a backfill is running"; "" if nothing is.
	Behind string
	// Damaged says what the store has lost, "" if nothing.
	Damaged string
}

// Empty says that there is no history yet.
func (s Status) Empty() bool { return s.Through <= schemas.MinMicros }

// Instant is At, or the end of history.
func (v *View) Instant() schemas.Micros {
	if v.At != nil {
		return *v.At
	}
	return v.Status.Through
}

// Link is the address of another page as of the same instant.
func (v *View) Link(path string) templ.SafeURL {
	if v.At == nil {
		return templ.SafeURL(path)
	}
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	return templ.SafeURL(path + separator + "at=" + v.At.Time().UTC().Format(time.RFC3339Nano))
}
