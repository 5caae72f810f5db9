import { expect, test } from "bun:test";
import { CHUNK_TIME_SPAN_MAX } from "../../../base/limits.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { ProtoReader } from "../../../format/proto/reader.ts";
import { STRING } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import { JsonSink } from "../json-sink.ts";
import { pick } from "./pick.ts";
import { RowTimes } from "./row-times.ts";
import { TextColumn } from "./text-column.ts";

const encoder = new TextEncoder();

function texts(vector: Vector, rowCount: number): unknown[] {
  if (vector.kind !== "bytes") return [];
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return Array.from({ length: rowCount }, (_, row) =>
    vector.validity?.[row] === 0 ? null : decoder.decode(vector.bytes.subarray(vector.offsets[row], vector.offsets[row + 1])),
  );
}

function column(bytesMax = 1 << 20): TextColumn {
  const made = new TextColumn();
  made.reset(bytesMax);
  return made;
}

test("texts, digits and shared texts come out as they went in", () => {
  const made = column();
  const long = "x".repeat(5000);
  made.add(encoder.encode("_é_"), 1, 3);
  made.repeat(encoder.encode("ab"), 1500);
  made.addNull();
  made.add(encoder.encode(long), 0, 5000);
  made.repeat(undefined, 2);
  made.repeat(encoder.encode(""), 1);
  const want = ["é", ...Array<string>(1500).fill("ab"), null, long, null, null, ""];
  expect(texts(made.vector(), want.length)).toEqual(want);
  made.reset(1 << 20);
  made.addHex(Uint8Array.of(0, 0xab, 0x10), 0, 3);
  expect(texts(made.vector(), 1)).toEqual(["00ab10"]);
});

test("what is no UTF-8 is replaced, also where rows cut a character", () => {
  const made = column();
  const word = encoder.encode("é");
  made.add(word, 0, 1);
  made.add(word, 1, 2);
  made.add(word, 0, 2);
  expect(texts(made.vector(), 3)).toEqual(["\ufffd", "\ufffd", "é"]);
});

test("a column over its limit refuses the request", () => {
  const made = column(10_000);
  made.repeat(encoder.encode("x".repeat(100)), 100);
  expect(() => made.repeat(encoder.encode("x"), 1)).toThrow(/cannot take the request: .* 10000 bytes/);
});

test("times far apart go to parts of their own", () => {
  const times = new RowTimes();
  const values = [5n, 1_731_000_000_000_000_000n, 6n, 2n ** 63n - 1n, 1_731_000_000_000_000_001n];
  for (const value of values) times.add(Number(value & 0xffff_ffffn), Number(value >> 32n));
  const parts = times.parts("nanosecond");
  const seen = parts.flatMap(({ rows, times: { base, offsets } }) =>
    Array.from(rows ?? [], (row, i) => [row, base + BigInt(offsets[i] ?? 0)]),
  );
  expect(seen.sort(([a], [b]) => Number(a) - Number(b))).toEqual(values.map((value, row) => [row, value]));
  for (const { times: part } of parts) expect(Math.max(...part.offsets.map(Math.abs))).toBeLessThanOrEqual(CHUNK_TIME_SPAN_MAX);
  expect(times.parts("second").flatMap(({ times: { base, offsets } }) => Array.from(offsets, (offset) => base + BigInt(offset)))).toEqual(
    values.map((value) => value / 1_000_000_000n),
  );
  const near = new RowTimes();
  for (let i = 0; i < 3000; i++) near.add(i, 7);
  expect(near.parts("nanosecond")).toMatchObject([{ rows: undefined, rowCount: 3000, times: { base: 7n << 32n } }]);
});

test("picked rows", () => {
  const vector = vectorOf(STRING, ["a", undefined, "ccc"]);
  expect(texts(pick(vector, Uint32Array.of(2, 1)), 2)).toEqual(["ccc", null]);
  expect(pick(vector, undefined)).toBe(vector);
});

test("strings are escaped as JSON.stringify does it", () => {
  const sink = new JsonSink(new ProtoReader());
  for (const text of ['"\\\b\f\n\r\t\u0001\u001f\u007fé😀', "â\u2027", "x".repeat(3000), `${"x".repeat(1023)}\u2028`]) {
    sink.reset();
    sink.string(text);
    const want = JSON.stringify(text).replaceAll("\u2028", "\\u2028");
    expect(new TextDecoder().decode(sink.bytes.subarray(0, sink.used))).toBe(want);
  }
  sink.reset();
  const cut = encoder.encode("a\u2029");
  sink.text(cut, 0, 2);
  expect([...sink.bytes.subarray(0, sink.used)]).toEqual([0x22, 0x61, 0xe2, 0x22]);
});
