package store

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/cespare/xxhash/v2"

	"github.com/ledgerlake/ledgerlake/internal/guard"
)

//go:embed sql/clusters.sql
var selectClusters string

// Cluster is several ClickHouse servers that hold one store. Each has the rows of its shard in database
// ShardDatabase, and in database Database a Distributed table for each table, which reads all shards.
type Cluster struct {
	Name, Database string
	// Shards are the addresses of the servers, in the order of the cluster.
	Shards []string

	dsn string
}

// ShardDatabase is the database that has the rows of a shard.
func (c *Cluster) ShardDatabase() string { return c.Database + "_shard" }

// Mark is the comment of database ShardDatabase on shard n, counted from 0. It tells when the order or
// the number of the shards has changed, and with them where rows are looked for.
func (c *Cluster) Mark(n int) string {
	return fmt.Sprintf("ledgerlake: shard %d of %d", n+1, len(c.Shards))
}

// DSN names a database on shard n, with the user and the password that the cluster was read with.
func (c *Cluster) DSN(n int, database string) (string, error) {
	u, err := url.Parse(c.dsn)
	if err != nil {
		return "", errUnreadableDSN
	}
	u.Host, u.Path = c.Shards[n], "/"+database
	return u.String(), nil
}

// clusterNode is a row of selectClusters.
type clusterNode struct {
	Cluster string `column:"cluster"`
	Shard   uint32 `column:"shard_num"`
	Weight  uint32 `column:"weight"`
	Host    string `column:"host_name"`
	Port    uint32 `column:"port"`
}

// ReadCluster returns a cluster by its name, as the server that dsn names knows it. Each shard answers
// and has the version of that server; otherwise the error names the shard and what to do.
func ReadCluster(ctx context.Context, dsn, name string) (*Cluster, error) {
	opts, err := clickhouse.ParseDSN(dsn)
	if err != nil {
		return nil, errUnreadableDSN
	}
	c := &Cluster{Name: name, Database: databaseOf(opts), dsn: dsn}
	db, err := Open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	nodes, err := SelectAll(ctx, db, selectClusters, nil, NewRecords[clusterNode]())
	if err != nil {
		return nil, fmt.Errorf("reading the clusters that %s knows: %w", opts.Addr[0], err)
	}
	if err := c.take(nodes, opts.Addr[0]); err != nil {
		return nil, err
	}
	return c, c.check(ctx, db)
}

// take takes the shards of the cluster from the servers of all.
func (c *Cluster) take(nodes []clusterNode, addr string) error {
	var names []string
	shards := make(map[uint32]string)
	for _, n := range nodes {
		names = append(names, n.Cluster)
		if n.Cluster != c.Name {
			continue
		}
		if other, ok := shards[n.Shard]; ok {
			return fmt.Errorf("cluster %s has replicas, %s and %s are one shard: ledgerlake spreads a store over shards without replicas", c.Name, other, n.Host)
		}
		if n.Weight != 1 {
			return fmt.Errorf("shard %s of cluster %s has weight %d: give all shards the weight 1, rows are looked for where that puts them", n.Host, c.Name, n.Weight)
		}
		shards[n.Shard] = n.Host
		c.Shards = append(c.Shards, net.JoinHostPort(n.Host, strconv.Itoa(int(n.Port))))
	}
	if len(c.Shards) > 0 {
		return nil
	}
	known := "it knows none"
	if len(names) > 0 {
		known = "it knows " + strings.Join(slices.Compact(names), ", ")
	}
	return fmt.Errorf("ClickHouse at %s knows no cluster %s, %s: add it to remote_servers of its configuration, or give another --clickhouse-cluster", addr, c.Name, known)
}

// serverVersion is the only row of selectVersion.
type serverVersion struct {
	Version string `column:"version"`
}

const selectVersion = "SELECT version() AS version"

// check has each shard answer, and compares its version with that of db.
func (c *Cluster) check(ctx context.Context, db *DB) error {
	want, _, err := SelectOne(ctx, db, selectVersion, nil, NewRecords[serverVersion]())
	if err != nil {
		return fmt.Errorf("reading the version of ClickHouse: %w", err)
	}
	for n, addr := range c.Shards {
		got, err := c.version(ctx, n)
		if err != nil {
			return fmt.Errorf("shard %d of cluster %s, %s, cannot be reached: start it, and let it accept the user of --clickhouse-dsn: %w", n+1, c.Name, addr, err)
		}
		if got != want.Version {
			return fmt.Errorf("shard %d of cluster %s, %s, runs ClickHouse %s, and others %s: run one version on all shards", n+1, c.Name, addr, got, want.Version)
		}
	}
	return nil
}

func (c *Cluster) version(ctx context.Context, n int) (string, error) {
	dsn, err := c.DSN(n, "system")
	if err != nil {
		return "", err
	}
	db, err := Open(ctx, dsn)
	if err != nil {
		return "", err
	}
	defer db.Close()
	row, _, err := SelectOne(ctx, db, selectVersion, nil, NewRecords[serverVersion]())
	return row.Version, err
}

var errUnreadableDSN = errors.New("the ClickHouse DSN cannot be read; it looks like clickhouse://user:password@host:9000/database")

// databaseOf is the database that a DSN names.
func databaseOf(opts *clickhouse.Options) string {
	if opts.Auth.Database == "" {
		return "default"
	}
	return opts.Auth.Database
}

// OpenOn is Open for a store that is spread over a cluster, if cluster is not "".
func OpenOn(ctx context.Context, dsn, cluster string) (*DB, error) {
	if cluster == "" {
		return Open(ctx, dsn)
	}
	c, err := ReadCluster(ctx, dsn, cluster)
	if err != nil {
		return nil, err
	}
	db, err := open(ctx, dsn, distributed)
	if err != nil {
		return nil, err
	}
	for n := range c.Shards {
		var shard *DB
		dsn, err := c.DSN(n, c.ShardDatabase())
		if err == nil {
			shard, err = open(ctx, dsn, nil)
		}
		if err != nil {
			db.Close()
			return nil, err
		}
		db.shards = append(db.shards, shard)
	}
	return db, nil
}

// distributed are the settings of readers on a cluster.
var distributed = []ch.Setting{
	// A subquery of IN is answered once for all shards, out of all shards.
	{Key: "distributed_product_mode", Value: "global", Important: true},
	// A shard that cannot have a row is not asked: see ShardingExpression.
	{Key: "optimize_skip_unused_shards", Value: "1", Important: true},
	// An answer without the rows of a shard is no answer.
	{Key: "skip_unavailable_shards", Value: "0", Important: true},
}

// ReaderDSN is dsn with what readers need on a cluster, for connections that are not a DB's; without a
// cluster it is dsn.
func ReaderDSN(dsn, cluster string) (string, error) {
	u, err := url.Parse(dsn)
	switch {
	case cluster == "":
		return dsn, nil
	case err != nil:
		return "", errUnreadableDSN
	}
	settings := u.Query()
	settings.Set("distributed_product_mode", "global")
	settings.Set("skip_unavailable_shards", "0")
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
	"wallet_log":      "party", "wallet_status": "party",
}

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
		return "length(stream) * 0" // the first one; a constant would not be used to leave out shards
	case "place_key", "contract_key":
		return column
	default:
		return "xxHash64(" + column + ")"
	}
}

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
			if err := shard.Exec(ctx, statement, token, db.sharding(params, n, len(db.shards)), own...); err != nil {
				return fmt.Errorf("shard %d: %w", n+1, err)
			}
			return nil
		})
	}
	return group.Wait()
}

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
