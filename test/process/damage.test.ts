/** Damaged, cut and missing files: never a wrong answer, always a text that names the file. */
import { afterAll, beforeAll, expect } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { standalone } from "../support/cluster/standalone.ts";
import { execute, postSql, queryRows, writeLines } from "../support/http-client.ts";
import { runVarve, TestServer } from "../support/server-process.ts";

const { describe, test } = standalone("its folder is damaged");

const ROWS = 5000;
const BATCHES = 4;
/** Bytes of a data file that are damaged, one at a time. */
const FLIPS = 4;

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(async () => {
  await server.end();
});

/** Batch `n` of a table: `ROWS` rows, all of them different from those of other batches. */
async function writeBatch(table: string, n: number): Promise<void> {
  const lines = Array.from({ length: ROWS }, (_, i) => `${table},host=h${i % 10} v=${i}i ${n * ROWS + i}`);
  await writeLines(server.url, lines.join("\n"));
}

async function countOf(table: string): Promise<unknown> {
  return (await queryRows(server.url, `SELECT count(*), sum(v) FROM ${table}`)).rows[0];
}

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ 0x5a, at);
  return copy;
}

const rowsOf = (batches: number): readonly number[] => [batches * ROWS, (batches * ROWS * (ROWS - 1)) / 2];

describe("the log", () => {
  let path = "";
  let whole: Buffer;
  /** What the log says of its ends, as of a kill with no pause before. */
  let ends: Buffer;

  beforeAll(async () => {
    for (let n = 0; n < BATCHES; n++) await writeBatch("logged", n);
    await server.kill();
    const folder = join(server.dataHome, "wal");
    const [segment = ""] = readdirSync(folder).filter((name) => name.endsWith(".log"));
    path = join(folder, segment);
    whole = readFileSync(path);
    ends = readFileSync(join(folder, "ends"));
  });

  test("damaged in the middle: refuses to start, and says what to do", async () => {
    writeFileSync(path, flipped(whole, whole.length >> 1));
    const { status, stderr } = await runVarve(await server.flags());
    expect(stderr).toMatch(/^varve: [^\n]+\n$/);
    expect(stderr).toContain(`cannot replay log segment ${path}: damaged bytes at offset`);
    expect(stderr).toContain('wal.recovery = "skip_corrupt"');
    expect(status).toBe(1);
  });

  test("and starts without the damaged record when it is told to, with a warning", async () => {
    await server.restart({ config: '[wal]\nrecovery = "skip_corrupt"\n' });
    expect(await countOf("logged")).toEqual(rowsOf(BATCHES - 1));
    const warning = await server.running.logged("replayed the log without records that are damaged or missing: their rows are lost");
    expect(warning).toMatchObject({ level: "warn", records: BATCHES - 1, lostBytes: expect.any(Number), lostRows: ROWS, lostUnknown: 0 });
    await server.kill();
  });

  test("cut at its end: starts with all but the last record, as after a power cut in a write", async () => {
    for (const file of readdirSync(join(server.dataHome, "wal"))) rmSync(join(server.dataHome, "wal", file));
    writeFileSync(path, whole.subarray(0, whole.length - 100));
    writeFileSync(join(server.dataHome, "wal", "ends"), ends);
    await server.restart({});
    expect(await countOf("logged")).toEqual(rowsOf(BATCHES - 1));
    await writeBatch("logged", BATCHES);
    expect(await countOf("logged")).toEqual(rowsOf(BATCHES));
  });
});

test("a log that is gone: refuses to start, and starts without it when it is told to, with a warning", async () => {
  const alone = await TestServer.start();
  try {
    await writeLines(alone.url, "cpu,host=a v=1i 1");
    await alone.kill();
    const folder = join(alone.dataHome, "wal");
    rmSync(folder, { recursive: true });
    const { status, stderr } = await runVarve(await alone.flags());
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining(`cannot replay the log ${folder}: all of it is missing`),
    });
    expect(stderr).toContain('wal.recovery = "skip_corrupt"');
    await alone.restart({ config: '[wal]\nrecovery = "skip_corrupt"\n' });
    const warning = await alone.running.logged("replayed the log without records that are damaged or missing: their rows are lost");
    expect(warning).toMatchObject({ level: "warn", records: 0, lostUnknown: 1 });
    await alone.kill();
    await alone.restart({});
    await writeLines(alone.url, "cpu,host=b v=1i 1");
  } finally {
    await alone.end();
  }
}, 30_000);

