package store

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/chpool"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/cespare/xxhash/v2"

	"github.com/ledgerlake/ledgerlake/internal/cluster"
	"github.com/ledgerlake/ledgerlake/internal/guard"
)

var (
	//go:embed sql/clusters.sql
	selectClusters string
	//go:embed sql/server.sql
	selectServer string
	//go:embed sql/server_state.sql
	selectServerState string
	//go:embed sql/keeper.sql
	selectKeeper string
)

// ReadCluster returns a cluster by its name, as the server that dsn names knows it, and what each of its
// servers says of itself, by shard and replica, if a store can be on them; otherwise the error names the
// one that does not fit and says what to do. A replica may be away while another one of its shard answers.
func ReadCluster(ctx context.Context, dsn, name string) (*cluster.Cluster, []cluster.Server, error) {
	c, servers, err := AskCluster(ctx, dsn, name)
	if err != nil {
		return nil, nil, err
	}
	return c, servers, c.Check(servers)
}

// AskCluster is ReadCluster for any cluster: nothing is compared.
func AskCluster(ctx context.Context, dsn, name string) (*cluster.Cluster, []cluster.Server, error) {
	opts, err := clickhouse.ParseDSN(dsn)
	if err != nil {
		return nil, nil, errUnreadableDSN
	}
	db, err := Open(ctx, dsn)
	if err != nil {
		return nil, nil, err
	}
	defer db.Close()
	addr := strings.Join(opts.Addr, ", ")
	nodes, err := SelectAll(ctx, db, selectClusters, nil, NewRecords[cluster.Node]())
	if err != nil {
		return nil, nil, fmt.Errorf("reading the clusters that %s knows: %w", addr, err)
	}
	c, err := cluster.New(name, databaseOf(opts), dsn, addr, nodes)
	if err != nil {
		return nil, nil, err
	}
	var servers []cluster.Server
	for shard, replicas := range c.Shards {
		for replica := range replicas {
			servers = append(servers, cluster.Server{Shard: shard, Replica: replica})
		}
	}
	group, asking := guard.WithContext(ctx)
	for i := range servers {
		s := &servers[i]
		group.Go(func() error {
			s.Err = askServer(asking, c, s)
			return nil
		})
	}
	return c, servers, group.Wait()
}

// serverRow is the only row of selectServer.
type serverRow struct {
	Version string `column:"version"`
	Clock   int64  `column:"clock"`
	Shard   string `column:"shard"`
	Replica string `column:"replica"`
	Shared  uint64 `column:"shared"`
}

// askServer has a server say what it is.
func askServer(ctx context.Context, c *cluster.Cluster, s *cluster.Server) error {
	db, err := Open(ctx, c.DSN(c.Shards[s.Shard][s.Replica], "system"))
	if err != nil {
		return err
	}
	defer db.Close()
	before := time.Now()
	row, _, err := SelectOne(ctx, db, selectServer, nil, NewRecords[serverRow]())
	if err != nil {
		return fmt.Errorf("asking what it is: %w", err)
	}
	after := time.Now()
	s.Version, s.ShardMacro, s.ReplicaMacro, s.Shared = row.Version, row.Shard, row.Replica, row.Shared > 0
	s.Ahead = time.UnixMilli(row.Clock).Sub(before.Add(after.Sub(before) / 2))
	if len(c.Shards[s.Shard]) > 1 && !s.Shared {
		_, s.Keeper = SelectAll(ctx, db, selectKeeper, nil, NewRecords[Count]())
	}
	return nil
}

// ServerState is how the tables of a server of a cluster stand.
type ServerState struct {
	// Replicated counts its tables that are replicas of others, and of these ReadOnly those that take
	// no inserts. Delay is how far the worst is behind, in seconds, Queue what all have yet to do.
	Replicated uint64 `column:"replicated"`
	ReadOnly   uint64 `column:"read_only"`
	Delay      uint64 `column:"delay"`
	Queue      uint64 `column:"queue"`
	// DictionarySize is low_cardinality_max_dictionary_size for the user of the DSN, CacheSize the
	// uncompressed_cache_size of the server.
	DictionarySize uint64 `column:"dictionary_size"`
	CacheSize      uint64 `column:"cache_size"`
}

