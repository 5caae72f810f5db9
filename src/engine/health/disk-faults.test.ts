/** Disks that fail beneath flushes, merges, commits and deletions: nothing acknowledged is lost, nothing piles up, all heals by itself. */
import { expect, test } from "bun:test";
import { DbError } from "../../base/error.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type FaultyFileStore, faultyFileStore } from "../../../test/support/faulty-file-store.ts";
import { type FaultyMetaStore, faultyMetaStore } from "../../../test/support/faulty-meta-store.ts";
import { put, read, refusal } from "../../../test/engine/lines.ts";
import { Machine, type MachineOptions } from "../../../test/engine/machine.ts";

const FULL = "ENOSPC: no space left on device";
const BROKEN = "EIO: i/o error";
const FOREVER = { times: Number.POSITIVE_INFINITY };

interface Rig {
  readonly machine: Machine;
  /** The stores of the engine that runs. */
  readonly files: () => FaultyFileStore;
  readonly meta: () => FaultyMetaStore;
}

async function start(options: MachineOptions = {}): Promise<Rig> {
  let files: FaultyFileStore | undefined;
  let meta: FaultyMetaStore | undefined;
  const machine = await Machine.start({
    ...options,
    wrapFiles: (store) => (files = faultyFileStore(store)),
    wrapMeta: (store) => (meta = faultyMetaStore(store)),
  });
  return { machine, files: () => files as FaultyFileStore, meta: () => meta as FaultyMetaStore };
}

function troublesOf({ machine }: Rig): string[] {
  return machine.engine.troubles().now.map(({ part, reason }) => `${part}: ${reason}`);
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 3000 && !condition(); i++) await Bun.sleep(1);
  expect(condition()).toBe(true);
}

async function threeRows(rig: Rig): Promise<string[]> {
  for (const v of [1, 2, 3]) await put(rig.machine.engine, `cpu,host=a v=${v}i ${v}`);
  return ["'a'|1|1", "'a'|2|2", "'a'|3|3"];
}

test.each(["create", "write", "finish"] as const)("a disk that is full when a flush calls %s: no file stays, rows do", async (call) => {
  const rig = await start();
  const rows = await threeRows(rig);
  rig.files().faults.fail(call, { why: FULL, ...FOREVER });
  for (let i = 0; i < 3; i++) expect((await refusal(rig.machine.engine.flushTable("public", "cpu"))).code).toBe("StorageUnavailable");
  expect([rig.machine.files.size, rig.files().unfinished.size]).toEqual([0, 0]);
  expect(await read(rig.machine.engine, "cpu")).toEqual(rows);
  await put(rig.machine.engine, "cpu,host=b v=4i 4");
  rig.files().faults.heal();
  await rig.machine.engine.flushTable("public", "cpu");
  await rig.machine.crash();
  expect(await read(rig.machine.engine, "cpu")).toEqual([...rows, "'b'|4|4"]);
});

test("a flush that is due goes on by itself once the disk works, and its trouble is shown meanwhile", async () => {
  const rig = await start({ limits: { memtableBytes: 64 } });
  rig.files().faults.fail("write", { why: FULL, ...FOREVER });
  const rows = await threeRows(rig);
  await until(() => troublesOf(rig).length > 0);
  expect(troublesOf(rig)[0]).toMatch(/^flush: cannot write file tables\/.*ENOSPC/);
  rig.files().faults.heal();
  await until(() => rig.machine.engine.table("public", "cpu")?.statistics().memoryBytes === 0);
  await until(() => troublesOf(rig).length === 0);
  expect(rig.machine.engine.troubles().failures.flush).toBeGreaterThan(0);
  expect(await read(rig.machine.engine, "cpu")).toEqual(rows);
});

test("a flush that failed by itself is no trouble any more once its tables are flushed by hand", async () => {
  const rig = await start({ limits: { memtableBytes: 64 } });
  rig.files().faults.fail("write", { why: FULL, ...FOREVER });
  await threeRows(rig);
  await until(() => troublesOf(rig).length > 0);
  rig.files().faults.heal();
  await rig.machine.engine.flushTable("public", "cpu");
  expect(troublesOf(rig)).toEqual([]);
});

