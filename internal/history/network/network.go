// Package network reads what the network is at an instant: its rules and operators, rounds, validators, names,
// votes and traffic, out of the contracts of public history. What a contract says is read as its template has it;
// what is malformed is an error that names the contract, never half a value.
package network

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

//go:embed sql/began.sql
var beganQuery string

// Reader reads the network's state out of a stream. It is safe for concurrent use.
type Reader struct {
	db      *store.DB
	stream  string
	state   *history.State
	catalog *values.Catalog
}

// NewReader returns a reader of a stream of a store. catalog has the types of contracts.
func NewReader(db *store.DB, r *history.Reader, catalog *values.Catalog) *Reader {
	return &Reader{db, r.Stream(), r.State(), catalog}
}

// Instant is as of when the network is read.
type Instant struct {
	MigrationID int64
	At          schemas.Micros
	// Mark is up to where contracts are known.
	Mark schemas.Position
}

// Instant returns an instant of history: at, or the end of what is known of contracts. Of times that several
// migrations have it is that of the newest one. ok is false before all history.
func (r *Reader) Instant(ctx context.Context, at schemas.Micros) (i Instant, ok bool, err error) {
	mark, err := journal.Watermark(ctx, r.db, journal.ContractsStream(r.stream))
	if err != nil || mark == schemas.Start {
		return i, false, err
	}
	i = Instant{mark.MigrationID, mark.RecordTime, mark}
	if at >= mark.RecordTime {
		return i, true, nil
	}
	began, ok, err := store.SelectOne(ctx, r.db, beganQuery, store.Params{
		"stream": store.Text(r.stream), "migration": store.Int(mark.MigrationID), "at": store.Time(store.Clamp(at)),
	}, store.NewRecords[struct {
		MigrationID int64 `column:"migration_id"`
	}]())
	if err != nil {
		return i, false, fmt.Errorf("looking for the migration of %s: %w", at, err)
	}
	i.MigrationID, i.At = began.MigrationID, at
	return i, ok, nil
}

// Contract is a contract with its payload in compact JSON.
type Contract struct {
	history.StateContract
	Payload []byte
}

// ID is that of the contract.
func (c *Contract) ID() string { return c.Event.ContractID }

// Live reports whether the contract has not ended by an instant.
func (c *Contract) Live(at schemas.Micros) bool { return c.ArchivedAt > at }

// decode reads members of the payload into a struct.
func (c *Contract) decode(into any) error {
	if err := json.Unmarshal(c.Payload, into); err != nil {
		return fmt.Errorf("reading contract %.80q of %s: %w", c.Event.ContractID, c.Event.TemplateID, err)
	}
	return nil
}

// compacted gives contracts with their payloads.
func (r *Reader) compacted(rows []history.StateContract) []Contract {
	list := make([]Contract, len(rows))
	w := values.Writer{Catalog: r.catalog, Want: schemas.CompactJSON}
	for i := range rows {
		list[i] = Contract{rows[i], w.For(rows[i].Encoding).AppendCreateArguments(nil, &rows[i].Event)}
	}
	return list
}

// Key is where a contract stands among others of its template: when it was created, and its id.
type Key struct {
	CreatedAt  schemas.Micros
	ContractID string
}

// KeyOf is where a contract stands.
func KeyOf(c *Contract) Key { return Key{c.Event.CreatedAt, c.Event.ContractID} }

// Newest is before which contracts a page of the newest ones begins.
var Newest = Key{CreatedAt: schemas.MaxMicros}

// String is the key as a parameter of an address.
func (k Key) String() string { return strconv.FormatInt(int64(k.CreatedAt), 10) + "." + k.ContractID }

// ParseKey reads what String wrote; "" is Newest.
func ParseKey(text string) (k Key, ok bool) {
	if text == "" {
		return Newest, true
	}
	created, id, ok := strings.Cut(text, ".")
	n, err := strconv.ParseInt(created, 10, 64)
	return Key{schemas.Micros(n), id}, ok && err == nil && id != ""
}

// query is what contracts of some templates are wanted at an instant.
func query(at Instant, limit int, templates ...string) history.StateQuery {
	return history.StateQuery{MigrationID: at.MigrationID, At: at.At, Templates: values.Spellings(templates...), Limit: limit}
}

// Active returns contracts of templates that are active at an instant, oldest first and at most limit.
func (r *Reader) Active(ctx context.Context, at Instant, limit int, templates ...string) ([]Contract, error) {
	return r.active(ctx, query(at, limit, templates...))
}

func (r *Reader) active(ctx context.Context, q history.StateQuery) ([]Contract, error) {
	rows, err := r.state.StateContracts(ctx, q)
	return r.compacted(rows), err
}

// newest returns active contracts before a key, the newest first.
func (r *Reader) newest(ctx context.Context, q history.StateQuery, before Key) ([]Contract, error) {
	q.AfterContractID = before.ContractID
	rows, err := r.state.StateContractsNewest(ctx, q, before.CreatedAt)
	return r.compacted(rows), err
}

// Before returns active contracts of a template before a key, the newest first.
func (r *Reader) Before(ctx context.Context, at Instant, before Key, limit int, template string) ([]Contract, error) {
	return r.newest(ctx, query(at, limit, template), before)
}

// decoded reads each contract into a T.
func decoded[T any](list []Contract, read func(*Contract) (T, error)) ([]T, error) {
	all := make([]T, 0, len(list))
	for i := range list {
		one, err := read(&list[i])
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}
