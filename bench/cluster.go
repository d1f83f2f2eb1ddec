package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/bench/lab"
)

const (
	shards = 3
	// clusterTurns is how often the history is written to one server and to shards, in turns.
	clusterTurns = 3
	// maxShardedInsert is what writing to shards may take of the processor, to one server being 1.
	maxShardedInsert = 1.25
)

// measureCluster writes the history to one server and to three shards, which must have the same in the
// end, and kills a shard while the product writes and reads.
func measureCluster(ctx context.Context, l *lab.Lab, s lab.Section) error {
	n, err := l.Network(ctx)
	if err != nil {
		return err
	}
	costs := make(map[int][]float64)
	var want string
	for turn := range clusterTurns {
		for _, servers := range []int{1, shards} {
			got, err := writeTo(ctx, l, n, servers, turn)
			if err != nil {
				return err
			}
			costs[servers] = append(costs[servers], got.cpu)
			if want = cmp.Or(want, got.contents); got.contents != want {
				return fmt.Errorf("%d servers have %s, and before %s", servers, got.contents, want)
			}
		}
	}
	single, sharded := middle(costs[1]), middle(costs[shards])
	events := float64(n.Rows["events"])
	s.Add("processor time of ingest and of the engine, one server, per million events", single/events*lab.Million, "s")
	s.Add("processor time of ingest and of the engines, three shards, per million events", sharded/events*lab.Million, "s")
	s.AtMost(maxShardedInsert, "three shards / one server", sharded/single, "")
	return killShard(ctx, l, s, n, want)
}

func middle(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// written is what writing a history took, and what the store has then.
type written struct {
	cpu      float64 // of the product and of the engines
	contents string
}

// writeTo ingests the history into as many servers, and has verify look at them once.
func writeTo(ctx context.Context, l *lab.Lab, n *lab.Network, servers, turn int) (w written, err error) {
	dir := l.Folder(fmt.Sprintf("cluster-%d-%d", servers, turn))
	engines, err := lab.StartServers(ctx, dir, servers)
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, engines.Close()) }()
	l.Say("ingesting into %d servers", servers)
	options := append(engines.Options(l.Folder("cluster-data")), "--scan-url", n.URL)
	cmd := l.Command(ctx, append([]string{"ingest", "--once"}, options...)...)
	if err := cmd.Run(); err != nil {
		return w, fmt.Errorf("ingesting into %d servers: %w", servers, err)
	}
	if w.cpu, err = engines.CPU(); err != nil {
		return w, err
	}
	w.cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if turn == 0 && servers > 1 {
		l.Say("verifying the shards")
		if err := l.Run(ctx, append([]string{"verify"}, engines.Options(l.Folder("cluster-data"))...)...); err != nil {
			return w, err
		}
	}
	w.contents, err = engines.Contents(ctx)
	return w, err
}

// killShard kills a shard while the history is written to three and read: both wait for it, and in the
// end nothing is lost.
func killShard(ctx context.Context, l *lab.Lab, s lab.Section, n *lab.Network, want string) (err error) {
	engines, err := lab.StartServers(ctx, l.Folder("cluster-killed"), shards)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engines.Close()) }()
	ingest, err := l.Start(ctx, "streams", append([]string{"ingest", "--scan-url", n.URL, "--status-listen", "127.0.0.1:0"}, engines.Options(l.Folder("cluster-data"))...)...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ingest.Stop()) }()
	serve, err := l.Start(ctx, "scan interface", append([]string{"serve", "--listen", "127.0.0.1:0"}, engines.Options(l.Folder("cluster-read"))...)...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serve.Stop()) }()
	state, err := awaitStream(ctx, ingest, func(s lab.Stream) bool { return s.Live.Updates > int64(n.Rows["updates"]/4) })
	if err != nil {
		return err
	}
	l.Say("killing a shard after %d updates", state.Live.Updates)
	killed := time.Now()
	if err := engines.Kill(1); err != nil {
		return err
	}
	refused, err := readUntilBack(ctx, serve.URL)
	if err != nil {
		return err
	}
	s.Add("a shard killed: until pages were answered again", time.Since(killed).Seconds(), "s")
	s.Add("requests answered by 503 with Retry-After meanwhile", float64(refused), "")
	if _, err := awaitStream(ctx, ingest, func(s lab.Stream) bool { return s.Live.Updates > state.Live.Updates }); err != nil {
		return err
	}
	s.Add("until a batch was committed again", time.Since(killed).Seconds(), "s")
	if _, err := awaitStream(ctx, ingest, func(s lab.Stream) bool { return s.Live.Phase == "following" }); err != nil {
		return err
	}
	got, err := engines.Contents(ctx)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("after a shard was killed the store has %s, and not %s", got, want)
	}
	return nil
}

func awaitStream(ctx context.Context, p *lab.Product, so func(lab.Stream) bool) (state lab.Stream, err error) {
	err = lab.Until(ctx, 5*time.Millisecond, 3*time.Minute, "progress of ingest", func() (bool, error) {
		state, err = p.Stream(ctx, "scan")
		return so(state), err
	})
	return state, err
}

// readUntilBack asks for the first page until it is given, at least once refused or after two seconds.
// Whatever is no page must be 503 with Retry-After.
func readUntilBack(ctx context.Context, url string) (refused int, err error) {
	begin, asked := time.Now(), 0
	client := &http.Client{Timeout: time.Minute}
	err = lab.Until(ctx, 20*time.Millisecond, 2*time.Minute, "a page after a shard was killed", func() (bool, error) {
		asked++
		status, retry, err := firstPage(ctx, client, url, 100+asked%900) // no answer that is kept
		switch {
		case err != nil:
			return false, err
		case status == http.StatusServiceUnavailable && retry != "":
			refused++
			return false, nil
		case status != http.StatusOK:
			return false, fmt.Errorf("a page without a shard was answered by %d, Retry-After %q", status, retry)
		}
		return refused > 0 || time.Since(begin) > 2*time.Second, nil
	})
	return refused, err
}

// firstPage asks for the first updates, and returns the status and the header Retry-After.
func firstPage(ctx context.Context, client *http.Client, url string, size int) (status int, retry string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v2/updates", strings.NewReader(fmt.Sprintf(`{"page_size": %d}`, size)))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, response.Header.Get("Retry-After"), errors.Join(err, response.Body.Close())
}
