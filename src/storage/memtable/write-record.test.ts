import { tableId, writerId } from "../../base/units.ts";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FIELDS, requestOf } from "../../../test/support/storage/arbitrary-rows.ts";
import { withoutOrigin } from "../../../test/support/storage/old-record.ts";
import { chunkOf } from "../../../test/support/storage/rows.ts";
import { AssertionError } from "../../base/assert.ts";
import { ByteWriter } from "../../base/bytes/byte-writer.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { utf8Text } from "../../column/text-table.ts";
import { SeriesRegistry } from "../series/series-registry.ts";
import { Arena, SlabPool } from "./arena.ts";
import type { Chunk } from "./chunk.ts";
import { placeChunk } from "./chunk-codec.ts";
import type { RecordOrigin } from "./record-origin.ts";
import { TagMarks } from "./series-definitions.ts";
import { type DecodedEntry, decodeRecordHead, decodeWriteRecord, encodeWriteRecord, type RecordEntry } from "./write-record.ts";

const pool = new SlabPool(0);

function registryOf(columnIds: readonly number[], tuples: readonly (readonly (string | undefined)[])[]): SeriesRegistry {
  const registry = new SeriesRegistry("t");
  registry.setColumns(columnIds.map((id) => ({ id, name: `tag${id}` })));
  for (const tuple of tuples) registry.register(tuple);
  return registry;
}

function chunkFor(series: number, rowCount = 3): Chunk {
  const rows = Array.from({ length: rowCount }, (_, i) => ({ series, time: BigInt(i), values: [i] }));
  return chunkOf(5, { rows, columnIds: [FIELDS[0]!.id] }, FIELDS, new Arena(pool));
}

/** An entry of a segment that knows nothing, or what `tagMarks` say. */
function entryOf(table: number, own: SeriesRegistry, newSeries: readonly number[], chunk: Chunk, tagMarks = new TagMarks()): RecordEntry {
  return { tableId: tableId(table), registry: own, newSeries, tagMarks, chunk };
}

/** Series and values of a record's definitions, which are all of its segment. */
function definedBy({ definitions }: DecodedEntry): { readonly series: number; readonly values: readonly (string | undefined)[] }[] {
  const { series, codes, texts, bytes: record } = definitions;
  const maps = texts.map((column) => {
    return new Map([...column.codes].map((code, i) => [code, utf8Text(record, column.spans[2 * i]!, column.spans[2 * i + 1]!)]));
  });
  return Array.from(series, (number, i) => ({ series: number, values: codes.map((column, c) => maps[c]?.get(column[i] ?? 0)) }));
}

const ORIGIN: RecordOrigin = { writer: writerId(2 ** 53 - 1), number: 300, segment: 4, catalogVersion: 0 };

function bytesOf(entries: readonly RecordEntry[], segment = 4): Uint8Array {
  return new Uint8Array(Buffer.concat(encodeWriteRecord({ ...ORIGIN, segment }, entries)));
}

function entriesOf(record: Uint8Array, sequence = 5): readonly DecodedEntry[] {
  return decodeWriteRecord(sequence, record).entries;
}

function chunkFrom(entry: DecodedEntry): Chunk {
  return placeChunk(entry.header, entry.bytes, new Arena(pool));
}

const tuples = [
  ["a", "x"],
  [undefined, "x"],
  ["", undefined],
  ["a", "\u{1f600}é\ufeff"],
  [undefined, undefined],
] as const;
const registry = registryOf([3, 1], tuples);

