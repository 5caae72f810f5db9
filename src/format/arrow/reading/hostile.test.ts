import { describe, expect, test } from "bun:test";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import { type DataType, FLOAT64, STRING } from "../../../column/data-type.ts";
import type { Scalar } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { encodeArrowBatch, encodeArrowSchema } from "../encode-stream.ts";
import type { ArrowField } from "./arrow-field.ts";
import { ArrowReader } from "./arrow-reader.ts";
import { StreamDictionaries } from "./dictionaries.ts";
import { streamMessages } from "./stream-messages.ts";

/** Rows of honest batches; no other number of their messages is it. */
const ROWS = 88;

/** Where a message claims `from`, as 64 bits, it claims `to`. */
function claiming(message: Uint8Array, from: number, to: bigint): Uint8Array {
  const claimed = message.slice();
  const view = new DataView(claimed.buffer);
  for (let at = 0; at + 8 <= claimed.length; at += 4) if (view.getBigInt64(at, true) === BigInt(from)) view.setBigInt64(at, to, true);
  return claimed;
}

function batchOf(headers: readonly ColumnHeader[], values: readonly (readonly Scalar[])[]): Uint8Array {
  const vectors = headers.map(({ type }, i) => vectorOf(type, values[i] ?? []));
  return encodeArrowBatch(headers, { rowCount: ROWS, vectors }, undefined);
}

/** What reading a batch of these columns ends with: the code and the text of the refusal, or how many rows were read. */
function outcomeOf(headers: readonly ColumnHeader[], batch: Uint8Array, bytesMax?: number): string {
  const reader = new ArrowReader(bytesMax);
  try {
    let rows = 0;
    for (const { metadata, body } of streamMessages(Buffer.concat([encodeArrowSchema(headers), batch]))) {
      const message = reader.read(metadata, body);
      if (message.kind === "batch") rows += message.batch.rowCount;
    }
    return `${rows} rows`;
  } catch (thrown) {
    if (!(thrown instanceof DbError)) throw thrown;
    return `${thrown.code}: ${thrown.message}`;
  }
}

const repeat = (value: Scalar): readonly Scalar[] => Array.from({ length: ROWS }, () => value);
const column = (type: DataType): readonly ColumnHeader[] => [{ name: "c", type }];

describe("rows that no bytes stand for", () => {
  const check = (headers: readonly ColumnHeader[], value: Scalar): void => {
    const batch = batchOf(headers, [repeat(value)]);
    expect(outcomeOf(headers, batch)).toBe(`${ROWS} rows`);
    for (const rows of [65_537n, 250_000_000n, 2n ** 31n, 2n ** 52n])
      expect(outcomeOf(headers, claiming(batch, ROWS, rows))).toContain(`${StatusCode.InvalidArguments}: cannot read Arrow: a column of`);
    for (const rows of [-1n, -(2n ** 63n), 2n ** 53n, 2n ** 63n - 1n])
      expect(outcomeOf(headers, claiming(batch, ROWS, rows))).toContain(`${StatusCode.InvalidArguments}: cannot read Arrow: the number of`);
  };

  test("NULLs alone", () => check(column({ kind: "null" }), undefined));
  test("no columns", () => check([], undefined));
  test("structs of nothing", () => check(column({ kind: "struct", fields: [] }), new Uint8Array(0)));
});

test("values that are made one by one have a bound of their own", () => {
  const headers = column({ kind: "struct", fields: [] });
  const body = Buffer.alloc(100_000);
  const batch = Buffer.concat([claiming(batchOf(headers, [repeat(new Uint8Array(0))]), ROWS, 65_537n), body]);
  const reader = new ArrowReader();
  const [schema] = [...streamMessages(encodeArrowSchema(headers))];
  const end = 8 + batch.readUInt32LE(4);
  reader.read(schema?.metadata ?? body, body);
  expect(() => reader.read(batch.subarray(8, end), body)).toThrow("more than 65536 values of lists, structs, maps, runs, intervals");
});

test("buffers that lie on each other count as what is repeated", () => {
  const headers = ["a", "b", "c"].map((name) => ({ name, type: FLOAT64 }));
  const batch = batchOf(headers, [repeat(1), repeat(2), repeat(3)]);
  const bytes = ROWS * 8; // a multiple of 64: nothing lies between
  // The third column lies on the first, in a body of two.
  const short = claiming(claiming(batch, 2 * bytes, 0n), 3 * bytes, BigInt(2 * bytes)).subarray(0, batch.length - bytes);
  expect(outcomeOf(headers, short)).toBe(`${ROWS} rows`);
  expect(outcomeOf(headers, short, bytes - 1)).toContain(`${StatusCode.RuntimeResourcesExhausted}: `);
});

test("dictionaries that are added to without end have a bound in bytes, and what is replaced counts no more", () => {
  const shape = { kind: "bytes", wide: false } as const;
  const dictionary = { id: 5n, bits: 32, signed: true } as const;
  const field: ArrowField = { name: "tag", path: "tag", type: STRING, shape, children: [], dictionary, marks: undefined };
  const text = vectorOf(STRING, ["x".repeat(2 ** 22)]);
  const dictionaries = new StreamDictionaries([field]);
  for (let i = 0; i < 100; i++) dictionaries.take(5n, false, text, 1);
  const addTo = (): void => {
    for (let i = 0; i < 100; i++) dictionaries.take(5n, true, text, 1);
  };
  expect(addTo).toThrow("with the dictionary of column tag those of the stream take more than 134217728 bytes");
});