// AskState returns how the tables of the store stand on a server that answers.
func AskState(ctx context.Context, c *cluster.Cluster, s *cluster.Server) (ServerState, error) {
	db, err := Open(ctx, c.DSN(c.Shards[s.Shard][s.Replica], "system"))
	if err != nil {
		return ServerState{}, err
	}
	defer db.Close()
	state, _, err := SelectOne(ctx, db, selectServerState, Params{"database": Text(c.ShardDatabase())}, NewRecords[ServerState]())
	return state, err
}

var errUnreadableDSN = errors.New("the ClickHouse DSN cannot be read; it looks like clickhouse://user:password@host:9000/database")

// databaseOf is the database that a DSN names.
func databaseOf(opts *clickhouse.Options) string {
	if opts.Auth.Database == "" {
		return "default"
	}
	return opts.Auth.Database
}

// Server is one that has rows of a store.
type Server struct {
	// Name is its address on a cluster, else "".
	Name string
	// DSN names the database that has the rows.
	DSN string
}

// Servers are all that have rows of the store that is named. The engine's own tables are of one server each.
func Servers(ctx context.Context, dsn, name string) (list []Server, err error) {
	if name == "" {
		return []Server{{DSN: dsn}}, nil
	}
	c, _, err := AskCluster(ctx, dsn, name)
	if err != nil {
		return nil, err
	}
	for _, replicas := range c.Shards {
		for _, addr := range replicas {
			list = append(list, Server{addr, c.DSN(addr, c.ShardDatabase())})
		}
	}
	return list, nil
}

// OpenOn is Open for a store that is spread over the cluster of that name, if there is a name.
func OpenOn(ctx context.Context, dsn, name string) (*DB, error) {
	if name == "" {
		return Open(ctx, dsn)
	}
	c, servers, err := ReadCluster(ctx, dsn, name)
	if err != nil {
		return nil, err
	}
	shared := slices.ContainsFunc(servers, func(s cluster.Server) bool { return s.Shared })
	settings := distributed
	if c.HasReplicas() && shared {
		settings = append(slices.Clone(distributed), sequential)
	}
	db, err := open(ctx, chpool.Dial, dsn, settings)
	if err != nil {
		return nil, err
	}
	for _, replicas := range c.Shards {
		shard, err := openShard(ctx, c, replicas, shared)
		if err != nil {
			db.Close()
			return nil, err
		}
		db.shards = append(db.shards, shard)
	}
	return db, nil
}

// openShard returns the DB of a shard, which is on its first replica. It connects when it is first used:
// to read the cluster, another replica is enough.
func openShard(ctx context.Context, c *cluster.Cluster, replicas cluster.Shard, shared bool) (*DB, error) {
	shard, err := open(ctx, chpool.New, c.DSN(replicas[0], c.ShardDatabase()), onReplicas(len(replicas), shared))
	if err != nil || shared {
		return shard, err
	}
	for _, addr := range replicas[1:] {
		other, err := open(ctx, chpool.New, c.DSN(addr, c.ShardDatabase()), nil)
		if err != nil {
			shard.Close()
			return nil, err
		}
		shard.others = append(shard.others, other)
	}
	return shard, nil
}

// sequential has the tables of a service show all that was acknowledged before, on whichever replica.
var sequential = ch.Setting{Key: "select_sequential_consistency", Value: "1", Important: true}

// quorumTimeout is how long an insert waits for the other replicas, in milliseconds. One that was not
// confirmed is repeated with its token, and then waits for what the first has written.
const quorumTimeout = 60_000

// onReplicas are the settings of what writes to a shard of some replicas: rows are acknowledged when all
// have them, so whichever is read has what is committed.
func onReplicas(replicas int, shared bool) []ch.Setting {
	switch {
	case replicas == 1:
		return nil
	case shared:
		return []ch.Setting{sequential}
	}
	return []ch.Setting{
		{Key: "insert_quorum", Value: strconv.Itoa(replicas), Important: true},
		// Tables have several writers, one for each stream, which would refuse each other.
		{Key: "insert_quorum_parallel", Value: "1", Important: true},
		{Key: "insert_quorum_timeout", Value: strconv.Itoa(quorumTimeout), Important: true},
	}
}

// MaxReplicaDelay is by how many seconds a replica may be behind others and still be read. What is
// committed is on all replicas, but for one that is new, or was repaired, and has yet to copy it.
const MaxReplicaDelay = 10

