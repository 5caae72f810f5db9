import { Scheduler } from "../base/scheduler/scheduler.ts";
import { expect, test } from "bun:test";
import { AUTO, put, refusal } from "../../test/engine/lines.ts";
import { Machine } from "../../test/engine/machine.ts";
import { RoundCount } from "../../test/support/round-count.ts";
import { systemClock } from "../base/clock.ts";
import { MemoryPool, ServerMemory } from "../base/memory/server-memory.ts";
import { scalarAt } from "../column/scalar.ts";
import { RowBatchBuilder } from "../table/rows/row-batch-builder.ts";
import type { AccessMode } from "./auth/user.ts";
import { LocalDb, type StatementLimits } from "./local-db.ts";
import type { Session } from "./session.ts";

const NO_LIMITS: StatementLimits = { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY };

async function fixture(limits: Partial<StatementLimits> = {}): Promise<{ readonly machine: Machine; readonly db: LocalDb }> {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1");
  return { machine, db: new LocalDb(machine.engine, new Scheduler(), { ...NO_LIMITS, ...limits }) };
}

function session(mode: AccessMode = "rw", database = "public"): Session {
  return { database, timeZone: "UTC", user: { name: "someone", mode }, signal: new AbortController().signal };
}

/** One text a result: affected rows, or the rows as `a,b`. */
async function answers(db: LocalDb, text: string, as: Session): Promise<string[]> {
  const results: string[] = [];
  for await (const result of db.sql(text, as)) {
    if (result.kind === "affected") {
      results.push(`affected ${result.rowCount}`);
      continue;
    }
    const { headers, batches } = result;
    for await (const { rowCount, vectors } of batches) {
      for (let row = 0; row < rowCount; row++) {
        results.push(vectors.map((vector, c) => String(scalarAt(vector, headers[c]!.type, row))).join(","));
      }
    }
  }
  return results;
}

const WRITE = "INSERT INTO cpu (host, v, greptime_timestamp) VALUES ('b', 2, 2)";
const READ = "SELECT v FROM cpu ORDER BY v";
const DENIED = { code: "PermissionDenied", message: "User is not authorized to perform this action" };

test.each([
  ["rw", READ, ["1"]],
  ["rw", WRITE, ["affected 1"]],
  ["ro", READ, ["1"]],
  ["ro", "SHOW TABLES LIKE 'c%'", ["cpu"]],
  ["ro", WRITE, undefined],
  ["ro", "DROP TABLE cpu", undefined],
  ["ro", "CREATE DATABASE other", undefined],
  ["ro", "ADMIN flush_table('cpu')", undefined],
  ["wo", WRITE, ["affected 1"]],
  ["wo", "DROP TABLE cpu", ["affected 0"]],
  ["wo", READ, undefined],
  ["wo", "SHOW TABLES", undefined],
] as const)("a user of mode %s: %s", async (mode, text, want) => {
  const { db } = await fixture();
  if (want === undefined) expect(await refusal(answers(db, text, session(mode)))).toMatchObject(DENIED);
  else expect(await answers(db, text, session(mode))).toEqual([...want]);
});

test("permission is asked for each statement: what came before the refused one stays", async () => {
  const { db } = await fixture();
  expect(await refusal(answers(db, `${WRITE}; ${READ}`, session("wo")))).toMatchObject(DENIED);
  expect(await answers(db, READ, session())).toEqual(["1", "2"]);
});

test("the database is checked before the syntax, and the syntax before anything runs", async () => {
  const { db } = await fixture();
  expect(await refusal(answers(db, "nonsense", session("rw", "none")))).toMatchObject({
    code: "DatabaseNotFound",
    message: "Database not found: none",
  });
  expect((await refusal(answers(db, `${WRITE}; SELEC 1`, session()))).code).toBe("Unsupported");
  expect((await refusal(answers(db, `${WRITE}; SELEC 1`, session("ro")))).code).toBe("Unsupported");
  expect(await answers(db, READ, session())).toEqual(["1"]);
});

test("a text without statements is refused", async () => {
  const { db } = await fixture();
  expect((await refusal(answers(db, " ; ", session()))).code).toBe("InvalidArguments");
});

test("statements run one after another, each on what the ones before did", async () => {
  const { db } = await fixture();
  expect(await answers(db, `${WRITE}; ${READ}`, session())).toEqual(["affected 1", "1", "2"]);
});

test("a failure ends the text", async () => {
  const { db } = await fixture();
  expect((await refusal(answers(db, `SELECT v FROM none; ${WRITE}`, session()))).code).toBe("TableNotFound");
  expect(await answers(db, READ, session())).toEqual(["1"]);
});

