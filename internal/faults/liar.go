package faults

import (
	"math/rand/v2"
	"sync/atomic"
)

// teller is what liars have in common. It is safe for concurrent use.
type teller struct {
	name, about string // of the lie, and of its subject
	seed        Seed
	telling     atomic.Bool
	told        atomic.Int64
}

// Begin starts to lie.
func (l *teller) Begin() { l.telling.Store(true) }

// Told is how many answers or frames were not the truth so far.
func (l *teller) Told() int { return int(l.told.Load()) }

// String says which lie is told about what.
func (l *teller) String() string { return l.name + " about " + l.about }

// rand gives the same numbers every time, so that the lie is always the same.
func (l *teller) rand() *rand.Rand { return l.seed.Rand(l.name) }

// Liar tells one lie about one subject. It is safe for concurrent use.
type Liar struct {
	teller
	lie     Lie
	subject Subject
}

// NewLiar returns one that begins at once, or, for a lie that is Late, with Begin.
func NewLiar(seed Seed, lie Lie, subject Subject) *Liar {
	l := &Liar{teller: teller{name: lie.Name, about: subject.String(), seed: seed}, lie: lie, subject: subject}
	l.telling.Store(!lie.Late)
	return l
}

// question is the request as the upstream is asked.
func (l *Liar) question(operation string, body []byte) []byte {
	if l == nil || l.lie.request == nil || pagedOperations[operation] == "" {
		return body
	}
	changed := l.lie.request(body)
	if len(changed) != len(body) {
		l.told.Add(1)
	}
	return changed
}

// rewrite is the answer as it is given.
func (l *Liar) rewrite(operation string, request, body []byte) []byte {
	if l == nil || !l.telling.Load() || pagedOperations[operation] == "" {
		return body
	}
	p, err := readPage(operation, request, body)
	if err != nil || !l.change(p) {
		return body
	}
	l.told.Add(1)
	return p.text()
}

func (l *Liar) change(p *page) bool {
	switch {
	case l.lie.page != nil:
		return l.lie.page(l, p)
	case l.lie.edit != nil:
		i := p.find(l.subject.UpdateID)
		if i < 0 {
			return false
		}
		changed, ok := l.lie.edit(l.rand(), p.items[i].raw)
		if ok {
			p.items[i].raw = changed
		}
		return ok
	}
	return false
}
