package node

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// decoder reads the JSON of the node in one pass over the bytes. Strings of the result
// refer to the text they were read from; what has to be written anew lies in slabs, few
// allocations for many updates. It is not safe for concurrent use.
type decoder struct {
	migrationID int64
	// notice is told of members of updates that have no place in schemas.Update.
	notice func(where, member string)

	scan   jsonscan.Scanner
	src    []byte // what scan reads
	sorter jsonscan.Sorter
	keys   [][]byte // of all open objects, innermost last

	// Scratch of the update being read; its parts move to the slabs when it is whole.
	events  []schemas.Event
	locals  []schemas.LocalEvent
	offsets []int64
	extras  []byte
	// kept are members of the update, and around the event, that have no place of their
	// own: text of an object without its braces, with a comma after each.
	kept, keptAround []byte
	list1            []string
	open             []int32
	nodes            []int32
	sawTime          timesSeen

	eventSlab  slab[schemas.Event]
	localSlab  slab[schemas.LocalEvent]
	stringSlab slab[string]
	nodeSlab   slab[int32]
	byteSlab   slab[byte]
}

// timesSeen tells times that are missing from those at the epoch, which a simulated
// clock begins with.
type timesSeen struct{ record, effective bool }

func newDecoder(migrationID int64, notice func(where, member string)) *decoder {
	return &decoder{
		migrationID: migrationID, notice: notice,
		eventSlab: slab[schemas.Event]{size: 64}, localSlab: slab[schemas.LocalEvent]{size: 64},
		stringSlab: slab[string]{size: 256}, nodeSlab: slab[int32]{size: 256}, byteSlab: slab[byte]{size: 32 << 10},
	}
}

// text reads one JSON text, an object, from its first to its last byte.
func (d *decoder) text(body []byte, member func(key []byte) error) error {
	d.src, d.keys = body, d.keys[:0]
	d.scan.Reset(body)
	d.sorter.Reset()
	if err := d.object("a frame", member); err != nil {
		return err
	}
	return d.scan.End()
}

var errDuplicate = errors.New("a member comes twice")

