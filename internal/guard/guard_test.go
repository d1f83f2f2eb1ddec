package guard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
)

func TestAPanicIsTheErrorOfItsWork(t *testing.T) {
	boom := func() error { panic("boom") }
	ways := map[string]func() error{
		"called": func() error { return Call(boom) },
		"deferred": func() (err error) {
			defer Recover(&err)
			return boom()
		},
		"on a goroutine": func() error {
			ended := make(chan error, 1)
			Go(boom, func(err error) { ended <- err })
			return <-ended
		},
		"in a group": func() error {
			group := NewGroup()
			group.Go(boom)
			return group.Wait()
		},
	}
	for name, run := range ways {
		t.Run(name, func(t *testing.T) {
			before := Recovered()
			var p *PanicError
			if err := run(); !errors.As(err, &p) {
				t.Fatalf("the error is %v, not a panic", err)
			}
			if p.Error() != "panic: boom" || !bytes.Contains(p.Stack, []byte("guard_test.go")) {
				t.Errorf("error %q with stack %s", p, p.Stack)
			}
			if got := Recovered() - before; got != 1 {
				t.Errorf("%d panics were counted, not 1", got)
			}
		})
	}
}

func TestAPanicEndsTheContextOfItsGroup(t *testing.T) {
	group, ctx := WithContext(t.Context())
	group.Go(func() error { panic(io.ErrUnexpectedEOF) })
	<-ctx.Done()
	if err := group.Wait(); !errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(context.Cause(ctx), io.ErrUnexpectedEOF) {
		t.Errorf("the group ended with %v, its context with %v", err, context.Cause(ctx))
	}
}

func TestAPanicHandedOnIsCountedOnce(t *testing.T) {
	before := Recovered()
	err := Call(func() error { panic(Call(func() error { panic("boom") })) })
	if err == nil || err.Error() != "panic: boom" || Recovered() != before+1 {
		t.Errorf("got %v, %d panics", err, Recovered()-before)
	}
}

func TestWorkWithoutAPanicKeepsItsError(t *testing.T) {
	want := errors.New("no")
	if err := Call(func() error { return want }); err != want {
		t.Errorf("got %v", err)
	}
	if err := Call(func() error { return nil }); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestTheLogHasTheStack(t *testing.T) {
	var logged strings.Builder
	log := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{ReplaceAttr: LogStack}))
	log.Error("step failed", "err", fmt.Errorf("reading: %w", Call(func() error { panic("boom") })), "rows", 3)
	for _, want := range []string{`err="reading: panic: boom"`, "guard_test.go", " stack=", "rows=3"} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("the log lacks %q: %s", want, &logged)
		}
	}
}