describe("a write record", () => {
  test("gives back tables, tag columns, definitions and chunks", () => {
    const entries: RecordEntry[] = [
      entryOf(7, registry, [0, 1, 2, 3, 4], chunkFor(2)),
      entryOf(2 ** 32 - 1, registryOf([], [[]]), [0], chunkFor(0)),
      entryOf(7, registry, [], chunkFor(70_000, 1)),
    ];
    const decoded = entriesOf(bytesOf(entries));
    expect(decoded.map((entry): [number, readonly number[]] => [entry.tableId, entry.columnIds])).toEqual([
      [7, [3, 1]],
      [2 ** 32 - 1, []],
      [7, [3, 1]],
    ]);
    expect(decoded.map(definedBy)).toEqual([
      tuples.map((values, series) => ({ series, values: [...values] })),
      [{ series: 0, values: [] }],
      [],
    ]);
    expect(decoded.map(chunkFrom)).toEqual(entries.map(({ chunk }) => chunk));
  });

  test("says each tag value once a segment", () => {
    const marks = new TagMarks();
    const texts = (newSeries: readonly number[], segment: number): number[] => {
      const entry = entryOf(7, registry, newSeries, chunkFor(1), marks);
      return entriesOf(bytesOf([entry], segment))[0]!.definitions.texts.map((column) => column.codes.length);
    };
    expect(texts([0, 1, 2], 4)).toEqual([2, 1]);
    expect(texts([0, 3, 4], 4)).toEqual([0, 1]);
    expect(texts([0, 3], 5)).toEqual([1, 2]);
    marks.forget();
    expect(texts([0, 3], 5)).toEqual([1, 2]);
  });

  test.each([1, 2])("of version %d, which wrote out each text, is read", (version) => {
    const record = withoutOrigin(4, bytesOf([entryOf(7, registry, [], chunkFor(2))]));
    const head = new DataView(record.buffer).getUint32(4, true);
    const old = new ByteWriter();
    for (const value of [version, 0]) old.u32(value);
    old.varint(1);
    old.raw(record.subarray(9, 22)); // Table and tag columns.
    old.varint(tuples.length);
    for (const [series, tuple] of tuples.entries()) {
      old.varint(series);
      for (const text of tuple) {
        const encoded = text === undefined ? undefined : new TextEncoder().encode(text);
        old.varint(encoded === undefined ? 0 : encoded.length + 1);
        old.raw(encoded ?? new Uint8Array(0));
      }
    }
    old.raw(record.subarray(version === 1 ? 24 : 23, head + 8)); // The chunk's kind and header.
    old.patchU32(4, old.length - 8);
    old.raw(record.subarray(head + 8));
    const [entry] = entriesOf(old.copy());
    expect(entry!.isolated).toBe(true);
    expect(definedBy(entry!)).toEqual(tuples.map((values, series) => ({ series, values: [...values] as (string | undefined)[] })));
    expect(chunkFrom(entry!)).toEqual(chunkFor(2));
  });

  test("of version 3, whose chunks hold all texts row by row, is read", () => {
    const record = bytesOf([entryOf(7, registry, [0, 3], chunkFor(2))]);
    const [now] = entriesOf(record);
    const [then] = entriesOf(withoutOrigin(3, record));
    expect(then!.isolated).toBe(false);
    expect(chunkFrom(then!)).toEqual(chunkFrom(now!));
    expect(definedBy(then!)).toEqual(definedBy(now!));
  });

  test.each([4, 3] as const)("of version %d, which did not say where it comes from, is read", (version) => {
    const record = bytesOf([entryOf(7, registry, [0, 3], chunkFor(2)), entryOf(8, registry, [1], chunkFor(0))]);
    const old = withoutOrigin(version, record);
    const then = decodeWriteRecord(5, old);
    expect(then.origin).toBeUndefined();
    expect(then.entries.map(chunkFrom)).toEqual(entriesOf(record).map(chunkFrom));
    expect(then.entries.map(definedBy)).toEqual(entriesOf(record).map(definedBy));
  });

  test.each([
    { writer: writerId(1), number: 1, segment: 1, catalogVersion: 0 },
    { writer: writerId(2 ** 53 - 1), number: 2 ** 53 - 1, segment: 2 ** 53 - 1, catalogVersion: 2 ** 53 - 1 },
  ])("says where it comes from, from small numbers to the largest: number $number", (origin) => {
    const parts = encodeWriteRecord(origin, [entryOf(7, registry, [0], chunkFor(1))]);
    expect(decodeWriteRecord(5, new Uint8Array(Buffer.concat(parts))).origin).toEqual(origin);
    expect(decodeRecordHead(5, parts[0]!).origin).toEqual(origin);
  });

  test.each(["writer", "number", "segment"] as const)("whose %s is 0 is refused: it counts from 1", (what) => {
    const record = Buffer.concat(encodeWriteRecord({ ...ORIGIN, [what]: 0 }, []));
    expect(() => decodeWriteRecord(5, record)).toThrow(AssertionError);
  });

  test("may hold no chunk at all", () => expect(entriesOf(bytesOf([]))).toEqual([]));

  test("shares the chunks' memory with the log instead of copying it", () => {
    const chunk = chunkFor(1);
    const parts = encodeWriteRecord(ORIGIN, [entryOf(1, registry, [1], chunk)]);
    expect(parts[1]).toBe(chunk.payload);
  });

  test("comes back whatever the rows are", () => {
    fc.assert(
      fc.property(fc.array(requestOf(5, fc.bigInt({ min: 0n, max: 1_000_000n })), { maxLength: 4 }), (requests) => {
        const arena = new Arena(pool);
        const chunks = requests.map((request) => chunkOf(9, request, FIELDS, arena));
        const entries = chunks.map((chunk, i) => entryOf(i, registry, [...new Set(chunk.series)], chunk));
        const decoded = entriesOf(bytesOf(entries), 9);
        expect(decoded.map(chunkFrom)).toEqual(chunks);
        expect(decoded.map(({ definitions }) => [...definitions.series])).toEqual(entries.map(({ newSeries }) => [...newSeries]));
      }),
      { seed: 7, numRuns: 60 },
    );
  });
});

