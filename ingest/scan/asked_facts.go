package scan

import (
	"context"
	"errors"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

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
	facts   *Facts
	slots   chan struct{}
	known   *lru.Cache[facts.Key, answeredFact]
	running singleflight.Group
}

type answeredFact struct {
	fact  facts.Fact
	until time.Time
}

func newAskedFacts(f *Facts) (*askedFacts, error) {
	known, err := lru.New[facts.Key, answeredFact](rememberedFacts)
	return &askedFacts{facts: f, slots: make(chan struct{}, askSlots), known: known}, err
}

// Ask returns a fact on behalf of a client: what is remembered, or kept and final, else the
// word of the upstreams, of which what is new is kept. It is schemas.ErrNotFound when they
// know nothing, and an error that wraps schemas.ErrUnavailable when they cannot be asked
// now. Questions for one key are asked once, and few at a time.
func (f *Facts) Ask(ctx context.Context, key facts.Key) (facts.Fact, error) {
	remembered, ok := f.asked.known.Get(key)
	fact := remembered.fact
	if !ok || !f.cfg.Now().Before(remembered.until) {
		// Others may wait for the same answer, so no single client can cancel it.
		asking := context.WithoutCancel(ctx)
		select {
		case result := <-f.asked.running.DoChan(key.String(), func() (any, error) { return f.asked.question(asking, key) }):
			if result.Err != nil {
				return facts.Fact{}, result.Err
			}
			fact = result.Val.(facts.Fact)
		case <-ctx.Done():
			return facts.Fact{}, ctx.Err()
		}
	}
	if !fact.Known() {
		return fact, fmt.Errorf("fact %s: %w", key, schemas.ErrNotFound)
	}
	return fact, nil
}

// question looks for an answer and remembers it.
func (a *askedFacts) question(ctx context.Context, key facts.Key) (fact facts.Fact, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	err = guard.Call(func() (err error) { fact, err = a.answer(ctx, key); return err })
	if err == nil {
		a.remember(key, fact)
	}
	return fact, err
}

func (a *askedFacts) remember(key facts.Key, fact facts.Fact) {
	fresh := freshFor
	if !fact.Known() || !fact.Final() {
		fresh = emptyFor
	}
	a.known.Add(key, answeredFact{fact, a.facts.cfg.Now().Add(fresh)})
}

// answer looks for a fact that cannot change any more, and else asks the upstreams.
func (a *askedFacts) answer(ctx context.Context, key facts.Key) (facts.Fact, error) {
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	case <-ctx.Done():
		return facts.Fact{}, fmt.Errorf("fact %s: %w: too many requests are in progress", key, schemas.ErrUnavailable)
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
