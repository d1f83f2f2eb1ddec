package damage

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// CheckedPart is a part of a table whose files were read.
type CheckedPart struct {
	Table, Part string
	// Server is the address of the one that has it, "" without a cluster.
	Server string
	// Message is what the engine says is wrong, empty if all files are as they were written.
	Message string
}

// String names the part.
func (p *CheckedPart) String() string {
	return fmt.Sprintf("table %s, part %s%s", p.Table, p.Part, on(p.Server))
}

// Parts reads every file of every part, also those of indexes and projections, which costs the
// reading of the whole store. It calls each after each part, with the number of parts up to it and
// of all when it began; merges change it meanwhile.
func (s *Store) Parts(ctx context.Context, each func(p CheckedPart, done, total int)) error {
	if len(s.away) > 0 {
		return fmt.Errorf("servers of the cluster are away: start them: %w", errors.Join(s.away...))
	}
	tables, total := make([][]string, len(s.servers)), 0
	for i, server := range s.servers {
		list, parts, err := server.tables(ctx)
		if err != nil {
			return fmt.Errorf("listing the parts of tables%s: %w", on(server.name), err)
		}
		tables[i], total = list, total+parts
	}
	done := 0
	for i, server := range s.servers {
		for _, table := range tables[i] {
			err := server.checkTable(ctx, table, func(p CheckedPart) {
				done++
				each(p, done, max(done, total))
			})
			if err != nil {
				return fmt.Errorf("checking the parts of table %s%s: %w", table, on(server.name), err)
			}
		}
	}
	return nil
}

// tables are those that have parts, and how many these are.
func (s server) tables(ctx context.Context) (list []string, parts int, err error) {
	rows, err := s.conn.Query(ctx, partsQuery)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var table string
		var n uint64
		if err := rows.Scan(&table, &n); err != nil {
			return nil, 0, err
		}
		list, parts = append(list, table), parts+int(n)
	}
	return list, parts, rows.Err()
}

func (s server) checkTable(ctx context.Context, table string, each func(CheckedPart)) (err error) {
	ctx = clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters{"table": table}))
	rows, err := s.conn.Query(ctx, checkTableQuery)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		p := CheckedPart{Table: table, Server: s.name}
		var passed uint8
		var message string
		if err := rows.Scan(&p.Part, &passed, &message); err != nil {
			return err
		}
		if passed == 0 {
			p.Message = short(message)
		}
		each(p)
	}
	return rows.Err()
}

// short cuts the engine's advice about hardware off.
func short(message string) string {
	message, _, _ = strings.Cut(message, ". This is most likely")
	message, _, _ = strings.Cut(message, ". If you receive")
	return strings.TrimSpace(message)
}
