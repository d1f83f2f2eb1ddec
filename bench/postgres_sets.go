package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/ledgerlake/ledgerlake/bench/lab"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	createContracts = `CREATE TABLE contracts (template text NOT NULL, created_at timestamptz NOT NULL, contract_id text NOT NULL, contract jsonb NOT NULL)`
	indexContracts  = `CREATE INDEX ON contracts (template, created_at, contract_id)`
	pageOfContracts = `SELECT created_at, contract_id, contract FROM contracts
		WHERE template = $1 AND (created_at, contract_id) > ($2, $3)
		ORDER BY template, created_at, contract_id LIMIT $4`
	coinTemplate = "Splice.Amulet:Amulet"
)

// postgresSet loads a dump of an active set as rows of JSONB with an index by template and
// order, and reads the pages of coins from it. It keeps one set only, so that it has less to
// leave out than a store of all sets.
func postgresSet(ctx context.Context, l *lab.Lab, dump string) (pages lab.Timings, contracts int, err error) {
	l.Say("loading the active set into Postgres")
	server, err := l.StartPostgres(ctx)
	if err != nil {
		return pages, 0, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	pool, err := pgxpool.New(ctx, server.DSN)
	if err != nil {
		return pages, 0, err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, createContracts); err != nil {
		return pages, 0, err
	}
	if err := copyDump(ctx, pool, dump); err != nil {
		return pages, 0, fmt.Errorf("loading the active set into Postgres: %w", err)
	}
	for _, statement := range []string{indexContracts, `VACUUM ANALYZE contracts`} {
		if _, err := pool.Exec(ctx, statement); err != nil {
			return pages, 0, err
		}
	}
	l.Say("pages out of Postgres")
	after, id := time.Time{}, ""
	for range setPages {
		begin := time.Now()
		n := 0
		rows, err := pool.Query(ctx, pageOfContracts, coinTemplate, after, id, setPageSize)
		if err != nil {
			return pages, 0, err
		}
		var contract []byte
		_, err = pgx.ForEachRow(rows, []any{&after, &id, &contract}, func() error {
			n++
			return nil
		})
		if err != nil {
			return pages, 0, err
		}
		pages.Each = append(pages.Each, time.Since(begin))
		if contracts += n; n < setPageSize {
			break
		}
	}
	return pages, contracts, nil
}

// copyDump fills the table with the contracts of a dump.
func copyDump(ctx context.Context, pool *pgxpool.Pool, dump string) error {
	body, err := lab.Get(ctx, dump, "identity")
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 1<<20), 1<<30)
	_, err = pool.CopyFrom(ctx, pgx.Identifier{"contracts"}, []string{"template", "created_at", "contract_id", "contract"},
		pgx.CopyFromFunc(func() ([]any, error) {
			if !lines.Scan() {
				return nil, lines.Err()
			}
			var c struct {
				Contracts  *int64    `json:"contracts"`
				TemplateID string    `json:"template_id"`
				CreatedAt  time.Time `json:"created_at"`
				ContractID string    `json:"contract_id"`
			}
			line := bytes.Clone(lines.Bytes())
			if err := json.Unmarshal(line, &c); err != nil || c.Contracts != nil {
				return nil, err // the last line tells their number
			}
			_, template, _ := bytes.Cut([]byte(c.TemplateID), []byte(":"))
			return []any{string(template), c.CreatedAt, c.ContractID, line}, nil
		}))
	return err
}

// dumpURL is that of a whole active set.
func dumpURL(base string, at instant) string {
	query := url.Values{"migration_id": {fmt.Sprint(at.Migration)}, "at": {at.At.String()}}
	return base + "/v0/state/acs/dump?" + query.Encode()
}
