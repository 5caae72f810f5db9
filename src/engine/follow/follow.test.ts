/** An engine that follows a log: which rows it has, after whatever comes, and after another goes on where it was. */
import { beforeEach, expect, test } from "bun:test";
import { plainParts } from "../../../test/engine/plain-parts.ts";
import { errorOf } from "../../../test/support/failure-of.ts";
import { rowsOf } from "../../../test/support/cluster/shard-rig.ts";
import { RecordMaker, type TableRows, type WrittenRow } from "../../../test/support/cluster/record-maker.ts";
import { INT64, STRING } from "../../column/data-type.ts";
import { memoryFileStore } from "../../storage/file-store/memory-file-store.ts";
import { decodeWriteRecord } from "../../storage/memtable/write-record.ts";
import { memoryMetaStore } from "../../storage/meta-store/memory-meta-store.ts";
import type { LocalMetaStore, MetaValue } from "../../storage/meta-store/meta-store.ts";
import { RowBatchBuilder } from "../../table/rows/row-batch-builder.ts";
import { ALL_TIME } from "../../table/scan.ts";
import type { TableSchema } from "../../table/schema.ts";
import { Engine } from "../engine.ts";
import type { LogStreams } from "../log/log-streams.ts";
import { Shards } from "../schema/shards.ts";
import type { FollowedSource } from "./followed-source.ts";
import { AGES_KEY, CLOSED_KEY } from "./log-start.ts";

const SHARDS = new Shards(3, 2);

/** The log, and what outlives its owners. */
class Rig {
  readonly meta: LocalMetaStore = memoryMetaStore();
  readonly files: Map<string, Uint8Array> = new Map();
  readonly log: Uint8Array[] = [];
  millis = 1000;
  trimmed = 0;
  trimMillis = 0;
  bug: Error | undefined;
  commitFailure: string | undefined;
  engine!: Engine;
  cpu!: TableSchema;

  /** Another owner, which has read nothing of the log yet. */
  async open(): Promise<void> {
    const files = memoryFileStore(this.files);
    const source: FollowedSource = {
      limits: { snapshotMessages: 1, trimMillis: this.trimMillis },
      last: async () => this.log.length,
      trim: async (through) => {
        this.trimmed = through;
      },
      pad: async () => {
        this.log.push(new Uint8Array(0));
        this.read(this.log.length);
      },
    };
    const clock = { nowMillis: () => this.millis, nowNanos: () => BigInt(this.millis) * 1_000_000n, monotonicMillis: () => this.millis };
    const { engine } = await Engine.open({
      ...plainParts(files),
      clock,
      meta: this.meta,
      followed: source,
      shards: SHARDS.count,
      ownShard: SHARDS.own,
      onBug: (error) => {
        this.bug = error;
      },
    });
    this.engine = engine;
  }

  /** Another owner, which has read all of the log. */
  async takeOver(): Promise<void> {
    await this.open();
    this.read(this.log.length);
  }

  append(record: readonly Uint8Array[]): void {
    this.log.push(new Uint8Array(Buffer.concat(record)));
  }

  /** Gives the owner the log up to a message. */
  read(through: number): void {
    for (let number = this.engine.followed.applied + 1; number <= through; number++) {
      const bytes = this.log[number - 1] as Uint8Array;
      const sequence = number * 4096;
      const records = bytes.length === 0 ? [] : [{ sequence, first: number, ...decodeWriteRecord(sequence, bytes) }];
      this.engine.follow({ number, bytes: bytes.length, records, open: undefined });
    }
  }

  /** Appends a record and has it read. */
  put(record: readonly Uint8Array[]): void {
    this.append(record);
    this.read(this.log.length);
  }

  rows(table = this.cpu): Promise<string[]> {
    const found = this.engine.tableOfId(table.id);
    if (found === undefined) throw new Error("the table is there");
    return rowsOf(found);
  }

