/** A shard on its node: it follows its log, flushes, and another node goes on where it was. */
import { afterEach, expect, test } from "bun:test";
import { errorOf } from "../../../test/support/failure-of.ts";
import { rowsOf, ShardRig } from "../../../test/support/cluster/shard-rig.ts";
import { NO_LIMITS } from "../../../test/engine/machine.ts";
import type { WrittenRow } from "../../../test/support/cluster/record-maker.ts";
import { STRING } from "../../column/data-type.ts";
import { Fenced, type MetaStore } from "../../storage/meta-store/meta-store.ts";
import { RowBatchBuilder } from "../../table/rows/row-batch-builder.ts";
import type { TableSchema } from "../../table/schema.ts";
import type { WriteBatch } from "../../table/write-batch.ts";
import { encodeRecordParts, encodeRecords } from "../log-message/log-message.ts";
import type { ShardHost } from "./shard-host.ts";

let rig: ShardRig;
let cpu: TableSchema;
afterEach(() => rig.close());

async function started(options: Parameters<typeof ShardRig.start>[0] = {}): Promise<void> {
  rig = await ShardRig.start(options);
  cpu = await rig.table("cpu", { append_mode: "true" });
}

function row(time: number, tag = "x"): WrittenRow {
  return { tag, time, value: time };
}

function keys(table: string, ...rows: readonly (readonly [tag: string, time: number])[]): WriteBatch {
  const builder = new RowBatchBuilder(table, [
    { name: "host", type: STRING, semantic: "tag" },
    { name: "ts", type: { kind: "timestamp", unit: "millisecond" }, semantic: "timestamp" },
  ]);
  for (const [tag, time] of rows) builder.add([tag, BigInt(time)]);
  return builder.batch();
}

function rows(host: ShardHost): Promise<string[]> {
  return rowsOf(host.table(cpu.id));
}

/** A turn in which what came through the catalogue is brought in. */
async function settled(millis = 5000): Promise<void> {
  await rig.cluster.time.sleep(millis);
  await Bun.sleep(5);
}

test.each([0, 1, 2])("rows of the log of shard %i are read, flushed, and found by the next node", async (shard) => {
  await started();
  const node = await rig.node("a");
  const writer = rig.writer(shard);
  await writer.write([cpu, [row(1)]]);
  const { host, lost } = await node.open(shard);
  await writer.write([cpu, [row(2, "y")]]);
  await host.reach(writer.acknowledged);
  expect(await rows(host)).toEqual(["x 1 1", "y 2 2"]);
  await host.engine.flushTable("public", "cpu");
  expect(await rows(host)).toEqual(["x 1 1", "y 2 2"]);
  expect([...rig.files.keys()].filter((name) => name.startsWith(`shard-000${shard}/tables/`))).toHaveLength(1);
  await writer.write([cpu, [row(3)]]);
  await host.reach(writer.acknowledged);
  expect([host.epoch, host.applied, host.lag.records, lost]).toEqual([1, 4, 0, []]); // One is its own.
  await host.close(false);
  const next = await (await rig.node("b")).open(shard);
  expect([next.host.epoch, next.host.applied]).toEqual([2, 5]);
  expect(await rows(next.host)).toEqual(["x 1 1", "x 3 3", "y 2 2"]);
  await next.host.close(true);
  expect((await errorOf(next.host.reach(9))).message).toContain("this node has given it up");
});

