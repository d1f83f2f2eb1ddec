package lab

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

// quickPiece is a piece that adds one row of its name and then returns err.
func quickPiece(name string, err error, needs ...Comparator) Piece {
	return Piece{Name: name, Needs: needs, Measure: func(_ context.Context, l *Lab, s Section) error {
		s.Add(name, 1, "")
		for _, c := range needs {
			l.Beside(s, c).Add(name+" / "+c.name, 1, "")
		}
		return err
	}}
}

// measured returns the report of some pieces as Markdown, and what was printed while they ran.
func measured(t *testing.T, ctx context.Context, pieces ...Piece) (r *Report, markdown, progress string) {
	t.Helper()
	var text, stderr bytes.Buffer
	r, err := MeasureAll(ctx, Settings{Work: t.TempDir()}, pieces, &stderr)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Markdown(&text); err != nil {
		t.Fatal(err)
	}
	return r, text.String(), stderr.String()
}

// hold checks that a text holds parts, and no others.
func hold(t *testing.T, text string, parts, others []string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	for _, part := range others {
		if strings.Contains(text, part) {
			t.Errorf("%q is in\n%s", part, text)
		}
	}
}

func TestRowsOfAMissingComparatorAreLeftOut(t *testing.T) {
	missing := Comparator{"nginx", "apt-get install nginx-light", func() error { return errors.New("not found") }}
	installed := Comparator{"Postgres", "apt-get install postgresql", func() error { return nil }}
	began := false
	first := quickPiece("first", nil, missing, installed)
	run := first.Measure
	var stderr bytes.Buffer
	first.Measure = func(ctx context.Context, l *Lab, s Section) error {
		began = strings.Contains(stderr.String(), "apt-get install nginx-light")
		return run(ctx, l, s)
	}
	r, err := MeasureAll(t.Context(), Settings{Work: t.TempDir()}, []Piece{first, quickPiece("second", nil, missing)}, &stderr)
	if err != nil {
		t.Fatal(err)
	}
	if !began {
		t.Errorf("nginx was not named before the first piece:\n%s", stderr.String())
	}
	hold(t, stderr.String(), []string{"nginx is not installed: first and second will have no rows about it"}, []string{"Postgres"})
	var text bytes.Buffer
	if err := r.Markdown(&text); err != nil {
		t.Fatal(err)
	}
	hold(t, text.String(), []string{"| first | 1 |", "| first / Postgres | 1 |", "| second | 1 |", "Without nginx, which is not installed: first, second."}, []string{"/ nginx"})
	if len(r.Failed) > 0 {
		t.Errorf("pieces failed: %v", r.Failed)
	}
}

func TestAFailedPieceLeavesTheOthers(t *testing.T) {
	r, text, progress := measured(t, t.Context(), quickPiece("first", nil), quickPiece("second", errors.New("no such thing")), quickPiece("third", nil))
	hold(t, text, []string{"| first | 1 |", "| third | 1 |", "Not complete: second: no such thing"}, nil)
	hold(t, progress, []string{"second failed: no such thing"}, nil)
	if len(r.Failed) != 1 {
		t.Errorf("failed: %v", r.Failed)
	}
}

func TestAnInterruptedRunReportsWhatItHas(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	second := quickPiece("second", nil)
	second.Measure = func(ctx context.Context, _ *Lab, s Section) error {
		s.Add("half of second", 1, "")
		interrupt()
		return ctx.Err()
	}
	_, text, _ := measured(t, ctx, quickPiece("first", nil), second, quickPiece("third", nil))
	hold(t, text, []string{"| first | 1 |", "| half of second | 1 |", "Not complete: second, third: the run was interrupted"}, []string{"| third |"})
}