  flush(table = "cpu"): Promise<void> {
    return this.engine.flushTable("public", table);
  }

  async make(name: string, options: Readonly<Record<string, string>> = {}): Promise<TableSchema> {
    const columns = [
      { name: "host", type: STRING, semantic: "tag", nullable: true },
      { name: "ts", type: { kind: "timestamp", unit: "millisecond" }, semantic: "timestamp", nullable: false },
      { name: "v", type: INT64, semantic: "field", nullable: true },
    ] as const;
    await this.engine.createTable({ database: "public", name, columns, primaryKey: ["host"], engine: "mito", options }, false);
    return this.engine.rolesOf("public", name) as TableSchema;
  }
}

let rig: Rig;
let maker: RecordMaker;

beforeEach(async () => {
  rig = new Rig();
  await rig.open();
  rig.cpu = await rig.make("cpu", { append_mode: "true" });
  maker = new RecordMaker(2, SHARDS);
});

function row(time: number, tag = "a", value = time): WrittenRow {
  return { tag, time, value };
}

function cpu(...rows: readonly WrittenRow[]): TableRows {
  return [rig.cpu, rows];
}

test("a record counts once, in order, and by what its own segment says of series", async () => {
  rig.put(maker.record(1, [cpu(row(1))]));
  const second = maker.record(2, [cpu(row(2, "b"))]);
  rig.put(second);
  rig.put(second);
  rig.put(maker.record(4, [cpu(row(4, "c"))])); // 3 is missing: its writer sends both again.
  const late = maker.record(3, [cpu(row(3, "d"))]);
  maker.segment++;
  rig.put(maker.record(3, [cpu(row(3, "d"))]));
  rig.put(late);
  rig.put(maker.record(4, [cpu(row(4, "c"))]));
  expect(await rig.rows()).toEqual(["a 1 1", "b 2 2", "c 4 4", "d 3 3"]);
  expect(rig.engine.followed.skipped).toEqual({ gap: 1, older: 1, closed: 0, repeated: 1 });
});

test("rows of a region that is flushed further than others are not taken twice", async () => {
  const mem = await rig.make("mem", { append_mode: "true" });
  rig.put(maker.record(1, [cpu(row(1)), [mem, [row(1)]]]));
  await rig.flush();
  rig.put(maker.record(2, [cpu(row(2)), [mem, [row(2, "b")]]]));
  await rig.takeOver();
  expect(await rig.rows()).toEqual(["a 1 1", "a 2 2"]);
  expect(await rig.rows(mem)).toEqual(["a 1 1", "b 2 2"]);
});

test("a flush while the log is read again says nothing of what was not read yet", async () => {
  const mem = await rig.make("mem", { append_mode: "true" });
  for (let time = 1; time <= 4; time++) rig.put(maker.record(time, [cpu(row(time)), [mem, [row(time)]]]));
  await rig.flush();
  await rig.open();
  rig.read(2);
  await rig.flush("mem");
  rig.read(4);
  expect(await rig.rows(mem)).toEqual(["a 1 1", "a 2 2", "a 3 3", "a 4 4"]);
  await rig.takeOver();
  expect(await rig.rows(mem)).toEqual(["a 1 1", "a 2 2", "a 3 3", "a 4 4"]);
});

test("the log is kept from the first record of a segment whose rows are in memory, and of the newest of each writer", async () => {
  const other = new RecordMaker(2, SHARDS);
  const mem = await rig.make("mem", { append_mode: "true" });
  rig.put(maker.record(1, [cpu(row(1))]));
  rig.put(other.record(1, [[mem, [row(1)]]]));
  rig.put(maker.record(2, [cpu(row(2))]));
  await rig.flush();
  await rig.flush("mem");
  expect(rig.trimmed).toBe(0);
  maker.segment++;
  rig.put(maker.record(3, [cpu(row(3))]));
  await rig.flush("mem");
  expect(rig.trimmed).toBe(1); // Message 2 begins a segment that may have more.
  other.segment++;
  rig.put(other.record(2, [[mem, [row(2)]]]));
  await rig.flush();
  expect(rig.trimmed).toBe(3);
  await rig.takeOver();
  expect([rig.engine.followed.start.number, await rig.rows(), await rig.rows(mem)]).toEqual([
    3,
    ["a 1 1", "a 2 2", "a 3 3"],
    ["a 1 1", "a 2 2"],
  ]);
});

