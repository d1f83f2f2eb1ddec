package devnet

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
)

// TestNodeTakesCommandsAtOnce submits from many clients, each command twice. Each is executed
// once, and the stream of completions has them in the order of history without a gap.
func TestNodeTakesCommandsAtOnce(t *testing.T) {
	const clients, each = 8, 12
	f := startFlow(t, nodeapi.NodeOptions{})
	alice := f.addParty("alice")
	begin := f.ledgerEnd()
	conn := f.dial("/v2/commands/completions", fmt.Sprintf(`{"parties":[%q],"beginExclusive":%d}`, alice, begin))
	var wg sync.WaitGroup
	var mu sync.Mutex
	executed := map[string]int{}
	for client := range clients {
		wg.Go(func() {
			for i := range each {
				id := fmt.Sprintf("c-%d-%d", client/2, i) // two clients want the same
				status, _, answer := f.do("POST", "/v2/commands/submit-and-wait", f.install(id, alice, id))
				switch {
				case status == http.StatusOK:
					mu.Lock()
					executed[id]++
					mu.Unlock()
				case status != http.StatusConflict:
					t.Errorf("%s: status %d, %s", id, status, answer)
				}
			}
		})
	}
	wg.Wait()
	want := clients / 2 * each
	if len(executed) != want {
		t.Errorf("%d of %d commands were executed", len(executed), want)
	}
	for id, n := range executed {
		if n != 1 {
			t.Errorf("%s was executed %d times", id, n)
		}
	}
	listed := f.completionsSince(nodeapi.AdminUser, alice, begin)
	if len(listed) != want || !slices.IsSortedFunc(listed, func(a, b nodeapi.WireCompletion) int { return int(a.Offset - b.Offset) }) {
		t.Errorf("%d completions for %d commands, or not in order", len(listed), want)
	}
	for i := range listed {
		frame, err := f.frame(conn)
		for err == nil && strings.Contains(string(frame), "OffsetCheckpoint") {
			frame, err = f.frame(conn)
		}
		if err != nil || !strings.Contains(string(frame), fmt.Sprintf(`"commandId":"%s"`, listed[i].CommandID)) {
			t.Fatalf("completion %d over the websocket is %s, %v, want %s", i, frame, err, listed[i].CommandID)
		}
	}
	conn.Close(websocket.StatusNormalClosure, "")
}

// TestNodeGoesOnWhileCommandsCome has the ledger go on by itself. What the stream of completions
// says to have passed, it has passed: no completion comes behind a checkpoint of a later offset.
func TestNodeGoesOnWhileCommandsCome(t *testing.T) {
	const clients, each = 4, 10
	f := startFlow(t, nodeapi.NodeOptions{CheckpointDelay: time.Millisecond})
	alice := f.addParty("alice")
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- f.ledger.Run(ctx, 200) }()
	conn := f.dial("/v2/commands/completions", fmt.Sprintf(`{"parties":[%q],"beginExclusive":%d}`, alice, f.ledgerEnd()))
	var wg sync.WaitGroup
	updates := make([][]waited, clients)
	for client := range clients {
		wg.Go(func() {
			for i := range each {
				var done waited
				f.call("POST", "/v2/commands/submit-and-wait", f.install("x", alice, fmt.Sprintf("%d-%d", client, i)), &done)
				updates[client] = append(updates[client], done)
			}
		})
	}
	seen, passed, checkpoints := map[string]int64{}, int64(0), 0
	for deadline := time.Now().Add(time.Minute); len(seen) < clients*each || checkpoints == 0; {
		frame, err := f.frame(conn)
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("after %d completions and %d checkpoints: %v", len(seen), checkpoints, err)
		}
		var element struct {
			Response struct {
				Completion, OffsetCheckpoint *struct {
					Value nodeapi.WireCompletion `json:"value"`
				}
			} `json:"completionResponse"`
		}
		if err := json.Unmarshal(frame, &element); err != nil {
			t.Fatalf("%v in %s", err, frame)
		}
		if c := element.Response.Completion; c != nil {
			if c.Value.Offset <= passed {
				t.Errorf("a completion at %d comes behind %d", c.Value.Offset, passed)
			}
			passed, seen[c.Value.UpdateID] = c.Value.Offset, c.Value.Offset
			continue
		}
		checkpoints++
		passed = max(passed, element.Response.OffsetCheckpoint.Value.Offset)
	}
	wg.Wait()
	cancel()
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	for _, list := range updates {
		for _, done := range list {
			if seen[done.UpdateID] != done.Offset || f.streamed(done.Offset).Value.UpdateID != done.UpdateID {
				t.Errorf("waited for %+v, its completion is at %d", done, seen[done.UpdateID])
			}
		}
	}
}

// TestNodeForgetsCompletions has a node that remembers few.
func TestNodeForgetsCompletions(t *testing.T) {
	f := startFlow(t, nodeapi.NodeOptions{CompletionsKept: 8})
	alice := f.addParty("alice")
	var first, last waited
	for i := range 20 {
		f.call("POST", "/v2/commands/submit-and-wait", f.install("x", alice, fmt.Sprint(i)), &last)
		if i == 0 {
			first = last
		}
	}
	f.refuses(refusal{"completions that are forgotten", "POST", "/v2/commands/completions",
		fmt.Sprintf(`{"parties":[%q],"beginExclusive":%d}`, alice, first.Offset), 400, "PARTICIPANT_PRUNED_DATA_ACCESSED"})
	got := f.completionsSince(nodeapi.AdminUser, alice, 0)
	if n := len(got); n == 0 || n > 8 || got[n-1].UpdateID != last.UpdateID {
		t.Errorf("%d completions are left, the last is not %+v", n, last)
	}
	f.refuses(refusal{"a command that is remembered", "POST", "/v2/commands/submit-and-wait", f.install("x", alice, "19"), 409, "DUPLICATE_COMMAND"})
	f.call("POST", "/v2/commands/submit-and-wait", f.install("x", alice, "0"), &last)
}
