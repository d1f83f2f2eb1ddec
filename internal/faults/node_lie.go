package faults

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
)

// NodeLie is a well-formed way of a node of not telling the truth about one update of its
// stream, the subject. That offsets are skipped is none: others see what stands there.
type NodeLie struct {
	Name string
	// Means are those by any of which it can be found out. A node's stream has no other
	// upstream to compare with, so a lie that only changes content, or leaves an update
	// out, can be found out by ByDigest alone: by what the node itself says elsewhere.
	Means []Means
	// Late lies begin after the truth has been told once.
	Late bool

	// tell gives the frames that go out for that of the subject.
	tell func(r *rand.Rand, frame []byte) [][]byte
	// fits reports whether the lie can be told about a frame; nil: always.
	fits func(frame []byte) bool
}

// CanTell reports whether the lie can be told about the subject.
func (l *NodeLie) CanTell(s NodeSubject) bool { return l.fits == nil || l.fits(s.frame) }

// NodeLies are all lies of a node, in a fixed order.
func NodeLies() []NodeLie {
	return []NodeLie{
		edited("changed amount", ByDigest, `"initialAmount":"`, func(frame []byte, at int) []byte { return replaceByte(frame, at, nextDigit) }),
		edited("changed template", ByDigest, `"templateId":"`, func(frame []byte, at int) []byte { return replaceByte(frame, at, nextHex) }),
		{Name: "skipped update", Means: []Means{ByDigest}, tell: func(*rand.Rand, []byte) [][]byte { return nil }},
		{Name: "duplicated update", Means: []Means{ByOrder}, tell: func(_ *rand.Rand, f []byte) [][]byte { return [][]byte{f, f} }},
		{Name: "duplicated with other content", Means: []Means{ByOrder}, fits: has(`"templateId":"`), tell: func(_ *rand.Rand, f []byte) [][]byte {
			return [][]byte{f, replaceByte(f, occurrences(f, `"templateId":"`)[0], nextHex)}
		}},
		{Name: "wrong order", Means: []Means{ByOrder}, tell: func(_ *rand.Rand, f []byte) [][]byte {
			return [][]byte{setOffset(f, "9000000"), f} // an update of long after comes before
		}},
		{Name: "offset of long ago", Means: []Means{ByOrder, ByIntent, ByDigest}, tell: func(_ *rand.Rand, f []byte) [][]byte { return [][]byte{setOffset(f, "1")} }},
		{Name: "number beyond int64", Means: []Means{ByDecoding}, tell: func(_ *rand.Rand, f []byte) [][]byte { return [][]byte{setOffset(f, beyondInt64)} }},
		edited("missing record time", ByDecoding, `"recordTime":"`, func(frame []byte, at int) []byte {
			return bytes.Replace(frame, []byte(`"recordTime":"`), []byte(`"recordTimf":"`), 1)
		}),
		edited("invalid UTF-8", ByDecoding, `"updateId":"`, func(frame []byte, at int) []byte { return insert(frame, at, "\xff\xc0") }),
		edited("duplicate keys", ByDecoding, `"createArgument":{`, func(frame []byte, at int) []byte { return insert(frame, at, `"a":1,"a":2,`) }),
		edited("deep nesting", ByDecoding, `"createArgument":{`, func(frame []byte, at int) []byte {
			const depth = 5000
			return insert(frame, at, `"deep":`+strings.Repeat("[", depth)+strings.Repeat("]", depth)+`,`)
		}),
		edited("oversized frame", ByDecoding, `"updateId":"`, func(frame []byte, at int) []byte {
			return insert(frame, at, strings.Repeat("x", OversizedBytes))
		}),
		{Name: "unknown kind of update", Means: []Means{ByDecoding}, fits: has(`"Transaction":{`), tell: func(_ *rand.Rand, f []byte) [][]byte {
			return [][]byte{bytes.Replace(f, []byte(`"Transaction":{`), []byte(`"Transactiom":{`), 1)}
		}},
		{Name: "cut frame", Means: []Means{ByDecoding}, tell: func(_ *rand.Rand, f []byte) [][]byte { return [][]byte{f[:len(f)/2]} }},
		{Name: "rewritten history", Means: []Means{ByIntent}, Late: true, fits: has(`"synchronizerId":"`), tell: func(_ *rand.Rand, f []byte) [][]byte {
			return [][]byte{replaceByte(f, occurrences(f, `"synchronizerId":"`)[0], nextHex)}
		}},
		{Name: "forgotten history", Means: []Means{ByIntent}, Late: true, tell: func(*rand.Rand, []byte) [][]byte { return nil }},
	}
}

// edited is a lie that changes the frame behind one of the places with the marker.
func edited(name string, means Means, marker string, change func(frame []byte, at int) []byte) NodeLie {
	return NodeLie{Name: name, Means: []Means{means}, fits: has(marker), tell: func(r *rand.Rand, frame []byte) [][]byte {
		at := occurrences(frame, marker)
		return [][]byte{change(frame, at[r.IntN(len(at))])}
	}}
}

func has(marker string) func([]byte) bool {
	return func(frame []byte) bool { return bytes.Contains(frame, []byte(marker)) }
}

var offsetMember = regexp.MustCompile(`"offset":\d+`)

// setOffset sets all offsets of an update, which are those of its events as well.
func setOffset(frame []byte, offset string) []byte {
	return offsetMember.ReplaceAll(frame, []byte(`"offset":`+offset))
}