/** A segment of which all that was acknowledged is in files, and a record of it that nobody acknowledged, and that is sent again. */
async function silent(): Promise<{ readonly late: Uint8Array[]; readonly again: Uint8Array[] }> {
  rig.put(maker.record(1, [cpu(row(1))]));
  await rig.flush();
  const late = maker.record(2, [cpu(row(2))]);
  maker.segment++;
  return { late, again: maker.record(2, [cpu(row(2))]) };
}

const BOTH = ["a 1 1", "a 2 2"];

test("a segment is closed two minutes after it was seen; what comes later does not count, and its number is free", async () => {
  const { late, again } = await silent();
  const mem = await rig.make("mem");
  const other = new RecordMaker(2, SHARDS);
  rig.put(other.record(1, [[mem, [row(1)]]]));
  rig.millis += 119_000;
  await rig.engine.keepUp();
  expect([rig.trimmed, rig.meta.get(CLOSED_KEY)]).toEqual([0, undefined]);
  rig.millis += 1000;
  await rig.engine.keepUp();
  expect([rig.trimmed, rig.meta.get(CLOSED_KEY)]).toEqual([1, [[maker.writer, 1, 2]]]);
  rig.put(late);
  expect(await rig.rows()).toEqual(["a 1 1"]);
  // A flush up to there, and an owner that does not know what the record's series are, and finds it behind where it begins.
  rig.put(other.record(2, [cpu(row(7, "z"))]));
  await rig.flush();
  expect(rig.trimmed).toBe(1);
  await rig.takeOver();
  rig.put(again);
  expect(await rig.rows()).toEqual([...BOTH, "z 7 7"]);
  expect(rig.engine.followed.skipped).toMatchObject({ closed: 1, repeated: 0 });
  await rig.takeOver();
  expect(await rig.rows()).toEqual([...BOTH, "z 7 7"]);
});

test("it is not closed before all was taken that the log had then", async () => {
  await silent();
  rig.append(new RecordMaker(2, SHARDS).record(1, [cpu(row(5, "z"))]));
  rig.millis += 200_000;
  await rig.engine.keepUp();
  expect(rig.trimmed).toBe(0);
  rig.read(2);
  rig.millis += 10_000;
  await rig.engine.keepUp();
  expect([rig.trimmed, rig.meta.get(CLOSED_KEY)]).toEqual([1, [[maker.writer, 1, 2]]]);
});

test("what was decided is stored with whatever is stored next", async () => {
  const { late, again } = await silent();
  const mem = await rig.make("mem");
  rig.put(new RecordMaker(2, SHARDS).record(1, [[mem, [row(1)]]]));
  const { follower } = (rig.engine as unknown as { parts: { follower: { closed: Map<unknown, unknown> } } }).parts;
  follower.closed.set(maker.writer, { segment: 1, through: 2 }); // As by a trim whose commit failed.
  rig.put(late);
  rig.put(new RecordMaker(2, SHARDS).record(1, [cpu(row(9, "z"))]));
  await rig.flush();
  await rig.takeOver();
  rig.put(again);
  expect(await rig.rows()).toEqual([...BOTH, "z 9 9"]);
});

