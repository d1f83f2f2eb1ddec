package scan

import (
	"context"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// batcher cuts items that arrive in order into batches and sends them to out.
type batcher struct {
	stream.Batcher
	// apart keeps what came from different upstreams in different batches.
	apart bool
	out   chan<- filled

	from *peer // who gave what is in the batch being filled
	cost int64
}

// filled is a finished batch and what its pages hold of the budget.
type filled struct {
	stream.Batch
	cost int64
}

// add takes the items of p.
func (b *batcher) add(ctx context.Context, p part) error {
	if b.apart && b.from != p.from && len(p.items) > 0 {
		if b.mayEndBefore(&p.items[0]) {
			if err := b.flush(ctx); err != nil {
				return err
			}
		}
		b.from = p.from
	}
	for i := range p.items {
		size := wireSize(&p.items[i])
		if !b.HasRoom(size) && b.mayEndBefore(&p.items[i]) {
			if err := b.flush(ctx); err != nil {
				return err
			}
		}
		b.Append(p.items[i], size)
	}
	// A page that ends in another batch than it began counts for the later one, as it
	// stays in memory until that is written.
	b.cost += p.cost
	return nil
}

// mayEndBefore reports whether the batch being filled may end before it. Cursors of
// history have no update id, so nothing can be read after a batch that ends between
// items of one record time. Import updates are read by their ids.
func (b *batcher) mayEndBefore(it *schemas.Item) bool {
	if len(b.Items) == 0 {
		return false
	}
	p := it.Position()
	return p.RecordTime == schemas.MinMicros || !sameTime(b.Items[len(b.Items)-1].Position(), p)
}

// flush passes the batch on, unless it is empty.
func (b *batcher) flush(ctx context.Context) error {
	if len(b.Items) == 0 {
		return nil
	}
	through := detached(b.Items[len(b.Items)-1].Position())
	f := filled{b.Batch(through), b.cost}
	b.Next(through)
	b.cost = 0
	select {
	case b.out <- f:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// wireSize is about how many bytes an item takes on the wire. The constants cover
// member names and fixed members.
func wireSize(it *schemas.Item) int64 {
	n := 0
	if u := it.Update; u != nil {
		n += 400
		for i := range u.Events {
			e := &u.Events[i]
			n += 420 + len(e.Argument) + len(e.Result) + len(e.ContractID) + len(e.TemplateID) + 2*len(e.EventID)
			for _, list := range [...][]string{e.Signatories, e.Observers, e.ActingParties} {
				for _, party := range list {
					n += len(party) + 3
				}
			}
			n += len(e.Children) * (len(u.UpdateID) + 6)
		}
	}
	if v := it.Verdict; v != nil {
		n += 500 + len(v.Views)
	}
	if it.Traffic != nil {
		n += 80 + len(it.Traffic.Envelopes)
	}
	if it.AppActivity != nil {
		n += 60 + len(it.AppActivity.Records)
	}
	return int64(n)
}
