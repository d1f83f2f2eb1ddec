package boards

import (
	"context"
	"fmt"
	"strings"

	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Instance says where the data of this instance is, for commands that open it. It has no credentials.
type Instance struct {
	// Address is the public URL of this server.
	Address string
	// Endpoint is that of the object storage, "" where the bucket is a folder of the server; Region is its region.
	Endpoint, Region string
	// Bucket and Prefix are the bucket, and what its keys begin with.
	Bucket, Prefix string
}

// tool opens the data; what it runs are commands for it.
type tool struct{ name, text, command string }

// openDataView is the page about other tools.
type openDataView struct {
	Instance
	tools  []tool
	tables []string
}

// tables are those of the published objects.
func tables() (names []string) {
	of := schemas.SegmentRef{Stream: schemas.ScanStream, Date: "2026-07-01"}
	for _, t := range append(of.Tables(), of.DerivedTables()...) {
		names = append(names, string(t))
	}
	return append(names, string(schemas.ParquetImports))
}

// lake is where the objects are: in the bucket for clients of S3, else in a copy of its folder.
func (i Instance) lake(scheme string) string {
	if i.Endpoint == "" {
		return "lake"
	}
	return scheme + "://" + i.Bucket + "/" + i.Prefix
}

// under is a path below the lake.
func (i Instance) under(scheme, path string) string {
	return strings.TrimSuffix(i.lake(scheme), "/") + "/" + path
}

// tools are the commands, filled in for this instance.
func (i Instance) tools() []tool {
	const events = "events/v1/**/*.parquet"
	address := strings.TrimSuffix(i.Address, "/")
	clickhouse := fmt.Sprintf("SELECT template_name, count() AS created\nFROM file('%s', 'Parquet')\nWHERE kind = 'created'\nGROUP BY template_name\nORDER BY created DESC, template_name", i.under("", events))
	duckdb := fmt.Sprintf("SELECT cause, class, sum(amount)\nFROM read_parquet('%s')\nGROUP BY ALL", i.under("s3", "movements/v1/**/*.parquet"))
	polars := fmt.Sprintf("import polars as pl\n(pl.scan_parquet(%q)\n   .filter(pl.col(\"kind\") == \"created\")\n   .group_by(\"template_name\").len().collect())", i.under("s3", events))
	if i.Endpoint != "" {
		clickhouse = strings.Replace(clickhouse, fmt.Sprintf("file('%s', 'Parquet')", i.under("", events)),
			fmt.Sprintf("s3('%s/%s/%s%s', 'KEY', 'SECRET', 'Parquet')", strings.TrimSuffix(i.Endpoint, "/"), i.Bucket, i.Prefix, events), 1)
		_, host, _ := strings.Cut(i.Endpoint, "://")
		duckdb = fmt.Sprintf("CREATE SECRET (TYPE s3, KEY_ID 'KEY', SECRET 'SECRET', ENDPOINT '%s', REGION '%s', USE_SSL %t, URL_STYLE path);\n", host, i.Region, strings.HasPrefix(i.Endpoint, "https:")) + duckdb
		polars = strings.Replace(polars, events+"\")", fmt.Sprintf("%s\", storage_options={\"aws_endpoint_url\": %q, \"aws_region\": %q,\n     \"aws_access_key_id\": \"KEY\", \"aws_secret_access_key\": \"SECRET\"})", events, i.Endpoint, i.Region), 1)
	}
	return []tool{
		{"ClickHouse", "The published objects, from any ClickHouse.", clickhouse},
		{"DuckDB", "The same objects; statements of the library of questions name a view for each of their tables.", duckdb},
		{"Polars", "The same objects, in Python.", polars},
		{"Spark", "The same objects, in PySpark.", fmt.Sprintf("spark.read.parquet(%q) \\\n  .where(\"kind = 'created'\").groupBy(\"template_name\").count().show()", i.under("s3a", "events/v1"))},
		{"HTTP", "Rows of tables by column, and metrics, from this server: as JSON, CSV or Arrow.", fmt.Sprintf("curl '%s/v0/analytics/tables'\ncurl '%s/v0/analytics/tables/movements?format=csv&limit=1000'\ncurl '%s/v0/analytics/metrics/supply?grain=day&format=csv'", address, address, address)},
		{"The store itself", "With this product on the machine of the server, or with --clickhouse-dsn.", "ledgerlake sql --list\nledgerlake sql \"SELECT cause, class, sum(amount) FROM movements WHERE stream = 'scan' GROUP BY ALL\""},
	}
}

// openData says how other tools open the data.
func (b *Boards) openData(_ context.Context, v *page.View) (page.Page, error) {
	view := openDataView{b.cfg.Instance, b.cfg.Instance.tools(), tables()}
	return page.Page{Title: "Open the data elsewhere", Section: page.Analytics, Body: openData(v, view)}, nil
}
