import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FIELDS, requestOf } from "../../../test/support/storage/arbitrary-rows.ts";
import { chunkOf, chunkScalar, type Request } from "../../../test/support/storage/rows.ts";
import { AssertionError } from "../../base/assert.ts";
import { ByteReader } from "../../base/bytes/byte-reader.ts";
import { ByteWriter } from "../../base/bytes/byte-writer.ts";
import { FLOAT64, INT64, STRING, TIMESTAMP_NANOSECOND, UINT64 } from "../../column/data-type.ts";
import type { Vector } from "../../column/vector.ts";
import { Arena, SlabPool } from "./arena.ts";
import { type Chunk, chunkMaxTime, chunkMinTime } from "./chunk.ts";
import { buildChunk, type ColumnSource } from "./chunk-builder.ts";
import { placeChunk, readChunkHeader, writeChunkHeader } from "./chunk-codec.ts";

const pool = new SlabPool(0);

function headOf(chunk: Chunk): Uint8Array {
  const out = new ByteWriter();
  writeChunkHeader(chunk, out);
  return out.copy();
}

/** The chunk as a log record gives it back, in memory that held something else before. */
function readBack(chunk: Chunk): Chunk {
  const arena = new Arena(pool);
  const { buffer, offset } = arena.allocate(chunk.payload.length + 64);
  new Uint8Array(buffer, offset).fill(0xaa);
  const header = readChunkHeader(chunk.sequence, new ByteReader(headOf(chunk)));
  expect([header.rowCount, header.payloadBytes]).toEqual([chunk.rowCount, chunk.payload.length]);
  return placeChunk(header, chunk.payload, arena);
}

/** The content of a chunk as rows: series, time, and a scalar a column. */
function contentOf(chunk: Chunk): unknown[] {
  return Array.from({ length: chunk.rowCount }, (_, row) => [
    chunk.series[row],
    chunk.timeBase + BigInt(chunk.times[row]!) * BigInt(chunk.timeScale),
    chunk.columns.map(({ columnId, data }) => {
      const field = FIELDS.find(({ id }) => id === columnId);
      return [columnId, chunkScalar(data, field?.type ?? INT64, row)];
    }),
  ]);
}

function wanted(request: Request): unknown[] {
  return request.rows.map((row) => [
    row.series,
    row.time,
    FIELDS.flatMap((field, i) => (request.columnIds.includes(field.id) ? [[field.id, row.values[i]]] : [])),
  ]);
}

/** One column of one chunk, and the column read back from its record. */
function check(source: Omit<ColumnSource, "columnId">, rowCount: number): readonly [built: unknown, back: unknown] {
  const built = buildChunk(
    {
      sequence: 1,
      rowCount,
      series: new Uint32Array(rowCount + 3).fill(9, rowCount),
      seriesMax: 0,
      timeBase: 0n,
      timeOffsets: new Float64Array(rowCount + 3).fill(1e15, rowCount),
      columns: [{ columnId: 1, ...source }],
    },
    new Arena(pool),
  );
  return [built.columns[0]!.data, readBack(built).columns[0]!.data];
}

