package devnet

import (
	"strconv"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// elementStream gives the elements of an answer bit by bit.
type elementStream interface {
	// take returns the next elements, valid until the next call. more is closed when
	// there may be further ones after none were returned; done says that there are no
	// more.
	take() (elements [][]byte, more <-chan struct{}, done bool, err error)
	// idle returns an element to send while there is nothing else to send, or nil.
	idle() []byte
	// close lets go of what the stream reads from.
	close()
}

const (
	itemsPerTake = 256
	bytesPerTake = 2 << 20
)

// updateStream gives updates in the order of offsets, or against it.
type updateStream struct {
	store      *store
	view       *nodeView
	format     *updateFormat
	complete   bool // the format is the one that updates are kept in
	begin, end int64
	descending bool
	// checkpointEvery is the number of updates after which a checkpoint comes.
	checkpointEvery int

	cursor   int64 // all up to here was given; descending, all from here on
	unmarked int   // updates since the last checkpoint
	frames   blockReader
	records  blockReader
	items    []nodeItem
	found    [][]byte
	bounds   []int
	buffer   []byte
	frame    []byte
	packed   []byte
	record   nodeRecord
	reader   recordReader
	cutter   cutter
}

func newUpdateStream(s *store, v *nodeView, f *updateFormat, begin, end int64, descending bool, checkpointEvery int) *updateStream {
	u := &updateStream{store: s, view: v, format: f, complete: f.everything(), begin: begin, end: end,
		descending: descending, checkpointEvery: checkpointEvery, cursor: begin, cutter: cutter{names: v.names}}
	if descending {
		u.cursor = end + 1
	}
	u.frames.open(s.files[nodeFile])
	u.records.open(s.files[nodeRecordFile])
	return u
}

func (u *updateStream) close() {
	u.frames.close()
	u.records.close()
}

// take returns the elements of the next updates; they may be none although more follow
// at once, if the client does not want what there is: then more is nil.
func (u *updateStream) take() ([][]byte, <-chan struct{}, bool, error) {
	more, reached := u.next()
	u.found, u.bounds, u.buffer = u.found[:0], u.bounds[:0], u.buffer[:0]
	var err error
	if u.complete {
		err = u.copyAll()
	} else {
		err = u.cutAll()
	}
	if err != nil {
		return nil, nil, false, err
	}
	u.unmarked += len(u.items)
	if u.unmarked >= u.checkpointEvery && !u.descending {
		u.found = append(u.found, u.checkpoint())
	}
	done := reached && (u.descending || u.cursor >= u.end)
	if !reached || len(u.found) > 0 {
		more = nil
	}
	return u.found, more, done, nil
}

// next chooses the next updates and moves the cursor behind them. reached says that
// there are no more for now.
func (u *updateStream) next() (more <-chan struct{}, reached bool) {
	s := u.store
	s.mu.RLock()
	defer s.mu.RUnlock()
	u.items = u.items[:0]
	size, limit := int64(0), min(itemsPerTake, u.checkpointEvery-u.unmarked)
	add := func(i int) {
		item := s.nodeItem(i)
		u.items = append(u.items, item)
		u.cursor = item.offset
		size += item.frame.size
	}
	if u.descending {
		i := s.node.after(u.cursor-1) - 1
		for ; i >= 0 && s.node.entries[i].offset > u.begin && len(u.items) < itemsPerTake && size < bytesPerTake; i-- {
			add(i)
		}
		return nil, i < 0 || s.node.entries[i].offset <= u.begin
	}
	end := min(u.end, s.ledgerEnd(u.view))
	i := s.node.after(u.cursor)
	for ; i < len(s.node.entries) && s.node.entries[i].offset <= end && len(u.items) < limit && size < bytesPerTake; i++ {
		add(i)
	}
	if i < len(s.node.entries) && s.node.entries[i].offset <= end {
		return nil, false
	}
	u.cursor = max(u.cursor, end)
	return s.grown, true
}

// copyAll gives the updates as they are kept.
func (u *updateStream) copyAll() error {
	if len(u.items) == 0 {
		return nil
	}
	if u.descending { // not in one piece
		return u.cutAll()
	}
	first, last := u.items[0].frame, u.items[len(u.items)-1].frame
	var err error
	if u.buffer, err = u.frames.append(u.buffer, first.start, last.start+last.size-first.start); err != nil {
		return err
	}
	for _, item := range u.items {
		at := item.frame.start - first.start
		u.found = append(u.found, u.buffer[at:at+item.frame.size:at+item.frame.size])
	}
	return nil
}

// cutAll gives what the client wants of the updates.
func (u *updateStream) cutAll() error {
	for i := range u.items {
		item := &u.items[i]
		if err := u.load(item); err != nil {
			return err
		}
		u.buffer = u.cutter.update(u.buffer, u.format, u.frame, &u.record)
		u.bounds = append(u.bounds, len(u.buffer))
	}
	start := 0
	for _, end := range u.bounds { // only now does the buffer stay where it is
		if end > start {
			u.found = append(u.found, u.buffer[start:end:end])
		}
		start = end
	}
	return nil
}

// load reads the bytes and the record of an update.
func (u *updateStream) load(item *nodeItem) (err error) {
	if u.frame, err = u.frames.append(u.frame[:0], item.frame.start, item.frame.size); err != nil {
		return err
	}
	if u.packed, err = u.records.append(u.packed[:0], item.record.start, item.record.size); err != nil {
		return err
	}
	u.record.decode(&u.reader, u.packed)
	u.record.offset = item.offset
	return nil
}

// idle returns a checkpoint, nil before the first offset.
func (u *updateStream) idle() []byte {
	if u.cursor == 0 || u.descending {
		return nil
	}
	return u.checkpoint()
}

// checkpoint returns an element that says how far the stream has come.
func (u *updateStream) checkpoint() []byte {
	u.unmarked = 0
	return append(u.store.appendCheckpoint([]byte(`{"update":`), u.view, u.cursor), '}')
}

// appendCheckpoint appends what a stream has come to at an offset.
func (s *store) appendCheckpoint(dst []byte, v *nodeView, offset int64) []byte {
	s.mu.RLock()
	t := s.timeAt(v, offset)
	s.mu.RUnlock()
	dst = strconv.AppendInt(append(dst, `{"OffsetCheckpoint":{"value":{"offset":`...), offset, 10)
	dst = append(dst, `,"synchronizerTimes":[`...)
	for _, name := range v.names.synchronizers {
		dst = schemas.AppendRecordTime(append(dst, `{"recordTime":"`...), schemas.Micros(t))
		dst = append(append(append(dst, `","synchronizerId":"`...), name...), `"},`...)
	}
	return append(closing(dst, ']'), `}}}`...)
}