test("a segment stays closed through the same message, whoever closes it again", async () => {
  rig.put(maker.record(1, [cpu(row(1))]));
  const mem = await rig.make("mem");
  rig.put(new RecordMaker(2, SHARDS).record(1, [[mem, [row(1)]]])); // What owners begin with.
  rig.put(maker.record(2, [cpu(row(2))]));
  await rig.flush();
  const late = maker.record(3, [cpu(row(3))]);
  rig.millis += 120_000;
  await rig.engine.keepUp();
  await rig.takeOver(); // It has read of the segment, too.
  rig.put(late);
  rig.millis += 130_000;
  await rig.engine.keepUp();
  rig.put(new RecordMaker(2, SHARDS).record(1, [cpu(row(8, "z"))]));
  await rig.flush();
  expect([rig.trimmed, rig.meta.get(CLOSED_KEY)]).toEqual([1, [[maker.writer, 1, 3]]]);
  await rig.takeOver();
  expect(await rig.rows()).toEqual([...BOTH, "z 8 8"]);
  maker.segment++;
  rig.put(maker.record(3, [cpu(row(3))]));
  await rig.flush("mem");
  await rig.flush();
  rig.millis += 130_000;
  await rig.engine.keepUp();
  rig.put(new RecordMaker(2, SHARDS).record(1, [cpu(row(5, "z"))]));
  await rig.flush();
  // Those before are of no use any more.
  expect(rig.meta.get(CLOSED_KEY)).toEqual(expect.arrayContaining([[maker.writer, 2, 6]]));
});

/** Deletes a row of a table by its key. */
function remove(time: number, table = "last"): Promise<unknown> {
  const builder = new RowBatchBuilder(table, [
    { name: "host", type: STRING, semantic: "tag" },
    { name: "ts", type: { kind: "timestamp", unit: "millisecond" }, semantic: "timestamp" },
  ]);
  builder.add(["a", BigInt(time)]);
  return rig.engine.delete("public", builder.batch());
}

test("a delete that is under way when its engine closes fails: tables have let go of the files whose rows it hides", async () => {
  const last = await rig.make("last");
  rig.put(maker.record(1, [[last, [row(1), row(2)]]]));
  await rig.flush("last");
  await rig.engine.close(false);
  expect((await errorOf(remove(1))).message).toBe("cannot store a change: the engine is closed");
  await rig.takeOver();
  expect(await rig.rows(last)).toEqual(["a 1 1", "a 2 2"]);
});

test("deletes lie between messages, are in files when they are answered, and make room where there is none", async () => {
  const last = await rig.make("last");
  rig.put(maker.record(1, [[last, [row(1), row(2), row(3)]]]));
  await remove(2);
  expect(await rig.rows(last)).toEqual(["a 1 1", "a 3 3"]);
  await rig.takeOver();
  expect(await rig.rows(last)).toEqual(["a 1 1", "a 3 3"]);
  rig.put(maker.record(2, [[last, [row(2, "a", 20)]]]));
  expect(await rig.rows(last)).toEqual(["a 1 1", "a 2 20", "a 3 3"]);
  const { sequences } = (rig.engine as unknown as { parts: { sequences: { sawUsed(sequence: number): void } } }).parts;
  sequences.sawUsed(2 * 4096 + 4095);
  await Promise.all([remove(1), remove(2)]);
  expect([rig.log.length, await rig.rows(last)]).toEqual([3, ["a 3 3"]]);
  rig.put(maker.record(3, [[last, [row(2, "a", 200)]]]));
  await rig.takeOver();
  expect(await rig.rows(last)).toEqual(["a 2 200", "a 3 3"]);
});

test("who deletes by values hears of rows that came by the log meanwhile", async () => {
  const last = await rig.make("last");
  rig.put(maker.record(1, [[last, [row(1), row(2)]]]));
  const watch = rig.engine.tableOfId(last.id)?.watchOverwrites(ALL_TIME);
  rig.put(maker.record(2, [[last, [row(1, "a", 10), row(9, "b")]]]));
  rig.put(maker.record(2, [[last, [row(2, "a", 20)]]])); // It is there twice.
  const keys = { count: 2, series: new Uint32Array([0, 0]), base: 0n, offsets: new Float64Array([1, 2]) };
  expect([watch?.unwritten(keys), keys.offsets[0]]).toEqual([1, 2]);
  watch?.end();
});