test("all kinds of tables have the rows of the shard, and what a query sees of a metric is its own", async () => {
  await started();
  const { frontend } = rig;
  const ts = { name: "ts", type: { kind: "timestamp", unit: "millisecond" }, semantic: "timestamp", nullable: false } as const;
  const value = { name: "val", type: { kind: "float", bits: 64 }, semantic: "field", nullable: true } as const;
  await frontend.createTable(
    { database: "public", name: "phy", columns: [ts, value], primaryKey: [], engine: "metric", options: { physical_metric_table: "" } },
    false,
  );
  const host = { name: "host", type: STRING, semantic: "tag", nullable: true } as const;
  await frontend.createTable(
    {
      database: "public",
      name: "up",
      columns: [ts, value, host],
      primaryKey: ["host"],
      engine: "metric",
      options: { on_physical_table: "phy" },
    },
    false,
  );
  const { host: shard } = await (await rig.node("a")).open(2);
  await settled();
  expect(shard.engine.tables("public").map(({ schema }) => schema.name)).toEqual(["cpu", "phy", "up"]);
  for (const name of ["phy", "up"]) {
    const id = frontend.rolesOf("public", name) as TableSchema;
    expect(shard.table(id.id).schema.name).toBe(name);
  }
  const { meta } = (shard.engine as unknown as { readonly parts: { readonly meta: MetaStore } }).parts;
  await frontend.dropTable("public", "up", false);
  await settled();
  expect(meta.list("unclean/")).toHaveLength(1); // Its rows leave with merges, whoever owns the shard.
  await frontend.dropTable("public", "phy", false);
  await settled();
  expect(meta.list("unclean/")).toEqual([]);
  expect(shard.engine.tables("public").map(({ schema }) => schema.name)).toEqual(["cpu"]);
  await shard.close(false);
});

test("an owner that stood still is refused, deletes nothing, and is told", async () => {
  await started();
  const writer = rig.writer(1);
  await writer.write([cpu, [row(1)]]);
  const old = await (await rig.node("a")).open(1);
  await old.host.engine.flushTable("public", "cpu");
  await writer.write([cpu, [row(2)]]);
  await old.host.reach(writer.acknowledged);
  await old.host.engine.flushTable("public", "cpu");
  await writer.write([cpu, [row(3)]]);
  await old.host.reach(writer.acknowledged);
  const { host } = await (await rig.node("b")).open(1);
  await host.engine.flushTable("public", "cpu");
  const files = [...rig.files.keys()];
  const { engine } = old.host;
  const attempts = [() => engine.flushTable("public", "cpu"), () => engine.truncateTable("public", "cpu")];
  for (const attempt of attempts) expect((await errorOf(attempt())).message).toContain("b has it since epoch 2");
  await Bun.sleep(5);
  expect(old.lost).toHaveLength(1);
  expect(old.lost[0]).toBeInstanceOf(Fenced);
  expect([...rig.files.keys()]).toEqual(expect.arrayContaining(files));
  expect(new Set(rig.files.keys()).size).toBe(rig.files.size);
  await host.engine.compactTable("public", "cpu");
  expect(await rows(host)).toEqual(["x 1 1", "x 2 2", "x 3 3"]);
  const next = await (await rig.node("c")).open(1);
  expect(await rows(next.host)).toEqual(["x 1 1", "x 2 2", "x 3 3"]);
  // What the first one had made and could not commit is gone.
  expect(rig.files.size).toBe(1);
});

test("an owner of before that is asked once others have deleted rows is lost, and does not show them", async () => {
  await started();
  const last = await rig.table("last");
  const writer = rig.writer(1);
  await writer.write([last, [row(1), row(2)]]);
  const old = await (await rig.node("a")).open(1);
  rig.cluster.cut("a", 3000);
  const next = await rig.node("b");
  const { host } = await next.open(1);
  await host.engine.delete("public", keys("last", ["x", 1]));
  const least = await next.port.log.last(1);
  expect((await errorOf(old.host.reach(least))).message).toContain("b has it since epoch 2");
  expect(await rowsOf(host.table(last.id))).toEqual(["x 2 2"]);
});

