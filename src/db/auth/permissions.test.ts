/** The table of statements and modes in PERMISSIONS.md, each row run as each mode. */
import { Scheduler } from "../../base/scheduler/scheduler.ts";
import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { put } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { INT64 } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import { newConnection } from "../../query/connection.ts";
import { externalFiles } from "../../storage/external/external-files.ts";
import { LocalDb } from "../local-db.ts";
import type { Session } from "../session.ts";
import type { AccessMode } from "./user.ts";

const MODES: readonly AccessMode[] = ["rw", "ro", "wo"];

/** Statements of each row. What comes before `→` is run by an account that may do everything. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  "SELECT, VALUES, WITH, TQL": [
    "SELECT secret FROM cpu",
    "SELECT 1 UNION SELECT 2",
    "VALUES (1)",
    "WITH a AS (SELECT 1) SELECT * FROM a",
    "TQL EVAL (0, 10, '5s') cpu",
  ],
  "SHOW, DESCRIBE": [
    "SHOW TABLES",
    "SHOW DATABASES",
    "SHOW CREATE TABLE cpu",
    "SHOW PROCESSLIST",
    "SHOW VARIABLES time_zone",
    "DESC cpu",
    "SHOW CREATE DATABASE public",
    "CREATE VIEW v AS SELECT 1 → SHOW CREATE VIEW v",
  ],
  "EXPLAIN of a query": ["EXPLAIN SELECT secret FROM cpu", "EXPLAIN ANALYZE SELECT secret FROM cpu"],
  FETCH: ["DECLARE c CURSOR FOR SELECT secret FROM cpu → FETCH 1 FROM c"],
  "INSERT of values": ["INSERT INTO cpu (host, greptime_timestamp) VALUES ('b', 1)"],
  "INSERT of a query, or with a sub-query among its values": [
    "INSERT INTO cpu (host, greptime_timestamp) SELECT secret, 1 FROM cpu",
    "INSERT INTO cpu (host, greptime_timestamp) VALUES ((SELECT max(secret) FROM cpu), 1)",
  ],
  DELETE: ["DELETE FROM cpu WHERE host = 'a'", "DELETE FROM cpu WHERE v > 1000"],
  "DELETE with a sub-query": ["DELETE FROM cpu WHERE host IN (SELECT secret FROM cpu)", "DELETE FROM cpu WHERE v = (SELECT 1)"],
  UPDATE: ["UPDATE cpu SET v = 1 WHERE host = 'a'", "UPDATE cpu SET secret = host"],
  TRUNCATE: ["TRUNCATE TABLE cpu"],
  "COPY FROM": ["COPY cpu FROM 'in.csv' WITH (FORMAT = 'csv')"],
  "COPY TO": [
    "COPY cpu TO 'out.csv' WITH (FORMAT = 'csv')",
    "COPY (SELECT secret FROM cpu) TO 'out.csv' WITH (FORMAT = 'csv')",
    "COPY DATABASE public TO 'out/' WITH (FORMAT = 'csv')",
  ],
  "CREATE, ALTER, DROP, COMMENT": [
    "CREATE TABLE n (ts TIMESTAMP TIME INDEX)",
    "CREATE TABLE n LIKE cpu",
    "CREATE EXTERNAL TABLE n WITH (LOCATION = 'in.csv', FORMAT = 'csv')",
    "CREATE DATABASE n",
    "CREATE DATABASE n → ALTER DATABASE n SET 'ttl' = '1d'",
    "CREATE DATABASE n → DROP DATABASE n",
    "ALTER TABLE cpu ADD COLUMN n INT",
    "DROP TABLE cpu",
    "DROP VIEW IF EXISTS n",
    "DROP FLOW IF EXISTS n",
    "COMMENT ON TABLE cpu IS 'n'",
  ],
  "CREATE TABLE AS a query": ["CREATE TABLE n AS SELECT greptime_timestamp, secret FROM cpu", "CREATE TABLE IF NOT EXISTS cpu AS SELECT 1"],
  "CREATE VIEW, CREATE FLOW": ["CREATE VIEW n AS SELECT secret FROM cpu", "CREATE FLOW n SINK TO cpu AS SELECT secret FROM cpu"],
  ADMIN: ["ADMIN flush_table('cpu')", "ADMIN compact_table('cpu')"],
  "ADMIN of backups": ["ADMIN backup_renew('x')", "ADMIN backup_begin()"],
  "USE, SET": ["USE public", "SET time_zone = 'UTC'"],
  "DECLARE CURSOR": ["DECLARE c CURSOR FOR SELECT secret FROM cpu"],
  CLOSE: ["DECLARE c CURSOR FOR SELECT secret FROM cpu → CLOSE c"],
  "PREPARE, EXECUTE of a query": ["PREPARE p FROM 'SELECT secret FROM cpu'", "PREPARE p FROM 'SELECT secret FROM cpu' → EXECUTE p"],
  "PREPARE, EXECUTE of a write": ["PREPARE p FROM 'DELETE FROM cpu'", "PREPARE p FROM 'DELETE FROM cpu' → EXECUTE p"],
  DEALLOCATE: ["PREPARE p FROM 'SELECT 1' → DEALLOCATE p"],
  "KILL of an own statement": ["KILL <own>"],
  "KILL of another's statement": ["KILL <other's>", "KILL 4711"],
};

interface Fixture {
  readonly db: LocalDb;
  readonly session: (mode: AccessMode) => Session;
}

async function withDb(use: (fixture: Fixture) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "varve-permissions-"));
  try {
    await writeFile(join(folder, "in.csv"), "host,v,greptime_timestamp\na,1,1970-01-01 00:00:00\n");
    const machine = await Machine.start();
    await put(machine.engine, 'cpu,host=a v=1i,secret="hunter2" 1');
    const limits = { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY };
    const db = new LocalDb(machine.engine, new Scheduler(), limits, undefined, externalFiles({ copyRoot: folder, copyEndpoints: [] }));
    const { signal } = new AbortController();
    const connection = newConnection("postgres", signal);
    await use({
      db,
      session: (mode) => ({ database: "public", timeZone: "UTC", user: { name: `a-${mode}`, mode }, signal, connection }),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runs(db: LocalDb, text: string, session: Session): Promise<void> {
  for await (const result of db.sql(text, session)) if (result.kind === "rows") for await (const _ of result.batches);
}

/** Begins a statement that does not end. @returns its id */
async function begun(db: LocalDb, session: Session): Promise<string> {
  await db.sql("SELECT number FROM numbers", session)[Symbol.asyncIterator]().next();
  const listed = db.sql("SELECT max(CAST(id AS BIGINT)) - 1 FROM information_schema.process_list", {
    ...session,
    user: { name: "all", mode: "rw" },
  });
  for await (const result of listed) {
    if (result.kind !== "rows") continue;
    for await (const { vectors } of result.batches) {
      const [ids] = vectors;
      if (ids !== undefined) return String(scalarAt(ids, INT64, 0));
    }
  }
  throw new Error("no statement runs");
}

