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

// read reads a body, which must be an object.
func read(body []byte, member func(r *reader, key string)) error {
	canonical, err := jsonscan.AppendCanonical(make([]byte, 0, len(body)), body)
	if err != nil {
		return undecodable("%v", err)
	}
	r := &reader{c: jsonscan.NewCursor(canonical)}
	r.object("the request", func(key string) { member(r, key) })
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

// object calls member for each member that is not null.
func (r *reader) object(name string, member func(key string)) {
	r.eachMember(name, func(key string) {
		if !r.c.Null() {
			member(key)
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

func (r *reader) int64(name string) int64 { return r.integer(name, 64) }

func (r *reader) optionalInt64(name string) *int64 {
	n := r.int64(name)
	return &n
}

// pageSize reads an int32 that is not negative.
func (r *reader) pageSize(name string) int64 {
	n := r.integer(name, 32)
	if n < 0 {
		r.fail(invalid("%s %d is negative", name, n))
	}
	return n
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

// skip passes over a value of any kind.
func (r *reader) skip() { r.c.Raw() }