describe("a broken write record", () => {
  const bytes = bytesOf([entryOf(7, registry, [0, 3], chunkFor(3))]);
  const headEnd = new DataView(bytes.buffer).getUint32(4, true) + 8;

  test("of another version is refused by name", () => {
    const other = bytes.slice();
    new DataView(other.buffer).setUint32(0, 6, true);
    const decode = (): unknown => decodeWriteRecord(12, other);
    expect(decode).toThrow(DbError);
    expect(decode).toThrow("cannot replay log record 12: it has format version 6, which this server does not know");
  });

  test("is refused when it is cut, at every byte", () => {
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decodeWriteRecord(1, bytes.subarray(0, length)), `${length} bytes`).toThrow();
    }
    try {
      decodeWriteRecord(12, bytes.subarray(0, headEnd - 1));
    } catch (error) {
      expect((error as DbError).code).toBe(StatusCode.StorageUnavailable);
      expect((error as DbError).message).toMatch(/^cannot replay log record 12: its head is broken: need \d+ bytes at byte \d+$/);
    }
  });

  test("is refused when it is longer than it says, or its head is", () => {
    expect(() => decodeWriteRecord(1, new Uint8Array(Buffer.concat([bytes, new Uint8Array(8)])))).toThrow(/record of \d+ B; got \d+/);
    for (const change of [-1, 1, 8]) {
      const other = bytes.slice();
      new DataView(other.buffer).setUint32(4, headEnd - 8 + change, true);
      expect(() => decodeWriteRecord(1, other)).toThrow();
    }
  });

  test("ends with a clear error or some rows, with any byte of its head changed", () => {
    for (let offset = 0; offset < headEnd; offset++) {
      for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
        const other = bytes.slice();
        other[offset] = value;
        try {
          decodeWriteRecord(1, other).entries.forEach(chunkFrom);
        } catch (error) {
          const name = error instanceof Error ? error.name : typeof error;
          expect(["DbError", "AssertionError"], `offset ${offset}, value ${value}: ${String(error)}`).toContain(name);
        }
      }
    }
  });
});
