// Package store speaks to ClickHouse in columns: it holds, per table, the columns
// in which schema types are written and read, so that a row's layout is known in
// one place. It uses ch-go because history is moved by the column; everything that
// is a single row or a statement goes through clickhouse-go elsewhere.
package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/chpool"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/native"
)

// DB is a pool of native connections to one ClickHouse. It is safe for concurrent use.
type DB struct {
	pool *chpool.Pool
	// inserts is apart and small: a connection keeps a buffer as large as the largest
	// block it ever sent, and blocks of history are tens of megabytes. Small blocks, such
	// as the tail of a stream, do not wait for its connections.
	inserts *chpool.Pool
	commits *commits
	// allowed is asked before each statement that writes; nil allows all.
	allowed func(context.Context) error

	database string // that the DSN names
	// shards are what is written to on a cluster; nil without one, and what is written to is what is
	// read. Of a shard, others are the replicas beside the one that is written to.
	shards, others []*DB
}

const (
	dialTimeout = 10 * time.Second
	// wakeUp is how often a connection that waits for the server looks whether its caller
	// has given up: that is what the client makes of a read timeout.
	wakeUp = time.Second
	// silence ends a query of which the server says nothing for so long; it sends progress
	// ten times a second. An insert may be silent while it is written, and for longer when
	// the server slows inserts down.
	silence       = 30 * time.Second
	insertSilence = 5 * time.Minute
	maxConns      = 16
	maxInserts    = 2
	// smallRows and smallBytes are the most that a small block has.
	smallRows  = 4096
	smallBytes = 4 << 20
)

// Open connects to the ClickHouse that dsn names, in the form that clickhouse-go
// reads (clickhouse://user:password@host:9000/database). Of several hosts, host:9000,other:9000, the
// first that answers is used, and another one when it no longer does. Errors never show the password.
func Open(ctx context.Context, dsn string) (*DB, error) { return open(ctx, chpool.Dial, dsn, nil) }

// newPool is chpool.Dial, or chpool.New, which connects when it is first used.
type newPool func(context.Context, chpool.Options) (*chpool.Pool, error)

// open is Open with settings for all queries beside those that all connections have.
func open(ctx context.Context, connect newPool, dsn string, settings []ch.Setting) (*DB, error) {
	opts, err := clickhouse.ParseDSN(dsn)
	if err != nil {
		return nil, errUnreadableDSN
	}
	if len(opts.Addr) == 0 {
		return nil, errors.New("the ClickHouse DSN names no host")
	}
	client := ch.Options{
		Database: opts.Auth.Database, User: opts.Auth.Username, Password: opts.Auth.Password,
		ClientName: "ledgerlake", DialTimeout: dialTimeout, ReadTimeout: wakeUp, Dialer: native.NewHosts(opts.Addr, opts.TLS, dialTimeout),
		Settings: append([]ch.Setting{
			// Both are needed for exactly once: see the indexer's writer.
			{Key: "async_insert", Value: "0", Important: true},
			{Key: "insert_deduplicate", Value: "1", Important: true},
		}, settings...),
	}
	db := &DB{commits: new(commits), database: databaseOf(opts)}
	for pool, size := range map[**chpool.Pool]int32{&db.pool: maxConns, &db.inserts: maxInserts} {
		for range opts.Addr { // one that accepts connections may say nothing
			*pool, err = connect(ctx, chpool.Options{MaxConns: size, ClientOptions: client})
			if err == nil || !isAway(err) {
				break
			}
		}
		if err != nil {
			db.Close()
			return nil, fmt.Errorf("connecting to ClickHouse at %s: %w", strings.Join(opts.Addr, ", "), err)
		}
	}
	return db, nil
}

// Close closes all connections.
func (db *DB) Close() {
	for _, pool := range []*chpool.Pool{db.pool, db.inserts} {
		if pool != nil {
			pool.Close()
		}
	}
	for _, server := range slices.Concat(db.shards, db.others) {
		server.Close()
	}
}

// Fenced returns db with a condition: each statement that writes is sent only if allowed returns nil
// just before, and otherwise fails with its error. The two share their connections, which db closes.
func (db *DB) Fenced(allowed func(context.Context) error) *DB {
	fenced := *db
	fenced.allowed = allowed
	return &fenced
}

// mayWrite returns why db must not write, or nil.
func (db *DB) mayWrite(ctx context.Context) error {
	if db.allowed == nil {
		return nil
	}
	return db.allowed(ctx)
}

