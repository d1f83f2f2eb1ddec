package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/ledgerlake/ledgerlake/bench/lab"

	"github.com/bytedance/sonic"
	"golang.org/x/sync/errgroup"

	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	// rawWorkers is the number of requests in flight, that of the product.
	rawWorkers = 4
	// rawSlices is into how many stretches a migration is cut to be fetched in
	// parallel. Each costs about half a page that is fetched in vain, so they are few.
	rawSlices = rawWorkers
)

// rawSlice is a stretch of one migration's history, after exclusive, through inclusive.
type rawSlice struct {
	migration      int64
	after, through schemas.Micros
}

// fetchRaw fetches the whole history in pages of the largest size and calls take with
// the elements of each, JSON objects with commas between them. It understands as little
// of them as it can: what they hold is for SQL to find out. take is called by several
// goroutines, each of which passes its own number.
func fetchRaw(ctx context.Context, client *scan.Client, take func(ctx context.Context, worker int, elements []byte) error) error {
	migrations, err := rawMigrations(ctx, client)
	if err != nil {
		return err
	}
	queue := make(chan rawSlice, len(migrations)*rawSlices)
	for _, m := range migrations {
		for _, s := range cutMigration(m) {
			queue <- s
		}
	}
	close(queue)
	group, ctx := errgroup.WithContext(ctx)
	for worker := range rawWorkers {
		group.Go(func() error {
			for s := range queue {
				err := fetchSlice(ctx, client, s, func(elements []byte) error { return take(ctx, worker, elements) })
				if err != nil {
					return fmt.Errorf("fetching migration %d from %s: %w", s.migration, s.after, err)
				}
			}
			return nil
		})
	}
	return group.Wait()
}

func rawMigrations(ctx context.Context, client *scan.Client) ([]*scan.MigrationInfo, error) {
	var list []*scan.MigrationInfo
	for id := int64(0); ; id++ {
		info, err := client.MigrationInfo(ctx, id)
		if errors.Is(err, schemas.ErrNotFound) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, info)
	}
}

// cutMigration cuts a migration into stretches of equal time. The first and the last
// are open: verdicts may lie outside the times of the updates.
func cutMigration(m *scan.MigrationInfo) []rawSlice {
	from, to, _ := m.Span()
	slices := make([]rawSlice, rawSlices)
	for i := range slices {
		slices[i] = rawSlice{m.MigrationID, from + (to-from)*schemas.Micros(i)/rawSlices, from + (to-from)*schemas.Micros(i+1)/rawSlices}
	}
	slices[0].after, slices[rawSlices-1].through = schemas.MinMicros, schemas.MaxMicros
	return slices
}

func fetchSlice(ctx context.Context, client *scan.Client, s rawSlice, take func([]byte) error) error {
	after := schemas.Position{MigrationID: s.migration, RecordTime: s.after}
	for {
		page, err := client.EventsPage(ctx, scan.PageRequest{After: after, Size: scan.MaxPageItems})
		if err != nil {
			return err
		}
		elements, err := elementsOf(page.Body, `{"events":[`)
		if err != nil || len(elements) == 0 {
			return err
		}
		last, err := lastPosition(elements)
		if err != nil {
			return err
		}
		if last.MigrationID == s.migration && last.RecordTime <= s.through {
			if err := take(elements); err != nil {
				return err
			}
			after = last
			continue
		}
		elements, err = s.cut(elements)
		if err != nil || len(elements) == 0 {
			return err
		}
		return take(elements)
	}
}

// elementsOf returns what stands between the brackets of a page's only list.
func elementsOf(page []byte, opening string) ([]byte, error) {
	inner, ok := bytes.CutPrefix(page, []byte(opening))
	if ok {
		inner, ok = bytes.CutSuffix(inner, []byte("]}"))
	}
	if !ok {
		return nil, fmt.Errorf("a page of %d bytes does not look like %s ]}", len(page), opening)
	}
	return inner, nil
}

// lastPosition finds the position of the last element. Members come in the order of
// their names, so it is the last that names a migration and a record time: that of the
// verdict, or of a reassignment, which has none.
func lastPosition(elements []byte) (schemas.Position, error) {
	migration, err := strconv.ParseInt(lab.LastMember(elements, "migration_id"), 10, 64)
	if err != nil {
		return schemas.Position{}, fmt.Errorf("reading a migration id: %w", err)
	}
	recordTime, err := schemas.ParseTime(lab.LastMember(elements, "record_time"))
	return schemas.Position{MigrationID: migration, RecordTime: recordTime}, err
}

// cut drops the elements behind the slice. It parses them, which few pages need.
func (s rawSlice) cut(elements []byte) ([]byte, error) {
	list := make([]byte, 0, len(elements)+2)
	list = append(append(append(list, '['), elements...), ']')
	var each []sonic.NoCopyRawMessage // they refer to list
	if err := sonic.Unmarshal(list, &each); err != nil {
		return nil, fmt.Errorf("reading a page: %w", err)
	}
	kept := make([]byte, 0, len(elements))
	for _, element := range each {
		p, err := lastPosition(element)
		if err != nil {
			return nil, err
		}
		if p.MigrationID != s.migration || p.RecordTime > s.through {
			break
		}
		if len(kept) > 0 {
			kept = append(kept, ',')
		}
		kept = append(kept, element...)
	}
	return kept, nil
}

// fetchRawImports does the same for the import updates, one page after another: an id
// is the only cursor.
func fetchRawImports(ctx context.Context, client *scan.Client, take func(elements []byte) error) error {
	migrations, err := rawMigrations(ctx, client)
	if err != nil {
		return err
	}
	for _, m := range migrations {
		request := scan.ImportsRequest{MigrationID: m.MigrationID, Limit: scan.MaxPageItems}
		for request.AfterUpdateID != m.LastImportID {
			page, err := client.ImportUpdates(ctx, request)
			if err != nil {
				return err
			}
			elements, err := elementsOf(page.Body, `{"transactions":[`)
			if err != nil {
				return err
			}
			if err := take(elements); err != nil {
				return err
			}
			if request.AfterUpdateID = lab.LastMember(elements, "update_id"); request.AfterUpdateID == "" {
				return errors.New("a page of imports has no update_id")
			}
		}
	}
	return nil
}