// object reads an object; member must read the value of each. The key it gets is good
// until it reads on.
func (d *decoder) object(what string, member func(key []byte) error) error {
	if err := d.scan.Open('{'); err != nil {
		return fmt.Errorf("%s is not an object: %w", what, err)
	}
	mark := len(d.keys)
	defer func() { d.keys = d.keys[:mark] }()
	for more := d.scan.First('}'); more; {
		d.scan.Peek()
		start := d.scan.Offset()
		key, err := d.scan.Key()
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if !d.aliases(key, start) {
			key = bytes.Clone(key)
		}
		for _, other := range d.keys[mark:] {
			if len(other) == len(key) && string(other) == string(key) {
				return fmt.Errorf("%s: %w: %q", what, errDuplicate, key)
			}
		}
		d.keys = append(d.keys, key)
		if err := member(key); err != nil {
			return err
		}
		if more, err = d.scan.More('}'); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}

// aliases reports whether text, a string whose quote stands at offset start, lies in the
// source and not in the scanner's buffer, as those with escapes do.
func (d *decoder) aliases(text []byte, start int) bool {
	return len(text) == 0 || unsafe.SliceData(text) == &d.src[start+1]
}

// oneOf reads an object with exactly one member, whose key says what it is.
func (d *decoder) oneOf(what string, read func(key []byte) error) error {
	count := 0
	err := d.object(what, func(key []byte) error {
		if count++; count > 1 {
			return fmt.Errorf("%s says two things that it is, also %q", what, key)
		}
		return read(key)
	})
	if err == nil && count == 0 {
		return fmt.Errorf("%s does not say what it is", what)
	}
	return err
}

// wrapped reads {"value": {...}}.
func (d *decoder) wrapped(member func(key []byte) error) error {
	found := false
	err := d.object("an update", func(key []byte) error {
		if string(key) != "value" {
			return d.unknown("an update", key)
		}
		found = true
		return d.object("value", member)
	})
	if err == nil && !found {
		return errors.New("an update has no value")
	}
	return err
}

// list reads an array, or null, which stands for an empty one.
func (d *decoder) list(what string, element func() error) error {
	if d.null() {
		return nil
	}
	if err := d.scan.Open('['); err != nil {
		return fmt.Errorf("%s is not a list: %w", what, err)
	}
	for more := d.scan.First(']'); more; {
		if err := element(); err != nil {
			return err
		}
		var err error
		if more, err = d.scan.More(']'); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}

// null reads null, if that is what comes.
func (d *decoder) null() bool {
	return d.scan.Peek() == 'n' && d.scan.Literal("null") == nil
}

// skip reads a value of any kind and checks it.
func (d *decoder) skip() error {
	_, err := d.canonical("a member")
	return err
}

// unknown reads the value of a member that has no place, and tells of it.
func (d *decoder) unknown(where string, key []byte) error {
	name := string(key)
	if d.null() {
		return nil
	}
	d.notice(where, name)
	return d.skip()
}

// string reads a string; null stands for an empty one.
func (d *decoder) string(what string) (string, error) {
	if d.null() {
		return "", nil
	}
	start := d.scan.Offset()
	text, err := d.scan.Text()
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	if !d.aliases(text, start) {
		text = d.byteSlab.copyOf(text)
	}
	return unsafe.String(unsafe.SliceData(text), len(text)), nil
}

// int64 reads a whole number that fits.
func (d *decoder) int64(what string) (int64, error) {
	text, err := d.scan.Number()
	if err != nil {
		return 0, fmt.Errorf("%s is not a number: %w", what, err)
	}
	n, err := strconv.ParseInt(unsafe.String(unsafe.SliceData(text), len(text)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %.40s is not a whole number of 64 bits", what, text)
	}
	return n, nil
}

// positive reads an offset.
func (d *decoder) positive(what string) (int64, error) {
	n, err := d.int64(what)
	if err == nil && n <= 0 {
		return 0, fmt.Errorf("%s is %d, which is not positive", what, n)
	}
	return n, err
}

// node reads a node number.
func (d *decoder) node(what string) (int32, error) {
	n, err := d.int64(what)
	if err == nil && (n < 0 || n > math.MaxInt32) {
		return 0, fmt.Errorf("%s is %d, which is not within 0 and 2^31", what, n)
	}
	return int32(n), err
}

func (d *decoder) bool(what string) (bool, error) {
	switch d.scan.Peek() {
	case 't':
		return true, d.scan.Literal("true")
	case 'f':
		return false, d.scan.Literal("false")
	}
	return false, fmt.Errorf("%s is neither true nor false", what)
}

// time reads an instant that the store can hold.
func (d *decoder) time(what string) (schemas.Micros, error) {
	text, err := d.string(what)
	if err != nil {
		return 0, err
	}
	m, err := schemas.ParseTime(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	const from, to = -2208988800 * 1e6, 9214646400 * 1e6 // 1900-01-01 and 2262-01-01
	if m < from || m >= to {
		return 0, fmt.Errorf("%s: %q is outside 1900 to 2262", what, text)
	}
	return m, nil
}

// canonical reads a value of any kind and returns it in canonical form. It checks
// UTF-8, duplicate keys and depth.
func (d *decoder) canonical(what string) ([]byte, error) {
	raw, err := d.raw()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if jsonscan.IsCanonical(raw) {
		return raw, nil
	}
	// Canonical form is never longer than another.
	room := d.byteSlab.room(len(raw))
	out, err := jsonscan.AppendCanonical(room, raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	d.byteSlab.use(out)
	return out, nil
}

// raw reads a value of any kind and returns it as it stands. That it ends where its
// brackets do is all that is checked.
func (d *decoder) raw() ([]byte, error) {
	d.scan.Peek()
	start := d.scan.Offset()
	end := valueEnd(d.src, start)
	if end < 0 {
		return nil, fmt.Errorf("%w at byte %d", jsonscan.ErrSyntax, start)
	}
	raw := d.src[start:end]
	d.src = d.src[end:]
	d.scan.Reset(d.src)
	return raw, nil
}

// withExtras reads an event. Members that member does not know go, unless they are
// null, into l.Extras.
func (d *decoder) withExtras(l *schemas.LocalEvent, member func(key []byte) (known bool, err error)) error {
	extras := append(d.extras[:0], '{')
	mark := d.sorter.Begin()
	err := d.object("an event", func(key []byte) error {
		known, err := member(key)
		if known || err != nil || d.null() {
			return err
		}
		raw, err := d.raw()
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		var m jsonscan.Member
		extras, m = d.sorter.Key(extras, key)
		if extras, err = jsonscan.AppendCanonical(extras, raw); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		d.sorter.Add(m, extras)
		return nil
	})
	if err == nil {
		extras, err = d.sorter.End(append(extras, '}'), mark)
	}
	d.extras = extras
	if err != nil || len(extras) == 2 {
		return err
	}
	l.Extras = d.byteSlab.copyOf(extras)
	return nil
}

// keep reads the value of a member that has no place of its own and adds both to members,
// unless it is null.
func (d *decoder) keep(members *[]byte, key []byte) error {
	out := append(jsonscan.AppendString(*members, key), ':')
	if d.null() {
		return nil
	}
	value, err := d.canonical("a member")
	if err != nil {
		return err
	}
	*members = append(append(out, value...), ',')
	return nil
}

// keptObject makes a canonical JSON object of members that were kept, nil without any.
func (d *decoder) keptObject(members []byte) ([]byte, error) {
	if len(members) == 0 {
		return nil, nil
	}
	d.extras = append(append(append(d.extras[:0], '{'), members[:len(members)-1]...), '}')
	sorted, err := jsonscan.AppendCanonical(d.byteSlab.room(len(d.extras)), d.extras)
	if err != nil {
		return nil, err
	}
	d.byteSlab.use(sorted)
	return sorted, nil
}

// addAround puts what was kept from around the last event into its extras, as one member
// of the given name: names around an event may be those in it.
func (d *decoder) addAround(name string) error {
	around, err := d.keptObject(d.keptAround)
	if err != nil || around == nil {
		return err
	}
	d.keptAround = d.keptAround[:0]
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
	sorted, err := jsonscan.AppendCanonical(d.byteSlab.room(len(out)), out)
	if err != nil {
		return fmt.Errorf("an event has a member of its reassignment: %w", err)
	}
	d.byteSlab.use(sorted)
	l.Extras = sorted
	return nil
}

// eventID is "<update id>:<node>".
func (d *decoder) eventID(updateID string, node int32) string {
	id := append(d.byteSlab.room(len(updateID)+12), updateID...)
	id = strconv.AppendInt(append(id, ':'), int64(node), 10)
	d.byteSlab.use(id)
	return unsafe.String(unsafe.SliceData(id), len(id))
}