describe("a chunk", () => {
  test("holds the rows of its request, before and after the log", () => {
    const time = fc.bigInt({ min: -(2n ** 51n), max: 2n ** 51n });
    fc.assert(
      fc.property(requestOf(70_000, time), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (request, sequence) => {
        const chunk = chunkOf(sequence, request, FIELDS, new Arena(pool));
        const back = readBack(chunk);
        expect(contentOf(chunk)).toEqual(wanted(request));
        expect(contentOf(back)).toEqual(wanted(request));
        expect(back).toEqual(chunk);
        const times = request.rows.map((row) => row.time);
        expect(chunkMinTime(back)).toBe(times.reduce((a, b) => (a < b ? a : b)));
        expect(chunkMaxTime(back)).toBe(times.reduce((a, b) => (a > b ? a : b)));
      }),
      { seed: 4, numRuns: 150 },
    );
  });

  test("takes two bytes a series below 65,536 series, four above", () => {
    const of = (series: number): Chunk["series"] => {
      return chunkOf(1, { rows: [{ series, time: 0n, values: [] }], columnIds: [] }, FIELDS, new Arena(pool)).series;
    };
    expect([of(0), of(65_535)]).toEqual([Uint16Array.of(0), Uint16Array.of(65_535)]);
    expect(of(65_536)).toEqual(Uint32Array.of(65_536));
  });

  test("is as small as the header says: 13 bytes a TSBS row", () => {
    const rowCount = 1000;
    const chunk = buildChunk(
      {
        sequence: 1,
        rowCount,
        series: Uint32Array.from({ length: rowCount }, (_, i) => i % 100),
        seriesMax: 99,
        timeBase: 1_700_000_000_000_000_000n,
        timeOffsets: Float64Array.from({ length: rowCount }, (_, i) => Math.floor(i / 100) * 1e10),
        columns: Array.from({ length: 10 }, (_, c) => ({
          columnId: c,
          type: INT64,
          vector: { kind: "number", values: Int32Array.from({ length: rowCount }, (_, i) => (i * c) % 101), validity: undefined } as const,
        })),
      },
      new Arena(pool),
    );
    expect(chunk.payload.length).toBe(13 * rowCount);
  });

  test("copies only its rows out of longer arrays", () => {
    const validity = Uint8Array.of(1, 0, 1, 0, 0);
    const cases: readonly Omit<ColumnSource, "columnId">[] = [
      { type: INT64, vector: { kind: "number", values: Float64Array.of(1, 2, 3, 1e12, 5), validity } },
      { type: FLOAT64, vector: { kind: "number", values: Float64Array.of(0.5, 2, -0, 1e12, 5), validity: undefined } },
      { type: INT64, vector: { kind: "wide", values: BigInt64Array.of(1n, -(2n ** 63n), 3n, 4n, 5n), validity } },
      { type: UINT64, vector: { kind: "wide", values: BigUint64Array.of(1n, 2n ** 64n - 1n, 3n, 4n, 5n), validity: undefined } },
      { type: TIMESTAMP_NANOSECOND, vector: { kind: "time", base: -5n, offsets: Float64Array.of(1, 2, 3, 4, 5), validity } },
    ];
    const wants: readonly unknown[] = [
      { kind: "number", values: Int8Array.of(1, 2, 3), validity: Uint8Array.of(1, 0, 1) },
      { kind: "number", values: Float64Array.of(0.5, 2, -0), validity: undefined },
      { kind: "wide", values: BigInt64Array.of(1n, -(2n ** 63n), 3n), validity: Uint8Array.of(1, 0, 1) },
      { kind: "wide", values: BigUint64Array.of(1n, 2n ** 64n - 1n, 3n), validity: undefined },
      { kind: "time", base: -5n, offsets: Float64Array.of(1, 2, 3), validity: Uint8Array.of(1, 0, 1) },
    ];
    cases.forEach((source, i) => expect(check(source, 3)).toEqual([wants[i], wants[i]]));
  });

  test("copies text whose offsets do not begin at 0 and whose memory holds more", () => {
    const bytes = new TextEncoder().encode("before|ab||cde|after");
    const vector: Vector = { kind: "bytes", offsets: Uint32Array.of(7, 9, 9, 14, 20), bytes, validity: undefined };
    const want = { kind: "bytes", offsets: Uint32Array.of(0, 2, 2, 7), bytes: new TextEncoder().encode("ab||cde"), validity: undefined };
    expect(check({ type: STRING, vector }, 3)).toEqual([want, want]);
  });

  test("has rows, whose times lie within 2^53 of each other", () => {
    const source = { sequence: 1, series: new Uint32Array(2), seriesMax: 0, timeBase: 0n, columns: [] };
    expect(() => buildChunk({ ...source, rowCount: 0, timeOffsets: new Float64Array(0) }, new Arena(pool))).toThrow("a chunk has rows");
    const far = Float64Array.of(-(2 ** 52), 2 ** 52);
    expect(() => buildChunk({ ...source, rowCount: 2, timeOffsets: far }, new Arena(pool))).toThrow("within 2^53");
  });

  test("takes no dictionary for a field", () => {
    const vector: Vector = { kind: "dictionary", codes: Uint32Array.of(0), dictionary: [undefined] };
    expect(() => check({ type: STRING, vector }, 1)).toThrow("never a vector of codes");
  });
});

describe("a broken chunk header", () => {
  const rows = Array.from({ length: 5 }, (_, i) => ({
    series: i,
    time: BigInt(i * 1000),
    values: [1, 2, 2n ** 60n, 4, 5, 6, true, 8, "nine", Uint8Array.of(1), 11n],
  }));
  const chunk = chunkOf(1, { rows, columnIds: FIELDS.map(({ id }) => id) }, FIELDS, new Arena(pool));
  const head = headOf(chunk);

  test("is refused when it is cut, at every byte", () => {
    for (let length = 0; length < head.length; length++) {
      expect(() => readChunkHeader(1, new ByteReader(head.subarray(0, length)))).toThrow(/at byte|got/);
    }
  });

  test("is refused or makes a chunk inside its memory, with any byte changed", () => {
    for (let offset = 0; offset < head.length; offset++) {
      for (const value of [0, 1, 7, 0x7f, 0x80, 0xff]) {
        const bytes = head.slice();
        bytes[offset] = value;
        try {
          const header = readChunkHeader(1, new ByteReader(bytes));
          if (header.payloadBytes === chunk.payload.length) placeChunk(header, chunk.payload, new Arena(pool));
        } catch (error) {
          const name = error instanceof Error ? error.name : typeof error;
          expect(["AssertionError", "ByteReadError"], `offset ${offset}, value ${value}: ${String(error)}`).toContain(name);
        }
      }
    }
  });

  test("is refused when an array lies outside the memory or off its grid", () => {
    const at = (offset: number, value: number): Uint8Array => {
      const bytes = head.slice();
      new DataView(bytes.buffer).setUint32(offset, value, true);
      return bytes;
    };
    // u32 rows, u32 bytes, i64 base, f64 scale, f64 steps, u8 class, u32 series offset (33), u8 class, u32 times offset (38).
    const refused: readonly (readonly [bytes: Uint8Array, text: string])[] = [
      [at(0, 0xffff_ffff), "inside the payload"],
      [at(33, chunk.payload.length - 8), "inside the payload"],
      [at(33, 1), "multiple of 2"],
      [at(38, 0xffff_fff0), "inside the payload"],
      [at(42, 1 << 20), "columns of a chunk"],
    ];
    for (const [bytes, text] of refused) expect(() => readChunkHeader(1, new ByteReader(bytes))).toThrow(text);
  });

  test("does not go with memory of another length", () => {
    const header = readChunkHeader(1, new ByteReader(head));
    expect(() => placeChunk(header, chunk.payload.subarray(8), new Arena(pool))).toThrow(AssertionError);
  });
});
