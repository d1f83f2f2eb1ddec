package indexer

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/docs/formats"
)

//go:embed sql/comments.sql
var readComments string

// comment gives the columns of a database the comments that the data dictionary has for them, where they
// have others. Tables and columns that the dictionary does not have stay as they are.
func comment(ctx context.Context, db *sql.DB) error {
	statements, err := missingComments(ctx, db)
	if err != nil {
		return fmt.Errorf("reading the comments of the tables: %w", err)
	}
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("commenting the tables: %w", err)
		}
	}
	return nil
}

// missingComments are the statements that comment does, one for each table.
func missingComments(ctx context.Context, db *sql.DB) (statements []string, err error) {
	rows, err := db.QueryContext(ctx, readComments)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	dictionary, changes := formats.Columns(), make(map[string]map[string]string)
	for rows.Next() {
		var table, column, has string
		if err := rows.Scan(&table, &column, &has); err != nil {
			return nil, err
		}
		wants, known := dictionary[table][column]
		if !known || wants == has {
			continue
		}
		if changes[table] == nil {
			changes[table] = make(map[string]string)
		}
		changes[table][column] = wants
	}
	for table, comments := range changes {
		statements = append(statements, alterComments(table, comments))
	}
	return statements, rows.Err()
}

// alterComments is the statement that gives columns of a table their comments.
func alterComments(table string, comments map[string]string) string {
	var parts []string
	for _, column := range slices.Sorted(maps.Keys(comments)) {
		parts = append(parts, "COMMENT COLUMN "+quoted(column)+" "+quotedText(comments[column]))
	}
	return "ALTER TABLE " + quoted(table) + " " + strings.Join(parts, ", ")
}
