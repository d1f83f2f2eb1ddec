package scan

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

const (
	// askSlots bounds the questions under way on behalf of clients, askTimeout the time
	// that one may take and that a client may wait for a slot.
	askSlots   = 8
	askTimeout = 5 * time.Second
	// freshFor and emptyFor are how long an answer is believed, and that there is none.
	freshFor = 10 * time.Minute
	emptyFor = 30 * time.Second
	// rememberedFacts bounds the answers that are remembered.
	rememberedFacts = 10_000
)

// askedFacts remembers answers to questions with parameters that clients choose.
type askedFacts struct {
	facts *Facts
	slots chan struct{}

	mu sync.Mutex
	// known has the answers since a while, older those before; both are bounded.
	known, older map[facts.Key]answeredFact
	running      map[facts.Key]*factQuestion
}

type answeredFact struct {
	fact  facts.Fact
	until time.Time
}

// factQuestion is on its way, for all who want to know.
type factQuestion struct {
	done chan struct{}
	fact facts.Fact
	err  error
}

func newAskedFacts(f *Facts) *askedFacts {
	return &askedFacts{
		facts: f, slots: make(chan struct{}, askSlots),
		known: map[facts.Key]answeredFact{}, older: map[facts.Key]answeredFact{}, running: map[facts.Key]*factQuestion{},
	}
}

// Ask returns a fact on behalf of a client: what is remembered, or kept and final, else the
// word of the upstreams, of which what is new is kept. It is schemas.ErrNotFound when they
// know nothing, and an error that wraps schemas.ErrUnavailable when they cannot be asked
// now. Questions for one key are asked once, and few at a time.
func (f *Facts) Ask(ctx context.Context, key facts.Key) (facts.Fact, error) {
	q, fact, known := f.asked.join(ctx, key)
	if !known {
		select {
		case <-q.done:
			if q.err != nil {
				return facts.Fact{}, q.err
			}
			fact = q.fact
		case <-ctx.Done():
			return facts.Fact{}, ctx.Err()
		}
	}
	if !fact.Known() {
		return fact, fmt.Errorf("fact %s: %w", key, schemas.ErrNotFound)
	}
	return fact, nil
}

// join returns what is remembered, or the question that will be answered.
func (a *askedFacts) join(ctx context.Context, key facts.Key) (q *factQuestion, fact facts.Fact, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer, ok := a.known[key]
	if !ok {
		answer, ok = a.older[key]
	}
	if ok && a.facts.cfg.Now().Before(answer.until) {
		return nil, answer.fact, true
	}
	if q = a.running[key]; q == nil {
		q = &factQuestion{done: make(chan struct{})}
		a.running[key] = q
		// Others may wait for the same answer, so no single client can cancel it.
		a.start(context.WithoutCancel(ctx), key, q)
	}
	return q, fact, false
}

// start begins to look for the answer.
func (a *askedFacts) start(ctx context.Context, key facts.Key, q *factQuestion) {
	guard.Go(func() (err error) {
		ctx, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		q.fact, err = a.answer(ctx, key)
		return err
	}, func(err error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if q.err = err; err == nil {
			a.remember(key, q.fact)
		}
		delete(a.running, key)
		close(q.done)
	})
}

func (a *askedFacts) remember(key facts.Key, fact facts.Fact) {
	if len(a.known) >= rememberedFacts/2 {
		a.known, a.older = make(map[facts.Key]answeredFact), a.known
	}
	fresh := freshFor
	if !fact.Known() || !fact.Final() {
		fresh = emptyFor
	}
	a.known[key] = answeredFact{fact, a.facts.cfg.Now().Add(fresh)}
}

// answer looks for a fact that cannot change any more, and else asks the upstreams.
func (a *askedFacts) answer(ctx context.Context, key facts.Key) (facts.Fact, error) {
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	case <-ctx.Done():
		return facts.Fact{}, fmt.Errorf("fact %s: %w: too many questions are under way", key, schemas.ErrUnavailable)
	}
	if kind, _ := facts.KindOf(key.Operation); kind.Immutable {
		kept, err := a.facts.cfg.Store.LatestFact(ctx, key)
		if err == nil && kept.Known() || err != nil && !errors.Is(err, schemas.ErrNotFound) {
			return kept, err
		}
		fact, err := a.facts.fetch(ctx, key)
		if err != nil || !fact.Final() {
			return fact, unavailable(err)
		}
		return fact, a.facts.cfg.Store.KeepFact(ctx, fact, "")
	}
	fact, err := a.facts.refresh(ctx, key)
	return fact, unavailable(err)
}

// unavailable marks what an upstream failed at, which may succeed another time.
func unavailable(err error) error {
	var e *Error
	if err == nil || errors.Is(err, schemas.ErrUnavailable) || !errors.As(err, &e) && !errors.Is(err, schemas.ErrDisagreement) {
		return err
	}
	return fmt.Errorf("%w: %w", schemas.ErrUnavailable, err)
}
