package history

import (
	"sort"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// The methods here find what an answer consists of. They only hold the lock for
// the index; the bytes are read from the files afterwards, which is safe because
// what was written never changes.

// MigrationInfo describes one migration. Times are µs.
type MigrationInfo struct {
	Ranges     []timeRange // by synchronizer, those with updates only
	LastImport string      // update id, "" without imports
}

// timeRange is the span of the updates of one synchronizer, both inclusive.
type timeRange struct {
	Synchronizer string
	Min, Max     int64
}

// Info returns the migration with the given id; false if there is none yet.
func (s *Store) Info(id int64) (MigrationInfo, bool) {
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	if id < 0 || id >= int64(len(s.Migrations)) {
		return MigrationInfo{}, false
	}
	var info MigrationInfo
	for i, updates := range s.Migrations[id].Updates {
		if len(updates) > 0 {
			first, last := s.At(int(updates[0])), s.At(int(updates[len(updates)-1]))
			info.Ranges = append(info.Ranges, timeRange{s.Names.Synchronizers[i], first.Time, last.Time})
		}
	}
	if id == ImportMigration && len(s.ImportsAt) > 0 {
		last := s.ImportsAt[len(s.ImportsAt)-1]
		info.LastImport = string(s.Names.IDs.AppendContractID(nil, last.Number))
	}
	return info, true
}

// ImportMigration is the migration that starts with import updates.
const ImportMigration = 1

// UpdatesAfter collects up to limit updates behind c, in order. In the V2 form that
// is one piece of the file.
func (s *Store) UpdatesAfter(c *Cursor, limit int, enc model.Encoding, v1 bool) *Answer {
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	a := &Answer{}
	a.text(`{"transactions":[`)
	first := s.After(c)
	end := first
	for found := 0; end < s.Count && found < limit; end++ {
		if !s.At(end).HasUpdate() {
			continue
		}
		if v1 {
			a.separator(found)
			a.Item(s, end, enc, true)
		}
		found++
	}
	if !v1 {
		a.Extent(s.items(first, end, enc))
	}
	a.text(`]}`)
	return a
}

// UpdatesBefore collects up to limit updates of a synchronizer with record times in
// [atOrAfter, before), newest first, in V1 form and protobuf_json. It returns nil
// if there is no such migration.
func (s *Store) UpdatesBefore(migrationID int64, synchronizer string, before, atOrAfter int64, limit int) *Answer {
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	if migrationID < 0 || migrationID >= int64(len(s.Migrations)) {
		return nil
	}
	var updates []uint32
	for i, name := range s.Names.Synchronizers {
		if name == synchronizer {
			updates = s.Migrations[migrationID].Updates[i]
		}
	}
	from := sort.Search(len(updates), func(i int) bool { return s.At(int(updates[i])).Time >= before })
	a := &Answer{}
	a.text(`{"transactions":[`)
	for n := 0; n < limit && from > 0; n++ {
		from--
		if s.At(int(updates[from])).Time < atOrAfter {
			break
		}
		a.separator(n)
		a.Item(s, int(updates[from]), model.ProtobufJSON, true)
	}
	a.text(`]}`)
	return a
}

// ImportsAfter collects up to limit import updates with ids behind after.
func (s *Store) ImportsAfter(migrationID int64, after string, limit int) *Answer {
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	a := &Answer{}
	a.text(`{"transactions":[`)
	if migrationID == ImportMigration {
		first := sort.Search(len(s.ImportsAt), func(i int) bool {
			return string(s.Names.IDs.AppendContractID(nil, s.ImportsAt[i].Number)) > after
		})
		if end := min(len(s.ImportsAt), first+limit); first < end {
			start, size := s.ImportsAt[first].offset, s.Ends[importsFile]
			if end < len(s.ImportsAt) {
				size = s.ImportsAt[end].offset
			}
			a.Extent(Extent{s.Files[importsFile], start, size - start - 1})
		}
	}
	a.text(`]}`)
	return a
}

// EventsAfter collects up to limit events behind c: updates with their verdicts,
// and verdicts of which the update is not public.
func (s *Store) EventsAfter(c *Cursor, limit int, enc model.Encoding) *Answer {
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	a := &Answer{}
	a.text(`{"events":[`)
	first, visible := s.After(c), s.VisibleEvents()
	for i, found := first, 0; i < visible && found < limit; i++ {
		if s.At(i).Kind == sim.TopologyUpdate {
			continue
		}
		a.separator(found)
		a.event(s, i, enc)
		found++
	}
	a.text(`]}`)
	return a
}

// VisibleEvents is the number of the first entry that is not an event yet: of the
// newest migration, the record time must not exceed that of the last update nor
// that of the last verdict. The caller holds the lock.
func (s *Store) VisibleEvents() int {
	if len(s.Migrations) == 0 {
		return 0
	}
	m := &s.Migrations[len(s.Migrations)-1]
	return s.search(m.First, m.end, min(m.lastUpdate, m.lastVerdict)+1)
}

// Update returns the update with an id, nil if there is none.
func (s *Store) Update(id string, enc model.Encoding, v1 bool) *Answer {
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	i, ok := s.EntryOf(id)
	if !ok || !s.At(i).HasUpdate() {
		return nil
	}
	a := &Answer{}
	a.Item(s, i, enc, v1)
	return a
}

// UpdateByHash returns the transaction with an external hash, nil if there is none.
func (s *Store) UpdateByHash(hash string, enc model.Encoding) *Answer {
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	n, ok := s.Names.IDs.HashNumber(hash)
	if !ok || n >= uint64(s.Count) || !s.At(int(n)).external {
		return nil
	}
	a := &Answer{}
	a.Item(s, int(n), enc, false)
	return a
}

// Event returns the event with an update id, nil if there is none yet.
func (s *Store) Event(id string, enc model.Encoding) *Answer {
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	i, ok := s.EntryOf(id)
	if !ok || i >= s.VisibleEvents() || s.At(i).Kind == sim.TopologyUpdate {
		return nil
	}
	a := &Answer{}
	a.event(s, i, enc)
	return a
}

// EntryOf returns the number of the entry with an update id; the caller holds the lock.
func (s *Store) EntryOf(id string) (int, bool) {
	n, ok := s.Names.IDs.UpdateNumber(id)
	return int(n), ok && n < uint64(s.Count)
}

// snapshotPeriod is the distance of the instants whose active contracts a scan
// keeps, counted from midnight UTC.
const snapshotPeriod = 3 * 3600e6

// SnapshotBefore returns the newest snapshot of a migration at or before t.
func (s *Store) SnapshotBefore(migrationID, t int64) (int64, bool) {
	first, last, ok := s.snapshots(migrationID)
	at := min(last, t/snapshotPeriod*snapshotPeriod)
	return at, ok && at >= first
}

// SnapshotAfter returns the first snapshot after t of a migration or a later one.
func (s *Store) SnapshotAfter(migrationID, t int64) (int64, bool) {
	for id := max(0, migrationID); id <= ImportMigration; id++ {
		first, last, ok := s.snapshots(id)
		at := max(first, (t/snapshotPeriod+1)*snapshotPeriod)
		if ok && at <= last {
			return at, true
		}
	}
	return 0, false
}

// snapshots returns the first and the last snapshot of a migration: after the hour
// of its first update, and before its last one; false if there is none.
func (s *Store) snapshots(migrationID int64) (first, last int64, ok bool) {
	info, ok := s.Info(migrationID)
	if !ok || len(info.Ranges) == 0 {
		return 0, 0, false
	}
	minimum, maximum := info.Ranges[0].Min, info.Ranges[0].Max
	for _, r := range info.Ranges[1:] {
		minimum, maximum = min(minimum, r.Min), max(maximum, r.Max)
	}
	const hour = 3600e6
	first = (minimum/hour*hour/snapshotPeriod + 1) * snapshotPeriod
	last = (maximum - 1) / snapshotPeriod * snapshotPeriod
	return first, last, first <= last
}

// UpdatesUpTo counts the updates of a migration up to a record time, and of those before.
func (s *Store) UpdatesUpTo(migration, t int64) int {
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	count := 0
	for id, m := range s.Migrations {
		for _, updates := range m.Updates {
			switch {
			case int64(id) < migration:
				count += len(updates)
			case int64(id) == migration:
				count += sort.Search(len(updates), func(i int) bool { return s.At(int(updates[i])).Time > t })
			}
		}
	}
	return count
}

// LatestEvent is the record time of the last event that can be seen.
func (s *Store) LatestEvent() (int64, bool) {
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	n := s.VisibleEvents()
	if n == 0 {
		return 0, false
	}
	return s.At(n - 1).Time, true
}

// EntriesV0 returns the numbers of up to limit updates behind c, and how many of them
// come before the imports; -1 if the imports are not among what is asked for.
func (s *Store) EntriesV0(c *Cursor, limit int) (entries []int, importsFrom int) {
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	importsFrom = -1
	imports := len(s.Migrations) > ImportMigration && (c == nil || c.Migration < ImportMigration)
	i := s.After(c)
	for ; i < s.Count && len(entries) < limit; i++ {
		if imports && importsFrom < 0 && i >= s.Migrations[ImportMigration].First {
			importsFrom = len(entries)
		}
		if s.At(i).HasUpdate() {
			entries = append(entries, i)
		}
	}
	if imports && importsFrom < 0 && len(entries) < limit {
		importsFrom = len(entries) // no update follows them yet
	}
	return entries, importsFrom
}

// UpdateEntry returns the entry with the update of an id.
func (s *Store) UpdateEntry(id string) (int, bool) {
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	i, ok := s.EntryOf(id)
	return i, ok && s.At(i).HasUpdate()
}

// ImportNumber returns the position of the import update with an id.
func (s *Store) ImportNumber(id string) (int, bool) {
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	at := func(i int) string { return string(s.Names.IDs.AppendContractID(nil, s.ImportsAt[i].Number)) }
	i := sort.Search(len(s.ImportsAt), func(i int) bool { return at(i) >= id })
	return i, i < len(s.ImportsAt) && at(i) == id
}