test("a delete is refused an owner that stood still, and is in files where it was answered", async () => {
  await started();
  const last = await rig.table("last");
  const writer = rig.writer(1);
  await writer.write([last, [row(1), row(2), row(3)]]);
  const old = await (await rig.node("a")).open(1);
  await old.host.engine.delete("public", keys("last", ["x", 1]));
  const { host } = await (await rig.node("b")).open(1);
  expect(await rowsOf(host.table(last.id))).toEqual(["x 2 2", "x 3 3"]);
  expect((await errorOf(old.host.engine.delete("public", keys("last", ["x", 2])))).message).toContain("b has it since epoch 2");
  await host.engine.delete("public", keys("last", ["x", 3]));
  await writer.write([last, [row(3)]]);
  await host.close(false);
  const next = await (await rig.node("c")).open(1);
  expect(await rowsOf(next.host.table(last.id))).toEqual(["x 2 2", "x 3 3"]);
});

test("what was dropped goes: files, entries, and rows of it that still come by the log", async () => {
  await started();
  const node = await rig.node("a");
  const { host } = await node.open(1);
  const mem = await rig.table("mem");
  const writer = rig.writer(1);
  await writer.write([mem, [row(1)]], [cpu, [row(1)]]);
  await host.reach(writer.acknowledged);
  await host.engine.flushTable("public", "mem");
  expect(rig.files.size).toBe(1);
  await rig.frontend.dropTable("public", "mem", false);
  await settled();
  expect(rig.files.size).toBe(0);
  await writer.write([mem, [row(2)]], [cpu, [row(2)]]);
  await host.reach(writer.acknowledged);
  expect(await rows(host)).toEqual(["x 1 1", "x 2 2"]);
  expect((await errorOf((async () => rowsOf(host.table(mem.id)))())).message).toContain("does not exist");
  // One that is dropped while nobody has the shard.
  const disk = await rig.table("disk");
  const another = rig.writer(1);
  await another.write([disk, [row(1)]]);
  await host.reach(another.acknowledged);
  await host.engine.flushTable("public", "disk");
  await node.kill();
  await rig.frontend.dropTable("public", "disk", false);
  expect(rig.files.size).toBe(1);
  const next = await (await rig.node("b")).open(1);
  expect(rig.files.size).toBe(0);
  expect(await rows(next.host)).toEqual(["x 1 1", "x 2 2"]);
});

test("a record waits for the catalogue, and so do those who want to see it", async () => {
  await started();
  const { host } = await (await rig.node("a")).open(1);
  rig.cluster.cut("a", 8000);
  const mem = await rig.table("mem");
  const writer = rig.writer(1);
  await writer.write([mem, [row(1)]]);
  await host.reach(writer.acknowledged);
  expect(await rowsOf(host.table(mem.id))).toEqual(["x 1 1"]);
});

test("the files of a table that the catalogue here has not heard of stay", async () => {
  await started();
  const late = await rig.node("late");
  rig.cluster.cut("late", 60_000);
  const mem = await rig.table("mem");
  await rig.writer(1).write([mem, [row(1)]]);
  const first = await rig.node("a");
  const { host } = await first.open(1);
  await host.engine.flushTable("public", "mem");
  await first.kill();
  rig.cluster.cut("late", 0);
  const { mirror } = late;
  const opening = late.open(1);
  expect(mirror.version).toBeLessThan(rig.mirror.version);
  const next = await opening;
  await mirror.reach(rig.mirror.version);
  expect(await rowsOf(next.host.table(mem.id))).toEqual(["x 1 1"]);
});

test("a record in parts is taken by whoever comes next, though the log begins in its midst", async () => {
  await started();
  const node = await rig.node("a", { follow: { snapshotMessages: 1, trimMillis: 0 } });
  const first = await node.open(1);
  const long = rig.writer(1);
  const parts = encodeRecordParts(long.records.record(1, [[cpu, [row(1, "long")]]]), 60);
  const port = node.port.log;
  await port.append(1, parts[0] as Uint8Array);
  const short = rig.writer(1);
  await short.write([cpu, [row(2)]]);
  await port.append(1, parts[1] as Uint8Array);
  await short.write([cpu, [row(3)]]);
  short.records.segment++;
  await short.write([cpu, [row(4)]]);
  await first.host.reach(6); // The first is the owner's.
  await first.host.engine.flushTable("public", "cpu");
  expect(first.host.engine.followed.start).toMatchObject({ number: 5, from: 1 });
  await node.kill();
  const { host } = await (await rig.node("b")).open(1);
  for (const part of parts.slice(2)) await (await rig.node("c")).port.log.append(1, part);
  await host.reach(5 + parts.length);
  expect(await rows(host)).toEqual(["long 1 1", "x 2 2", "x 3 3", "x 4 4"]);
});

