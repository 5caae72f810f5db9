import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { DataType } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Scalar, Vector } from "../../column/vector.ts";
import { decodePage, decodeTagPage } from "./reading/reader.ts";
import { everyType } from "./testing/every-type.ts";
import { dictionaryOf, field, inputOf, openMemory, pageBytes, readColumn, runsOf, writeToMemory } from "./testing/memory-file.ts";

const INT64: DataType = { kind: "int", bits: 64, signed: true };
const FLOAT64: DataType = { kind: "float", bits: 64 };
const STRING: DataType = { kind: "string" };
const SECONDS: DataType = { kind: "timestamp", unit: "second" };
const NANOS: DataType = { kind: "timestamp", unit: "nanosecond" };

/** Writes one field and expects to read the same values back. */
function check(type: DataType, values: readonly Scalar[], rowsPerPage = 128): void {
  const bytes = writeToMemory([field("value", type)], values.length, [inputOf(type, values)], { rowsPerPage, rowsPerRowGroup: 1024 });
  const file = openMemory(bytes);
  expect(file.rowCount).toBe(values.length);
  expect(readColumn(file, bytes, 0)).toEqual([...values]);
}

function onlyPage(type: DataType, values: readonly Scalar[]): Vector {
  const bytes = writeToMemory([field("value", type)], values.length, [inputOf(type, values)]);
  const file = openMemory(bytes);
  const at = { rowGroup: 0, column: 0, page: 0 };
  return decodePage(file, at, pageBytes(file, bytes, 0, 0, 0), dictionaryOf(file, bytes, 0, 0));
}

describe("a column comes back as it was written", () => {
  test("every type, with NULLs, over several pages and row groups", () => {
    const table = everyType(2500);
    const bytes = writeToMemory(table.columns, table.rowCount, table.inputs, {
      rowsPerPage: 300,
      rowsPerRowGroup: 1000,
      seriesEnds: table.seriesEnds,
    });
    const file = openMemory(bytes);
    expect(file.rowGroups.map((group) => group.rowCount)).toEqual([1000, 1000, 500]);
    table.columns.forEach((column, c) => {
      expect(file.columns[c]).toMatchObject({ name: column.name, type: column.type, role: column.role });
      expect(readColumn(file, bytes, c)).toEqual(table.values[c] as Scalar[]);
    });
  });

  test("no rows at all", () => check(INT64, []));
  test("a single row", () => check(INT64, [-7]));
  test("a single NULL", () => check(INT64, [undefined]));
  test("only NULLs of every type", () => {
    const table = everyType(4);
    for (const column of table.columns.slice(2)) check(column.type, new Array<Scalar>(200).fill(undefined));
  });
  test("pages of NULLs between pages of values", () => {
    check(
      INT64,
      Array.from({ length: 600 }, (_, i) => (Math.floor(i / 128) % 2 === 0 ? undefined : i)),
    );
  });
  test("zeros keep their sign and NaN stays NaN", () => check(FLOAT64, [-0, 0, Number.NaN, 1 / 0, -1 / 0, 5e-324]));
  test("empty strings are not NULL", () => check(STRING, ["", undefined, "", "a", undefined]));
  test("pages at, below and above the page size", () => {
    for (const rowCount of [127, 128, 129, 256, 257])
      check(
        INT64,
        Array.from({ length: rowCount }, (_, i) => i * 3),
      );
  });
  test("block borders of deltas", () => {
    for (const rowCount of [1, 2, 32, 33, 34, 128, 129, 130, 161]) {
      check(
        INT64,
        Array.from({ length: rowCount }, (_, i) => (i % 5) * 1000 - i),
        1024,
      );
    }
  });
  test("seconds beyond what milliseconds hold", () => check(SECONDS, [9_223_372_036_854_775_807n, 9_223_372_036_854_775_806n]));
  test("negative seconds far apart", () => check(SECONDS, [-9_000_000_000_000n, 9_000_000_000_000n, 0n]));
  test("times and durations at both ends of 64 bits", () => {
    const [min, max] = [-(2n ** 63n), 2n ** 63n - 1n];
    for (const unit of ["second", "millisecond", "microsecond", "nanosecond"] as const) {
      for (const kind of ["timestamp", "duration"] as const) check({ kind, unit }, [max, undefined, min, 0n, -1n, max - 1n]);
    }
  });
  test("seconds too far apart for one base that milliseconds still hold", () =>
    check(SECONDS, [9_223_372_036_854_775n, undefined, -9_223_372_036_854_775n, 1n]));
  test("pages of near times between pages that are far apart", () => {
    const valueOf = (i: number): bigint => (Math.floor(i / 128) % 2 === 0 ? BigInt(i) : BigInt(i % 2 === 0 ? i : -i) * 2n ** 54n);
    check(
      NANOS,
      Array.from({ length: 500 }, (_, i) => (i % 9 === 0 ? undefined : valueOf(i))),
    );
  });
  test("tags of other types than text", () => {
    const samples: readonly (readonly [DataType, readonly Scalar[]])[] = [
      [INT64, [undefined, 5, 5, 2n ** 63n - 1n]],
      [{ kind: "int", bits: 32, signed: true }, [undefined, -7, -7, 9]],
      [FLOAT64, [undefined, 1.5, 1.5, -2]],
      [{ kind: "boolean" }, [undefined, false, false, true]],
      [{ kind: "date" }, [undefined, -1, -1, 19_000]],
      [SECONDS, [undefined, 1n, 1n, 2n ** 63n - 1n]],
      [{ kind: "binary" }, [undefined, Uint8Array.of(1), Uint8Array.of(1), Uint8Array.of(2)]],
    ];
    const columns = samples.map(([type], c) => ({ ...field(`tag${c}`, type), role: "tag" as const }));
    const inputs = samples.map(([type, values]) => inputOf(type, values));
    const bytes = writeToMemory([...columns, field("v", FLOAT64)], 4, [...inputs, inputOf(FLOAT64, [1, 2, 3, 4])]);
    const file = openMemory(bytes);
    for (const [c, [, values]] of samples.entries()) expect(readColumn(file, bytes, c)).toEqual([...values]);
    expect(file.pageIndex(0, 0).sums).toBeUndefined();
    expect(file.pageIndex(0, samples.length).sums).toEqual(Float64Array.of(10));
  });
  test("nanoseconds from the first to past the 2^52 range", () =>
    check(NANOS, [0n, 2n ** 52n - 1n, 2n ** 52n, 5n, undefined, 2n ** 53n - 1n]));
});