// Block is a set of columns of one table or result.
type Block interface {
	columns() []column
	Rows() int
}

// Reset empties b and keeps its memory for the next rows.
func Reset(b Block) {
	for _, c := range b.columns() {
		c.data.Reset()
	}
}

type column struct {
	name string
	data proto.Column
}

// Insert writes all rows of b to the table in one insert. ClickHouse drops a
// repeated insert with the same token, so an insert whose outcome is unknown can be
// repeated; without a token it drops one with equal content. No rows, no insert.
func (db *DB) Insert(ctx context.Context, table, token string, b Block) error {
	if b.Rows() == 0 {
		return nil
	}
	if len(db.shards) > 0 {
		return db.insertSharded(ctx, table, token, b)
	}
	var input proto.Input
	for _, c := range b.columns() {
		input = append(input, proto.InputColumn{Name: c.name, Data: c.data})
	}
	pool := db.inserts
	if isSmall(b) {
		pool = db.pool
	}
	if err := db.mayWrite(ctx); err != nil {
		return fmt.Errorf("inserting %d rows into %s: %w", b.Rows(), table, err)
	}
	err := do(ctx, pool, insertSilence, ch.Query{Body: input.Into(table), Input: input, Settings: withToken(nil, token)})
	if err != nil {
		return fmt.Errorf("inserting %d rows into %s: %w", b.Rows(), table, explain(err))
	}
	return nil
}

// isSmall reports whether a connection may send b and keep the buffer. Texts are what
// makes a block of few rows large.
func isSmall(b Block) bool {
	size := 0
	for _, c := range b.columns() {
		switch text := c.data.(type) {
		case *proto.ColStr:
			size += len(text.Buf)
		case *texts:
			size += len(text.Buf)
		}
	}
	return b.Rows() <= smallRows && size <= smallBytes
}

// Select runs a query whose result columns are those of b by name and order, and
// calls each once per received block; b's content is replaced between calls.
func (db *DB) Select(ctx context.Context, query string, params Params, b Block, each func() error) error {
	return db.selectInto(ctx, query, params, b, nil, each)
}

// SelectLarge is Select for results of many rows: blocks are larger than the server makes
// them by itself, by bytes. A block repeats its dictionaries, which are most of a small one of
// events.
func (db *DB) SelectLarge(ctx context.Context, query string, params Params, b Block, each func() error) error {
	return db.selectInto(ctx, query, params, b, blocksOf(largeRows), each)
}

func (db *DB) selectInto(ctx context.Context, query string, params Params, b Block, settings []ch.Setting, each func() error) error {
	err := do(ctx, db.pool, silence, ch.Query{
		Body: db.text(query), Result: resultsOf(b), Parameters: params.list(), Settings: settings,
		OnResult: func(context.Context, proto.Block) error {
			if b.Rows() == 0 {
				return nil
			}
			return each()
		},
	})
	return explain(err)
}

// SelectBlocks is Select for results that are kept: next gives the block into which the next
// rows are read, and each is called once it has them.
func (db *DB) SelectBlocks(ctx context.Context, query string, params Params, next func() Block, each func() error) error {
	b := &blocks{next: next}
	return explain(do(ctx, db.pool, silence, ch.Query{
		Body: db.text(query), Result: b, Parameters: params.list(), Settings: blocksOf(keptRows),
		OnResult: func(context.Context, proto.Block) error {
			if !b.read {
				return nil
			}
			return each()
		},
	}))
}

const (
	// largeRows bounds the blocks of SelectLarge. A block of events that comes in and the rows
	// made of it take some 15 MB; twice as many rows cost the server no less.
	largeRows = 4096
	// keptRows bounds those of SelectBlocks, of which nothing is made at once.
	keptRows = 16384
)

func blocksOf(rows int) []ch.Setting {
	return []ch.Setting{
		{Key: "max_block_size", Value: strconv.Itoa(rows), Important: true},
		{Key: "preferred_block_size_bytes", Value: "0", Important: true},
	}
}

// blocks is the result of a query of which each block is read into columns of its own.
type blocks struct {
	next func() Block
	read bool // whether the block received last had rows
}

// DecodeResult implements proto.Result.
func (b *blocks) DecodeResult(r *proto.Reader, version int, received proto.Block) (err error) {
	defer guard.Recover(&err) // the client calls it on a goroutine of its own
	var results proto.Results // none are needed for the names of a block without rows
	if b.read = received.Rows > 0; b.read {
		results = resultsOf(b.next())
	}
	return results.DecodeResult(r, version, received)
}

