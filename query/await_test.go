package query

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Requests that wait for what they share take no slot, up to as many as may wait for their
// turn, and have one again afterwards.
func TestAwaitGivesTheSlotBack(t *testing.T) {
	const slots = 2
	const together = slots + 8*slots // those that pause and those that keep their places
	var mu sync.Mutex
	waiting, working, most := 0, 0, 0
	all := make(chan struct{})
	count := func(n *int, by int) int {
		mu.Lock()
		defer mu.Unlock()
		*n += by
		return *n
	}
	url := start(t, Config{Admission: NewAdmission(AdmissionConfig{MaxConcurrent: slots, QueueTimeout: 10 * time.Second})}, Route{Method: "GET", Path: "/shared", Handle: func(ctx context.Context, r *Request) error {
		err := r.Await(ctx, func() error {
			if count(&waiting, 1) == together {
				close(all)
			}
			<-all
			return nil
		})
		if err != nil {
			return err
		}
		mu.Lock()
		working++
		most = max(most, working)
		mu.Unlock()
		time.Sleep(time.Millisecond)
		count(&working, -1)
		return r.Text([]byte("1"))
	}})
	var group sync.WaitGroup
	for range together {
		group.Go(func() {
			if a, err := try("GET", url+"/shared", ""); err != nil || a.status != http.StatusOK {
				t.Errorf("%v, %v", a, err)
			}
		})
	}
	group.Wait()
	if most > slots {
		t.Errorf("%d requests worked at the same time, want at most %d", most, slots)
	}
}