describe("random columns come back as they were written", () => {
  const nullable = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<(T | undefined)[]> =>
    fc.array(fc.option(arbitrary, { nil: undefined, freq: 6 }), { maxLength: 400 });
  const normal = (value: bigint): Scalar => (Number.isSafeInteger(Number(value)) ? Number(value) : value);
  const runs = { numRuns: 40, seed: 20_240_501 };

  test("64-bit integers", () => {
    const value = fc.oneof(fc.integer({ min: -100, max: 100 }).map(BigInt), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }));
    fc.assert(
      fc.property(nullable(value.map(normal)), (values) => check(INT64, values)),
      runs,
    );
  });
  test("times of any distance", () => {
    const value = fc.oneof(fc.bigInt({ min: -100n, max: 100n }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }));
    fc.assert(
      fc.property(nullable(value), fc.constantFrom(SECONDS, NANOS), (values, type) => check(type, values)),
      runs,
    );
  });
  test("unsigned 64-bit integers close together", () => {
    const type: DataType = { kind: "int", bits: 64, signed: false };
    const property = fc.property(
      fc.bigInt({ min: 0n, max: 2n ** 64n - 200n }),
      nullable(fc.bigInt({ min: 0n, max: 199n })),
      (base, offsets) =>
        check(
          type,
          offsets.map((offset) => (offset === undefined ? undefined : normal(base + offset))),
        ),
    );
    fc.assert(property, runs);
  });
  test("32-bit integers, signed and not", () => {
    fc.assert(
      fc.property(nullable(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })), (values) =>
        check({ kind: "int", bits: 32, signed: true }, values),
      ),
      runs,
    );
    fc.assert(
      fc.property(nullable(fc.integer({ min: 0, max: 2 ** 32 - 1 })), (values) => check({ kind: "int", bits: 32, signed: false }, values)),
      runs,
    );
  });
  test("floats of both widths", () => {
    fc.assert(
      fc.property(nullable(fc.double()), (values) => check(FLOAT64, values)),
      runs,
    );
    fc.assert(
      fc.property(nullable(fc.float()), (values) => check({ kind: "float", bits: 32 }, values)),
      runs,
    );
  });
  test("strings and binary", () => {
    fc.assert(
      fc.property(nullable(fc.string({ unit: "binary", maxLength: 100 })), (values) => check(STRING, values)),
      runs,
    );
    fc.assert(
      fc.property(nullable(fc.uint8Array({ maxLength: 20 })), (values) => check({ kind: "binary" }, values)),
      runs,
    );
  });
  test("booleans", () => {
    fc.assert(
      fc.property(nullable(fc.boolean()), (values) => check({ kind: "boolean" }, values)),
      runs,
    );
  });
  test("tags in any order, as codes and as runs", () => {
    const tags = fc.array(fc.tuple(fc.constantFrom(undefined, "", "a", "b", "ü"), fc.integer({ min: 1, max: 40 })), { maxLength: 60 });
    const property = fc.property(tags, (ranges) => {
      const values = ranges.flatMap(([value, length]) => new Array<string | undefined>(length).fill(value));
      const bytes = writeToMemory([{ name: "tag", type: STRING, nullable: true, role: "tag" }], values.length, [runsOf(values)], {
        rowsPerPage: 100,
      });
      const file = openMemory(bytes);
      expect(readColumn(file, bytes, 0)).toEqual(values);
      const dictionary = values.length === 0 ? undefined : dictionaryOf(file, bytes, 0, 0);
      const fromRuns: (string | undefined)[] = [];
      const pageCount = values.length === 0 ? 0 : file.pageIndex(0, 0).pageCount;
      for (let page = 0; page < pageCount; page++) {
        const { ends, codes } = decodeTagPage(file, { rowGroup: 0, column: 0, page }, pageBytes(file, bytes, 0, 0, page));
        const before = fromRuns.length;
        ends.forEach((end, run) => {
          const value = dictionary?.kind === "strings" ? dictionary.values[codes[run]!] : undefined;
          while (fromRuns.length - before < end) fromRuns.push(value);
        });
      }
      expect(fromRuns).toEqual(values);
    });
    fc.assert(property, runs);
  });
});

