package scanapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/history"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/reply"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// The first version of the update operations has what only this node knows: offsets,
// and event ids with a # in front. It also has the import updates.

// losslessEncoding is the encoding that version 0 asks for by a flag.
func (s *historyServer) losslessEncoding(lossless bool) (model.Encoding, error) {
	name := string(schemas.CompactJSON)
	if lossless {
		name = string(schemas.ProtobufJSON)
	}
	return s.encoding(encodings{Contract: &name})
}

type updatesV0Request struct {
	PageSize *int32 `json:"page_size"`
	Lossless bool   `json:"lossless"`
	After    *after `json:"after"`
}

func (s *historyServer) updatesV0(r *http.Request, q *updatesV0Request) (any, error) {
	if err := checkLimit("page_size", q.PageSize); err != nil {
		return nil, err
	}
	enc, err := s.losslessEncoding(q.Lossless)
	if err != nil {
		return nil, err
	}
	c, err := q.After.cursor()
	if err != nil {
		return nil, err
	}
	items, err := s.itemsV0(r, c, int(*q.PageSize), enc)
	return map[string]any{"transactions": items}, err
}

// itemsV0 collects up to limit updates behind c: the imports of a migration come
// before its other updates.
func (s *historyServer) itemsV0(r *http.Request, c *history.Cursor, limit int, enc model.Encoding) ([]json.RawMessage, error) {
	items := []json.RawMessage{}
	entries, importsFrom := s.store.EntriesV0(c, limit)
	for at, i := range entries {
		if at == importsFrom {
			break
		}
		item, err := s.itemV0(i, enc)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	if importsFrom < 0 {
		return items, nil
	}
	imports, err := s.importsV0(r, enc)
	if err != nil {
		return nil, err
	}
	items = append(items, imports[:min(len(imports), limit-len(items))]...)
	for _, i := range entries[importsFrom:] {
		if len(items) == limit {
			break
		}
		item, err := s.itemV0(i, enc)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// itemV0 returns the update of entry i.
func (s *historyServer) itemV0(i int, enc model.Encoding) (json.RawMessage, error) {
	s.store.Mu.RLock()
	a := &history.Answer{}
	a.Item(s.store, i, enc, true)
	id := string(s.ledger.Names.IDs.AppendUpdateID(nil, uint64(i)))
	s.store.Mu.RUnlock()
	var item bytes.Buffer
	if err := a.SendTo(&item); err != nil {
		return nil, fmt.Errorf("reading update %s: %w", id, err)
	}
	offset := fmt.Appendf(nil, `"offset":"%018x",`, i+1)
	return toV0(bytes.Replace(item.Bytes(), []byte(history.ImportOffset), offset, 1), id)
}

// toV0 puts a # in front of the event ids of an update.
func toV0(item []byte, updateID string) (json.RawMessage, error) {
	ids := regexp.MustCompile(`"` + regexp.QuoteMeta(updateID) + `:(\d+)"`)
	item = ids.ReplaceAll(item, []byte(`"#`+updateID+`:$1"`))
	item, err := jsonscan.AppendCanonical(nil, item)
	if err != nil {
		return nil, fmt.Errorf("rewriting update %s: %w", updateID, err)
	}
	return item, nil
}

// importsV0 returns all import updates, ordered by update id.
func (s *historyServer) importsV0(r *http.Request, enc model.Encoding) ([]json.RawMessage, error) {
	found, err := s.ledger.SnapshotAt(r.Context(), history.ImportMigration, int64(schemas.MinMicros))
	if err != nil {
		return nil, err
	}
	render := history.Renderer{Names: s.ledger.Names}
	var items []json.RawMessage
	for i := range found.Imports {
		item := render.ImportUpdate(nil, &found.Imports[i], history.ImportMigration, enc)
		v0, err := toV0(item, ledger.ContractIDOf(s.ledger, found.Imports[i].Contract))
		if err != nil {
			return nil, err
		}
		items = append(items, v0)
	}
	return items, nil
}

func (s *historyServer) updateV0(r *http.Request) (any, error) {
	lossless := false
	if text := r.URL.Query().Get("lossless"); text != "" {
		var err error
		if lossless, err = strconv.ParseBool(text); err != nil {
			return nil, reply.BadRequest("lossless: %q is neither true nor false", text)
		}
	}
	enc, err := s.losslessEncoding(lossless)
	if err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	if i, ok := s.store.UpdateEntry(id); ok {
		item, err := s.itemV0(i, enc)
		return item, err
	}
	if at, ok := s.store.ImportNumber(id); ok {
		imports, err := s.importsV0(r, enc)
		if err != nil {
			return nil, err
		}
		return imports[at], nil
	}
	return nil, reply.NotFound("Transaction with id %s not found", id)
}

// updateByHash answers with the transaction that an external party signed.
func (s *historyServer) updateByHash(r *http.Request) (any, error) {
	enc, err := s.encoding(queryEncodings(r))
	if err != nil {
		return nil, err
	}
	hash := r.PathValue("hash")
	return found(s.store.UpdateByHash(hash, enc), "Transaction with hash "+hash+" not found")
}
