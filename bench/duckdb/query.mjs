// Runs one query with DuckDB in the current folder and prints its rows as JSON.
//
//   node query.mjs "SELECT count(*) AS n FROM read_parquet('lake/events/v1/**/*.parquet')"
import { DuckDBInstance } from "@duckdb/node-api";

const duckdb = await (await DuckDBInstance.create(":memory:")).connect();
const rows = (await duckdb.runAndReadAll(process.argv[2])).getRowObjectsJson();
console.log(JSON.stringify(rows));
