package main

import (
	"context"
	_ "embed"

	"github.com/ledgerlake/ledgerlake/bench/lab"

	"github.com/ledgerlake/ledgerlake/ingest/scan"
)

//go:embed sql/create_raw_events.sql
var createRawEvents string

//go:embed sql/create_raw_imports.sql
var createRawImports string

//go:embed sql/extract_updates.sql
var extractUpdates string

//go:embed sql/extract_events.sql
var extractEvents string

//go:embed sql/extract_events_once.sql
var extractEventsOnce string

//go:embed sql/extract_imports.sql
var extractImports string

//go:embed sql/extract_verdicts.sql
var extractVerdicts string

// loadRawJSON is the child that is the baseline: raw JSON into ClickHouse by JSONEachRow,
// then the columns out of it by SQL, into tables that are defined like the product's.
func loadRawJSON(ctx context.Context, task lab.LoadTask, answer func(any) error) error {
	return lab.WithStore(ctx, task, answer, func(ctx context.Context, s *lab.EngineStore, l *lab.Load) error {
		if err := s.Execute(ctx, createRawEvents, createRawImports); err != nil {
			return err
		}
		if err := insertRaw(ctx, task, s, l); err != nil {
			return err
		}
		l.HistoryDone()
		return s.Execute(ctx, extractUpdates, eventsQuery(task), extractImports, extractVerdicts)
	})
}

// eventsQuery is the plain way to extract events, or the one that parses each update once.
func eventsQuery(t lab.LoadTask) string {
	if t.ParseOnce {
		return extractEventsOnce
	}
	return extractEvents
}

func insertRaw(ctx context.Context, task lab.LoadTask, s *lab.EngineStore, l *lab.Load) error {
	client, err := scan.NewClient(scan.ClientConfig{BaseURL: task.URL, Log: lab.NewLogger()})
	if err != nil {
		return err
	}
	imports, err := newRawTable(s.Engine, "raw_imports")
	if err != nil {
		return err
	}
	if err := fetchRawImports(ctx, client, func(elements []byte) error { return imports.add(ctx, elements) }); err != nil {
		return err
	}
	tables := []*rawTable{imports}
	for range rawWorkers {
		t, err := newRawTable(s.Engine, "raw_events")
		if err != nil {
			return err
		}
		tables = append(tables, t)
	}
	err = fetchRaw(ctx, client, func(ctx context.Context, worker int, elements []byte) error {
		return tables[1+worker].add(ctx, elements)
	})
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := t.flush(ctx); err != nil {
			return err
		}
		l.PageBytes += t.sent
	}
	return nil
}
