package indexer

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"strings"
)

//go:embed sql/adopted_tables.sql
var adoptedTables string

// adoptTables makes the tables of replicas that have none, new servers or such that have lost their disk,
// as another replica of the shard has them: their rows come by replication. The steps would begin with
// the first columns of a table, and Keeper accepts only those of today.
func adoptTables(ctx context.Context, replicas []*migrator, database string) error {
	var from *migrator
	latest := int64(0)
	for _, m := range replicas {
		current, _, err := m.versions(ctx)
		if err != nil {
			return err
		}
		if current > latest {
			from, latest = m, current
		}
	}
	for _, m := range replicas {
		current, _, err := m.versions(ctx)
		if err == nil && current == 0 && from != nil {
			err = adopt(ctx, from.db, m.db, database, database)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// adopt makes the tables of one database in another one, and notes the same version when all are made.
func adopt(ctx context.Context, from, to *sql.DB, database, as string) error {
	statements, err := texts(ctx, from, adoptedTables)
	if err != nil {
		return fmt.Errorf("reading the tables of another replica: %w", err)
	}
	versions, err := texts(ctx, from, "SELECT toString((version_id, is_applied)) FROM goose_db_version WHERE version_id > 0 ORDER BY version_id")
	if err != nil {
		return fmt.Errorf("reading the version of another replica: %w", err)
	}
	statements = append(statements, createVersion, "INSERT INTO goose_db_version (version_id, is_applied) VALUES "+strings.Join(versions, ", "))
	for _, statement := range statements {
		if _, err := to.ExecContext(ctx, strings.ReplaceAll(statement, database+".", as+".")); err != nil {
			return fmt.Errorf("making the tables of another replica: %w", err)
		}
	}
	return nil
}

// texts is the only column of the result of a query.
func texts(ctx context.Context, db *sql.DB, query string) (list []string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}
