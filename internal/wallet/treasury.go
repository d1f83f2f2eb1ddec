package wallet

import (
	"context"
	"sync"
)

// treasury lets the batches of each wallet run strictly one after another: they would take
// each other's coins.
type treasury struct {
	size int // most batches of a wallet that wait

	mu     sync.Mutex
	queues map[string]*queue // of wallets with a batch that runs
}

// queue are the batches of one wallet that wait, in two ranks.
type queue struct{ urgent, others []chan struct{} }

func (q *queue) len() int { return len(q.urgent) + len(q.others) }

// next takes the batch that is to run next out of the queue; nil if none waits.
func (q *queue) next() chan struct{} {
	list := &q.urgent
	if len(*list) == 0 {
		list = &q.others
	}
	if len(*list) == 0 {
		return nil
	}
	turn := (*list)[0]
	*list = (*list)[1:]
	return turn
}

func newTreasury(size int) *treasury { return &treasury{size: size, queues: map[string]*queue{}} }

// enter waits for the wallet's turn, which leave ends. Too many batches that wait are
// ErrInFlight.
func (t *treasury) enter(ctx context.Context, wallet string, urgent bool) (leave func(), err error) {
	turn, err := t.join(wallet, urgent)
	if err != nil {
		return nil, err
	}
	leave = func() { t.pass(wallet) }
	if turn == nil {
		return leave, nil
	}
	select {
	case <-turn:
		return leave, nil
	case <-ctx.Done():
	}
	if !t.withdraw(wallet, turn) {
		leave() // the turn came at the same time
	}
	return nil, &Error{Kind: ErrInFlight, Message: "other actions of this wallet take too long", Err: context.Cause(ctx)}
}

// join returns nil if the wallet is free, or the channel that is closed when it is.
func (t *treasury) join(wallet string, urgent bool) (chan struct{}, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[wallet]
	if q == nil {
		t.queues[wallet] = &queue{}
		return nil, nil
	}
	if q.len() >= t.size {
		return nil, fail(ErrInFlight, "%d actions of this wallet are waiting already", q.len())
	}
	turn := make(chan struct{})
	if urgent {
		q.urgent = append(q.urgent, turn)
	} else {
		q.others = append(q.others, turn)
	}
	return turn, nil
}

// pass gives the turn to the next one.
func (t *treasury) pass(wallet string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if turn := t.queues[wallet].next(); turn != nil {
		close(turn)
		return
	}
	delete(t.queues, wallet)
}

// withdraw takes one out of the queue; false if its turn has come.
func (t *treasury) withdraw(wallet string, turn chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[wallet]
	for _, list := range []*[]chan struct{}{&q.urgent, &q.others} {
		for i, other := range *list {
			if other == turn {
				*list = append((*list)[:i:i], (*list)[i+1:]...)
				return true
			}
		}
	}
	return false
}
