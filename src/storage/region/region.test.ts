import { expect, test } from "bun:test";
import { chunkScalar } from "../../../test/support/storage/rows.ts";
import { type Clock, fixedClock } from "../../base/clock.ts";
import { tableId } from "../../base/units.ts";
import { INT64, STRING, TIMESTAMP_MILLISECOND } from "../../column/data-type.ts";
import { textAt } from "../../column/text-table.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { ColumnSchema, TableSchema } from "../../table/schema.ts";
import { memoryFileStore } from "../file-store/memory-file-store.ts";
import { SlabPool } from "../memtable/arena.ts";
import type { Chunk } from "../memtable/chunk.ts";
import { flushChunks } from "../sst/write/flush.ts";
import type { PreparedChunk } from "./prepared-chunk.ts";
import { Region } from "./region.ts";

const V: ColumnSchema = { id: 3, name: "v", type: INT64, semantic: "field", nullable: true };
const SCHEMA: TableSchema = {
  id: tableId(1),
  database: "public",
  name: "t",
  version: 1,
  engine: "mito",
  options: {},
  primaryKey: ["host"],
  columns: [
    { id: 1, name: "host", type: STRING, semantic: "tag", nullable: true },
    { id: 2, name: "ts", type: TIMESTAMP_MILLISECOND, semantic: "timestamp", nullable: false },
    V,
  ],
};

/** The chunks in memory, oldest first. */
function chunksOf(region: Region): readonly Chunk[] {
  const snapshot = region.snapshot();
  void snapshot.release(); // Nothing is dropped here.
  return snapshot.memtables.flatMap(({ chunks }) => chunks);
}

class Fixture {
  readonly files: Map<string, Uint8Array> = new Map();
  readonly store = memoryFileStore(this.files);
  readonly clock: Clock & { set(nanos: bigint): void } = fixedClock(5_000_000_000n);
  readonly region: Region = new Region(SCHEMA, [], 0, { pool: new SlabPool(1 << 24), store: this.store, clock: this.clock });
  private sequence = 0;

  prepare(value: number): PreparedChunk {
    return this.region.prepare({
      sequence: ++this.sequence,
      rowCount: 1,
      series: Uint32Array.of(this.region.registry.register(["a"])),
      seriesMax: 0,
      timeBase: BigInt(value),
      timeOffsets: Float64Array.of(0),
      columns: [{ columnId: V.id, type: INT64, vector: vectorOf(INT64, [value]) }],
    });
  }

  write(value: number): void {
    this.prepare(value).publish();
  }

  /** Flushes the oldest frozen memtable. */
  async flush(): Promise<void> {
    const memtable = this.region.oldestFrozen()!;
    await memtable.whenSettled();
    const files = await flushChunks(this.region.flushJob(memtable, 100 + this.files.size), this.store);
    this.region.finishFlush(memtable, files, memtable.maxSequence);
  }

  values(): number[] {
    return chunksOf(this.region).map(({ columns: [column] }) => Number(chunkScalar(column!.data, INT64, 0)));
  }
}

test("a prepared chunk is seen once it is published, an abandoned one never", () => {
  const fixture = new Fixture();
  const chunk = fixture.prepare(1);
  expect(fixture.values()).toEqual([]);
  chunk.publish();
  fixture.prepare(2).abandon();
  expect(fixture.values()).toEqual([1]);
  expect(fixture.region.rowCount).toBe(1);
});

test("rows move from active to frozen to files, and are counted once", async () => {
  const fixture = new Fixture();
  const { region } = fixture;
  fixture.write(1);
  expect(region.hasFrozen).toBe(false);
  expect(region.freeze(1000, false)).toBe(region.oldestFrozen());
  fixture.write(2);
  expect([region.rowCount, region.hasFrozen, region.activeBytes > 0 && region.memoryBytes > 2 * region.activeBytes]).toEqual([
    2,
    true,
    true,
  ]);
  expect(fixture.values()).toEqual([1, 2]);
  await fixture.flush();
  expect([region.rowCount, region.hasFrozen, region.flushedSequence, region.dataFiles.length]).toEqual([2, false, 1, 1]);
  expect(fixture.values()).toEqual([2]);
});

test("freezing an empty region does nothing; one that only failed writes used gives its memory back", async () => {
  const fixture = new Fixture();
  expect(fixture.region.freeze(1000, false)).toBeUndefined();
  fixture.prepare(1).abandon();
  expect(fixture.region.activeBytes).toBeGreaterThan(0);
  const memtable = fixture.region.freeze(1000, false)!;
  fixture.region.finishFlush(memtable, [], 0);
  expect([fixture.region.memoryBytes, fixture.region.flushedSequence]).toEqual([0, 0]);
});

