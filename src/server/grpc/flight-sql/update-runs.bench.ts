/**
 * Rows of values for a prepared INSERT: a run each, and many at a time.
 *
 *   bun src/server/grpc/flight-sql/update-runs.bench.ts [rows]
 *
 * The engine is one in memory, whose log syncs nothing.
 */
import { startFlightSqlServer } from "../../../../test/support/flight-sql-server.ts";
import { Scheduler } from "../../../base/scheduler/scheduler.ts";
import { FLOAT64, STRING, TIMESTAMP_MILLISECOND } from "../../../column/data-type.ts";
import { LocalDb } from "../../../db/local-db.ts";
import type { Session } from "../../../db/session.ts";
import { UNCOUNTED } from "../../../query/kept-statements.ts";
import type { ParameterRow } from "./parameters.ts";
import { runUpdates, type UpdateParts } from "./update-runs.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const rowCount = SMALL ? 100 : Number(process.argv[2] ?? 10_000);
const server = await startFlightSqlServer();
const scheduler = new Scheduler();
const db = new LocalDb(server.machine.engine, scheduler, { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY });
const { signal } = new AbortController();
const session: Session = { database: "public", timeZone: "UTC", user: { name: "someone", mode: "rw" }, signal };
for await (const _ of db.sql("CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE)", session));
const query = await db.prepare("INSERT INTO t VALUES (?, ?, ?)", session);
const rows: readonly ParameterRow[] = Array.from({ length: rowCount }, (_, i) => [
  { type: TIMESTAMP_MILLISECOND, value: BigInt(i) },
  { type: STRING, value: `h${i % 100}` },
  { type: FLOAT64, value: i / 2 },
]);

/** A database that has each row run by itself. */
const oneByOne = Object.assign(Object.create(db) as LocalDb, { repeated: () => undefined });
let hash = 0;
for (const [name, by] of [
  ["a run each", oneByOne],
  ["many at a time", db],
] as const) {
  const parts: UpdateParts = { db: by, scheduler, memory: UNCOUNTED };
  const times: number[] = [];
  for (let round = 0; round < (SMALL ? 1 : 7); round++) {
    const before = process.cpuUsage();
    hash = (hash * 31 + (await runUpdates(query, [rows], session, parts))) % 1_000_003;
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / rowCount);
  }
  const micros = times.sort((a, b) => a - b)[times.length >> 1] ?? 0;
  process.stdout.write(`${name.padEnd(16)}${micros.toFixed(2).padStart(8)} us of CPU a row\n`);
}
process.stdout.write(`hash ${hash}\n`);
await server.stop();
