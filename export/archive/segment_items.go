package archive

import (
	"context"
	"errors"
	"io"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// segmentItems reads a segment back as the items of history that it was made of, in
// their order: updates joined with the verdicts of the same position. While it reads it
// sums the rows up, and at the end it holds them against the manifest.
type segmentItems struct {
	manifest *published.Manifest
	update   *headOf[schemas.Update]
	verdict  *headOf[schemas.Item]
	digests  map[schemas.ParquetTable]*published.Digester
	close    func() error
}

// headOf is a list of which the first element is known.
type headOf[T any] struct {
	next func(context.Context) (*T, error)
	head *T // nil at the end
}

func (h *headOf[T]) advance(ctx context.Context) (err error) {
	if h.head, err = h.next(ctx); errors.Is(err, io.EOF) {
		h.head = nil
		return nil
	}
	return err
}

func (h *headOf[T]) take(ctx context.Context) (*T, error) {
	head := h.head
	return head, h.advance(ctx)
}

// openSegmentItems opens the first objects. The caller calls close in any case.
func openSegmentItems(ctx context.Context, parts Parts, m *published.Manifest) (*segmentItems, error) {
	s := &segmentItems{manifest: m, digests: make(map[schemas.ParquetTable]*published.Digester)}
	for _, t := range m.Tables {
		s.digests[t.Name] = new(published.Digester)
	}
	noVerdicts := func(context.Context) (*schemas.Item, error) { return nil, io.EOF }
	if m.Ref().IsImports() {
		imports := newTableReader[schemas.ImportRow](parts, m.Table(schemas.ParquetImports), nil)
		s.update = &headOf[schemas.Update]{next: func(ctx context.Context) (*schemas.Update, error) {
			row, err := imports.row(ctx)
			if err != nil {
				return nil, err
			}
			u := row.Update()
			return &u, nil
		}}
		s.verdict, s.close = &headOf[schemas.Item]{next: noVerdicts}, imports.close
	} else {
		updates, verdicts := newUpdateReader(parts, m, nil), newVerdictReader(parts, m, nil)
		s.update, s.verdict = &headOf[schemas.Update]{next: updates.next}, &headOf[schemas.Item]{next: verdicts.next}
		s.close = func() error { return errors.Join(updates.close(), verdicts.close()) }
	}
	if err := errors.Join(s.update.advance(ctx), s.verdict.advance(ctx)); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// next returns the next item, or io.EOF once all rows were found to be those of the
// manifest.
func (s *segmentItems) next(ctx context.Context) (schemas.Item, error) {
	u, v := s.update.head, s.verdict.head
	switch {
	case u == nil && v == nil:
		return schemas.Item{}, s.compare()
	case v == nil || u != nil && u.Position().Before(v.Position()):
		u, err := s.takeUpdate(ctx)
		return schemas.Item{Update: u}, err
	case u == nil || v.Position().Before(u.Position()):
		return s.takeVerdict(ctx)
	}
	it, err := s.takeVerdict(ctx)
	if err != nil {
		return it, err
	}
	it.Update, err = s.takeUpdate(ctx)
	return it, err
}

func (s *segmentItems) takeUpdate(ctx context.Context) (*schemas.Update, error) {
	u, err := s.update.take(ctx)
	if err != nil {
		return nil, err
	}
	if s.manifest.Ref().IsImports() {
		s.digests[schemas.ParquetImports].AddImport(u)
		return u, nil
	}
	published.AddHistory(s.digests[schemas.ParquetUpdates], s.digests[schemas.ParquetEvents], u)
	return u, nil
}

func (s *segmentItems) takeVerdict(ctx context.Context) (schemas.Item, error) {
	it, err := s.verdict.take(ctx)
	if err != nil {
		return schemas.Item{}, err
	}
	s.digests[schemas.ParquetVerdicts].AddVerdict(it.Verdict)
	if it.Traffic != nil {
		s.digests[schemas.ParquetTraffic].AddTraffic(it.Verdict.UpdateID, it.Traffic)
	}
	if it.AppActivity != nil {
		s.digests[schemas.ParquetAppActivity].AddAppActivity(it.Verdict.UpdateID, it.AppActivity)
	}
	return *it, nil
}

// compare returns io.EOF if the rows that were read are those of the manifest. The
// active set is no history and was not read.
func (s *segmentItems) compare() error {
	for _, t := range s.manifest.Tables {
		if t.Name == schemas.ParquetACS {
			continue
		}
		if finding := s.digests[t.Name].Compare(t); finding != "" {
			return published.Mismatchf("segment %s: %s", s.manifest.Ref(), finding)
		}
	}
	return io.EOF
}

// EachUpdate hands out the updates of a segment in order, and returns an error unless the
// rows are those of the manifest.
func EachUpdate(ctx context.Context, parts Parts, m *published.Manifest, each func(*schemas.Update) error) error {
	return EachItem(ctx, parts, m, func(it schemas.Item) error {
		if it.Update == nil {
			return nil
		}
		return each(it.Update)
	})
}

// EachItem is EachUpdate for items, those without an update included.
func EachItem(ctx context.Context, parts Parts, m *published.Manifest, each func(schemas.Item) error) (err error) {
	items, err := openSegmentItems(ctx, parts, m)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, items.close()) }()
	for {
		it, err := items.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := each(it); err != nil {
			return err
		}
	}
}
