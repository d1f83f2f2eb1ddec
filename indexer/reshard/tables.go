package reshard

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

var (
	//go:embed sql/columns.sql
	selectColumns string
	//go:embed sql/partitions.sql
	selectPartitions string
)

// journal is the table without which there is no store.
const journal = "batches"

// Partition is a partition of a table of the source.
type Partition struct {
	Table string `column:"table_name" json:"table"`
	ID    string `column:"partition_id" json:"partition"`
	// Rows are those of its parts, Bytes what they take on disk.
	Rows  uint64 `column:"part_rows" json:"rows"`
	Bytes uint64 `column:"part_bytes" json:"bytes"`
	// Size is what they take in memory.
	Size uint64 `column:"part_size" json:"-"`
}

// Plan lists the partitions of a store in the order in which they are copied. The store is only read.
func Plan(ctx context.Context, source *store.DB) ([]Partition, error) {
	tables, err := readTables(ctx, source.First())
	if err != nil {
		return nil, err
	}
	return partitionsOf(ctx, source, tables)
}

// partitionsOf lists the partitions that the tables have on any shard.
func partitionsOf(ctx context.Context, db *store.DB, tables map[string]*table) ([]Partition, error) {
	all := make(map[[2]string]Partition)
	for n, shard := range db.Shards() {
		list, err := store.SelectAll(ctx, shard, selectPartitions, nil, store.NewRecords[Partition]())
		if err != nil {
			return nil, fmt.Errorf("listing the partitions of shard %d: %w", n+1, err)
		}
		for _, p := range list {
			key := [2]string{p.Table, p.ID}
			known := all[key]
			p.Rows, p.Bytes, p.Size = p.Rows+known.Rows, p.Bytes+known.Bytes, p.Size+known.Size
			if tables[p.Table] != nil {
				all[key] = p
			}
		}
	}
	var list []Partition
	for _, p := range all {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Partition) int {
		return cmp.Or(turn(a.Table)-turn(b.Table), strings.Compare(a.Table, b.Table), strings.Compare(a.ID, b.ID))
	})
	return list, nil
}

// turn orders tables: those of all shards, those of the first one, the journal.
func turn(table string) int {
	switch {
	case store.IsSharded(table):
		return 0
	case table != journal:
		return 1
	}
	return 2
}

// table is a table of the store.
type table struct {
	name    string
	columns []store.TableColumn
}

func readTables(ctx context.Context, db *store.DB) (map[string]*table, error) {
	columns, err := store.SelectAll(ctx, db, selectColumns, nil, store.NewRecords[store.TableColumn]())
	if err != nil {
		return nil, fmt.Errorf("listing the tables of the store: %w", err)
	}
	tables := make(map[string]*table)
	for _, c := range columns {
		t := tables[c.Table]
		if t == nil {
			t = &table{name: c.Table}
			tables[c.Table] = t
		}
		t.columns = append(t.columns, c)
	}
	return tables, nil
}

func namesOf(columns []store.TableColumn) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = "`" + c.Name + "`"
	}
	return strings.Join(names, ", ")
}

// rowsQuery reads the rows of a partition in a total order, which nearly is that of the parts.
func (t *table) rowsQuery() string {
	sorted := slices.Clone(t.columns)
	slices.SortStableFunc(sorted, func(a, b store.TableColumn) int {
		return cmp.Compare(a.SortedAs-1, b.SortedAs-1) // what is not sorted by comes last
	})
	return fmt.Sprintf("SELECT %s FROM %s ORDER BY %s OFFSET {offset:UInt64}", namesOf(t.columns), t.rows(), namesOf(sorted))
}

// rows are those of a partition that are copied: not such that others have replaced, which a merge may
// drop, and not the journals of copies for lookups, which clusters do not have.
func (t *table) rows() string {
	const of = " WHERE _partition_id = {partition:String}"
	switch {
	case t.columns[0].Replaces:
		return t.name + " FINAL" + of
	case t.name == journal:
		return t.name + of + " AND NOT endsWith(stream, '" + journals.LookupsStream("") + "')"
	}
	return t.name + of
}

// digest is that of some rows, whatever their order.
type digest struct {
	Rows uint64 `column:"row_count"`
	Sum  uint64 `column:"hash_sum"`
}

func (d digest) String() string { return fmt.Sprintf("%d rows, %016x", d.Rows, d.Sum) }

// digest computes that of a partition over all shards.
func (t *table) digest(ctx context.Context, db *store.DB, partition string) (sum digest, err error) {
	query := fmt.Sprintf("SELECT toUInt64(count()) AS row_count, sumWithOverflow(sipHash64(%s)) AS hash_sum FROM %s", namesOf(t.columns), t.rows())
	shards := db.Shards()
	digests := make([]digest, len(shards))
	group, ctx := guard.WithContext(ctx)
	for n, shard := range shards {
		group.Go(func() (err error) {
			digests[n], _, err = store.SelectOne(ctx, shard, query, store.Params{"partition": store.Text(partition)}, store.NewRecords[digest]())
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return digest{}, fmt.Errorf("reading partition %s of table %s: %w", partition, t.name, err)
	}
	for _, d := range digests {
		sum.Rows, sum.Sum = sum.Rows+d.Rows, sum.Sum+d.Sum
	}
	return sum, nil
}
