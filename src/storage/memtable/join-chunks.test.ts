import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FIELDS, requestOf } from "../../../test/support/storage/arbitrary-rows.ts";
import { chunkOf, chunkScalar, type FieldColumn, type Request } from "../../../test/support/storage/rows.ts";
import { FLOAT64 } from "../../column/data-type.ts";
import { Arena, SlabPool } from "./arena.ts";
import { type Chunk, chunkMaxTime } from "./chunk.ts";
import { joinable, joinChunks } from "./join-chunks.ts";
import { Memtable } from "./memtable.ts";

const arena = new Arena(new SlabPool(0));
const typeOf = new Map(FIELDS.map(({ id, type }) => [id, type]));

/** Series, time and values of each row. */
function rowsOf(chunks: readonly Chunk[]): unknown[][] {
  return chunks.flatMap(({ rowCount, series, times, timeBase, timeScale, columns }) =>
    Array.from({ length: rowCount }, (_, row) => [
      series[row],
      timeBase + BigInt(times[row]! * timeScale),
      ...columns.map(({ columnId, data }) => chunkScalar(data, typeOf.get(columnId)!, row)),
    ]),
  );
}

function chunksOf(requests: readonly Request[]): Chunk[] {
  return requests.map((request, i) => chunkOf(7 + i, request, FIELDS, arena));
}

/** Requests of so many rows each, without fields. */
function sized(...rowCounts: readonly number[]): Chunk[] {
  return chunksOf(
    rowCounts.map((count) => ({
      rows: Array.from({ length: count }, (_, i) => ({ series: 0, time: BigInt(i), values: [] })),
      columnIds: [],
    })),
  );
}

describe("joined chunks", () => {
  test("hold the rows of all, in their order, whatever the values are", () => {
    const times = fc.bigInt({ min: -(2n ** 40n), max: 2n ** 40n });
    fc.assert(
      fc.property(fc.array(requestOf(5, times), { minLength: 1, maxLength: 5 }), (requests) => {
        const same = requests.map((request) => ({ ...request, columnIds: requests[0]!.columnIds }));
        const chunks = chunksOf(same);
        const joined = joinChunks(chunks, arena);
        if (joined === undefined) return; // Kinds of a column differ: wide beside narrow.
        expect(rowsOf([joined])).toEqual(rowsOf(chunks));
        expect([joined.sequence, joined.rowCount]).toEqual([6 + chunks.length, rowsOf(chunks).length]);
        expect(chunkMaxTime(joined)).toBe(chunks.map(chunkMaxTime).reduce((a, b) => (a > b ? a : b)));
      }),
      { seed: 41, numRuns: 200 },
    );
  });

  test("are none when columns differ or times lie too far apart", () => {
    const row = (time: bigint): Request["rows"] => [{ series: 0, time, values: [1] }];
    const field = FIELDS[0]!.id;
    expect(
      joinChunks(
        chunksOf([
          { rows: row(0n), columnIds: [field] },
          { rows: row(1n), columnIds: [] },
        ]),
        arena,
      ),
    ).toBeUndefined();
    expect(
      joinChunks(
        chunksOf([
          { rows: row(0n), columnIds: [] },
          { rows: row(2n ** 53n), columnIds: [] },
        ]),
        arena,
      ),
    ).toBeUndefined();
    expect(joinChunks([], arena)).toBeUndefined();
  });

  test("are made of the last eight that are no larger than the last", () => {
    expect(joinable(sized(1, 1, 1, 1, 1, 1, 1))).toBe(0);
    expect(joinable(sized(1, 1, 1, 1, 1, 1, 1, 1))).toBe(8);
    expect(joinable(sized(9, 1, 1, 1, 1, 1, 1, 1))).toBe(0);
    expect(joinable(sized(1, 1, 1, 1, 1, 1, 1, 9))).toBe(8);
    expect(joinable(sized(...new Array<number>(8).fill(5000)))).toBe(0);
  });

  test("are not made where rows take far more than their chunk's objects", () => {
    const samples = (count: number): Chunk[] => {
      const rows = Array.from({ length: count }, (_, i) => ({ series: i, time: BigInt(i), values: [i / 3] }));
      const double: FieldColumn = { id: 10, type: FLOAT64 };
      return Array.from({ length: 8 }, (_, i) => chunkOf(i, { rows, columnIds: [10] }, [double], arena));
    };
    expect(joinable(samples(2000))).toBe(0);
    expect(joinable(samples(1000))).toBe(8);
    expect(joinable(sized(...new Array<number>(8).fill(1100)))).toBe(8);
  });
});

describe("a memtable of small requests", () => {
  test("keeps few chunks, all rows, and what views of it show", () => {
    const memtable = new Memtable(new SlabPool(0));
    for (let i = 0; i < 1000; i++) {
      memtable.reserve(0);
      memtable.publish(chunkOf(i + 1, { rows: [{ series: i % 3, time: BigInt(i), values: [] }], columnIds: [] }, FIELDS, memtable.arena));
      if (i === 99) expect(memtable.view().starts.at(-1)).toBe(100);
    }
    expect(memtable.chunks.length).toBeLessThan(30);
    expect([memtable.rowCount, memtable.maxSequence, memtable.times]).toEqual([1000, 1000, { min: 0n, max: 999n }]);
    expect(rowsOf(memtable.chunks).map(([, time]) => Number(time))).toEqual(Array.from({ length: 1000 }, (_, i) => i));
    expect(memtable.bytes).toBeLessThan(100_000);
    memtable.release();
    expect(memtable.bytes).toBe(0);
  });
});