test.each(["commit", "commit-unknown", "settled"] as const)(
  "a meta store that fails in %s of a flush: the files are made once, and committed when it works",
  async (call) => {
    const rig = await start();
    const rows = await threeRows(rig);
    await rig.machine.engine.createDatabase("other", {}, false); // Takes nothing of the block of file ids.
    rig.meta().faults.fail(call, { why: FULL, after: call === "settled" ? 0 : 1, ...FOREVER }); // After the block of ids.
    for (let i = 0; i < 5; i++) expect((await refusal(rig.machine.engine.flushTable("public", "cpu"))).message).toContain(FULL);
    expect(rig.machine.files.size).toBe(1);
    expect(await read(rig.machine.engine, "cpu")).toEqual(rows);
    rig.meta().faults.heal();
    await rig.machine.engine.flushTable("public", "cpu");
    expect(rig.machine.engine.table("public", "cpu")?.statistics()).toMatchObject({ fileCount: 1, memoryBytes: 0, rowCount: 3 });
    await rig.machine.crash();
    expect(await read(rig.machine.engine, "cpu")).toEqual(rows);
    expect(rig.machine.files.size).toBe(1);
  },
);

test.each(["commit", "commit-unknown"] as const)("a crash after a flush that failed in %s: each row once", async (call) => {
  const rig = await start();
  await put(rig.machine.engine, "logs v=1i 1", { tableOptions: { append_mode: "true" } });
  rig.meta().faults.fail(call, { why: BROKEN, after: 1 });
  await refusal(rig.machine.engine.flushTable("public", "logs"));
  await rig.machine.crash();
  expect(await read(rig.machine.engine, "logs")).toEqual(["1|1"]);
});

test("rows that are truncated or dropped after such a flush leave no file behind", async () => {
  const rig = await start();
  await threeRows(rig);
  await put(rig.machine.engine, "mem,host=a v=1i 1");
  rig.meta().faults.fail("commit", { why: FULL, after: 1, ...FOREVER });
  for (const table of ["cpu", "mem"]) await refusal(rig.machine.engine.flushTable("public", table));
  expect(rig.machine.files.size).toBe(2);
  rig.meta().faults.heal();
  await rig.machine.engine.truncateTable("public", "cpu");
  await rig.machine.engine.dropTable("public", "mem", false);
  expect(rig.machine.files.size).toBe(0);
});

test("rows that are truncated after a flush whose commit took effect unseen do not come back at the next start", async () => {
  const hidden = new Set<string>();
  let isBroken = false;
  const machine = await Machine.start({
    wrapMeta: (store) => {
      hidden.clear(); // A start sees what is on disk.
      return {
        get: (key) => store.get(key),
        list: (prefix) => store.list(prefix).filter(({ key }) => !hidden.has(key)),
        commit(changes) {
          for (const { key } of changes) if (isBroken) hidden.add(key);
          void store.commit(changes); // The machine's own, which is done at once.
          if (isBroken) throw new DbError(StatusCode.StorageUnavailable, BROKEN);
          for (const { key } of changes) hidden.delete(key);
        },
        settled: () => store.settled(),
        secure: () => store.secure(),
        copyTo: (path) => store.copyTo(path),
        close: () => store.close(),
      };
    },
  });
  await put(machine.engine, "cpu,host=a v=1i 1");
  await machine.engine.flushTable("public", "cpu"); // Takes a block of file ids.
  await put(machine.engine, "cpu,host=a v=2i 2");
  isBroken = true;
  await refusal(machine.engine.flushTable("public", "cpu"));
  isBroken = false;
  await machine.engine.truncateTable("public", "cpu");
  await machine.crash();
  expect([await read(machine.engine, "cpu"), machine.files.size, machine.meta.list("file/").length]).toEqual([[], 0, 0]);
});

async function threeFiles(rig: Rig): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await put(rig.machine.engine, `cpu,host=a v=${i}i ${i}`);
    await rig.machine.engine.flushTable("public", "cpu");
  }
}

const MERGED = ["'a'|0|0", "'a'|1|1", "'a'|2|2"];