test("a statement that takes too long is ended, the client's own leaving too", async () => {
  const { db } = await fixture({ timeoutMillis: 1 });
  for await (const result of db.sql(READ, session())) {
    await Bun.sleep(10);
    if (result.kind === "rows") expect((await refusal(Array.fromAsync(result.batches))).code).toBe("DeadlineExceeded");
  }
  const abort = new AbortController();
  const unlimited = (await fixture()).db;
  for await (const result of unlimited.sql(READ, { ...session(), signal: abort.signal })) {
    abort.abort();
    if (result.kind === "rows") expect((await refusal(Array.fromAsync(result.batches))).code).toBe("Cancelled");
  }
  expect.assertions(2);
});

test("writes go to the session's database, and need the right to write", async () => {
  const { db, machine } = await fixture();
  const batch = (): ReturnType<RowBatchBuilder["batch"]> => {
    const builder = new RowBatchBuilder("t", [{ name: "ts", type: { kind: "timestamp", unit: "nanosecond" }, semantic: "timestamp" }]);
    builder.add([1n]);
    return builder.batch();
  };
  await db.createDatabase("other", session());
  expect(await db.write(batch(), session("wo", "other"), AUTO)).toEqual({ rowCount: 1 });
  expect(machine.engine.tables("other").length).toBe(1);
  expect(await refusal(db.write(batch(), session("ro"), AUTO))).toMatchObject(DENIED);
  expect((await refusal(db.write(batch(), session("rw", "none"), AUTO))).code).toBe("DatabaseNotFound");
  expect(await refusal(db.createDatabase("more", session("ro")))).toMatchObject(DENIED);
  expect((await refusal(db.createDatabase("other", session()))).code).toBe("DatabaseAlreadyExists");
  expect(db.databases().map(({ name }) => name)).toContain("other");
  await db.admit();
});

test("health says why writes fail", async () => {
  const { db, machine } = await fixture();
  expect(db.health()).toEqual({ ok: true, reason: undefined, parts: [] });
  machine.wal.failNextSync("input/output error");
  await refusal(put(machine.engine, "cpu,host=b v=2i 2"));
  expect(db.health()).toEqual({ ok: false, reason: "log: cannot sync the log: input/output error", parts: ["log"] });
});

test("decoders see the engine's schemas", async () => {
  const { db } = await fixture();
  expect(db.schemas.columnOf("public", "cpu", "host")?.semantic).toBe("tag");
});

test("queries that hold too much together are refused, and what each held is given back at its end, also after a failure", async () => {
  const pool = new MemoryPool(new ServerMemory(1_000_000), "queries", 4000);
  const { db, machine } = await fixture({ pool });
  await put(machine.engine, Array.from({ length: 500 }, (_, i) => `cpu,host=h${i} v=${i}i ${i}`).join("\n"));
  const sorted = "SELECT v, host, greptime_timestamp FROM cpu ORDER BY v DESC, host";
  expect((await answers(db, "SELECT v FROM cpu WHERE v > 490 ORDER BY v, host", session())).length).toBeGreaterThan(0);
  expect(pool.used).toBe(0);
  const refused = await refusal(answers(db, sorted, session()));
  expect(refused).toMatchObject({ code: "RuntimeResourcesExhausted", message: expect.stringContaining("half of memory.limit") });
  expect(pool.used).toBe(0);
  for await (const result of db.sql(sorted.replace("v DESC", "host"), session())) if (result.kind === "rows") break; // The client leaves.
  expect(pool.used).toBe(0);
});

test("an INSERT waits for memory as other writes do, a DROP does not", async () => {
  const memory = new ServerMemory(1);
  memory.register("workers", { bytes: () => 2 });
  const machine = await Machine.start({ memory, limits: { stallMillis: 20 } });
  await put(machine.engine, "cpu,host=a v=1i 1");
  const db = new LocalDb(machine.engine, new Scheduler(), NO_LIMITS);
  expect(await refusal(answers(db, WRITE, session()))).toMatchObject({ code: "RateLimited", retryAfterSeconds: 1 });
  expect(await answers(db, "DROP TABLE cpu", session())).toEqual(["affected 0"]);
});

test("others have turns between many short statements of one text", async () => {
  const machine = await Machine.start();
  let millis = 0;
  const scheduler = new Scheduler({ ...systemClock, monotonicMillis: () => (millis += 0.1) });
  const db = new LocalDb(machine.engine, scheduler, NO_LIMITS);
  const rounds = new RoundCount();
  await answers(db, "SHOW DATABASES LIKE 'x'; ".repeat(1500), session());
  rounds.stop();
  expect(rounds.round).toBeGreaterThan(20);
});
