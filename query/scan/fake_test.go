package scan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

// memory is a Source over slices. It checks what callers promise: nothing is read
// above the watermark, and limits are positive.
type memory struct {
	mu        sync.Mutex
	items     []schemas.Item // history, ascending
	imports   []schemas.Update
	contracts []lifetime // by (created_at, contract id)
	mark      schemas.Position
	lifetimes schemas.Position
	fail      error
	violation error
	facts     map[facts.Key]facts.Fact
	inRounds  []history.RoundSum // by round and party
}

// lifetime is a contract with the record times of its creation and end.
type lifetime struct {
	history.ActiveContract
	migration int64
	from, to  schemas.Micros
}

func (m *memory) begin(name string, through schemas.Position, limit int) error {
	m.mu.Lock()
	if limit < 1 {
		m.violation = fmt.Errorf("%s with limit %d", name, limit)
	}
	if m.mark.Before(through) {
		m.violation = fmt.Errorf("%s up to %s, above the watermark %s", name, through, m.mark)
	}
	return m.fail
}

func (m *memory) setMark(p schemas.Position) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mark, m.lifetimes = p, p
}

func (m *memory) setFail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = err
}

func (m *memory) Watermark(context.Context) (schemas.Position, error) {
	defer m.mu.Unlock()
	err := m.begin("watermark", schemas.Start, 1)
	return m.mark, err
}

func (m *memory) ContractsWatermark(context.Context) (schemas.Position, error) {
	defer m.mu.Unlock()
	err := m.begin("contracts", schemas.Start, 1)
	return m.lifetimes, err
}

func (m *memory) Migrations(context.Context) ([]history.Migration, error) {
	defer m.mu.Unlock()
	if err := m.begin("migrations", schemas.Start, 1); err != nil {
		return nil, err
	}
	byID := map[int64]*history.Migration{}
	at := func(id int64) *history.Migration {
		if byID[id] == nil {
			byID[id] = &history.Migration{ID: id}
		}
		return byID[id]
	}
	for _, u := range m.imports {
		if !m.mark.Before(u.Position()) {
			g := at(u.MigrationID)
			g.Imports++
			g.LastImportID = max(g.LastImportID, u.UpdateID)
		}
	}
	for _, it := range m.items {
		u := it.Update
		if u == nil || m.mark.Before(u.Position()) {
			continue
		}
		g := at(u.MigrationID)
		i := slices.IndexFunc(g.Synchronizers, func(s history.SynchronizerRange) bool { return s.SynchronizerID == u.SynchronizerID })
		if i < 0 {
			g.Synchronizers = append(g.Synchronizers, history.SynchronizerRange{SynchronizerID: u.SynchronizerID, Min: u.RecordTime, Max: u.RecordTime})
			continue
		}
		g.Synchronizers[i].Max = u.RecordTime
	}
	var list []history.Migration
	for _, g := range byID {
		list = append(list, *g)
	}
	slices.SortFunc(list, func(a, b history.Migration) int { return int(a.ID - b.ID) })
	return list, nil
}