test.each(["create", "write", "finish"] as const)(
  "a disk that is full when a merge calls %s: the old files stay, no other does",
  async (call) => {
    const rig = await start();
    await threeFiles(rig);
    rig.files().faults.fail(call, { why: FULL });
    await refusal(rig.machine.engine.compactTable("public", "cpu"));
    expect([rig.machine.files.size, rig.files().unfinished.size]).toEqual([3, 0]);
    await rig.machine.engine.compactTable("public", "cpu");
    expect(rig.machine.files.size).toBe(1);
    expect(await read(rig.machine.engine, "cpu")).toEqual(MERGED);
  },
);

test.each(["commit", "commit-unknown", "settled"] as const)(
  "a merge whose %s fails again and again makes one file at most, and heals",
  async (call) => {
    const rig = await start();
    await threeFiles(rig);
    rig.meta().faults.fail(call, { why: FULL, ...FOREVER });
    for (let i = 0; i < 5; i++) await refusal(rig.machine.engine.compactTable("public", "cpu"));
    expect(rig.machine.files.size).toBeLessThanOrEqual(4);
    expect(await read(rig.machine.engine, "cpu")).toEqual(MERGED);
    rig.meta().faults.heal();
    await rig.machine.engine.compactTable("public", "cpu");
    expect(rig.machine.files.size).toBe(1);
    await rig.machine.crash();
    expect(await read(rig.machine.engine, "cpu")).toEqual(MERGED);
    expect(rig.machine.files.size).toBe(1);
  },
);

test("files that cannot be deleted stop neither a merge nor a drop, and go later", async () => {
  const rig = await start();
  await threeFiles(rig);
  rig.files().faults.fail("delete", { why: BROKEN, ...FOREVER });
  rig.files().faults.fail("deleteFolder", { why: BROKEN, ...FOREVER });
  await rig.machine.engine.compactTable("public", "cpu");
  expect(await read(rig.machine.engine, "cpu")).toEqual(MERGED);
  await rig.machine.engine.dropTable("public", "cpu", false);
  expect(rig.machine.files.size).toBe(4);
  expect(troublesOf(rig)[0]).toStartWith("file_delete: cannot delete f");
  rig.files().faults.heal();
  await rig.machine.engine.keepUp();
  expect(rig.machine.files.size).toBe(0);
  expect(troublesOf(rig)).toEqual([]);
});

test("a catalog that cannot be written: the write says when to come back, and memory is not ahead of the disk", async () => {
  const rig = await start();
  const { engine } = rig.machine;
  await put(engine, "cpu,host=a v=1i 1");
  rig.meta().faults.fail("commit", { why: FULL, ...FOREVER });
  for (const lines of ["fresh v=1i 1", "cpu,host=a,rack=r v=1i 1", "cpu,host=a w=1i 1"]) {
    expect(await refusal(put(engine, lines))).toEqual({
      code: "StorageUnavailable",
      message: `cannot write the meta store: ${FULL}`,
      retryAfterSeconds: 5,
    });
  }
  for (const work of [
    engine.createDatabase("other", {}, false),
    engine.dropTable("public", "cpu", false),
    engine.alterTable("public", "cpu", { kind: "rename", name: "cpu2" }),
    engine.truncateTable("public", "cpu"),
  ]) {
    expect((await refusal(work)).code).toBe("StorageUnavailable");
  }
  expect(engine.tables("public").map(({ schema }) => schema.name)).toEqual(["cpu"]);
  expect(engine.table("public", "cpu")?.schema.columns.length).toBe(3);
  expect(engine.database("other")).toBeUndefined();
  await put(engine, "cpu,host=a v=2i 2"); // Needs nothing of the catalog.
  expect(troublesOf(rig)).toEqual([`metadata: cannot write the meta store: ${FULL}`]);
  rig.meta().faults.heal();
  await engine.keepUp();
  expect(troublesOf(rig)).toEqual([]);
  await put(engine, "fresh v=1i 1\ncpu,host=a,rack=r w=1i 3");
  await rig.machine.crash();
  expect((await read(rig.machine.engine, "cpu")).length).toBe(3);
  expect(await read(rig.machine.engine, "fresh")).toEqual(["1|1"]);
});

test("a log segment that cannot be deleted stops no flush, and goes later", async () => {
  const rig = await start({ segmentBytes: 100 });
  const { wal, engine } = rig.machine;
  const trim = wal.trim.bind(wal);
  wal.trim = () => Promise.reject(new Error(BROKEN));
  await threeRows(rig);
  await engine.flushTable("public", "cpu");
  expect(troublesOf(rig)).toEqual([`log_trim: ${BROKEN}`]);
  wal.trim = trim;
  await engine.keepUp();
  expect([troublesOf(rig), wal.segments()]).toEqual([[], []]);
});

