/**
 * Arrow Flight in process, without its transport: `bun src/server/grpc/flight/flight.bench.ts [batches] [case]`.
 *
 *   put   messages of the TSBS cpu table ─► batches ─► keys ─► log on disk, each acknowledged once it is synced
 *   get   a statement ─► messages, of rows in memory and of rows in files
 *
 * Figures are microseconds of the process's CPU a row, and rows a second by the clock.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cpuPut, CPU_TABLE, type CpuTags } from "../../../../test/support/cpu-flight.ts";
import { openLocalEngine } from "../../../../test/engine/local-engine.ts";
import { systemClock } from "../../../base/clock.ts";
import { Scheduler } from "../../../base/scheduler/scheduler.ts";
import { DEFAULT_USER } from "../../../db/auth/user.ts";
import { LocalDb } from "../../../db/local-db.ts";
import type { Session } from "../../../db/session.ts";
import { ArrowReader } from "../../../format/arrow/reading/arrow-reader.ts";
import { bulkInsert } from "./bulk-insert.ts";
import { flightDataOf, readFlightData } from "./flight-data.ts";
import { PutStream } from "./put-stream.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const ROWS: number = SMALL ? 1000 : 65_536;
const HOSTS: number = SMALL ? 40 : 4000;
const BATCHES: number = SMALL ? 2 : Number(process.argv[2] ?? 40);
const ONLY: string = process.argv[3] ?? "";

const home = await mkdtemp(join(tmpdir(), "varve-flight-bench-"));
const { engine } = await openLocalEngine(home, { sync: "always", segmentBytes: 256 << 20 }, { pageCacheBytes: 256 << 20 });
const db = new LocalDb(engine, new Scheduler(), { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY });
const session: Session = {
  user: DEFAULT_USER,
  signal: new AbortController().signal,
  database: "public",
  timeZone: "UTC",
};
const parts = { db, clock: systemClock, autoCreateTable: true, influx: { defaultMergeMode: "last_non_null" } };

/** Runs work and says what it took. */
async function timed(name: string, rows: number, work: () => Promise<unknown>): Promise<void> {
  const [before, from] = [process.cpuUsage(), performance.now()];
  await work();
  const seconds = (performance.now() - from) / 1000;
  const { user, system } = process.cpuUsage(before);
  const rate = `${(rows / seconds / 1e6).toFixed(2)}M rows/s`;
  const cpu = `${((user + system) / rows).toFixed(4).padStart(9)} us a row, ${(system / rows).toFixed(4)} of it the system's`;
  process.stdout.write(`${name.padEnd(36)}${cpu}${rate.padStart(16)}\n`);
}

/** The batches of some messages again and again, after what comes before them. */
async function* repeated(messages: readonly Uint8Array[], batches: number, isEach: boolean): AsyncGenerator<Uint8Array> {
  const perBatch = isEach ? 11 : 1;
  const kept = isEach ? 1 : messages.length - KEPT;
  yield* messages.slice(0, kept);
  for (let batch = 0; batch < batches; batch++) {
    const at = kept + (batch % KEPT) * perBatch;
    yield* messages.slice(at, at + perBatch);
  }
}

async function* each(messages: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* messages;
}

/** Batches that are made, before they are repeated. */
const KEPT = SMALL ? 1 : 8;

function decode(messages: readonly Uint8Array[]): number {
  const reader = new ArrowReader();
  let rows = 0;
  for (const message of messages) {
    const { header, body } = readFlightData(message);
    const read = reader.read(header, body);
    if (read.kind === "batch") rows += read.batch.rowCount;
  }
  return rows;
}

async function put(name: string, tags: CpuTags, isByHost: boolean): Promise<void> {
  if (!name.includes(ONLY)) return;
  const messages = cpuPut({ batches: KEPT, rowsPerBatch: ROWS, hosts: HOSTS, tags, isByHost });
  const rows = BATCHES * ROWS;
  decode(messages);
  const rounds = Math.max(1, Math.floor(BATCHES / KEPT));
  await timed(`${name}: decode alone`, rounds * KEPT * ROWS, async () => {
    for (let round = 0; round < rounds; round++) decode(messages);
  });
  const run = async (batches: number): Promise<void> => {
    const stream = await PutStream.begin(repeated(messages, batches, tags === "dictionaries each"));
    if (stream === undefined) throw new Error("a stream has messages");
    for await (const _ of bulkInsert(stream, "cpu", parts, session, new Map()));
  };
  await run(Math.min(BATCHES, 16));
  for (let round = 0; round < (SMALL ? 1 : 3); round++) await timed(`${name}: whole`, rows, () => run(BATCHES));
}

async function get(name: string, text: string): Promise<void> {
  if (!name.includes(ONLY)) return;
  for (const compression of ["lz4", undefined, "zstd"] as const) {
    let rows = 0;
    let bytes = 0;
    const run = async (): Promise<void> => {
      for await (const result of db.sql(text, session)) {
        if (result.kind !== "rows") throw new Error("a query has rows");
        const { batches } = result;
        const counted = (async function* () {
          for await (const batch of batches) {
            rows += batch.rowCount;
            yield batch;
          }
        })();
        for await (const message of flightDataOf({ ...result, batches: counted }, compression)) {
          bytes += message.length;
        }
      }
    };
    await run();
    for (let round = 0; round < (SMALL ? 1 : 2); round++) {
      const once = rows;
      bytes = 0;
      await timed(`${name}, ${compression ?? "plain"}`, once, run);
      rows = once;
    }
    process.stdout.write(`${"".padEnd(34)}${(bytes / rows).toFixed(1).padStart(9)} B a row, ${rows} rows\n`);
  }
}

const run = async (text: string): Promise<void> => {
  for await (const _ of db.sql(text, session));
};

await run(CPU_TABLE);
await put("put dictionaries", "dictionaries", false);
await put("put dictionaries each", "dictionaries each", false);
await put("put texts", "texts", false);
await put("put texts by host", "texts", true);
await run("TRUNCATE TABLE cpu");
const stream = await PutStream.begin(each(cpuPut({ batches: SMALL ? 1 : 24, rowsPerBatch: ROWS, hosts: HOSTS, tags: "dictionaries" })));
if (stream !== undefined) for await (const _ of bulkInsert(stream, "cpu", parts, session, new Map()));
const columns = "ts, hostname, usage_user, usage_system, usage_idle";
await get("get memory", `SELECT ${columns} FROM cpu`);
await engine.flushTable("public", "cpu");
await get("get files", `SELECT ${columns} FROM cpu`);
await engine.close();
await rm(home, { recursive: true });
