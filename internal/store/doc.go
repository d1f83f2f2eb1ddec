// Package store speaks to ClickHouse in columns: it holds, per table, the columns
// in which schema types are written and read, so that a row's layout is known in
// one place. It uses ch-go because history is moved by the column; everything that
// is a single row or a statement goes through clickhouse-go elsewhere.
package store