test("a log whose sync failed: rows in memory go to files, its segments are let go, and writes go on", async () => {
  const rig = await start({ limits: { memtableBytes: 1 << 20 } });
  const rows = await threeRows(rig);
  rig.machine.wal.failNextSync(BROKEN);
  const refused = await refusal(put(rig.machine.engine, "cpu,host=b v=9i 9"));
  expect(refused.message).toContain(BROKEN);
  expect(await refusal(rig.machine.engine.admit())).toMatchObject({ code: "StorageUnavailable", retryAfterSeconds: 5 });
  expect(troublesOf(rig)).toEqual([`log: cannot sync the log: ${BROKEN}`]);
  await until(() => rig.machine.engine.table("public", "cpu")?.statistics().memoryBytes === 0);
  await until(() => rig.machine.wal.segments().length === 0);
  rig.machine.wal.heal();
  await put(rig.machine.engine, "cpu,host=c v=4i 4");
  await rig.machine.crash();
  expect(await read(rig.machine.engine, "cpu")).toEqual([...rows, "'c'|4|4"]);
});

test("a disk below its reserve: writes are refused, reads, flushes and drops are not, and writes go on with more room", async () => {
  const MIB = 1024 * 1024;
  let free = 200 * MIB;
  const rig = await start({ disk: { paths: ["/data"], freeBytesMin: 128 * MIB, freeBytesOf: async () => free } });
  const { engine } = rig.machine;
  const rows = await threeRows(rig);
  free = 100 * MIB;
  await engine.keepUp();
  for (const work of [put(engine, "cpu,host=a v=4i 4"), engine.admit()]) {
    expect(await refusal(work)).toEqual({
      code: "StorageUnavailable",
      message: expect.stringMatching(
        /^cannot write: the disk of \/data has 100 MiB left, and 128 MiB are kept free \(storage\.free_space_min\)/,
      ),
      retryAfterSeconds: 10,
    });
  }
  expect(await read(engine, "cpu")).toEqual(rows);
  await engine.flushTable("public", "cpu");
  await engine.createDatabase("made", {}, false);
  await engine.dropDatabase("made", false);
  free = 160 * MIB;
  await engine.keepUp();
  await put(engine, "cpu,host=a v=4i 4");
  expect(troublesOf(rig)).toEqual([]);
});

test("a disk below its reserve: deletes make room, so they may use half of the reserve", async () => {
  const MIB = 1024 * 1024;
  let free = 200 * MIB;
  const rig = await start({ disk: { paths: ["/data"], freeBytesMin: 128 * MIB, freeBytesOf: async () => free } });
  const { engine } = rig.machine;
  await threeRows(rig);
  const deleted = async (time: bigint): Promise<number | undefined> =>
    engine.table("public", "cpu")?.deleteRange({ timeRange: { start: time, end: time + 1n }, tagPredicates: [] });
  free = 65 * MIB;
  await engine.keepUp();
  expect(await deleted(1n)).toBe(1);
  expect(await read(engine, "cpu")).toEqual(["'a'|2|2", "'a'|3|3"]);
  free = 64 * MIB;
  await engine.keepUp();
  expect(await refusal(deleted(2n))).toEqual({
    code: "StorageUnavailable",
    message: expect.stringMatching(/^cannot delete: the disk of \/data has 64 MiB left, and 128 MiB are kept free/),
    retryAfterSeconds: 10,
  });
  expect(await read(engine, "cpu")).toEqual(["'a'|2|2", "'a'|3|3"]);
});

test("a merge that the disk has no room for does not begin", async () => {
  let free = 1e9;
  const rig = await start({ disk: { paths: ["/data"], freeBytesMin: 1000, freeBytesOf: async () => free } });
  await threeFiles(rig);
  free = 1100;
  await rig.machine.engine.keepUp();
  const creations = rig.files().faults.count("create");
  expect((await refusal(rig.machine.engine.compactTable("public", "cpu"))).message).toContain("the disk does not have beside its reserve");
  expect(rig.files().faults.count("create")).toBe(creations);
});

