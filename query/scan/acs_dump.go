package scan

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/scan/pages"
	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	// dumpAhead is how many pieces of a dump are read and rendered at once or wait for the
	// client.
	dumpAhead = 3
	// dumpPiece and dumpPieceBytes are about how large a piece is at most.
	dumpPiece      = 10_000
	dumpPieceBytes = 8 << 20
	// maxDumpBytes is what a dump takes with pieces of that size: rows and text of each, and the
	// piece that is sent.
	maxDumpBytes = (dumpAhead*(pages.RowsFactor+1) + 1) * dumpPieceBytes
	// firstSizeGuess is what a contract is taken for while none was seen.
	firstSizeGuess = 2 << 10
	// dumpPlanned is how many pieces are planned at once.
	dumpPlanned = 16
)

// dump streams a whole active set as JSON lines: its contracts in order, and a last line
// that tells their number and the instant. A stream without that line has been cut.
func (a *activeSets) dump(ctx context.Context, r *query.Request) error {
	p := r.Query()
	req := filteredSetOf(p)
	if err := p.Err(); err != nil {
		return err
	}
	at, err := a.instantOf(ctx, &req)
	if err != nil {
		return err
	}
	// The set at an instant never changes, so what asks for it identifies it.
	sum := xxh3.Hash128(fmt.Appendf(req.digest(), " dump at %d by %s", at, a.version)).Bytes()
	tag := `W/"` + hex.EncodeToString(sum[:]) + `"`
	r.SetHeader("ETag", tag)
	if r.Matches(tag) {
		return r.Empty(304)
	}
	if ctx, err = r.Reserve(ctx, a.dumpBytes); err != nil {
		return err
	}
	return r.Lines(ctx, newDump(ctx, a, &req, at).next)
}

// dump is the stream of one active set. Its reader must call next until the end or end ctx.
type dump struct {
	sets   *activeSets
	query  history.ActiveQuery
	write  func(dst []byte, c *history.ActiveContract) []byte
	pieces chan *dumpedPiece // in order
	count  int64
	// pieceBytes is about how large a piece is.
	pieceBytes int64
	// whole is set before pieces is closed if all of the set went into them.
	whole bool
}

// dumpedPiece is a run of contracts, rendered.
type dumpedPiece struct {
	ready     chan struct{} // closed when the rest is set
	lines     []byte
	contracts int
	err       error
}

func newDump(ctx context.Context, a *activeSets, req *acsRequest, at schemas.Micros) *dump {
	d := &dump{sets: a, query: req.query(at), write: a.contractWriter(), pieces: make(chan *dumpedPiece, dumpAhead-1)}
	d.pieceBytes = dumpPieceBytes * a.dumpBytes / maxDumpBytes
	guard.Go(func() error { return d.plan(ctx) }, func(err error) {
		if err != nil {
			d.hand(ctx, failedPiece(err))
		}
		close(d.pieces)
	})
	return d
}

// plan finds where pieces begin and end, which is cheap as only keys are read, and has them
// read side by side, a few ahead of the client.
func (d *dump) plan(ctx context.Context) error {
	q := d.query
	for more := true; more; {
		q.Limit, q.Through = d.sets.sizes.Chunk(dumpPiece, d.pieceBytes), history.ContractKey{}
		keys, err := d.sets.source.ActiveKeys(ctx, q, dumpPlanned)
		if err != nil {
			return err
		}
		if more = len(keys) == dumpPlanned; !more {
			keys = append(keys, history.ContractKey{}) // the rest
		}
		for _, through := range keys {
			piece := &dumpedPiece{ready: make(chan struct{})}
			if !d.hand(ctx, piece) {
				return nil
			}
			q.Through = through
			read := q
			guard.Go(func() error { return d.read(ctx, read, piece) }, func(err error) {
				piece.err = err
				close(piece.ready)
			})
			q = q.From(through.CreatedAt, through.ContractID, q.Limit)
		}
	}
	d.whole = true
	return nil
}

func failedPiece(err error) *dumpedPiece {
	failed := &dumpedPiece{ready: make(chan struct{}), err: err}
	close(failed.ready)
	return failed
}

// hand puts a piece into the line, and reports false if nobody takes it any more.
func (d *dump) hand(ctx context.Context, piece *dumpedPiece) bool {
	select {
	case d.pieces <- piece:
		return true
	case <-ctx.Done():
		return false
	}
}

// read fills a piece.
func (d *dump) read(ctx context.Context, q history.ActiveQuery, piece *dumpedPiece) error {
	contracts, err := d.sets.source.ActiveContracts(ctx, q)
	if err != nil {
		return err
	}
	lines := (*pages.Buffers.Get().(*[]byte))[:0]
	for i := range contracts {
		lines = append(d.write(lines, &contracts[i]), '\n')
	}
	d.sets.sizes.Saw(len(contracts), len(lines))
	piece.lines, piece.contracts = lines, len(contracts)
	return nil
}

// next is a query.Producer.
func (d *dump) next(ctx context.Context, dst []byte) ([]byte, bool, error) {
	var piece *dumpedPiece
	select {
	case piece = <-d.pieces:
	case <-ctx.Done():
		return dst, false, ctx.Err()
	}
	switch {
	case piece == nil && !d.whole:
		return dst, false, context.Cause(ctx)
	case piece == nil:
		return fmt.Appendf(dst, `{"contracts":%d,"migration_id":%d,"record_time":"%s"}`+"\n", d.count, d.query.MigrationID, d.query.At), false, nil
	}
	select {
	case <-piece.ready:
	case <-ctx.Done():
		return dst, false, ctx.Err()
	}
	if piece.err != nil {
		return dst, false, piece.err
	}
	dst = append(dst, piece.lines...)
	d.count += int64(piece.contracts)
	pages.Buffers.Put(&piece.lines)
	return dst, true, nil
}
