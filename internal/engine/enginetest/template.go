package enginetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Template is the definitions of the tables of a store. To repeat them takes a tenth of the
// time of the migrations that made them.
type Template struct {
	database string
	Tables   []Table
	shard    *Template // the tables that have the rows, on a cluster
}

// Table is a table, or a view over tables.
type Table struct {
	Name   string `ch:"name"`
	Engine string `ch:"engine"`
	Create string `ch:"create_table_query"`
}

// shardSuffix is what the database with the rows of a shard is called beside that of the store.
const shardSuffix = "_shard"

// ReadTemplate lists the tables of a database, views last, because they read tables. The table in
// which migrations note that they have run is left out.
func ReadTemplate(ctx context.Context, conn driver.Conn, database string) (*Template, error) {
	t := &Template{database: database}
	err := conn.Select(ctx, &t.Tables, `SELECT name, engine, create_table_query FROM system.tables
		WHERE database = $1 AND name NOT LIKE 'goose%' ORDER BY engine LIKE '%View', name`, database)
	if err != nil {
		return nil, fmt.Errorf("listing the tables of database %s: %w", database, err)
	}
	if len(t.Tables) == 0 {
		return nil, fmt.Errorf("database %s has no tables", database)
	}
	if slices.ContainsFunc(t.Tables, func(t Table) bool { return t.Engine == "Distributed" }) {
		t.shard, err = ReadTemplate(ctx, conn, database+shardSuffix)
	}
	return t, err
}

// Drop drops a database that Create has made, if it is there.
func (t *Template) Drop(ctx context.Context, conn driver.Conn, name string) error {
	names := []string{name}
	if t.shard != nil {
		names = append(names, name+shardSuffix)
	}
	for _, name := range names {
		if err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" SYNC"); err != nil {
			return fmt.Errorf("dropping database %s: %w", name, err)
		}
	}
	return nil
}

// Create makes a database with empty tables like those of the template, or only those named.
func (t *Template) Create(ctx context.Context, conn driver.Conn, name string, only ...string) error {
	if t.shard != nil {
		if err := t.shard.Create(ctx, conn, name+shardSuffix, only...); err != nil {
			return err
		}
	}
	if err := conn.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return fmt.Errorf("creating database %s: %w", name, err)
	}
	renamed := strings.NewReplacer(t.database+".", name+".", "'"+t.database+shardSuffix+"'", "'"+name+shardSuffix+"'")
	for _, table := range t.Tables {
		if len(only) > 0 && !slices.Contains(only, table.Name) {
			continue
		}
		if err := conn.Exec(ctx, renamed.Replace(table.Create)); err != nil {
			return fmt.Errorf("creating table %s of database %s: %w", table.Name, name, err)
		}
	}
	return nil
}
