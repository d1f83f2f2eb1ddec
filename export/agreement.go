package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

// Peer is the bulk storage of another operator; *scan.Client of ingest/scan is one. It must be safe for concurrent use.
type Peer interface {
	// Upstream names the peer, without credentials.
	Upstream() string
	// BulkChecksums returns the SHA-256 of objects in hex, in the order of the keys; "" for an
	// object that the peer does not have yet.
	BulkChecksums(ctx context.Context, keys []string) ([]string, error)
}

var (
	// ErrNotAgreed means that not enough peers have made the same objects yet. They may
	// later.
	ErrNotAgreed = errors.New("too few peers have the same objects yet")
	// ErrDisagreed means that so many peers have other objects that the rest is too few.
	// A person must find out who is wrong.
	ErrDisagreed = errors.New("peers have different objects")
)

// keysPerQuestion is how many objects a peer is asked about at once.
const keysPerQuestion = 500

// publisher writes objects into the bucket, each once, and where peers must agree releases
// them from staging.
type publisher struct {
	objects Objects
	stream  string
	// mustAgree is how many of peers must have the same objects, 0 for not to ask.
	mustAgree int
	peers     []Peer
	journal   published.Journal
	log       *slog.Logger
}

// opinion is what a peer says of a batch.
type opinion int

const (
	notYet opinion = iota
	same
	different
)

// agree asks the peers and returns nil if enough of them have exactly the same objects,
// ErrNotAgreed, or ErrDisagreed. Whatever a peer has otherwise is recorded.
func (p *publisher) agree(ctx context.Context, b published.Batch) error {
	if p.mustAgree == 0 {
		return nil
	}
	opinions := make([]opinion, len(p.peers))
	found := make([][]store.ExportDisagreementRow, len(p.peers))
	asking := guard.NewGroup()
	for i, peer := range p.peers {
		asking.Go(func() (err error) {
			// A peer that cannot be asked has not agreed yet; the others still count.
			if opinions[i], found[i], err = p.ask(ctx, peer, b); err != nil {
				p.log.WarnContext(ctx, "requesting checksums from a peer failed", "peer", peer.Upstream(), "unit", b.Name.String(), "err", err)
			}
			return nil
		})
	}
	if err := asking.Wait(); err != nil {
		return err
	}
	if all := slices.Concat(found...); len(all) > 0 {
		p.log.ErrorContext(ctx, "a peer has different objects", "unit", b.Name.String(), "peer", all[0].Peer,
			"key", all[0].Key, "ours", all[0].Ours, "theirs", all[0].Theirs, "objects", len(all))
		if err := p.journal.RecordDisagreements(ctx, all); err != nil {
			return fmt.Errorf("recording that peers disagree: %w", err)
		}
	}
	return p.judge(b, opinions)
}

// judge counts opinions.
func (p *publisher) judge(b published.Batch, opinions []opinion) error {
	agreed, against := 0, 0
	for _, o := range opinions {
		switch o {
		case same:
			agreed++
		case different:
			against++
		}
	}
	switch {
	case agreed >= p.mustAgree:
		return nil
	case len(opinions)-against < p.mustAgree:
		return fmt.Errorf("%w: %s: %d of %d peers differ, %d must agree; see table export_disagreements",
			ErrDisagreed, b.Name, against, len(opinions), p.mustAgree)
	}
	return fmt.Errorf("%w: %s: %d of %d peers, %d must agree", ErrNotAgreed, b.Name, agreed, len(opinions), p.mustAgree)
}

// ask compares a batch with what one peer has. An error comes with notYet.
func (p *publisher) ask(ctx context.Context, peer Peer, b published.Batch) (opinion, []store.ExportDisagreementRow, error) {
	keys := make([]string, 0, len(b.Objects)+len(b.Next))
	for _, o := range b.Objects {
		keys = append(keys, o.Key)
	}
	keys = append(keys, b.Next...)
	theirs := make([]string, 0, len(keys))
	for part := range slices.Chunk(keys, keysPerQuestion) {
		sums, err := peer.BulkChecksums(ctx, part)
		if err == nil && len(sums) != len(part) {
			err = fmt.Errorf("%d checksums for %d objects", len(sums), len(part))
		}
		if err != nil {
			return notYet, nil, err
		}
		theirs = append(theirs, sums...)
	}
	missing := false
	var differ []store.ExportDisagreementRow
	for i, key := range keys {
		ours := ""
		if i < len(b.Objects) {
			ours = b.Objects[i].SHA256
		}
		switch {
		case theirs[i] == ours:
		case theirs[i] == "":
			missing = true
		default:
			differ = append(differ, store.ExportDisagreementRow{Stream: p.stream, Unit: b.Name.String(), Peer: peer.Upstream(), Key: key, Ours: ours, Theirs: theirs[i]})
		}
	}
	switch {
	case len(differ) > 0:
		return different, differ, nil
	case missing:
		return notYet, nil, nil
	}
	return same, nil, nil
}
