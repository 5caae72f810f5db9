import { tableId, writerId } from "../../base/units.ts";
import { describe, expect, test } from "bun:test";
import { FIELDS } from "../../../test/support/storage/arbitrary-rows.ts";
import { chunkOf, type Request } from "../../../test/support/storage/rows.ts";
import { registryOf, SERIES_TAGS } from "../../../test/support/storage/table.ts";
import { Arena, SlabPool } from "./arena.ts";
import type { Chunk } from "./chunk.ts";
import { placeChunk } from "./chunk-codec.ts";
import { TagMarks } from "./series-definitions.ts";
import { type RowSelection, sortRows } from "./sort-rows.ts";
import { decodeWriteRecord, encodeWriteRecord } from "./write-record.ts";
import { buildDeleteChunk } from "./delete-chunk.ts";

const BASE = 1_699_920_000_000n;
const arena = new Arena(new SlabPool(0));
const ALL: RowSelection = {
  base: BASE,
  minOffset: 0,
  maxOffset: 5_000_000_000,
  bucketOfSeries: Uint32Array.from(SERIES_TAGS, (_, series) => series),
  bucketCount: SERIES_TAGS.length,
};

/** Rows of the first field: series, time, value. */
function put(sequence: number, ...rows: readonly (readonly [series: number, time: number, value: number | undefined])[]): Chunk {
  const request: Request = {
    rows: rows.map(([series, time, value]) => ({ series, time: BASE + BigInt(time), values: [value] })),
    columnIds: [FIELDS[0]!.id],
  };
  return chunkOf(sequence, request, FIELDS, arena);
}

/** A delete of ranges: series, first and last time. */
function remove(sequence: number, ...ranges: readonly (readonly [series: number, first: number, last: number])[]): Chunk {
  const series = Uint32Array.from(ranges, ([s]) => s);
  const lengths = Float64Array.from(ranges, ([, first, last]) => last - first);
  const source = { sequence, count: ranges.length, series, seriesMax: Math.max(...series), timeBase: BASE };
  const firsts = Float64Array.from(ranges, ([, first]) => first);
  const isPoints = lengths.every((length) => length === 0);
  return buildDeleteChunk(
    { ...source, firsts, lengths: isPoints ? undefined : lengths, rows: isPoints ? undefined : lengths.map((length) => length + 1) },
    arena,
  );
}

/** What is left: `series@time` in order, then what is deleted: `series first..last`. */
function left(chunks: readonly Chunk[], selection: RowSelection = ALL): { rows: string[]; deleted: string[]; rowCount: number } {
  const { runBuckets, runStarts, times, tombstones } = sortRows(chunks, selection, "last_row");
  const rows: string[] = [];
  for (let run = 0; run < runBuckets.length; run++) {
    for (let row = runStarts[run]!; row < runStarts[run + 1]!; row++) rows.push(`${runBuckets[run]}@${times[row]}`);
  }
  const deleted: string[] = [];
  for (let p = 0; p < (tombstones?.series.length ?? 0); p++) {
    for (let i = tombstones!.startOf(p); i < tombstones!.ends[p]!; i++) {
      deleted.push(`${tombstones!.series[p]} ${tombstones!.firsts[i]}..${tombstones!.lasts[i]}`);
    }
  }
  return { rows, deleted, rowCount: tombstones?.rowCount ?? 0 };
}

describe("a delete in memory", () => {
  test("hides older rows and leaves newer ones", () => {
    const chunks = [put(1, [0, 5, 1], [0, 6, 1], [1, 5, 1]), remove(2, [0, 5, 5], [1, 5, 5]), put(3, [1, 5, 2])];
    expect(left(chunks)).toEqual({ rows: ["0@6", "1@5"], deleted: ["0 5..5", "1 5..5"], rowCount: 2 });
  });

  test("of ranges covers all times of them", () => {
    const chunks = [put(1, [0, 1, 1], [0, 2, 1], [0, 3, 1], [0, 4, 1]), remove(2, [0, 2, 3])];
    expect(left(chunks)).toEqual({ rows: ["0@1", "0@4"], deleted: ["0 2..3"], rowCount: 2 });
  });

  test("repeated with rows between counts each time", () => {
    const chunks = [put(1, [0, 5, 1]), remove(2, [0, 5, 5]), put(3, [0, 5, 2]), remove(4, [0, 0, 9]), put(5, [0, 6, 2])];
    expect(left(chunks)).toEqual({ rows: ["0@6"], deleted: ["0 0..9"], rowCount: 11 });
  });

  test("counts only within a scan's series and times", () => {
    const chunks = [put(1, [0, 5, 1], [2, 5, 1]), remove(2, [0, 5, 5], [2, 5, 5], [0, 99, 99])];
    const bucketOfSeries = ALL.bucketOfSeries.map((bucket, series) => (series === 0 ? bucket : 0xffff_ffff));
    expect(left(chunks, { ...ALL, maxOffset: 50, bucketOfSeries })).toEqual({ rows: [], deleted: ["0 5..5"], rowCount: 1 });
  });

  test("of rows before its group and after it hides nothing here", () => {
    expect(left([put(1, [0, 5, 1]), remove(2, [0, -9, -9])])).toEqual({ rows: ["0@5"], deleted: [], rowCount: 0 });
  });
});

describe("a delete in the log", () => {
  const registry = registryOf();
  for (const tags of SERIES_TAGS) registry.register(tags);
  const bytesOf = (...chunks: readonly Chunk[]): Uint8Array =>
    Buffer.concat(
      encodeWriteRecord(
        { writer: writerId(1), number: 1, segment: 1, catalogVersion: 1 },
        chunks.map((chunk) => ({ tableId: tableId(1), registry, newSeries: [], tagMarks: new TagMarks(), chunk })),
      ),
    );

  test("comes back as one, rows beside it as rows", () => {
    const chunks = [put(9, [0, 5, 1]), remove(9, [0, 2, 3], [1, 7, 7]), put(9, [3, 1, 2])];
    const bytes = bytesOf(...chunks);
    const decoded = decodeWriteRecord(9, bytes).entries.map(({ header, bytes: memory }) => placeChunk(header, memory, arena));
    expect(decoded).toEqual(chunks);
    expect(decoded.map(({ deletes }) => deletes)).toEqual([undefined, true, undefined]);
  });

  test("of another kind is refused", () => {
    const bytes = bytesOf(remove(9, [0, 2, 2]));
    const kindAt = 8 + 4 + 1 + 4 + 1 + 4 * registry.columnCount + 1; // Version and length, origin, entries, table, columns, series.
    expect(bytes[kindAt]).toBe(1);
    bytes[kindAt] = 7;
    expect(() => decodeWriteRecord(9, bytes)).toThrow("a kind of chunk; got 7");
  });
});