// complete are the settings by which an answer of a cluster is out of all rows that are committed.
var complete = []ch.Setting{
	// A subquery of IN is answered once for all shards, out of all shards.
	{Key: "distributed_product_mode", Value: "global", Important: true},
	// An answer without the rows of a shard is no answer.
	{Key: "skip_unavailable_shards", Value: "0", Important: true},
	{Key: "max_replica_delay_for_distributed_queries", Value: strconv.Itoa(MaxReplicaDelay), Important: true},
	{Key: "fallback_to_stale_replicas_for_distributed_queries", Value: "0", Important: true},
	// A shard says something of a query ten times a second, or hangs.
	{Key: "receive_timeout", Value: strconv.Itoa(int(silence.Seconds())), Important: true},
}

// distributed are the settings of readers on a cluster. A shard that cannot have a row is not asked: see
// ShardingExpression.
var distributed = append([]ch.Setting{{Key: "optimize_skip_unused_shards", Value: "1", Important: true}}, complete...)

// ReaderDSN is dsn with what readers need on a cluster, for connections that are not a DB's; without a
// cluster it is dsn.
func ReaderDSN(dsn, name string) (string, error) {
	u, err := url.Parse(dsn)
	switch {
	case name == "":
		return dsn, nil
	case err != nil:
		return "", errUnreadableDSN
	}
	settings := u.Query()
	for _, s := range complete {
		settings.Set(s.Key, s.Value)
	}
	u.RawQuery = settings.Encode()
	return u.String(), nil
}

// onCluster is a query as a cluster takes it. With the old analyzer, which single servers plan
// small queries with in less time, the search for the shards that are to be asked refuses arrays.
func onCluster(query string) string {
	return strings.ReplaceAll(query, "enable_analyzer = 0", "enable_analyzer = 1")
}

// shardedBy names, for each table that is spread over the shards of a cluster, the column that decides
// on which one a row is. It is on shard number Key(value) modulo the number of shards, counted from 0;
// a column of numbers is such a key itself. This never changes: where rows are looked for follows from
// it. All other tables are on the first shard.
var shardedBy = map[string]string{
	"updates": "update_id", "events": "update_id", "imports": "update_id", "verdicts": "update_id",
	"places":         "place_key",
	"contracts_live": "contract_id", "contracts_archived": "contract_id", scratchEnds: "contract_id", "wallet_contracts": "contract_id",
	"ended_contracts": "contract_key", // of the contract id
	"wallet_log":      "party", "wallet_status": "party", "movements": "party", "round_entries": "party", "balance_hours": "party", "party_hours": "party",
}

// ofNoStream names a text column of each table that is of no stream.
var ofNoStream = map[string]string{"packages": "package_id", "projections": "table_name", "projection_columns": "table_name"}

// scratchEnds begins the names of the tables of ends, one for each stream.
const scratchEnds = "contract_ends"

// shardColumn is the column by which a table is sharded, "" if it is not.
func shardColumn(table string) string {
	if strings.HasPrefix(table, scratchEnds) {
		table = scratchEnds
	}
	return shardedBy[table]
}

// IsSharded reports whether a table is spread over the shards of a cluster; others are on the first one.
func IsSharded(table string) bool { return shardColumn(table) != "" }

// ShardingExpression is the sharding key of the Distributed table of a table, by which ClickHouse knows
// which shards a query must ask: those that Insert writes to.
func ShardingExpression(table string) string {
	switch column := shardColumn(table); column {
	case "":
		// The first one; a constant would not be used to leave out shards.
		column := "stream"
		if of, ok := ofNoStream[table]; ok {
			column = of
		}
		return "length(" + column + ") * 0"
	case "place_key", "contract_key":
		return column
	default:
		return "xxHash64(" + column + ")"
	}
}

// IsCluster reports whether there is a cluster.
func (db *DB) IsCluster() bool { return len(db.shards) > 0 }

// First is the first of Shards, which alone has the tables that are not spread.
func (db *DB) First() *DB { return db.Shards()[0] }

