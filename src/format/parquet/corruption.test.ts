import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { corruptionOf, DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Scalar } from "../../column/vector.ts";
import { bloomMayContain } from "./chunks/bloom-filter.ts";
import { openParquet } from "./reading/file.ts";
import { decodeTagPage } from "./reading/reader.ts";
import { everyType } from "./testing/every-type.ts";
import { openMemory, pageBytes, readColumn, writeToMemory } from "./testing/memory-file.ts";

const table = everyType(300);
const good = writeToMemory(table.columns, table.rowCount, table.inputs, { rowsPerPage: 128, keyValues: { owner: "test" } });

/** Reads all of a file: every page of every column, tags twice. */
function readAll(bytes: Uint8Array, verifyChecksum = true): Scalar[][] {
  const file = openMemory(bytes);
  for (let page = 0; page < file.pageIndex(0, 1).pageCount; page++) {
    decodeTagPage(file, { rowGroup: 0, column: 1, page }, pageBytes(file, bytes, 0, 1, page), { verifyChecksum });
  }
  return file.columns.map((_, c) => readColumn(file, bytes, c, verifyChecksum));
}

/** Expects a clean error that names file and byte, or, when allowed, an answer. Returns whether it failed. */
function expectRefusal(read: () => unknown, mayAnswer: boolean): boolean {
  try {
    read();
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    expect(error.code).toBe(StatusCode.StorageUnavailable);
    expect(error.message).toMatch(/^cannot read Parquet file .+ at byte \d+: /);
    const { file, offset } = corruptionOf(error) ?? {};
    expect(error.message).toStartWith(`cannot read Parquet file ${file} at byte ${offset}: `);
    return true;
  }
  if (!mayAnswer) throw new Error("damaged bytes were read as if they were good");
  return false;
}

function flipped(bytes: Uint8Array, at: number, bit: number): Uint8Array {
  const copy = bytes.slice();
  copy[at] = copy[at]! ^ (1 << bit);
  return copy;
}

describe("a damaged file", () => {
  test("is refused when cut anywhere", () => {
    for (let length = 0; length < good.length; length += 1 + (length % 97)) {
      expectRefusal(() => openMemory(good.subarray(0, length)), false);
    }
  });

  test("is refused, or read as it was written, after any flipped bit", () => {
    const want = readAll(good);
    let refused = 0;
    // Every byte of the ending, and samples of the rest.
    for (let at = 0, n = 0; at < good.length; at += at > good.length - 40 ? 1 : 53, n++) {
      const bytes = flipped(good, at, n % 8);
      if (expectRefusal(() => expect(readAll(bytes)).toEqual(want), true)) refused++;
    }
    expect(refused).toBeGreaterThan(400);
  });

  test("never crashes the decoder when checksums of pages are off", () => {
    const file = openMemory(good);
    const property = fc.property(fc.nat(), fc.integer({ min: 0, max: 7 }), fc.nat(), (where, bit, which) => {
      const column = which % file.columns.length;
      const { range } = file.rowGroups[0]!.chunks[column]!;
      const bytes = flipped(good, range.offset + (where % range.length), bit);
      expectRefusal(() => readColumn(file, bytes, column, false), true);
    });
    fc.assert(property, { numRuns: 600, seed: 7 });
  });

  test("never crashes on random page bytes", () => {
    const file = openMemory(good);
    const property = fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(), (garbage, which) => {
      const column = which % file.columns.length;
      const index = file.pageIndex(0, column);
      const page = good.slice();
      page.set(garbage.subarray(0, index.lengths[0]), index.offsets[0]);
      expectRefusal(() => readColumn(file, page, column, false), true);
    });
    fc.assert(property, { numRuns: 200, seed: 11 });
  });
});

describe("a file that is not ours is refused", () => {
  const check = (bytes: Uint8Array, why: string): void => {
    expect(() => openMemory(bytes, "x.parquet")).toThrow(why);
  };
  test("empty", () => check(new Uint8Array(0), "cannot read Parquet file x.parquet at byte 0: 0 bytes are too few"));
  test("text", () => check(new TextEncoder().encode("just some text, nothing more"), "PAR1"));
  test("a footer longer than the file", () => {
    const bytes = new Uint8Array(20);
    bytes.set(new TextEncoder().encode("PAR1"), 16);
    bytes[12] = 200;
    check(bytes, "a footer of 200 bytes");
  });
  test("a footer without our checksum", () => {
    const bytes = new Uint8Array(40);
    bytes.set(new TextEncoder().encode("PAR1"), 36);
    bytes[32] = 10;
    check(bytes, "no checksum in the footer");
  });
});

test("the reader asks for the bytes it needs and no more than the indexes", () => {
  const first = openParquet("x", good.length, good.subarray(good.length - 8));
  expect(first.kind).toBe("more");
  const second = openParquet("x", good.length, good.subarray(good.length - (first.kind === "more" ? first.byteLength : 0)));
  expect(second.kind).toBe("more");
  expect(second.kind === "more" ? second.byteLength : good.length).toBeLessThan(good.length / 2);
});

test("keys of the caller come back", () => expect(openMemory(good).keyValues.get("owner")).toBe("test"));

test("a blob is checked against its length and checksum", () => {
  const bytes = writeToMemory([], 0, []);
  expect(openMemory(bytes).blob("nothing")).toBeUndefined();
  expect(() => openMemory(bytes).verifyBlob("nothing", new Uint8Array(0))).toThrow("there is no blob nothing");
});

test("a damaged bloom filter is refused", () => {
  const { bloom } = openMemory(good).rowGroups[0]!.chunks[1]!;
  const filter = good.subarray(bloom!.offset, bloom!.offset + bloom!.length);
  const value = new TextEncoder().encode("a");
  expect(bloomMayContain(filter, value)).toBe(true);
  for (let length = 0; length < filter.length; length++) expectRefusal(() => bloomMayContain(filter.subarray(0, length), value), false);
});
