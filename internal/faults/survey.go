package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Subject is an item of history that a lie may be told about.
type Subject struct {
	UpdateID string
	// RecordTime is in the network's form, such as 2026-07-01T00:24:37.900000Z.
	RecordTime string
	// Import items are import updates, whose record times say nothing.
	Import bool

	item []byte
}

// String names the subject.
func (s Subject) String() string {
	if s.Import {
		return "import update " + s.UpdateID
	}
	return fmt.Sprintf("the item at %s, %s", s.RecordTime, s.UpdateID)
}

// Survey reads the whole history of a scan service, and the import updates of its
// migrations, in the order in which they are read from it: those of a migration come
// before its history. It is meant for short histories.
func Survey(ctx context.Context, url string) ([]Subject, error) {
	var subjects []Subject
	for migration := 0; ; migration++ {
		known, err := surveyImports(ctx, url, migration, &subjects)
		if err != nil {
			return nil, err
		}
		if !known {
			break
		}
	}
	return subjects, surveyHistory(ctx, url, &subjects)
}

const surveyPage = 1000

// surveyImports reports whether there is such a migration.
func surveyImports(ctx context.Context, url string, migration int, subjects *[]Subject) (known bool, err error) {
	_, status, err := ask(ctx, url, "/v0/backfilling/migration-info", fmt.Sprintf(`{"migration_id":%d}`, migration))
	if err != nil || status == http.StatusNotFound {
		return false, err
	}
	for after := ""; ; {
		p, err := askPage(ctx, url, importsOperation, fmt.Sprintf(`{"migration_id":%d,"after_update_id":%q,"limit":%d}`, migration, after, surveyPage))
		if err != nil {
			return false, err
		}
		for _, it := range p.items {
			*subjects = append(*subjects, Subject{UpdateID: it.updateID, RecordTime: it.recordTime, Import: true, item: it.raw})
			after = it.updateID
		}
		if len(p.items) == 0 {
			return true, nil
		}
	}
}

// surveyHistory reads with large pages: a record time that two of them share would be
// cut short, which a history of this size does not come to.
func surveyHistory(ctx context.Context, url string, subjects *[]Subject) error {
	cursor := ""
	for migration := 0; ; {
		p, err := askPage(ctx, url, "/v0/events", fmt.Sprintf(`{"page_size":%d,"daml_value_encoding":"protobuf_json"%s}`, surveyPage, cursor))
		if err != nil {
			return err
		}
		for _, it := range p.items {
			*subjects = append(*subjects, Subject{UpdateID: it.updateID, RecordTime: it.recordTime, item: it.raw})
		}
		if len(p.items) < surveyPage {
			return nil
		}
		last := p.items[len(p.items)-1]
		if at := occurrences(last.raw, `"migration_id":`); len(at) > 0 {
			if _, err := fmt.Sscan(string(last.raw[at[0]:at[0]+1]), &migration); err != nil {
				return fmt.Errorf("reading the migration of %s: %w", last.updateID, err)
			}
		}
		cursor = fmt.Sprintf(`,"after":{"after_migration_id":%d,"after_record_time":%q}`, migration, last.recordTime)
	}
}

func askPage(ctx context.Context, url, operation, request string) (*page, error) {
	body, status, err := ask(ctx, url, operation, request)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("asking %s of %s: status %d", operation, url, status)
	}
	return readPage(operation, []byte(request), body)
}

func ask(ctx context.Context, url, operation, request string) (body []byte, status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+operation, bytes.NewReader([]byte(request)))
	if err != nil {
		return nil, 0, fmt.Errorf("asking %s: %w", operation, err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, 0, fmt.Errorf("asking %s: %w", operation, err)
	}
	body, err = io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, 0, fmt.Errorf("reading the answer of %s: %w", operation, err)
	}
	return body, response.StatusCode, nil
}
