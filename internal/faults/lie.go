package faults

import (
	"math/rand/v2"
)

// Means is a way in which a lie can be found out.
type Means string

const (
	// ByDecoding: the answer does not follow the interface, or a limit.
	ByDecoding Means = "decoding"
	// ByOrder: the answer contradicts its own order, its cursor, or the upstream's overview.
	ByOrder Means = "order"
	// ByIntent: the content is another than was announced before it was written.
	ByIntent Means = "announced hash"
	// ByAgreement: another upstream says otherwise. A lie that only omits or changes
	// content, always in the same way, can be found out by this or by ByDigest alone.
	ByAgreement Means = "agreement"
	// ByDigest: what was stored differs from what the network says it holds.
	ByDigest Means = "digest"
)

// Lie is a well-formed way of not telling the truth about one item of history, the
// subject. It is told every time that the subject would have been told of.
type Lie struct {
	Name string
	// About says what is untrue, in a few words.
	About string
	// Means are those by any of which it can be found out.
	Means []Means
	// Late lies begin after the truth has been told once: see Liar.Begin.
	Late bool

	// Exactly one is set: edit changes the subject's own text, false if that cannot be
	// done; page changes an answer, false if it need not; request changes a request.
	edit    func(r *rand.Rand, item []byte) ([]byte, bool)
	page    func(l *Liar, p *page) bool
	request func(body []byte) []byte
	// history lies are told about history only, not about import updates.
	history bool
}

// Lies are all lies, in a fixed order.
func Lies() []Lie {
	content := []Means{ByAgreement, ByDigest}
	return []Lie{
		{Name: "changed amount", About: "one digit of an amount is another", Means: content, edit: changeAmount},
		{Name: "changed template", About: "one character of a template id is another", Means: content, edit: changeTemplate},
		{Name: "changed signatory", About: "one character of a signatory is another", Means: content, edit: changeSignatory},
		{Name: "changed verdict", About: "one digit of the verdict's finalization time is another", Means: content, edit: changeVerdict, history: true},
		{Name: "changed traffic", About: "one digit of a traffic cost is another", Means: content, edit: changeTraffic, history: true},
		{Name: "changed record time", About: "the item stands a microsecond later", Means: []Means{ByOrder, ByAgreement, ByDigest}, edit: changeTime, history: true},
		{Name: "int64 value out of range", About: "a value of type int64 does not fit one", Means: []Means{ByDecoding, ByAgreement, ByDigest}, edit: growValue},
		{Name: "skipped update", About: "an item is left out", Means: []Means{ByOrder, ByAgreement, ByDigest}, page: skip},
		{Name: "invented update", About: "a copy under another id follows the item", Means: content, page: invent, history: true},
		{Name: "duplicated update", About: "the item comes twice in a row", Means: []Means{ByOrder}, page: double},
		{Name: "duplicated with other content", About: "the item comes twice, the second time changed", Means: []Means{ByOrder}, page: doubleChanged},
		{Name: "wrong order", About: "the item and a neighbour have changed places", Means: []Means{ByOrder}, page: swap},
		{Name: "stale tail", About: "everything from the item on is missing", Means: []Means{ByOrder, ByAgreement, ByDigest}, page: cutTail, history: true},
		{Name: "empty page too early", About: "pages after the item are empty", Means: []Means{ByOrder, ByAgreement, ByDigest}, page: emptyEarly, history: true},
		{Name: "rewritten history", About: "the item is another than it was before", Means: []Means{ByIntent, ByOrder}, Late: true, edit: changeAny},
		{Name: "forgotten history", About: "the item is gone that was there before", Means: []Means{ByIntent, ByOrder}, Late: true, page: skip},
		{Name: "wrong migration", About: "the item belongs to a migration that does not exist", Means: []Means{ByDecoding, ByOrder}, edit: changeMigration},
		{Name: "number beyond int64", About: "the migration id does not fit an int64", Means: []Means{ByDecoding}, edit: growMigration},
		{Name: "missing record time", About: "a member that must be there is not", Means: []Means{ByDecoding}, edit: dropTime},
		{Name: "oversized update", About: "the item is larger than answers may be", Means: []Means{ByDecoding}, edit: inflate},
		{Name: "invalid UTF-8", About: "a text holds bytes that are none", Means: []Means{ByDecoding}, edit: breakText},
		{Name: "duplicate keys", About: "an object has a key twice", Means: []Means{ByDecoding}, edit: doubleKey},
		{Name: "deep nesting", About: "lists are nested without end", Means: []Means{ByDecoding}, edit: nest},
		{Name: "cut answer", About: "the answer ends inside the item", Means: []Means{ByDecoding}, page: cutBody},
		{Name: "other value encoding", About: "values are compact_json, which loses types", Means: []Means{ByDecoding}, request: otherEncoding, history: true},
	}
}

// CanTell reports whether the lie can be told about the subject.
func (l *Lie) CanTell(s Subject) bool {
	if s.Import && l.history {
		return false
	}
	if l.edit == nil {
		return true
	}
	_, ok := l.edit(Seed(0).Rand(l.Name), s.item)
	return ok
}
