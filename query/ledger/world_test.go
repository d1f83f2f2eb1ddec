package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	participant  = "PAR::node::1220aa"
	alice        = "alice::1220bb"
	bob          = "bob::1220cc"
	synchronizer = "global-domain::1220dd"
	harbor       = "harbor::1220ee"
)

var template = strings.Repeat("ab", 32) + ":Splice.Amulet:Amulet"

// memory is a Source over a slice. It checks what callers promise: limits are positive, and
// nothing is read above the end.
type memory struct {
	mu        sync.Mutex
	updates   []schemas.Update // ascending by offset
	templates []nodehistory.Template
	begin     int64
	end       int64
	active    int64 // up to where active sets are known
	fail      error
	violation error
	ends      int // how often the end was read
	read      int // how many updates were
}

func (m *memory) lock() error { m.mu.Lock(); return m.fail }

func (m *memory) LedgerEnd(context.Context) (int64, error) {
	defer m.mu.Unlock()
	err := m.lock()
	m.ends++
	return m.end, err
}

// Commits are not known: another process writes, as it were.
func (m *memory) NextEnd() store.NextCommit       { return noCommit() }
func (m *memory) NextActiveEnd() store.NextCommit { return noCommit() }

func noCommit() store.NextCommit { return store.NextCommit{} }

func (m *memory) LedgerActiveEnd(context.Context) (int64, error) {
	defer m.mu.Unlock()
	err := m.lock()
	m.ends++
	return m.active, err
}

func (m *memory) LedgerBegin(context.Context) (int64, error) {
	defer m.mu.Unlock()
	return m.begin, m.lock()
}

func (m *memory) LedgerUpdates(_ context.Context, _ nodehistory.Selection, rg nodehistory.Range) (nodehistory.Page, error) {
	defer m.mu.Unlock()
	if err := m.lock(); err != nil {
		return nodehistory.Page{}, err
	}
	if rg.Limit < 1 || rg.Through > m.end || rg.After < m.begin || rg.After >= rg.Through {
		m.violation = fmt.Errorf("updates of %+v, while the stream has (%d, %d]", rg, m.begin, m.end)
	}
	page := nodehistory.Page{Covered: rg.Through}
	list := slices.Clone(m.updates)
	if rg.Descending {
		slices.Reverse(list)
		page.Covered = rg.After
	}
	for _, u := range list {
		if u.Local.Offset <= rg.After || u.Local.Offset > rg.Through {
			continue
		}
		m.read++
		if page.Updates = append(page.Updates, u); len(page.Updates) == rg.Limit {
			if page.Covered = u.Local.Offset; rg.Descending {
				page.Covered--
			}
			break
		}
	}
	return page, nil
}

func (m *memory) LedgerRun(ctx context.Context, sel nodehistory.Selection, rg nodehistory.Range) (*nodehistory.Run, error) {
	page, err := m.LedgerUpdates(ctx, sel, rg)
	if err != nil {
		return nil, err
	}
	return nodehistory.RunOf(page), nil
}

func (m *memory) LedgerUpdateByID(_ context.Context, id string) (*schemas.Update, error) {
	return m.find(func(u *schemas.Update) bool { return u.UpdateID == id })
}

func (m *memory) LedgerUpdateAt(_ context.Context, offset int64) (*schemas.Update, error) {
	return m.find(func(u *schemas.Update) bool { return u.Local.Offset == offset })
}

func (m *memory) find(is func(*schemas.Update) bool) (*schemas.Update, error) {
	defer m.mu.Unlock()
	if err := m.lock(); err != nil {
		return nil, err
	}
	for i := range m.updates {
		if u := m.updates[i]; is(&u) && u.Local.Offset <= m.end {
			return &u, nil
		}
	}
	return nil, nil
}

func (m *memory) LedgerActive(_ context.Context, q nodehistory.ActiveQuery) (page nodehistory.ActivePage, err error) {
	defer m.mu.Unlock()
	if err := m.lock(); err != nil {
		return page, err
	}
	if q.Limit < 1 || q.Offset > m.active || q.Offset < m.begin {
		m.violation = fmt.Errorf("active contracts of %+v, known up to %d", q, m.active)
	}
	byID := map[string]nodehistory.Contract{}
	for _, u := range m.updates {
		if u.Local.Offset > q.Offset {
			break
		}
		for _, e := range u.Events {
			if e.Kind == schemas.Created {
				byID[e.ContractID] = nodehistory.Contract{Event: e, Encoding: u.Encoding, SynchronizerID: u.SynchronizerID, Offset: u.Local.Offset, WorkflowID: u.WorkflowID}
			} else if e.Consuming {
				delete(byID, e.ContractID)
			}
		}
	}
	for _, c := range byID {
		page.Contracts = append(page.Contracts, c)
	}
	slices.SortFunc(page.Contracts, func(a, b nodehistory.Contract) int { return compareKeys(a.Key(), b.Key()) })
	page.Contracts = slices.DeleteFunc(page.Contracts, func(c nodehistory.Contract) bool { return compareKeys(c.Key(), q.After) <= 0 })
	if len(page.Contracts) > q.Limit {
		page.Contracts, page.More = page.Contracts[:q.Limit], true
	}
	return page, nil
}

