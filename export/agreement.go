package export

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// Peer is the bulk storage of another operator. It must be safe for concurrent use.
type Peer interface {
	// Name names the peer, without credentials.
	Name() string
	// Checksums returns the SHA-256 of objects in hex, in the order of the keys; "" for an
	// object that the peer does not have yet.
	Checksums(ctx context.Context, keys []string) ([]string, error)
}

var (
	// ErrNotAgreed means that not enough peers have made the same objects yet. They may
	// later.
	ErrNotAgreed = errors.New("too few peers have the same objects yet")
	// ErrDisagreed means that so many peers have other objects that the rest is too few.
	// A person must find out who is wrong.
	ErrDisagreed = errors.New("peers have other objects")
)

// keysPerQuestion is how many objects a peer is asked about at once.
const keysPerQuestion = 500

// object names an object and its content.
type object struct {
	key    string
	sha256 string // hex
}

// batch is what is published at once: a segment, or one kind of object in a folder.
type batch struct {
	name    fmt.Stringer
	objects []object
	// next are the keys that further objects would have. A peer that has one of those has
	// more rows than we.
	next []string
}

// disagreement is an object of which a peer has other bytes.
type disagreement struct {
	Stream string `ch:"stream"`
	Unit   string `ch:"unit"`
	Peer   string `ch:"peer"`
	Key    string `ch:"object_key"`
	Ours   string `ch:"ours"`
	Theirs string `ch:"theirs"`
}

// disagreements keeps what peers did not agree on.
type disagreements interface {
	record(ctx context.Context, list []disagreement) error
}

//go:embed sql/insert_export_disagreement.sql
var insertDisagreement string

// storeDisagreements is table export_disagreements.
type storeDisagreements struct{ conn driver.Conn }

func (s storeDisagreements) record(ctx context.Context, list []disagreement) error {
	for i := range list {
		if err := appendRow(ctx, s.conn, insertDisagreement, &list[i], text(list[i].Unit)); err != nil {
			return err
		}
	}
	return nil
}

// text is a fmt.Stringer.
type text string

func (t text) String() string { return string(t) }

// opinion is what a peer says of a batch.
type opinion int

const (
	notYet opinion = iota
	same
	different
)

// agree asks the peers and returns nil if enough of them have exactly the same objects,
// ErrNotAgreed, or ErrDisagreed. Whatever a peer has otherwise is recorded.
func (e *Exporter) agree(ctx context.Context, b batch) error {
	if e.cfg.Agree == 0 {
		return nil
	}
	opinions := make([]opinion, len(e.cfg.Peers))
	found := make([][]disagreement, len(e.cfg.Peers))
	asking := guard.NewGroup()
	for i, p := range e.cfg.Peers {
		asking.Go(func() (err error) {
			// A peer that cannot be asked has not agreed yet; the others still count.
			if opinions[i], found[i], err = e.ask(ctx, p, b); err != nil {
				e.log.WarnContext(ctx, "a peer cannot be asked for checksums", "peer", p.Name(), "unit", b.name.String(), "err", err)
			}
			return nil
		})
	}
	if err := asking.Wait(); err != nil {
		return err
	}
	if all := slices.Concat(found...); len(all) > 0 {
		e.log.ErrorContext(ctx, "a peer has other objects", "unit", b.name.String(), "peer", all[0].Peer,
			"key", all[0].Key, "ours", all[0].Ours, "theirs", all[0].Theirs, "objects", len(all))
		if err := e.disagreements.record(ctx, all); err != nil {
			return fmt.Errorf("recording that peers disagree: %w", err)
		}
	}
	return e.judge(b, opinions)
}

// judge counts opinions.
func (e *Exporter) judge(b batch, opinions []opinion) error {
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
	case agreed >= e.cfg.Agree:
		return nil
	case len(opinions)-against < e.cfg.Agree:
		return fmt.Errorf("%w: %s: %d of %d peers differ, %d must agree; see table export_disagreements",
			ErrDisagreed, b.name, against, len(opinions), e.cfg.Agree)
	}
	return fmt.Errorf("%w: %s: %d of %d peers, %d must agree", ErrNotAgreed, b.name, agreed, len(opinions), e.cfg.Agree)
}

// ask compares a batch with what one peer has. An error comes with notYet.
func (e *Exporter) ask(ctx context.Context, p Peer, b batch) (opinion, []disagreement, error) {
	keys := make([]string, 0, len(b.objects)+len(b.next))
	for _, o := range b.objects {
		keys = append(keys, o.key)
	}
	keys = append(keys, b.next...)
	theirs := make([]string, 0, len(keys))
	for part := range slices.Chunk(keys, keysPerQuestion) {
		sums, err := p.Checksums(ctx, part)
		if err == nil && len(sums) != len(part) {
			err = fmt.Errorf("%d checksums for %d objects", len(sums), len(part))
		}
		if err != nil {
			return notYet, nil, err
		}
		theirs = append(theirs, sums...)
	}
	missing := false
	var differ []disagreement
	for i, key := range keys {
		ours := ""
		if i < len(b.objects) {
			ours = b.objects[i].sha256
		}
		switch {
		case theirs[i] == ours:
		case theirs[i] == "":
			missing = true
		default:
			differ = append(differ, disagreement{e.stream, b.name.String(), p.Name(), key, ours, theirs[i]})
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