describe("integers decode into the narrowest array", () => {
  const kindOf = (values: readonly Scalar[]): string => {
    const vector = onlyPage(INT64, values);
    return vector.kind === "number" || vector.kind === "wide" ? vector.values.constructor.name : vector.kind;
  };
  test("8 bits", () => expect(kindOf([-128, 127])).toBe("Int8Array"));
  test("16 bits", () => expect(kindOf([-129, 127])).toBe("Int16Array"));
  test("32 bits", () => expect(kindOf([40_000, -2_147_483_648])).toBe("Int32Array"));
  test("53 bits", () => expect(kindOf([2_147_483_648])).toBe("Float64Array"));
  test("64 bits", () => expect(kindOf([2n ** 53n])).toBe("BigInt64Array"));
});

test("times count from the base that the caller names", () => {
  const bytes = writeToMemory([field("t", SECONDS)], 3, [inputOf(SECONDS, [100n, undefined, 107n])]);
  const file = openMemory(bytes);
  const at = { rowGroup: 0, column: 0, page: 0 };
  const vector = decodePage(file, at, pageBytes(file, bytes, 0, 0, 0), undefined, { timeBase: 90n });
  expect(vector).toMatchObject({ kind: "time", base: 90n });
  expect(vector.kind === "time" ? [vector.offsets[0], vector.offsets[2]] : []).toEqual([10, 17]);
});

test("a base too far from the times is refused", () => {
  const bytes = writeToMemory([field("t", NANOS)], 1, [inputOf(NANOS, [2n ** 62n])]);
  const file = openMemory(bytes);
  const read = (): unknown =>
    decodePage(file, { rowGroup: 0, column: 0, page: 0 }, pageBytes(file, bytes, 0, 0, 0), undefined, { timeBase: 0n });
  expect(read).toThrow("not within 2^53 of 0");
});

test("strings that repeat keep the codes of their dictionary, which all pages of a chunk share", () => {
  const values = Array.from({ length: 300 }, (_, i) => (i % 7 === 0 ? undefined : `value ${i % 3}`));
  const bytes = writeToMemory([field("v", STRING)], values.length, [inputOf(STRING, values)], { rowsPerPage: 100 });
  const file = openMemory(bytes);
  const dictionary = dictionaryOf(file, bytes, 0, 0);
  const pages = [0, 1, 2].map((page) => decodePage(file, { rowGroup: 0, column: 0, page }, pageBytes(file, bytes, 0, 0, page), dictionary));
  const entries = dictionary?.kind === "texts" ? dictionary.entries : undefined;
  expect(entries?.size).toBe(4);
  for (const page of pages) expect(page.kind === "coded" && page.entries === entries).toBe(true);
  expect(pages.flatMap((page) => Array.from({ length: 100 }, (_, row) => scalarAt(page, STRING, row)))).toEqual(values);
});

test("vectors lie in the memory that the caller makes", () => {
  const bytes = writeToMemory([field("v", INT64)], 3, [inputOf(INT64, [1, undefined, 3])]);
  const file = openMemory(bytes);
  const vector = decodePage(file, { rowGroup: 0, column: 0, page: 0 }, pageBytes(file, bytes, 0, 0, 0), undefined, {
    allocate: (byteLength) => new SharedArrayBuffer(byteLength),
  });
  expect(vector.kind === "number" ? vector.values.buffer : undefined).toBeInstanceOf(SharedArrayBuffer);
  expect(vector.kind === "number" ? vector.validity?.buffer : undefined).toBeInstanceOf(SharedArrayBuffer);
});