describe("the log of an ingest thread", () => {
  test("whose folder is gone: refuses to start, and starts without it when it is told to, with a warning", async () => {
    const threaded = await TestServer.start({ config: "[ingest]\nthreads = 2\n" });
    try {
      await writeLines(threaded.url, "cpu,host=a v=1i 1");
      await threaded.kill();
      rmSync(join(threaded.dataHome, "wal", "thread-1"), { recursive: true });
      const { status, stderr } = await runVarve(await threaded.flags());
      expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining("the log of thread-1 is missing; restore it, or") });
      await threaded.restart({ config: '[wal]\nrecovery = "skip_corrupt"\n[ingest]\nthreads = 2\n' });
      const warning = await threaded.running.logged("logs of ingest threads are missing: rows that were in them alone are lost");
      expect(warning).toMatchObject({ level: "warn", threads: [1] });
      await threaded.kill();
      await threaded.restart({ config: "[ingest]\nthreads = 2\n" });
      await writeLines(threaded.url, "cpu,host=b v=1i 1");
    } finally {
      await threaded.end();
    }
  }, 30_000);
});

describe("a data file", () => {
  let path = "";
  let whole: Buffer;

  beforeAll(async () => {
    const columns = "host STRING PRIMARY KEY, greptime_timestamp TIMESTAMP(9) TIME INDEX, v BIGINT";
    await execute(server.url, `CREATE TABLE filed (${columns}) WITH (merge_mode = 'last_non_null', spread = 1)`); // Of one file.
    await writeBatch("filed", 0);
    const before = new Set(new Bun.Glob("**/*.parquet").scanSync(server.dataHome));
    await execute(server.url, "ADMIN flush_table('filed')");
    const made = [...new Bun.Glob("**/*.parquet").scanSync(server.dataHome)].filter((file) => !before.has(file));
    expect(made).toHaveLength(1);
    path = join(server.dataHome, made[0] ?? "");
    whole = readFileSync(path);
    await server.stop();
  });

  /** Starts on these bytes, or on no file: queries of the table name it, those of others are answered. */
  async function check(bytes: Uint8Array | undefined, reason: RegExp): Promise<void> {
    rmSync(path, { force: true });
    if (bytes !== undefined) writeFileSync(path, bytes);
    await server.restart();
    const { status, text } = await postSql(server.url, "SELECT count(v), sum(v), max(greptime_timestamp) FROM filed");
    expect(text).toMatch(reason);
    expect(JSON.parse(text)).toMatchObject({ code: 5000, error: expect.stringContaining(path.slice(path.indexOf("tables/"))) });
    expect(status).toBe(503);
    expect(await countOf("logged")).toEqual(rowsOf(BATCHES));
    await server.kill();
  }

  test("that is missing, empty or cut off", async () => {
    await check(undefined, /no such file/);
    await check(new Uint8Array(0), /0 bytes are too few/);
    await check(whole.subarray(0, whole.length >> 1), /cut off/);
  });

  test("with a flipped byte anywhere: the right answer or none", async () => {
    const outcomes = new Set<number>();
    for (let n = 0; n < FLIPS; n++) {
      writeFileSync(path, flipped(whole, Math.floor((whole.length * (n + 0.5)) / FLIPS)));
      await server.restart();
      const { status, text } = await postSql(server.url, "SELECT count(*), sum(v) FROM filed");
      outcomes.add(status);
      if (status === 200) expect(text).toContain(`"rows":${JSON.stringify([rowsOf(1)])}`);
      else expect(JSON.parse(text)).toMatchObject({ code: 5000, error: expect.stringContaining("cannot read Parquet file tables/") });
      await server.kill();
    }
    expect(outcomes.has(503)).toBe(true);
  });

  test("that is restored is read again", async () => {
    writeFileSync(path, whole);
    await server.restart();
    expect(await countOf("filed")).toEqual(rowsOf(1));
  });
});
