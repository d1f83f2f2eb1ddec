package memo

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// loadTimeout bounds one load or query for several callers: no caller's deadline does, because
// the others wait for the same result.
const loadTimeout = 10 * time.Second

// Value remembers a value for a short time. Callers that find it stale share one load. Its
// exported fields must not change once it is in use.
type Value[T any] struct {
	Load func(context.Context) (T, error) // required
	// TTL is how long a value counts as fresh, from the start of its load.
	TTL time.Duration
	// Stale is for how much longer callers get the old value, once they have waited MaxWait for
	// the new one; default 0.
	Stale, MaxWait time.Duration
	// Timeout bounds a load; default 10 s.
	Timeout time.Duration
	Now     func() time.Time // required

	mu      sync.Mutex
	value   T
	begun   time.Time // when the load of value began, zero before the first
	until   time.Time
	running *Read[T]  // nil when no load is under way
	since   time.Time // when that began
}

// Get returns the value or the error of the load, or ctx's error if that ends first. Errors are
// not remembered.
func (v *Value[T]) Get(ctx context.Context) (T, error) {
	v.mu.Lock()
	if v.Now().Before(v.until) {
		defer v.mu.Unlock()
		return v.value, nil
	}
	if v.running == nil {
		v.start(context.WithoutCancel(ctx))
	}
	load, last := v.running, v.value
	var enough <-chan time.Time
	if v.Now().Before(v.until.Add(v.Stale)) {
		enough = time.After(v.MaxWait)
	}
	v.mu.Unlock()
	select {
	case <-load.Done():
	case <-ctx.Done():
	case <-enough:
		return last, nil
	}
	value, err := load.Wait(ctx)
	if err != nil && enough != nil && ctx.Err() == nil {
		return last, nil
	}
	return value, err
}

// GetSince is Get for a value whose load began at an instant or later, however long values are
// remembered. Callers share loads.
func (v *Value[T]) GetSince(ctx context.Context, at time.Time) (T, error) {
	for {
		v.mu.Lock()
		if !v.begun.IsZero() && !v.begun.Before(at) {
			defer v.mu.Unlock()
			return v.value, nil
		}
		if v.running == nil {
			v.start(context.WithoutCancel(ctx))
		}
		load, since := v.running, v.since
		v.mu.Unlock()
		value, err := load.Wait(ctx)
		if !since.Before(at) || ctx.Err() != nil {
			return value, err
		}
	}
}

// start starts a load. The caller holds v.mu.
func (v *Value[T]) start(ctx context.Context) {
	begun := v.Now() // the value may be as old as that
	v.since = begun
	v.running = Start(ctx, func(ctx context.Context) (T, error) {
		ctx, cancel := context.WithTimeout(ctx, cmp.Or(v.Timeout, loadTimeout))
		defer cancel()
		return v.Load(ctx)
	}, func(value T, err error) {
		v.mu.Lock()
		defer v.mu.Unlock()
		if err == nil {
			v.value, v.begun, v.until = value, begun, begun.Add(v.TTL)
		}
		v.running = nil
	})
}

// Values are Values by key. The keys must be few: none is ever dropped.
type Values[K comparable, T any] struct {
	// New makes the Value of a key when it is first asked for.
	New func(K) *Value[T] // required

	mu    sync.Mutex
	byKey map[K]*Value[T]
}

// Get is Value.Get for the value of a key.
func (v *Values[K, T]) Get(ctx context.Context, key K) (T, error) { return v.of(key).Get(ctx) }

func (v *Values[K, T]) of(key K) *Value[T] {
	v.mu.Lock()
	defer v.mu.Unlock()
	value := v.byKey[key]
	if value == nil {
		if v.byKey == nil {
			v.byKey = make(map[K]*Value[T])
		}
		value = v.New(key)
		v.byKey[key] = value
	}
	return value
}