// in returns what pick makes of the items of a range.
func in[R any](m *memory, name string, rg history.Range, pick func(schemas.Item) (R, bool)) ([]R, error) {
	defer m.mu.Unlock()
	if err := m.begin(name, rg.Through, rg.Limit); err != nil {
		return nil, err
	}
	var rows []R
	for _, it := range m.items {
		p := it.Position()
		if !rg.After.Before(p) || rg.Through.Before(p) || len(rows) == rg.Limit {
			continue
		}
		if row, ok := pick(it); ok {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func (m *memory) Updates(_ context.Context, rg history.Range) ([]schemas.Update, error) {
	return in(m, "updates", rg, func(it schemas.Item) (schemas.Update, bool) {
		if it.Update == nil {
			return schemas.Update{}, false
		}
		return *it.Update, true
	})
}

func (m *memory) UpdatesWithImports(_ context.Context, rg history.Range) ([]schemas.Update, error) {
	defer m.mu.Unlock()
	if err := m.begin("updates with imports", rg.Through, rg.Limit); err != nil {
		return nil, err
	}
	var rows []schemas.Update
	for _, u := range m.everything() {
		if p := u.Position(); rg.After.Before(p) && !rg.Through.Before(p) && len(rows) < rg.Limit {
			rows = append(rows, u)
		}
	}
	return rows, nil
}

func (m *memory) Items(_ context.Context, rg history.Range) ([]schemas.Item, error) {
	return in(m, "items", rg, func(it schemas.Item) (schemas.Item, bool) { return it, true })
}

func (m *memory) Verdicts(_ context.Context, rg history.Range) ([]schemas.Item, error) {
	return in(m, "verdicts", rg, func(it schemas.Item) (schemas.Item, bool) {
		it.Update = nil
		return it, it.Verdict != nil
	})
}

func (m *memory) ItemsByID(_ context.Context, ids []string) (map[string]schemas.Item, error) {
	defer m.mu.Unlock()
	if err := m.begin("by id", schemas.Start, len(ids)); err != nil {
		return nil, err
	}
	found := map[string]schemas.Item{}
	for _, it := range m.items {
		if p := it.Position(); slices.Contains(ids, p.UpdateID) && !m.mark.Before(p) {
			found[p.UpdateID] = it
		}
	}
	return found, nil
}

func (m *memory) UpdatesBefore(_ context.Context, b history.Before) ([]schemas.Update, error) {
	defer m.mu.Unlock()
	if err := m.begin("before", schemas.Position{MigrationID: b.MigrationID, RecordTime: min(b.Before-1, m.mark.RecordTime)}, b.Limit); err != nil {
		return nil, err
	}
	var rows []schemas.Update
	for _, it := range slices.Backward(m.items) {
		u := it.Update
		if u != nil && u.MigrationID == b.MigrationID && (b.SynchronizerID == "" || u.SynchronizerID == b.SynchronizerID) &&
			u.RecordTime < b.Before && u.RecordTime >= b.AtOrAfter && len(rows) < b.Limit {
			rows = append(rows, *u)
		}
	}
	return rows, nil
}

func (m *memory) Imports(_ context.Context, migrationID int64, after string, limit int) ([]schemas.Update, error) {
	defer m.mu.Unlock()
	if err := m.begin("imports", schemas.Start, limit); err != nil {
		return nil, err
	}
	var rows []schemas.Update
	for _, u := range m.imports {
		if u.MigrationID == migrationID && u.UpdateID > after && len(rows) < limit {
			rows = append(rows, u)
		}
	}
	return rows, nil
}

func (m *memory) ActiveContracts(_ context.Context, q history.ActiveQuery) ([]history.ActiveContract, error) {
	defer m.mu.Unlock()
	if err := m.begin("active", schemas.Start, q.Limit); err != nil {
		return nil, err
	}
	if (schemas.Position{MigrationID: q.MigrationID, RecordTime: q.At}).Compare(schemas.EndOf(m.lifetimes.MigrationID, m.lifetimes.RecordTime)) > 0 {
		m.violation = fmt.Errorf("contracts active at %s, above the watermark %s", q.At, m.lifetimes)
	}
	var rows []history.ActiveContract
	for _, l := range m.contracts {
		e := &l.Event
		name := schemas.TemplateName(e.PackageName, e.TemplateID)
		stakeholder := func(p string) bool { return slices.Contains(e.Signatories, p) || slices.Contains(e.Observers, p) }
		after := q.AfterContractID == "" || e.CreatedAt > q.AfterCreatedAt || e.CreatedAt == q.AfterCreatedAt && e.ContractID > q.AfterContractID
		through := q.Through.ContractID == "" || e.CreatedAt < q.Through.CreatedAt || e.CreatedAt == q.Through.CreatedAt && e.ContractID <= q.Through.ContractID
		if l.migration == q.MigrationID && l.from <= q.At && q.At < l.to && after && through && len(rows) < q.Limit &&
			(len(q.Templates) == 0 || slices.Contains(q.Templates, name)) &&
			(len(q.Parties) == 0 || slices.ContainsFunc(q.Parties, stakeholder)) {
			rows = append(rows, l.ActiveContract)
		}
	}
	return rows, nil
}

func (m *memory) ActiveKeys(ctx context.Context, q history.ActiveQuery, pages int) (keys []history.ContractKey, err error) {
	for len(keys) < pages {
		rows, err := m.ActiveContracts(ctx, q)
		if err != nil || len(rows) < q.Limit {
			return keys, err
		}
		last := rows[len(rows)-1].Event
		keys = append(keys, history.ContractKey{CreatedAt: last.CreatedAt, ContractID: last.ContractID})
		q = q.From(last.CreatedAt, last.ContractID, q.Limit)
	}
	return keys, nil
}

func (m *memory) UpdateIDByHash(_ context.Context, hash string) (string, bool, error) {
	defer m.mu.Unlock()
	if err := m.begin("by hash", schemas.Start, 1); err != nil {
		return "", false, err
	}
	for _, it := range m.items {
		if u := it.Update; u != nil && u.ExternalTransactionHash == hash && !m.mark.Before(u.Position()) {
			return u.UpdateID, true, nil
		}
	}
	return "", false, nil
}

func (m *memory) ContractHistory(_ context.Context, q history.ContractQuery) ([]history.ContractStep, error) {
	defer m.mu.Unlock()
	if err := m.begin("contract", q.Through, q.Limit); err != nil {
		return nil, err
	}
	var steps []history.ContractStep
	add := func(u schemas.Update, events ...schemas.Event) {
		p := u.Position()
		u.Events = events
		s := history.ContractStep{Update: u}
		if q.Through.Before(p) || p.Before(q.After) || p == q.After && s.Node() <= q.AfterNode {
			return
		}
		steps = append(steps, s)
	}
	for _, u := range m.everything() {
		if u.Kind == schemas.Unassignment && u.Reassignment.ContractID == q.ContractID {
			add(u)
		}
		for _, e := range u.Events {
			if e.ContractID == q.ContractID {
				add(u, e)
			}
		}
	}
	return steps[:min(len(steps), q.Limit)], nil
}

// everything is all updates in order, imports before the history of their migration.
func (m *memory) everything() []schemas.Update {
	all := slices.Clone(m.imports)
	for _, it := range m.items {
		if it.Update != nil {
			all = append(all, *it.Update)
		}
	}
	slices.SortStableFunc(all, func(a, b schemas.Update) int { return a.Position().Compare(b.Position()) })
	return all
}

func (m *memory) PartyUpdates(_ context.Context, party string, rg history.Range) ([]schemas.Update, error) {
	return in(m, "of a party", rg, func(it schemas.Item) (schemas.Update, bool) {
		if it.Update == nil {
			return schemas.Update{}, false
		}
		return *it.Update, slices.ContainsFunc(it.Update.Events, func(e schemas.Event) bool {
			return slices.Contains(e.Signatories, party) || slices.Contains(e.Observers, party) || slices.Contains(e.ActingParties, party)
		})
	})
}

// health is a Health that tests set.
type health struct {
	mu         sync.Mutex
	backfilled bool
	notReady   error
}

func (h *health) set(backfilled bool, notReady error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.backfilled, h.notReady = backfilled, notReady
}

func (h *health) Backfilled(context.Context) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.backfilled
}

func (h *health) Ready(context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.notReady
}

// shelf is a Bulk over maps.
type shelf struct {
	segments map[Format][]Segment
	sets     map[Format]map[schemas.Micros][]Object
	content  map[string]string
	progress []Pipeline
	staged   map[string]string // content of objects that wait for peers
	expired  map[string]bool   // keys that are still stored and not listed any more
	asked    int               // lookups of keys
}

func (s *shelf) put(key, content string) Object {
	if s.content == nil {
		s.content = map[string]string{}
	}
	s.content[key] = content
	return Object{Key: key, Size: int64(len(content)), SHA256: sha256.Sum256([]byte(content))}
}

func (s *shelf) ActiveSet(_ context.Context, f Format, at schemas.Micros) (schemas.Micros, []Object, error) {
	best, found := schemas.MinMicros, false
	for t := range s.sets[f] {
		if t <= at && (!found || t > best) {
			best, found = t, true
		}
	}
	if !found {
		return 0, nil, fmt.Errorf("no set of format %s: %w", f, schemas.ErrNotFound)
	}
	return best, s.sets[f][best], nil
}

func (s *shelf) Segments(_ context.Context, f Format, start, end schemas.Micros, limit int) ([]Segment, schemas.Micros, error) {
	published := schemas.MinMicros
	var list []Segment
	for _, g := range s.segments[f] {
		published = max(published, g.End)
		if g.Start < end && g.End > start && len(list) < limit {
			list = append(list, g)
		}
	}
	return list, published, nil
}

func (s *shelf) Published(ctx context.Context, f Format) (schemas.Micros, error) {
	_, published, err := s.Segments(ctx, f, schemas.MinMicros, schemas.MinMicros, 0)
	return published, err
}

func (s *shelf) Objects(_ context.Context, keys ...string) (map[string]Object, error) {
	found := map[string]Object{}
	for _, key := range keys {
		s.asked++
		if content, ok := s.content[key]; ok && !s.expired[key] && !strings.HasPrefix(key, "private/") {
			found[key] = Object{Key: key, Size: int64(len(content)), SHA256: sha256.Sum256([]byte(content))}
		}
	}
	return found, nil
}

func (s *shelf) Progress(context.Context) ([]Pipeline, error) { return s.progress, nil }

func (s *shelf) Checksums(ctx context.Context, keys ...string) (map[string][32]byte, error) {
	found, err := s.Objects(ctx, keys...)
	sums := make(map[string][32]byte)
	for key, o := range found {
		sums[key] = o.SHA256
	}
	for _, key := range keys {
		if content, ok := s.staged[key]; ok {
			sums[key] = sha256.Sum256([]byte(content))
		}
	}
	return sums, err
}

func (s *shelf) Open(_ context.Context, o Object, from, to int64) (io.ReadCloser, error) {
	if strings.HasSuffix(o.Key, "lost") || o.SHA256 != sha256.Sum256([]byte(s.content[o.Key])) {
		return nil, errors.Join(errors.New("bucket b at host h"), schemas.ErrNotFound)
	}
	return io.NopCloser(bytes.NewReader([]byte(s.content[o.Key][from:to]))), nil
}