/** The error's text where a mode may not run an example. */
async function refusalOf(example: string, mode: AccessMode, { db, session }: Fixture): Promise<string | undefined> {
  const [before, text = before ?? ""] = example.includes(" → ") ? example.split(" → ") : [undefined, example];
  if (before !== undefined) await runs(db, before, session("rw"));
  const own = text.includes("<own>") ? await begun(db, { ...session("rw"), user: { name: `a-${mode}`, mode: "rw" } }) : "";
  const others = text.includes("<other's>") ? await begun(db, { ...session("rw"), user: { name: "other", mode: "rw" } }) : "";
  try {
    await runs(db, text.replace("<own>", own).replace("<other's>", others), session(mode));
  } catch (thrown) {
    if (!(thrown instanceof DbError)) throw thrown;
    if (thrown.code === StatusCode.PermissionDenied) return thrown.message;
    // What this fixture has not, such as TQL and flows, is refused after the permission, by an error of its own.
    if (thrown.code !== StatusCode.Unsupported && thrown.code !== StatusCode.InvalidArguments) throw thrown;
  }
  return undefined;
}

const table = await Bun.file(new URL("PERMISSIONS.md", import.meta.url)).text();
const rows = [...table.matchAll(/^\| ([A-Z][^|]*) \| (yes|no) \| (yes|no) \| (yes|no) \|$/gm)].map(
  ([, name = "", ...cells]) => [name, cells.map((cell) => cell === "yes")] as const,
);