// Shards are the DBs of all shards, for what each has for itself. Without a cluster it is db alone.
func (db *DB) Shards() []*DB {
	if len(db.shards) == 0 {
		return []*DB{db}
	}
	shards := make([]*DB, len(db.shards))
	for n, shard := range db.shards {
		shards[n] = shard.Fenced(db.allowed)
	}
	return shards
}

// insertSharded inserts the rows of b where they belong. Each shard has a token of its own, so that
// each drops what it has seen when the insert is repeated.
func (db *DB) insertSharded(ctx context.Context, table, token string, b Block) error {
	parts := []Block{b}
	if name := shardColumn(table); name != "" {
		parts = split(b, name, len(db.shards))
	}
	shards := db.Shards()
	group, ctx := guard.WithContext(ctx)
	for n, part := range parts {
		own := token
		if token != "" {
			own = fmt.Sprintf("%s/%s/shard %d", token, table, n+1)
		}
		group.Go(func() error {
			if err := shards[n].Insert(ctx, table, own, part); err != nil {
				return fmt.Errorf("shard %d: %w", n+1, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// Change runs a statement that changes a table, on each shard that has some of it. What other tables
// it reads are those of the same shard; database {readers:Identifier} has the rows of all shards. Of
// {shards:UInt64} shards each is {shard:UInt64}, from 0. It is safe to repeat if the statement is.
func (db *DB) Change(ctx context.Context, table, statement, token string, params Params, settings ...ch.Setting) error {
	if len(db.shards) == 0 {
		return db.Exec(ctx, statement, token, db.sharding(params, 0, 1), settings...)
	}
	shards := db.Shards()
	if shardColumn(table) == "" {
		shards = shards[:1]
	}
	group, ctx := guard.WithContext(ctx)
	for n, shard := range shards {
		own := append([]ch.Setting(nil), settings...)
		group.Go(func() error {
			err := shard.Exec(ctx, statement, token, db.sharding(params, n, len(db.shards)), own...)
			if err == nil && !strings.HasPrefix(table, scratchEnds) { // which one replica has for itself
				err = shard.awaitReplicas(ctx, table)
			}
			if err != nil {
				return fmt.Errorf("shard %d: %w", n+1, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// awaitReplicas returns when the other replicas of a shard have what was done to a table. Inserts wait by
// themselves, and mutations; lightweight updates and drops of partitions do not.
func (db *DB) awaitReplicas(ctx context.Context, table string) error {
	group, ctx := guard.WithContext(ctx)
	for _, other := range db.others {
		group.Go(func() error {
			if err := other.Exec(ctx, "SYSTEM SYNC REPLICA "+table+" LIGHTWEIGHT", "", nil); err != nil {
				return fmt.Errorf("waiting until all replicas of the shard have what was done to %s: %w", table, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// Readers are the parameters that Change adds, for a query of all rows: database {readers:Identifier} and one shard.
func (db *DB) Readers() Params { return db.sharding(nil, 0, 1) }

// sharding adds the parameters of Change.
func (db *DB) sharding(params Params, shard, shards int) Params {
	all := Params{"readers": Text(db.database), "shard": Int(int64(shard)), "shards": Int(int64(shards))}
	maps.Copy(all, params)
	return all
}

// split returns the rows of b by shard.
func split(b Block, name string, shards int) []Block {
	columns := b.columns()
	rows := make([][]int, shards)
	by := columns[slices.IndexFunc(columns, func(c column) bool { return c.name == name })]
	for row, key := range shardKeys(by) {
		n := key % uint64(shards)
		rows[n] = append(rows[n], row)
	}
	parts := make([]Block, shards)
	for n := range parts {
		part := &picked{rows: len(rows[n])}
		for _, c := range columns {
			part.list = append(part.list, column{c.name, pick(c.data, rows[n])})
		}
		parts[n] = part
	}
	return parts
}

// shardKeys are the keys by which rows are sharded.
func shardKeys(c column) (keys []uint64) {
	switch data := c.data.(type) {
	case *proto.ColUInt64:
		return *data
	case *texts:
		for row := range data.Rows() {
			keys = append(keys, xxhash.Sum64(data.RowBytes(row)))
		}
	case *lowCardinality:
		for _, k := range data.keys {
			keys = append(keys, Key(data.terms[k]))
		}
	default:
		panic(fmt.Sprintf("column %s of type %T decides on no shard", c.name, c.data)) // a test splits each table
	}
	return keys
}