test("the log waits for memory, and goes on when flushes have made room", async () => {
  await started();
  const limits = { ...NO_LIMITS, memtableBytes: 64 * 1024, writeBufferBytes: 512 * 1024 };
  const writer = rig.writer(1);
  const all = Array.from({ length: 60 }, (_, i) => Array.from({ length: 500 }, (__, j) => row(i * 500 + j, `t${j % 7}`)));
  for (const some of all) await writer.write([cpu, some]);
  const { host } = await (await rig.node("a", { limits })).open(1);
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, host.lag.memoryBytes);
  }, 1);
  for (const some of all) await writer.write([cpu, some.map((one) => ({ ...one, time: one.time + 1_000_000 }))]);
  await host.reach(writer.acknowledged);
  clearInterval(timer);
  expect(await rows(host)).toHaveLength(60_000);
  expect(rig.files.size).toBeGreaterThan(2);
  expect(most).toBeLessThan(2 * limits.writeBufferBytes);
});

test("what the log lacks is waited for, within bounds", async () => {
  await started();
  const { host } = await (await rig.node("a")).open(1);
  const cancelled = new AbortController();
  const waiting = host.reach(4, cancelled.signal);
  await Promise.resolve();
  expect(host.lag.records).toBe(3);
  cancelled.abort();
  expect((await errorOf(waiting)).name).toBe("DbError");
  const closed = errorOf(host.reach(2));
  await host.close(true);
  expect((await closed).message).toContain("this node has given it up");
});

test("opening ends with its signal, and leaves nothing behind", async () => {
  await started();
  const node = await rig.node("a");
  const signal = AbortSignal.abort();
  await errorOf(node.open(1, signal));
  const cancelled = new AbortController();
  rig.cluster.elect(5000);
  const opening = node.open(1, cancelled.signal);
  setImmediate(() => cancelled.abort());
  await errorOf(opening);
  const { host } = await node.open(1);
  await host.close(true);
});

const LOSSES: readonly (readonly [what: string, lose: () => Promise<void> | void, why: string])[] = [
  ["is of a newer version", async () => void (await append(new Uint8Array([2, 1, 0, 0, 0, 0]))), "cannot read message 3"],
  ["has rows of another shard", alien, "has rows of shard 2"],
  ["relies on series that nobody defined", undefinedSeries, "of series that nothing has defined"],
];

async function append(message: Uint8Array): Promise<number> {
  return (await rig.node("other")).port.log.append(1, message);
}

async function alien(): Promise<void> {
  await append(encodeRecords([rig.writer(2).records.record(1, [[cpu, [row(1)]]])]));
}

async function undefinedSeries(): Promise<void> {
  const writer = rig.writer(1);
  writer.records.record(1, [[cpu, [row(1)]]]);
  await append(encodeRecords([writer.records.record(1, [[cpu, [row(1)]]])]));
}

test.each(LOSSES)("a shard whose log %s is lost, and says why", async (_, lose, why) => {
  await started();
  await rig.writer(1).write([cpu, [row(1)]]);
  const { host, lost } = await (await rig.node("a", { onBug: () => undefined })).open(1);
  const waiting = errorOf(host.reach(99));
  await lose();
  expect((await waiting).message).toMatch(why);
  await Bun.sleep(20);
  expect(lost.map(({ message }) => message).join()).toMatch(why);
  expect(lost).toHaveLength(1);
  await host.close(true);
});
