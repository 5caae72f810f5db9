/** Damaged Parquet files end in an answer or in an error of their own, never otherwise, and soon. */
import { describe, expect, test } from "bun:test";
import { unpaced } from "../../../test/support/encoding-work.ts";
import { DbError } from "../../base/error.ts";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import { type DataType, FLOAT64, INT64, type NestedType, STRING } from "../../column/data-type.ts";
import { encodeNested } from "../../column/nested.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import { parquetColumns, parquetRows } from "./decode-parquet.ts";
import { encodeParquet } from "./encode-parquet.ts";
import { memoryFile } from "./testing/memory-open-file.ts";

const LIST: NestedType = { kind: "list", element: STRING };
const MAP: NestedType = { kind: "map", key: STRING, value: FLOAT64 };
const STRUCT: NestedType = {
  kind: "struct",
  fields: [
    { name: "l", type: LIST },
    { name: "n", type: INT64 },
  ],
};
const COLUMNS: readonly (readonly [string, DataType, (i: number) => Uint8Array | string | number | undefined])[] = [
  ["n", INT64, (i) => i * i],
  ["t", STRING, (i) => `text ${i % 17}`],
  ["l", LIST, (i) => (i % 5 === 0 ? undefined : listOf(i % 4))],
  ["m", MAP, (i) => encodeNested(MAP, ["a", i, "b", undefined].slice(0, (i % 3) * 2))],
  ["s", STRUCT, (i) => (i % 3 === 0 ? undefined : encodeNested(STRUCT, [listOf(i % 3), i]))],
];

function listOf(length: number): Uint8Array {
  return encodeNested(
    LIST,
    Array.from({ length }, (_, i) => (i === 2 ? undefined : `e${i}`)),
  );
}

async function goodFile(): Promise<Uint8Array> {
  const headers = COLUMNS.map(([name, type]): ColumnHeader => ({ name, type }));
  const rowCount = 300;
  const batches = async function* (): AsyncIterable<Batch> {
    yield {
      rowCount,
      vectors: COLUMNS.map(([, type, value]) =>
        vectorOf(
          type,
          Array.from({ length: rowCount }, (_, i) => value(i)),
        ),
      ),
    };
  };
  const parts: Uint8Array[] = [];
  for await (const part of encodeParquet(headers, batches(), unpaced())) parts.push(part);
  return new Uint8Array(Buffer.concat(parts));
}

/** Reads everything; whether it was refused. */
async function isRefused(bytes: Uint8Array): Promise<boolean> {
  try {
    const file = memoryFile(bytes);
    const names = (await parquetColumns(file)).map(({ name }) => name);
    let rows = 0;
    for await (const part of parquetRows(file, names)) rows += part.rowCount;
    expect(rows).toBeLessThan(10_000_000);
    return false;
  } catch (thrown) {
    if (!(thrown instanceof DbError)) throw thrown;
    expect(thrown.message).toMatch(/^cannot read 'f': |^cannot make a list/);
    return true;
  }
}

/** Numbers that look random, the same every time. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state;
  }
}

describe("a damaged file", () => {
  test("with a few bytes changed is read or refused", async () => {
    const good = await goodFile();
    expect(await isRefused(good)).toBe(false);
    const random = numbers(20_261_121);
    const next = (limit: number): number => random.next().value % limit;
    let refused = 0;
    for (let run = 0; run < 800; run++) {
      const bytes = good.slice();
      for (let changes = 1 + next(3); changes > 0; changes--) bytes[4 + next(bytes.length - 12)] = next(256);
      if (await isRefused(bytes)) refused++;
    }
    expect(refused).toBeGreaterThan(200);
  });

  test("cut anywhere is refused", async () => {
    const good = await goodFile();
    for (let length = 0; length < good.length; length += 37) expect(await isRefused(good.subarray(0, length))).toBe(true);
  });

  test("whose middle is gone is refused", async () => {
    const good = await goodFile();
    const { length } = good;
    for (let from = 4; from < length - 200; from += 211) {
      const bytes = new Uint8Array(length - 100);
      bytes.set(good.subarray(0, from));
      bytes.set(good.subarray(from + 100), from);
      await isRefused(bytes);
    }
  });
});