test("a truncation takes what was read until then, also after it is read again", async () => {
  rig.put(maker.record(1, [cpu(row(1))]));
  await rig.flush();
  rig.put(maker.record(2, [cpu(row(2))]));
  await rig.engine.truncateTable("public", "cpu");
  rig.put(maker.record(3, [cpu(row(3))]));
  expect(await rig.rows()).toEqual(["a 3 3"]);
  await rig.takeOver();
  expect(await rig.rows()).toEqual(["a 3 3"]);
});

test("what is no row of this shard ends it: nothing is flushed any more", async () => {
  const alien = new RecordMaker(1, SHARDS);
  const wrong: [string, Uint8Array[]][] = [
    ["has rows of shard 1, and this is shard 2", alien.record(1, [cpu(row(1))])],
    ["the catalogue has given out ids below", maker.record(1, [[{ ...rig.cpu, id: (rig.cpu.id + 9) as typeof rig.cpu.id }, [row(1)]]])],
  ];
  for (const [why, record] of wrong) {
    await rig.takeOver();
    expect(() => rig.put(record)).toThrow(why);
    expect(rig.bug?.message).toContain(why);
    rig.log.pop();
  }
  expect((await errorOf(rig.flush())).message).toContain("cannot go on after what is stored");
});

test("a segment of a writer that died is closed though owners change every 25 seconds", async () => {
  rig.put(maker.record(1, [cpu(row(1))]));
  const mem = await rig.make("mem", { append_mode: "true" });
  const lives = new RecordMaker(2, SHARDS);
  const ages: unknown[] = [];
  for (let time = 1; rig.meta.get(CLOSED_KEY) === undefined && time < 12; time++) {
    lives.segment++;
    rig.put(lives.record(2 * time - 1, [[mem, [row(time)]]]));
    await rig.flush();
    rig.millis += 25_000;
    await rig.engine.keepUp();
    ages.push((rig.meta.get(AGES_KEY) as readonly MetaValue[][]).find(([writer]) => writer === maker.writer)?.[2]);
    await rig.open();
    await rig.make(`made${time}`); // A commit of an owner that has read nothing yet.
    rig.read(rig.log.length);
    rig.put(lives.record(2 * time, [[mem, [row(time + 500)]]]));
    await rig.flush("mem"); // One of an owner that has just heard of all of them.
  }
  expect(ages).toEqual([25_000, 50_000, 75_000, 100_000, undefined]);
  expect(rig.meta.get(CLOSED_KEY)).toEqual([[maker.writer, 1, 10]]);
  expect(await rig.rows()).toEqual(["a 1 1"]);
});

test("small messages weigh more than their bytes, as far as a flush lets go of them", async () => {
  const weight = (): number => (rig.engine as unknown as { parts: { streams: LogStreams } }).parts.streams.all()[0]?.weight?.() ?? -1;
  for (let time = 1; time <= 40; time++) rig.put(maker.record(time, [cpu(row(time))]));
  expect(weight()).toBe(0); // The segment may have more.
  maker.segment++;
  rig.put(maker.record(41, [cpu(row(41))]));
  expect(weight()).toBe(40 * 8192 + rig.log.slice(0, 40).reduce((sum, { length }) => sum + length, 0));
  rig.trimMillis = 10_000;
  await rig.flush();
  expect(weight()).toBe(0);
  rig.millis += 120_000;
  rig.put(maker.record(42, [cpu(row(42))]));
  expect(weight()).toBeGreaterThan(2 * 8192); // It is old, and has a row in memory.
  await rig.flush();
  expect(weight()).toBe(0);
});
