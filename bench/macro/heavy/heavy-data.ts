/**
 * The rows of the heavy queries, as DuckDB's SQL makes them: `t`, whose columns are keys of many kinds, and `cpu`, for large answers.
 * Hashes of the row's number stand for chance, so that every run has the same rows.
 */

/** A table, in both systems. */
export interface HeavyTable {
  readonly name: string;
  /** Statements that fill the table in DuckDB, which then holds what Varve loads. */
  readonly fill: readonly string[];
  /** Varve's CREATE TABLE. */
  readonly create: string;
  readonly rows: number;
}

const FIELDS: readonly string[] = ["user", "system", "idle", "nice", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"];
const HOSTS = 4000;
const STEP_MILLIS = 10_000;
const START_MILLIS = 1_700_000_000_000;
/** Rows of `cpu`, of which half are in the answer, for each row of `t`: of 5M rows 800,000, as TSBS' high-cpu-all has. */
const CPU_SHARE = 0.32;

/** Both tables, for some rows of `t`. */
export function heavyTables(rows: number): readonly HeavyTable[] {
  const cpuRows = Math.ceil(rows * CPU_SHARE);
  return [
    {
      name: "t",
      rows,
      fill: [
        `CREATE OR REPLACE TABLE t AS SELECT make_timestamp_ms(${START_MILLIS} + i)::TIMESTAMP_MS AS ts,
         (hash(i) % 1000000)::BIGINT AS k1m, (hash(i + 7) % 2000000)::BIGINT AS k2m, ((i * 2654435761) % 5000011)::BIGINT AS id,
         (hash(i * 3) >> 1)::BIGINT AS big, 'user-' || (hash(i + 11) % 200000) AS s, md5(i::VARCHAR) AS su,
         ((hash(i + 5) % 1000000) / 100.0)::DECIMAL(12, 2) AS d, ((hash(i + 6) % 100000) / 100.0)::DECIMAL(30, 2) AS dw,
         (hash(i + 9) % 1000000) / 997.0 AS v FROM range(${rows}) r(i)`,
      ],
      create: `CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX, k1m BIGINT, k2m BIGINT, id BIGINT, big BIGINT, s STRING, su STRING,
        d DECIMAL(12, 2), dw DECIMAL(30, 2), v DOUBLE) WITH (append_mode = 'true')`,
    },
    {
      name: "cpu",
      rows: cpuRows,
      fill: [
        `CREATE OR REPLACE TABLE cpu AS SELECT make_timestamp_ms(${START_MILLIS} + (i // ${HOSTS}) * ${STEP_MILLIS})::TIMESTAMP_MS AS ts,
         'host_' || (i % ${HOSTS}) AS hostname, 'region-' || (hash(i % ${HOSTS}) % 9) AS region,
         ${FIELDS.map((name, f) => `(hash(i * 16 + ${f}) % 101)::BIGINT AS usage_${name}`).join(", ")} FROM range(${cpuRows}) r(i)`,
      ],
      create: `CREATE TABLE cpu (ts TIMESTAMP(3) TIME INDEX, hostname STRING, region STRING,
        ${FIELDS.map((name) => `usage_${name} BIGINT`).join(", ")}, PRIMARY KEY (hostname, region))`,
    },
  ];
}