func resultsOf(b Block) proto.Results {
	var results proto.Results
	for _, c := range b.columns() {
		results = append(results, proto.ResultColumn{Name: c.name, Data: c.data})
	}
	return results
}

// text is a query as the store takes it.
func (db *DB) text(query string) string {
	if len(db.shards) == 0 {
		return query
	}
	return onCluster(query)
}

// Exec runs a statement without a result. A token, if not empty, makes an INSERT
// SELECT repeatable in the same way as Insert. On a cluster it runs on the first shard: Change is for
// tables that all shards may have.
func (db *DB) Exec(ctx context.Context, statement, token string, params Params, settings ...ch.Setting) error {
	if err := db.mayWrite(ctx); err != nil {
		return err
	}
	pool := db.pool
	if len(db.shards) > 0 {
		pool = db.shards[0].pool
	}
	return explain(do(ctx, pool, silence, ch.Query{Body: statement, Parameters: params.list(), Settings: withToken(settings, token)}))
}

// do runs a query and ends it when the server is silent for too long.
func do(ctx context.Context, pool *chpool.Pool, maxSilence time.Duration, q ch.Query) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(maxSilence, func() { cancel(errSilent) })
	defer timer.Stop()
	q.OnProgress = func(context.Context, proto.Progress) error {
		timer.Reset(maxSilence)
		return nil
	}
	var refused atomic.Bool // a block, by the caller
	if take := q.OnResult; take != nil {
		q.OnResult = func(ctx context.Context, b proto.Block) error {
			timer.Stop() // what the caller does with the block is not the server's time
			defer timer.Reset(maxSilence)
			err := guard.Call(func() error { return take(ctx, b) }) // on a goroutine of the client
			refused.Store(err != nil)
			return err
		}
	}
	err := once(ctx, pool, q)
	// All connections that were idle when the server was started again are gone.
	for tries := 0; errors.Is(err, native.ErrGone) && ctx.Err() == nil && tries < maxConns; tries++ {
		err = once(ctx, pool, q)
	}
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		return fmt.Errorf("%w for %s: %w", errSilent, maxSilence, err)
	}
	err = gaveUp(ctx, err)
	if err != nil && ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) && !refused.Load() && isAway(err) {
		if e, ok := ch.AsException(err); ok && lacksReplicas(e) {
			return fmt.Errorf("%w: a replica of the shard or Keeper is away, and nothing is written until all are back: %w", ErrAway, oneLine(err))
		}
		return fmt.Errorf("%w: %w", ErrAway, oneLine(err))
	}
	return err
}

// once runs a query on a connection of the pool, which is not used again if that fails. The client
// may leave rows of the answer in it when the caller refused a block, for the next query to read
// as its own; and of an insert that the server refused it may send rows all the same, which the
// server takes for the next query.
func once(ctx context.Context, pool *chpool.Pool, q ch.Query) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	spoilt := true // also by a panic
	defer func() {
		if !spoilt {
			conn.Release()
			return
		}
		_ = conn.Close() // what it says of that is of no interest beside why
	}()
	err = conn.Do(ctx, q)
	spoilt = err != nil
	return err
}

func withToken(settings []ch.Setting, token string) []ch.Setting {
	if token == "" {
		return settings
	}
	return append(settings, ch.Setting{Key: "insert_deduplication_token", Value: token, Important: true})
}

// Rows is a block whose rows are values of type T.
type Rows[T any] interface {
	Block
	// AppendTo appends the block's rows to list.
	AppendTo(list []T) []T
}

// SelectAll runs a query like DB.Select and returns all rows of its result.
func SelectAll[T any](ctx context.Context, db *DB, query string, params Params, b Rows[T]) (list []T, err error) {
	err = db.Select(ctx, query, params, b, func() error {
		list = b.AppendTo(list)
		return nil
	})
	return list, err
}

// SelectOne runs a query like DB.Select and returns the first row of its result; ok is false if
// there is none.
func SelectOne[T any](ctx context.Context, db *DB, query string, params Params, b Rows[T]) (row T, ok bool, err error) {
	rows, err := SelectAll(ctx, db, query, params, b)
	if err != nil || len(rows) == 0 {
		return row, false, err
	}
	return rows[0], true, nil
}
