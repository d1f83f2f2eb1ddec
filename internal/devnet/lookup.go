package devnet

import "sort"

// The methods here find what an answer consists of. They only hold the lock for
// the index; the bytes are read from the files afterwards, which is safe because
// what was written never changes.

// migrationInfo describes one migration. Times are µs.
type migrationInfo struct {
	ranges     []timeRange // by synchronizer, those with updates only
	lastImport string      // update id, "" without imports
}

// timeRange is the span of the updates of one synchronizer, both inclusive.
type timeRange struct {
	synchronizer string
	min, max     int64
}

// info returns the migration with the given id; false if there is none yet.
func (s *store) info(id int64) (migrationInfo, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if id < 0 || id >= int64(len(s.migrations)) {
		return migrationInfo{}, false
	}
	var info migrationInfo
	for i, updates := range s.migrations[id].updates {
		if len(updates) > 0 {
			first, last := s.at(int(updates[0])), s.at(int(updates[len(updates)-1]))
			info.ranges = append(info.ranges, timeRange{s.names.synchronizers[i], first.time, last.time})
		}
	}
	if id == importMigration && len(s.importsAt) > 0 {
		last := s.importsAt[len(s.importsAt)-1]
		info.lastImport = string(s.names.ids.appendContractID(nil, last.number))
	}
	return info, true
}

// importMigration is the migration that starts with import updates.
const importMigration = 1

// updatesAfter collects up to limit updates behind c, in order. In the V2 form that
// is one piece of the file.
func (s *store) updatesAfter(c *cursor, limit int, enc encoding, v1 bool) *answer {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a := &answer{}
	a.text(`{"transactions":[`)
	first := s.after(c)
	end := first
	for found := 0; end < s.count && found < limit; end++ {
		if !s.at(end).hasUpdate() {
			continue
		}
		if v1 {
			a.separator(found)
			a.item(s, end, enc, true)
		}
		found++
	}
	if !v1 {
		a.run(s, first, end, enc)
	}
	a.text(`]}`)
	return a
}

// updatesBefore collects up to limit updates of a synchronizer with record times in
// [atOrAfter, before), newest first, in V1 form and protobuf_json. It returns nil
// if there is no such migration.
func (s *store) updatesBefore(migrationID int64, synchronizer string, before, atOrAfter int64, limit int) *answer {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if migrationID < 0 || migrationID >= int64(len(s.migrations)) {
		return nil
	}
	var updates []uint32
	for i, name := range s.names.synchronizers {
		if name == synchronizer {
			updates = s.migrations[migrationID].updates[i]
		}
	}
	from := sort.Search(len(updates), func(i int) bool { return s.at(int(updates[i])).time >= before })
	a := &answer{}
	a.text(`{"transactions":[`)
	for n := 0; n < limit && from > 0; n++ {
		from--
		if s.at(int(updates[from])).time < atOrAfter {
			break
		}
		a.separator(n)
		a.item(s, int(updates[from]), protobufJSON, true)
	}
	a.text(`]}`)
	return a
}

// importsAfter collects up to limit import updates with ids behind after.
func (s *store) importsAfter(migrationID int64, after string, limit int) *answer {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a := &answer{}
	a.text(`{"transactions":[`)
	if migrationID == importMigration {
		first := sort.Search(len(s.importsAt), func(i int) bool {
			return string(s.names.ids.appendContractID(nil, s.importsAt[i].number)) > after
		})
		if end := min(len(s.importsAt), first+limit); first < end {
			start, size := s.importsAt[first].offset, s.ends[importsFile]
			if end < len(s.importsAt) {
				size = s.importsAt[end].offset
			}
			a.extent(extent{s.files[importsFile], start, size - start - 1})
		}
	}
	a.text(`]}`)
	return a
}

// eventsAfter collects up to limit events behind c: updates with their verdicts,
// and verdicts of which the update is not public.
func (s *store) eventsAfter(c *cursor, limit int, enc encoding) *answer {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a := &answer{}
	a.text(`{"events":[`)
	first, visible := s.after(c), s.visibleEvents()
	for i, found := first, 0; i < visible && found < limit; i++ {
		if s.at(i).kind == topologyUpdate {
			continue
		}
		a.separator(found)
		a.event(s, i, enc)
		found++
	}
	a.text(`]}`)
	return a
}

// visibleEvents is the number of the first entry that is not an event yet: of the
// newest migration, the record time must not exceed that of the last update nor
// that of the last verdict. The caller holds the lock.
func (s *store) visibleEvents() int {
	if len(s.migrations) == 0 {
		return 0
	}
	m := &s.migrations[len(s.migrations)-1]
	return s.search(m.first, m.end, min(m.lastUpdate, m.lastVerdict)+1)
}

// update returns the update with an id, nil if there is none.
func (s *store) update(id string, enc encoding, v1 bool) *answer {
	s.mu.RLock()
	defer s.mu.RUnlock()
	i, ok := s.entryOf(id)
	if !ok || !s.at(i).hasUpdate() {
		return nil
	}
	a := &answer{}
	a.item(s, i, enc, v1)
	return a
}

// updateByHash returns the transaction with an external hash, nil if there is none.
func (s *store) updateByHash(hash string, enc encoding) *answer {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n, ok := s.names.ids.hashNumber(hash)
	if !ok || n >= uint64(s.count) || !s.at(int(n)).external {
		return nil
	}
	a := &answer{}
	a.item(s, int(n), enc, false)
	return a
}

// event returns the event with an update id, nil if there is none yet.
func (s *store) event(id string, enc encoding) *answer {
	s.mu.RLock()
	defer s.mu.RUnlock()
	i, ok := s.entryOf(id)
	if !ok || i >= s.visibleEvents() || s.at(i).kind == topologyUpdate {
		return nil
	}
	a := &answer{}
	a.event(s, i, enc)
	return a
}

// entryOf returns the number of the entry with an update id; the caller holds the lock.
func (s *store) entryOf(id string) (int, bool) {
	n, ok := s.names.ids.updateNumber(id)
	return int(n), ok && n < uint64(s.count)
}

// snapshotPeriod is the distance of the instants whose active contracts a scan
// keeps, counted from midnight UTC.
const snapshotPeriod = 3 * 3600e6

// snapshotBefore returns the newest snapshot of a migration at or before t.
func (s *store) snapshotBefore(migrationID, t int64) (int64, bool) {
	first, last, ok := s.snapshots(migrationID)
	at := min(last, t/snapshotPeriod*snapshotPeriod)
	return at, ok && at >= first
}

// snapshotAfter returns the first snapshot after t of a migration or a later one.
func (s *store) snapshotAfter(migrationID, t int64) (int64, bool) {
	for id := max(0, migrationID); id <= importMigration; id++ {
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
func (s *store) snapshots(migrationID int64) (first, last int64, ok bool) {
	info, ok := s.info(migrationID)
	if !ok || len(info.ranges) == 0 {
		return 0, 0, false
	}
	minimum, maximum := info.ranges[0].min, info.ranges[0].max
	for _, r := range info.ranges[1:] {
		minimum, maximum = min(minimum, r.min), max(maximum, r.max)
	}
	const hour = 3600e6
	first = (minimum/hour*hour/snapshotPeriod + 1) * snapshotPeriod
	last = (maximum - 1) / snapshotPeriod * snapshotPeriod
	return first, last, first <= last
}
