// Copies tables to Parquet with DuckDB and prints what that took, as JSON. The rows are read
// from the given objects into memory first, which is not counted.
//
//   node copy.mjs '{"threads":2,"level":7,"tables":[{"name":"events","from":"lake/events/v1/**/*.parquet","order":"record_time","row_group":65536,"to":"events.parquet"}]}'
import { statSync } from "node:fs";
import { DuckDBInstance } from "@duckdb/node-api";

const task = JSON.parse(process.argv[2]);
const duckdb = await (await DuckDBInstance.create(":memory:", { threads: String(task.threads) })).connect();
const quoted = (text) => `'${text.replaceAll("'", "''")}'`;
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

for (const t of task.tables) {
  await duckdb.run(`CREATE TABLE ${t.name} AS SELECT * FROM read_parquet(${quoted(t.from)}, hive_partitioning = false)`);
}
const taken = { seconds: 0, cpu: 0, rows: 0, bytes: 0 };
for (const t of task.tables) {
  const began = performance.now();
  const before = cpu();
  await duckdb.run(
    `COPY (SELECT * FROM ${t.name} ORDER BY ${t.order}) TO ${quoted(t.to)} ` +
      `(FORMAT parquet, CODEC zstd, COMPRESSION_LEVEL ${Number(task.level)}, ROW_GROUP_SIZE ${Number(t.row_group)})`,
  );
  taken.cpu += cpu() - before;
  taken.seconds += (performance.now() - began) / 1e3;
  taken.bytes += statSync(t.to).size;
  const [row] = (await duckdb.runAndReadAll(`SELECT count(*)::DOUBLE AS n FROM ${t.name}`)).getRowObjects();
  taken.rows += row.n;
}
console.log(JSON.stringify(taken));