func compareKeys(a, b history.ContractKey) int {
	if a.CreatedAt != b.CreatedAt {
		return int(a.CreatedAt - b.CreatedAt)
	}
	return strings.Compare(a.ContractID, b.ContractID)
}

func (m *memory) ContractEvents(_ context.Context, id string) (created, ended *nodehistory.Event, err error) {
	defer m.mu.Unlock()
	if err := m.lock(); err != nil {
		return nil, nil, err
	}
	for _, u := range m.updates {
		for _, e := range u.Events {
			one := u
			one.Events = []schemas.Event{e}
			switch {
			case e.ContractID != id:
			case e.Kind == schemas.Created:
				created = &nodehistory.Event{Update: one}
			case e.Consuming:
				ended = &nodehistory.Event{Update: one}
			}
		}
	}
	return created, ended, nil
}

func (m *memory) KnownTemplates(context.Context) ([]nodehistory.Template, error) {
	defer m.mu.Unlock()
	return m.templates, m.lock()
}

func (m *memory) SynchronizerTimes(_ context.Context, offset int64) (times []nodehistory.SynchronizerTime, err error) {
	defer m.mu.Unlock()
	if err := m.lock(); err != nil {
		return nil, err
	}
	last := map[string]schemas.Micros{}
	for _, u := range m.updates {
		if u.Local.Offset <= offset {
			last[u.SynchronizerID] = u.RecordTime
		}
	}
	for id, at := range last {
		times = append(times, nodehistory.SynchronizerTime{SynchronizerID: id, RecordTime: at})
	}
	slices.SortFunc(times, func(a, b nodehistory.SynchronizerTime) int {
		return strings.Compare(a.SynchronizerID, b.SynchronizerID)
	})
	return times, nil
}

// grow adds n updates: contracts of alice and of bob by turns, of which every third is
// archived again by the update after it.
func (m *memory) grow(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range n {
		number := len(m.updates) + 1
		m.updates = append(m.updates, transaction(number))
		m.end = m.updates[len(m.updates)-1].Local.Offset
		m.active = m.end
	}
}

// afterReads is closed when the ends were read so many more times.
func afterReads(m *memory, n int) <-chan struct{} {
	m.mu.Lock()
	wanted := m.ends + n
	m.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			m.mu.Lock()
			reached := m.ends >= wanted
			m.mu.Unlock()
			if reached {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return done
}

// offsetOf is the offset of the update of a number from 1: between updates there are others
// that nobody here sees.
func offsetOf(number int) int64 { return int64(2 * number) }

func transaction(number int) schemas.Update {
	at := schemas.Micros(1_780_000_000_000_000 + int64(number)*1_000_000)
	owner := alice
	if number%2 == 0 {
		owner = bob
	}
	u := schemas.Update{
		Kind: schemas.Transaction, SynchronizerID: synchronizer, RecordTime: at, EffectiveAt: at, Encoding: schemas.CompactJSON,
		UpdateID: fmt.Sprintf("1220%08d", number), RootEvents: []int32{0},
		Local: &schemas.LocalUpdate{Offset: offsetOf(number), PaidTrafficCost: -1},
	}
	e := schemas.Event{
		EventID: u.UpdateID + ":0", ContractID: fmt.Sprintf("00%08d", number), TemplateID: template, PackageName: "splice-amulet",
		Kind: schemas.Created, Argument: []byte(`{"amount":"1.0000000000","owner":"` + owner + `"}`), CreatedAt: at, Signatories: []string{owner},
		Local: &schemas.LocalEvent{Witnesses: []string{owner}, ACSDelta: true},
	}
	if number%3 == 2 { // archives the contract before it
		before := transaction(number - 1)
		created := before.Events[0]
		e.Kind, e.ContractID, e.Choice, e.Consuming, e.ActingParties = schemas.Exercised, created.ContractID, "Archive", true, created.Signatories
		e.Signatories, e.Argument, e.Result = nil, []byte(`{}`), []byte(`{}`)
		e.Local.Witnesses = created.Local.Witnesses
		e.Local.Contract = &schemas.EndedContract{TemplateID: template, Signatories: created.Signatories}
	}
	u.Events = []schemas.Event{e}
	return u
}