test("the oldest write counts also while it waits for its flush", () => {
  const fixture = new Fixture();
  expect(fixture.region.oldestWriteMillis).toBeUndefined();
  fixture.write(1);
  fixture.clock.set(9_000_000_000n);
  fixture.write(2);
  expect(fixture.region.oldestWriteMillis).toBe(5000);
  fixture.region.freeze(1000, false);
  expect(fixture.region.oldestWriteMillis).toBe(5000);
});

test("a snapshot keeps its memory and files, and sees nothing newer", async () => {
  const fixture = new Fixture();
  const { region, files } = fixture;
  fixture.write(1);
  region.freeze(1000, false);
  await fixture.flush();
  fixture.write(2);
  const snapshot = region.snapshot();
  fixture.write(3);
  region.freeze(1000, false);
  await fixture.flush();
  await region.close(true);
  expect(snapshot.memtables.length).toBe(1);
  expect(snapshot.files.map(({ meta }) => files.has(meta.name))).toEqual([true]);
  expect(chunkScalar(snapshot.memtables[0]!.chunks[0]!.columns[0]!.data, INT64, 0)).toBe(2);
  await snapshot.release();
  expect(files.size).toBe(0);
});

test("the folder of a dropped table goes with its last reader", async () => {
  const fixture = new Fixture();
  const { region, files } = fixture;
  files.set("tables/0000000001/stray.parquet", new Uint8Array(1));
  const [first, second] = [region.snapshot(), region.snapshot()];
  await region.close(true);
  await first.release();
  expect(files.size).toBe(1);
  await second.release();
  expect(files.size).toBe(0);
});

test("closing without deleting keeps the files", async () => {
  const fixture = new Fixture();
  fixture.write(1);
  fixture.region.freeze(1000, false);
  await fixture.flush();
  await fixture.region.close(false);
  expect(fixture.files.size).toBe(1);
});

test("closing waits for rows that are being logged", async () => {
  const fixture = new Fixture();
  const chunk = fixture.prepare(1);
  let isClosed = false;
  const closed = fixture.region.close(true).then(() => {
    isClosed = true;
  });
  await Bun.sleep(1);
  expect(isClosed).toBe(false);
  chunk.publish();
  await closed;
  expect(isClosed).toBe(true);
});

test("rows in memory, under way and read back get the default of a field that is added", () => {
  const fixture = new Fixture();
  const { region } = fixture;
  fixture.write(1);
  region.freeze(1000, false);
  fixture.write(2);
  const underWay = fixture.prepare(3);
  const added: ColumnSchema = { ...V, id: 4, name: "w", default: { kind: "literal", value: 7 } };
  const now: ColumnSchema = { ...V, id: 5, name: "at", type: TIMESTAMP_MILLISECOND, default: { kind: "now" } };
  region.setSchema({ ...SCHEMA, version: 2, columns: [...SCHEMA.columns, added, now] });
  underWay.publish();
  const [restored] = chunksOf(region);
  region.restore(() => ({ ...restored!, sequence: 9, columns: restored!.columns.slice(0, 1) }));
  for (const { columns } of chunksOf(region)) {
    expect(columns.map(({ columnId: id }) => id)).toEqual([3, 4, 5]);
    expect([chunkScalar(columns[1]!.data, INT64, 0), chunkScalar(columns[2]!.data, TIMESTAMP_MILLISECOND, 0)]).toEqual([7, 5000n]);
  }
  expect(chunksOf(region).length).toBe(4);
});

test("a chunk that cannot be read back leaves nothing", () => {
  const fixture = new Fixture();
  fixture.region.restore(() => undefined);
  expect([fixture.region.rowCount, chunksOf(fixture.region).length]).toEqual([0, 0]);
});

test("a flush job has the tags of all series", () => {
  const fixture = new Fixture();
  fixture.region.registry.register(["unused"]);
  fixture.write(1);
  const memtable = fixture.region.freeze(1000, false)!;
  const job = fixture.region.flushJob(memtable, 1);
  const [host] = job.tags;
  expect(Array.from({ length: job.seriesCount }, (_, series) => textAt(host!.texts, host!.codes[series]!))).toEqual(["unused", "a"]);
});

test("a flush job goes by the series as they were, though they begin anew before it runs", async () => {
  const fixture = new Fixture();
  const { region } = fixture;
  region.registry.register(["unused"]);
  fixture.write(1);
  const job = region.flushJob(region.freeze(1000, false)!, 1);
  await region.renewSeries(
    () => Promise.resolve(),
    (swap) => swap(),
  );
  const [chunk] = job.chunks;
  const [host] = job.tags;
  expect([textAt(host!.texts, host!.codes[chunk!.series[0]!]!), region.registry.count]).toEqual(["a", 1]);
});
