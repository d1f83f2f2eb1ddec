package wallet

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestTreasuryTakesTurns(t *testing.T) {
	treasury := newTreasury(3)
	leave, err := treasury.enter(t.Context(), "alice", false)
	if err != nil {
		t.Fatal(err)
	}
	if other, err := treasury.enter(t.Context(), "bob", false); err != nil {
		t.Errorf("another wallet must wait: %v", err)
	} else {
		other()
	}
	var mu sync.Mutex
	var order []string
	var group sync.WaitGroup
	wait := func(name string, urgent bool) {
		turn, err := treasury.join("alice", urgent)
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			<-turn
			mu.Lock()
			order = append(order, name)
			mu.Unlock()
			treasury.pass("alice")
		})
	}
	wait("first", false)
	wait("second", false)
	wait("urgent", true)
	if _, err := treasury.enter(t.Context(), "alice", false); !errors.Is(err, ErrInFlight) {
		t.Errorf("a full queue gives %v", err)
	}
	leave()
	group.Wait()
	if want := []string{"urgent", "first", "second"}; !slices.Equal(order, want) {
		t.Errorf("the order is %q, want %q", order, want)
	}
	if len(treasury.queues) != 0 {
		t.Errorf("%d queues are left", len(treasury.queues))
	}
}

func TestTreasuryLosesNoTurn(t *testing.T) {
	treasury := newTreasury(100)
	inside, most := 0, 0
	var mu sync.Mutex
	var group sync.WaitGroup
	for i := range 60 {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i%7)*time.Millisecond)
			defer cancel()
			leave, err := treasury.enter(ctx, "alice", i%3 == 0)
			if err != nil {
				return
			}
			mu.Lock()
			inside++
			most = max(most, inside)
			mu.Unlock()
			time.Sleep(200 * time.Microsecond)
			mu.Lock()
			inside--
			mu.Unlock()
			leave()
		})
	}
	group.Wait()
	if most != 1 || len(treasury.queues) != 0 {
		t.Errorf("%d at a time, %d queues left", most, len(treasury.queues))
	}
	if leave, err := treasury.enter(t.Context(), "alice", false); err != nil {
		t.Errorf("the wallet stays taken: %v", err)
	} else {
		leave()
	}
}

func TestRunningIsOneAtATime(t *testing.T) {
	var r running
	if !r.begin("a") || r.begin("a") || !r.begin("b") {
		t.Error("an id was taken twice, or another not at all")
	}
	r.end("a")
	if !r.begin("a") {
		t.Error("an id stays taken")
	}
	if commandID("k", "a", "b") == commandID("k", "ab") || commandID("k", "a") == commandID("l", "a") {
		t.Error("ids of commands do not tell what they are for")
	}
}