test("the table of PERMISSIONS.md and the examples here have the same rows", () => {
  expect(rows.map(([name]) => name)).toEqual(Object.keys(EXAMPLES));
});

test.each(rows)("%s", async (name, allowed) => {
  for (const example of EXAMPLES[name] ?? []) {
    for (const [i, mode] of MODES.entries()) {
      await withDb(async (fixture) => {
        const refusal = await refusalOf(example, mode, fixture);
        expect({ mode, example, isAllowed: refusal === undefined }).toEqual({ mode, example, isAllowed: allowed[i] ?? false });
      });
    }
  }
});

test("an account that may not read sees no stored value in an error", async () => {
  await withDb(async ({ db, session }) => {
    const failure = async (text: string, mode: AccessMode): Promise<string> =>
      runs(db, text, session(mode)).then(
        () => "it was done",
        (thrown: unknown) => (thrown instanceof DbError ? thrown.message : String(thrown)),
      );
    const texts = [
      "DELETE FROM cpu WHERE CAST(secret AS INT) = 1",
      "DELETE FROM cpu WHERE secret ~ secret || '['",
      "INSERT INTO cpu (v, greptime_timestamp) SELECT secret, 1 FROM cpu",
    ];
    expect(await failure(texts[0]!, "rw")).toContain("hunter2");
    for (const text of texts) expect(await failure(text, "wo")).not.toContain("hunter2");
    expect(await failure(texts[0]!, "wo")).toBe(
      "cannot finish the delete statement: a value or an argument does not fit; which one is told to accounts that may read",
    );
    // What it sent itself it is told.
    expect(await failure("INSERT INTO cpu (v, greptime_timestamp) VALUES ('mine', 1)", "wo")).toContain("mine");
    expect(await failure("DELETE FROM nowhere", "wo")).toBe("Table not found: greptime.public.nowhere");
  });
});

test("a file that does not fit is not quoted to an account that may not read", async () => {
  await withDb(async ({ db, session }) => {
    await runs(db, "COPY (SELECT secret AS v, greptime_timestamp FROM cpu) TO 'in.csv' WITH (FORMAT = 'csv')", session("rw"));
    const copy = "COPY cpu FROM 'in.csv' WITH (FORMAT = 'csv')";
    expect(await runs(db, copy, session("rw")).catch((thrown: unknown) => String(thrown))).toContain("hunter2");
    const refused = await runs(db, copy, session("wo")).catch((thrown: unknown) => String(thrown));
    expect(refused).toContain("cannot finish the copy statement");
    expect(refused).not.toContain("hunter2");
  });
});

test("a read-only account lists its own statements", async () => {
  await withDb(async ({ db, session }) => {
    await begun(db, { ...session("rw"), user: { name: "other", mode: "rw" } });
    const count = async (mode: AccessMode): Promise<number> => {
      let rowCount = 0;
      for await (const result of db.sql("SELECT id FROM information_schema.process_list", session(mode)))
        if (result.kind === "rows") for await (const batch of result.batches) rowCount += batch.rowCount;
      return rowCount;
    };
    expect(await count("rw")).toBeGreaterThan(await count("ro"));
    expect(await count("ro")).toBe(1);
  });
});