test("a disk that hangs: memory stays within its limit, writers are told to come back, and all goes on when it answers", async () => {
  const limit = 64 * 1024;
  const rig = await start({ limits: { memtableBytes: limit / 4, writeBufferBytes: limit, stallMillis: 20 } });
  const { engine, wal } = rig.machine;
  await put(engine, "cpu,host=a v=0i 0");
  wal.hold();
  const waiting: Promise<unknown>[] = [];
  let refusals = 0;
  for (let i = 1; i <= 300; i++) {
    try {
      await engine.admit();
    } catch {
      refusals++;
      if (refusals === 3) break;
      continue;
    }
    const lines = Array.from({ length: 50 }, (_, r) => `cpu,host=h${r} v=${r * 7919}i ${i * 100 + r}`).join("\n");
    waiting.push(put(engine, lines));
  }
  expect(refusals).toBe(3);
  expect(engine.table("public", "cpu")?.statistics().memoryBytes).toBeLessThanOrEqual(2 * limit); // Slabs double in size.
  wal.release();
  await Promise.all(waiting);
  await comesBack(engine);
  await put(engine, "cpu,host=a v=1i 1");
  expect((await read(engine, "cpu")).length).toBe(waiting.length * 50 + 2);
});

/** Asks again as long as the answer is to come back later, as a client does; the flush that makes room takes as long as it takes. */
async function comesBack(engine: Rig["machine"]["engine"]): Promise<void> {
  for (;;) {
    try {
      return await engine.admit();
    } catch (error) {
      if (!(error instanceof DbError) || error.code !== StatusCode.RateLimited) throw error;
    }
  }
}

/** Two tables of one file each, then a restart with `change` done to the file of the first. */
async function restartWith(rig: Rig, change: (name: string, bytes: Uint8Array) => void): Promise<string> {
  await put(rig.machine.engine, "cpu,host=a v=1i 1");
  await put(rig.machine.engine, "mem,host=a v=1i 1");
  await rig.machine.engine.flushTable("public", "cpu");
  const [name = ""] = rig.machine.files.keys();
  await rig.machine.engine.flushTable("public", "mem");
  change(name, rig.machine.files.get(name) ?? new Uint8Array(0));
  await rig.machine.crash();
  return name;
}

test("a data file that is missing or cut off at the start: said by name, its table's queries fail, all others work", async () => {
  for (const [left, what] of [
    [undefined, "a data file is missing"],
    [0, "a data file does not have its length"],
    [50, "a data file does not have its length"],
  ] as const) {
    const lines: string[] = [];
    const logger: Logger = {
      ...silentLogger,
      error: (fields, message) => void lines.push(`${message}: ${String(fields["file"])} of ${String(fields["table"])}`),
      child: () => logger,
    };
    const rig = await start({ logger });
    const { files } = rig.machine;
    let whole = new Uint8Array(0);
    const name = await restartWith(rig, (file, bytes) => {
      whole = new Uint8Array(bytes);
      if (left === undefined) files.delete(file);
      else files.set(file, bytes.slice(0, left));
    });
    const { engine } = rig.machine;
    expect(lines[0]).toBe(`${what}: ${name} of public.cpu`);
    expect(troublesOf(rig)[0]).toStartWith(`data_files: missing or cut off: ${name} of table public.cpu; queries that need them fail`);
    expect((await refusal(read(engine, "cpu"))).message).toContain(name);
    expect(await read(engine, "mem")).toEqual(["'a'|1|1"]);
    await put(engine, "cpu,host=a v=2i 2");
    files.set(name, whole); // Restored.
    await engine.keepUp();
    expect(troublesOf(rig)).toEqual([]);
    expect(await read(engine, "cpu")).toEqual(["'a'|1|1", "'a'|2|2"]);
  }
});

test("a damaged file of a table that is truncated troubles nobody any more", async () => {
  const rig = await start();
  await restartWith(rig, (file) => rig.machine.files.delete(file));
  await rig.machine.engine.truncateTable("public", "cpu");
  await rig.machine.engine.keepUp();
  expect(troublesOf(rig)).toEqual([]);
  expect(await read(rig.machine.engine, "cpu")).toEqual([]);
});
