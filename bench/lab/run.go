package lab

import (
	"context"
	"errors"
	"io"
	"strings"
)

// Piece is one thing that can be measured by itself.
type Piece struct {
	Name    string // by which --only selects it
	Title   string // of its rows in the report, if that is not the name
	Product bool   // whether it runs the ledgerlake binary
	Needs   []Comparator
	Measure func(context.Context, *Lab, Section) error
}

// errInterrupted is why pieces were not measured after ctx had ended.
var errInterrupted = errors.New("the run was interrupted")

// MeasureAll measures pieces one after another: two at once would measure each other. A piece
// that fails leaves the results of the others, and an interrupted run what it has measured: the
// report says which pieces are incomplete. An error means that nothing could be measured.
func MeasureAll(ctx context.Context, s Settings, pieces []Piece, stderr io.Writer) (_ *Report, err error) {
	l, err := newLab(s, stderr)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	if l.report.Machine, err = describeMachine(); err != nil {
		return nil, err
	}
	l.report.NotInstalled = lookForComparators(pieces, stderr)
	for i, p := range pieces {
		if err := l.measure(ctx, p); ctx.Err() != nil {
			l.report.fail(errInterrupted, pieces[i:]...)
			break
		} else if err != nil {
			l.Say("%s failed: %v", p.Name, err)
			l.report.fail(err, p)
		}
	}
	return l.report, nil
}

// measure measures one piece, beginning with the load of the machine before it, which everything
// else in it depends on.
func (l *Lab) measure(ctx context.Context, p Piece) error {
	if p.Product {
		if err := l.build(ctx); err != nil {
			return err
		}
	}
	load, err := loadAverage()
	if err != nil {
		return err
	}
	s := Section{l.report, p.Name}
	if p.Title != "" {
		s.piece = p.Title
	}
	s.Add("load of the machine before", load, "processes")
	return p.Measure(ctx, l, s)
}

// failure says why pieces have not all of their rows.
type failure struct {
	Pieces []string `json:"pieces"`
	Error  string   `json:"error"`
}

func (f failure) String() string { return strings.Join(f.Pieces, ", ") + ": " + f.Error }

func (r *Report) fail(err error, pieces ...Piece) {
	f := failure{Error: err.Error()}
	for _, p := range pieces {
		f.Pieces = append(f.Pieces, p.Name)
	}
	r.Failed = append(r.Failed, f)
}
