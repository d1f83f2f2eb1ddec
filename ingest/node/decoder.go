package node

import (
	"fmt"
	"strconv"
	"unsafe"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// decoder makes updates and contracts of the JSON of the node, in one pass over the bytes.
// Strings of the result refer to the text they were read from; what has to be written again
// is in slabs, few allocations for many updates. It is not safe for concurrent use.
type decoder struct {
	migrationID int64
	in          jsonReader
	// computed is Config.Computed.
	computed func(packageName, templateID, entity string) bool

	// Scratch of the update being read; its parts move to the slabs when it is whole.
	events  []schemas.Event
	locals  []schemas.LocalEvent
	offsets []int64
	extras  []byte
	// members are those of the update that have no field, outerMembers those around the event:
	// the text of an object without its braces, with a comma after each member.
	members, outerMembers []byte
	list1                 []string
	open                  []int32
	nodes                 []int32
	sawTime               timesSeen

	eventSlab  slab[schemas.Event]
	localSlab  slab[schemas.LocalEvent]
	stringSlab slab[string]
	nodeSlab   slab[int32]
}

// timesSeen distinguishes missing times from those at the epoch, where a simulated clock
// begins.
type timesSeen struct{ record, effective bool }

func newDecoder(migrationID int64, notice func(where, member string)) *decoder {
	return &decoder{
		migrationID: migrationID, in: *newJSONReader(notice),
		eventSlab: slab[schemas.Event]{size: 64}, localSlab: slab[schemas.LocalEvent]{size: 64},
		stringSlab: slab[string]{size: 256}, nodeSlab: slab[int32]{size: 256},
	}
}

// withExtras reads an event. Members that member does not know go, unless they are
// null, into l.Extras.
func (d *decoder) withExtras(l *schemas.LocalEvent, member func(key []byte) (known bool, err error)) error {
	extras := append(d.extras[:0], '{')
	mark := d.in.sorter.Begin()
	err := d.in.object("an event", func(key []byte) error {
		known, err := member(key)
		if known || err != nil || d.in.null() {
			return err
		}
		raw, err := d.in.raw()
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		var m jsonscan.Member
		extras, m = d.in.sorter.Key(extras, key)
		if extras, err = jsonscan.AppendCanonical(extras, raw); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		d.in.sorter.Add(m, extras)
		return nil
	})
	if err == nil {
		extras, err = d.in.sorter.End(append(extras, '}'), mark)
	}
	d.extras = extras
	if err != nil || len(extras) == 2 {
		return err
	}
	l.Extras = d.in.byteSlab.copyOf(extras)
	return nil
}

// addMember reads the value of a member that has no field and adds both to members,
// unless it is null.
func (d *decoder) addMember(members *[]byte, key []byte) error {
	out := append(jsonscan.AppendString(*members, key), ':')
	if d.in.null() {
		return nil
	}
	value, err := d.in.canonical("a member")
	if err != nil {
		return err
	}
	*members = append(append(out, value...), ',')
	return nil
}

// membersObject makes a canonical JSON object of members, nil without any.
func (d *decoder) membersObject(members []byte) ([]byte, error) {
	if len(members) == 0 {
		return nil, nil
	}
	d.extras = append(append(append(d.extras[:0], '{'), members[:len(members)-1]...), '}')
	sorted, err := jsonscan.AppendCanonical(d.in.byteSlab.room(len(d.extras)), d.extras)
	if err != nil {
		return nil, err
	}
	d.in.byteSlab.use(sorted)
	return sorted, nil
}

// addAround puts the members around the last event into its extras, as one member
// of the given name: names around an event may be those in it.
func (d *decoder) addAround(name string) error {
	around, err := d.membersObject(d.outerMembers)
	if err != nil || around == nil {
		return err
	}
	d.outerMembers = d.outerMembers[:0]
	return d.addExtras(&d.locals[len(d.locals)-1], `"`+name+`":`, around)
}

// addExtras adds members to l.Extras: keys with quotes and colon, each followed by a
// string, an int64 or canonical JSON.
func (d *decoder) addExtras(l *schemas.LocalEvent, members ...any) error {
	out := append(d.extras[:0], '{')
	for i, m := range members {
		switch m := m.(type) {
		case int64:
			out = strconv.AppendInt(out, m, 10)
		case []byte:
			out = append(out, m...)
		case string:
			if i%2 == 0 {
				out = append(out, m...)
				continue
			}
			out = jsonscan.AppendString(out, []byte(m))
		}
		out = append(out, ',')
	}
	if l.Extras != nil {
		out = append(out, l.Extras[1:]...)
	} else {
		out[len(out)-1] = '}'
	}
	d.extras = out
	sorted, err := jsonscan.AppendCanonical(d.in.byteSlab.room(len(out)), out)
	if err != nil {
		return fmt.Errorf("an event has a member that belongs to its reassignment: %w", err)
	}
	d.in.byteSlab.use(sorted)
	l.Extras = sorted
	return nil
}

// eventID is "<update id>:<node>".
func (d *decoder) eventID(updateID string, node int32) string {
	id := append(d.in.byteSlab.room(len(updateID)+12), updateID...)
	id = strconv.AppendInt(append(id, ':'), int64(node), 10)
	d.in.byteSlab.use(id)
	return unsafe.String(unsafe.SliceData(id), len(id))
}

// slab hands out slices of large blocks. What it handed out is never used again, so a
// block lives as long as the longest living slice of it: good for values that come and
// go together, as those of a batch do.
type slab[T any] struct {
	size  int // of a block
	block []T // its length is what is used
}

// room returns an empty slice with a capacity of at least n, which use then takes from
// the block.
func (s *slab[T]) room(n int) []T {
	if cap(s.block)-len(s.block) < n {
		if n > s.size/4 {
			return make([]T, 0, n)
		}
		s.block = make([]T, 0, s.size)
	}
	used := len(s.block)
	return s.block[used:used:cap(s.block)]
}

// use marks what was written to the last room as taken.
func (s *slab[T]) use(written []T) {
	used := len(s.block)
	if len(written) == 0 || used+len(written) > cap(s.block) {
		return
	}
	if rest := s.block[used : used+1]; &rest[0] == &written[0] {
		s.block = s.block[:used+len(written)]
	}
}

// copyOf returns a copy of list with no capacity to spare, nil for an empty one.
func (s *slab[T]) copyOf(list []T) []T {
	if len(list) == 0 {
		return nil
	}
	c := append(s.room(len(list)), list...)
	s.use(c)
	return c[:len(c):len(c)]
}
