package nodeapi

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/history"
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
	Close()
}

const (
	itemsPerTake = 256
	bytesPerTake = 2 << 20
)

// updateStream gives updates in the order of offsets, or against it.
type updateStream struct {
	store      *history.Store
	view       *history.NodeView
	format     *updateFormat
	complete   bool // the format is the one that updates are kept in
	butViews   bool // or but for views of some contracts
	begin, end int64
	descending bool
	// checkpointEvery is the number of updates after which a checkpoint comes.
	checkpointEvery int

	cursor   int64 // all up to here was given; descending, all from here on
	unmarked int   // updates since the last checkpoint
	frames   history.BlockReader
	records  history.BlockReader
	items    []history.NodeItem
	found    [][]byte
	bounds   []int
	buffer   []byte
	frame    []byte
	packed   []byte
	record   history.NodeRecord
	reader   history.RecordReader
	cutter   cutter
}

func newUpdateStream(s *history.Store, v *history.NodeView, f *updateFormat, begin, end int64, descending bool, checkpointEvery int) *updateStream {
	u := &updateStream{store: s, view: v, format: f, complete: f.everything(), butViews: f.everythingButViews(), begin: begin, end: end,
		descending: descending, checkpointEvery: checkpointEvery, cursor: begin, cutter: cutter{names: v.Names}}
	if descending {
		u.cursor = end + 1
	}
	u.frames.Open(s.Files[history.NodeFile])
	u.records.Open(s.Files[history.NodeRecordFile])
	return u
}

func (u *updateStream) Close() {
	u.frames.Close()
	u.records.Close()
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
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	u.items = u.items[:0]
	size, limit := int64(0), min(itemsPerTake, u.checkpointEvery-u.unmarked)
	add := func(i int) {
		item := s.NodeItem(i)
		u.items = append(u.items, item)
		u.cursor = item.Offset
		size += item.Frame.Size
	}
	if u.descending {
		i := s.Node.After(u.cursor-1) - 1
		for ; i >= 0 && s.Node.Entries[i].Offset > u.begin && len(u.items) < itemsPerTake && size < bytesPerTake; i-- {
			add(i)
		}
		return nil, i < 0 || s.Node.Entries[i].Offset <= u.begin
	}
	end := min(u.end, s.LedgerEnd(u.view))
	i := s.Node.After(u.cursor)
	for ; i < len(s.Node.Entries) && s.Node.Entries[i].Offset <= end && len(u.items) < limit && size < bytesPerTake; i++ {
		add(i)
	}
	if i < len(s.Node.Entries) && s.Node.Entries[i].Offset <= end {
		return nil, false
	}
	u.cursor = max(u.cursor, end)
	return s.Grown, true
}

// copyAll gives the updates as they are kept.
func (u *updateStream) copyAll() error {
	if len(u.items) == 0 {
		return nil
	}
	if u.descending { // not in one piece
		return u.cutAll()
	}
	first, last := u.items[0].Frame, u.items[len(u.items)-1].Frame
	var err error
	if u.buffer, err = u.frames.Append(u.buffer, first.Start, last.Start+last.Size-first.Start); err != nil {
		return err
	}
	for _, item := range u.items {
		at := item.Frame.Start - first.Start
		u.found = append(u.found, u.buffer[at:at+item.Frame.Size:at+item.Frame.Size])
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
		if u.butViews && !slices.ContainsFunc(u.record.List, func(e history.EventRecord) bool { return u.format.shows(e.Template) }) {
			u.buffer = append(u.buffer, u.frame...)
		} else {
			u.buffer = u.cutter.update(u.buffer, u.format, u.frame, &u.record)
		}
		u.bounds = append(u.bounds, len(u.buffer))
	}
	u.divide()
	return nil
}

// divide gives what is in the buffer, now that the buffer stays where it is.
func (u *updateStream) divide() {
	start := 0
	for _, end := range u.bounds {
		if end > start {
			u.found = append(u.found, u.buffer[start:end:end])
		}
		start = end
	}
}

// load reads the bytes and the record of an update.
func (u *updateStream) load(item *history.NodeItem) (err error) {
	if u.frame, err = u.frames.Append(u.frame[:0], item.Frame.Start, item.Frame.Size); err != nil {
		return err
	}
	if u.packed, err = u.records.Append(u.packed[:0], item.Record.Start, item.Record.Size); err != nil {
		return err
	}
	u.record.Decode(&u.reader, u.packed)
	u.record.Offset = item.Offset
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
	return append(u.store.AppendCheckpoint([]byte(`{"update":`), u.view, u.cursor), '}')
}
