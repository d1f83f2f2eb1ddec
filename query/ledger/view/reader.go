package view

import (
	"fmt"
	"strconv"

	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// reader reads the members of a request. The text is canonical JSON, so all that can be
// wrong is that a value is of another kind than its member has; after the first such
// everything reads as empty. A member that is null reads as one that is absent, and members
// that no request has are passed over.
type reader struct {
	c   jsonscan.Cursor
	err error
}

// members are how the members of an object are read, by key. Others are passed over.
type members map[string]memberReader

// memberReader reads a member; at is where it is, such as "updateFormat.includeTransactions".
type memberReader func(r *reader, at string)

// read reads a body, which must be an object.
func read(body []byte, m members) error {
	canonical, err := jsonscan.AppendCanonical(make([]byte, 0, len(body)), body)
	if err != nil {
		return undecodable("%v", err)
	}
	r := &reader{c: jsonscan.NewCursor(canonical)}
	r.objectAt("the request", "", m)
	return r.err
}

// newReader reads a part of a body.
func newReader(canonical string) *reader { return &reader{c: jsonscan.NewCursor([]byte(canonical))} }

// expect notes what a member should have been, if it was not.
func (r *reader) expect(member, kind string) {
	if r.c.Failed() && r.err == nil {
		r.err = undecodable("%s must be %s", member, kind)
	}
}

// fail ends the reading.
func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.c.Fail()
}

// object reads an object. A member that is null is as one that is absent.
func (r *reader) object(name string, m members) { r.objectAt(name, name+".", m) }

// objectAt is object for members whose places begin with a prefix.
func (r *reader) objectAt(name, prefix string, m members) {
	r.eachMember(name, func(key string) {
		switch read := m[key]; {
		case r.c.Null():
		case read == nil:
			r.c.Raw()
		default:
			read(r, prefix+key)
		}
	})
}

// eachMember calls member for each member.
func (r *reader) eachMember(name string, member func(key string)) {
	for m := r.c.Members(); m.Next(); {
		member(m.Key())
	}
	r.expect(name, "an object")
}

// list calls element for each element.
func (r *reader) list(name string, element func()) {
	for l := r.c.List(); l.Next(); {
		element()
	}
	r.expect(name, "a list")
}

// number reads an int64.
func number(to *int64) memberReader {
	return func(r *reader, at string) { *to = r.integer(at, 64) }
}

// optional reads an int64; to stays nil without it.
func optional(to **int64) memberReader {
	return func(r *reader, at string) {
		n := r.integer(at, 64)
		*to = &n
	}
}

// pageSize reads an int32 that is not negative.
func pageSize(to *int64) memberReader {
	return func(r *reader, at string) {
		if *to = r.integer(at, 32); *to < 0 {
			r.fail(invalid("%s %d is negative", at, *to))
		}
	}
}

func flag(to *bool) memberReader {
	return func(r *reader, at string) { *to = r.bool(at) }
}

func text(to *string) memberReader {
	return func(r *reader, at string) { *to = r.text(at) }
}

// texts reads a list of texts.
func texts(to *[]string) memberReader {
	return func(r *reader, at string) {
		r.list(at, func() { *to = append(*to, r.text("each of "+at)) })
	}
}

func (r *reader) integer(name string, bits int) int64 {
	n, err := strconv.ParseInt(string(r.c.Raw()), 10, bits)
	if err != nil {
		r.c.Fail()
		r.expect(name, fmt.Sprintf("a whole number of %d bits", bits))
	}
	return n
}

func (r *reader) bool(name string) bool {
	b := r.c.Bool()
	r.expect(name, "true or false")
	return b
}

func (r *reader) text(name string) string {
	s := r.c.Text()
	r.expect(name, "a text")
	return s
}
