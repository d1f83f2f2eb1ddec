package query

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"
)

func TestShutdownLetsRequestsFinish(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	s, err := New(Config{Address: "127.0.0.1:0", Log: testLog(t), Mounts: []Mount{{Prefixes: []string{""}, Routes: []Route{
		get("/slow", func(ctx context.Context, r *Request) error {
			close(entered)
			<-release
			return errors.Join(ctx.Err(), r.JSON("done"))
		}),
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	result := make(chan answer, 1)
	go func() {
		a, err := try("GET", "http://"+s.Addr()+"/slow", "")
		if err != nil {
			t.Errorf("the request under way failed: %v", err)
		}
		result <- a
	}()
	<-entered
	cancel()
	// New connections are refused while the old request goes on.
	for {
		c, err := net.Dial("tcp", s.Addr())
		if err != nil {
			break
		}
		c.Close()
		time.Sleep(5 * time.Millisecond)
	}
	close(release)
	if a := <-result; a.status != 200 || a.body != `"done"` {
		t.Errorf("the request under way got %d %s", a.status, a.body)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

func TestServeWithEndedContext(t *testing.T) {
	s, err := New(Config{Address: "127.0.0.1:0", Log: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Serve(ctx); err != nil {
		t.Errorf("Serve returned %v", err)
	}
}
