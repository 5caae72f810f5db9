import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { BytesInTurn } from "../../base/bytes/bytes-in-turn.ts";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import {
  BINARY,
  BOOLEAN,
  type DataType,
  DATE,
  FLOAT32,
  FLOAT64,
  INT16,
  INT32,
  INT64,
  INT8,
  NULL,
  STRING,
  TIME_NANOSECOND,
  TIMESTAMP_NANOSECOND,
  UINT16,
  UINT64,
} from "../../column/data-type.ts";
import { encodeNested } from "../../column/nested.ts";
import { scalarAt } from "../../column/scalar.ts";
import { sliceBatch } from "../../column/slice.ts";
import type { NumberArray, Scalar, Vector } from "../../column/vector.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import { columnBuffers } from "./column-buffers.ts";
import { type ArrowCompression, encodeArrowBatch, encodeArrowEnd, encodeArrowSchema } from "./encode-stream.ts";
import { ArrowReader } from "./reading/arrow-reader.ts";
import { streamMessages } from "./reading/stream-messages.ts";

const COLUMNS: readonly (readonly [string, DataType, readonly Scalar[]])[] = [
  ["b", BOOLEAN, [true, undefined, false]],
  ["i8", INT8, [-1, 2, undefined]],
  ["i16", INT16, [-300, 2, 300]],
  ["u16", UINT16, [1, 65_535, undefined]],
  ["i32", INT32, [-5, undefined, 2 ** 31 - 1]],
  ["i64", INT64, [-(2 ** 53) + 1, 1, 2 ** 40]],
  ["wide", UINT64, [2n ** 64n - 1n, 1n, undefined]],
  ["f32", FLOAT32, [1.5, Number.NaN, -0]],
  ["f64", FLOAT64, [1e300, undefined, 2]],
  ["s", STRING, ["a", "üö", undefined]],
  ["bin", BINARY, [new Uint8Array([1, 2]), undefined, new Uint8Array(0)]],
  ["d", DATE, [-1, 0, 20_000]],
  ["ts", TIMESTAMP_NANOSECOND, [1_663_840_496_100_023_100n, undefined, 1_663_840_496_100_023_095n]],
  ["n", NULL, [undefined, undefined, undefined]],
  ["dec", { kind: "decimal", precision: 10, scale: 2 }, [12_345, undefined, -1]],
  ["dec18", { kind: "decimal", precision: 18, scale: 0 }, [10n ** 18n - 1n, undefined, 1 - 10 ** 15]],
  ["dec38", { kind: "decimal", precision: 38, scale: 10 }, [10n ** 38n - 1n, undefined, 1n - 10n ** 38n]],
  ["t_s", { kind: "time", unit: "second" }, [0, 86_399, undefined]],
  ["t_ms", { kind: "time", unit: "millisecond" }, [0, 86_399_999, undefined]],
  ["t_us", { kind: "time", unit: "microsecond" }, [0, 86_399_999_999, undefined]],
  ["t_ns", TIME_NANOSECOND, [0, 86_399_999_999_999, undefined]],
];
const HEADERS: readonly ColumnHeader[] = [...COLUMNS.map(([name, type]) => ({ name, type })), { name: "tag ü", type: STRING }];
const BATCH: Batch = {
  rowCount: 3,
  vectors: [
    ...COLUMNS.map(([, type, values]) => vectorOf(type, values)),
    { kind: "dictionary", codes: new Uint32Array([1, 0, 2]), dictionary: [undefined, "x", "yy"] },
  ],
};

/** A stream of the batch twice. */
function stream(compression: ArrowCompression): Uint8Array {
  const batch = encodeArrowBatch(HEADERS, BATCH, compression);
  return Buffer.concat([encodeArrowSchema(HEADERS), batch, batch, encodeArrowEnd()]);
}

test("the stream is the one that pyarrow 26 read and validated in full", async () => {
  const want = await Bun.file(join(import.meta.dir, "fixtures", "all-types.arrows")).bytes();
  expect(Buffer.from(stream(undefined)).equals(want)).toBe(true);
});

/** Lists, structs and maps, NULL and empty ones among them. */
function nestedStream(): Uint8Array {
  const list = { kind: "list", element: INT64 } as const;
  const lists = { kind: "list", element: { kind: "list", element: STRING } } as const;
  const struct = {
    kind: "struct",
    fields: [
      { name: "a", type: list },
      { name: "b", type: FLOAT64 },
    ],
  } as const;
  const map = { kind: "map", key: STRING, value: TIMESTAMP_NANOSECOND } as const;
  const texts = encodeNested(lists.element, ["a", undefined, ""]);
  const numbers = encodeNested(list, [2n ** 60n, undefined, -1]);
  const columns: readonly (readonly [string, DataType, readonly Scalar[]])[] = [
    ["list", list, [numbers, undefined, encodeNested(list, [])]],
    ["lists", lists, [encodeNested(lists, [texts, undefined]), encodeNested(lists, []), undefined]],
    ["struct", struct, [encodeNested(struct, [numbers, 1.5]), undefined, encodeNested(struct, [undefined, undefined])]],
    ["map", map, [encodeNested(map, ["k", 5n, "l", undefined]), encodeNested(map, []), undefined]],
    ["none", { kind: "list", element: NULL }, [encodeNested({ kind: "list", element: NULL }, [undefined]), undefined, undefined]],
  ];
  const headers = columns.map(([name, type]) => ({ name, type }));
  const batch: Batch = { rowCount: 3, vectors: columns.map(([, type, values]) => vectorOf(type, values)) };
  return Buffer.concat([encodeArrowSchema(headers), encodeArrowBatch(headers, batch, undefined), encodeArrowEnd()]);
}

test("lists, structs and maps are those that pyarrow read and validated in full", async () => {
  const want = await Bun.file(join(import.meta.dir, "fixtures", "nested.arrows")).bytes();
  expect(Buffer.from(nestedStream()).equals(want)).toBe(true);
});

test("batches put over others are those that have memory of their own", () => {
  const room = new BytesInTurn();
  for (const compression of [undefined, "zstd", "lz4"] as const) {
    for (const rowCount of [3, 1, 2, 3, 0, 1]) {
      const batch = sliceBatch(BATCH, 0, rowCount);
      room.take(5000).fill(0xa5);
      const got = encodeArrowBatch(HEADERS, batch, compression, room);
      expect(got).toEqual(encodeArrowBatch(HEADERS, batch, compression));
    }
  }
});

test("messages begin at multiples of eight and say how long they are", () => {
  for (const compression of [undefined, "zstd", "lz4"] as const) {
    for (const message of [encodeArrowSchema(HEADERS), encodeArrowBatch(HEADERS, BATCH, compression)]) {
      const view = new DataView(message.buffer);
      expect(view.getUint32(0, true)).toBe(0xffff_ffff);
      expect(message.length % 8).toBe(0);
      expect(view.getUint32(4, true) % 8).toBe(0);
      expect(view.getUint32(4, true)).toBeLessThanOrEqual(message.length - 8);
    }
  }
});

describe("buffers", () => {
  /** 64-bit words of a column. */
  function check(type: DataType, values: readonly Scalar[], want: readonly bigint[]): void {
    const { buffers } = columnBuffers(type, vectorOf(type, values), values.length);
    const data = buffers[1];
    if (data === undefined) throw new Error("a data buffer");
    expect([...new BigInt64Array(data.buffer, data.byteOffset, values.length)]).toEqual([...want]);
  }

  test("64-bit integers and times are exact on both sides of zero", () => {
    const numbers = [0, 1, -1, 2 ** 32, -(2 ** 32), 2 ** 32 - 1, -(2 ** 32) - 1, 2 ** 53 - 1, -(2 ** 53) + 1];
    check(
      INT64,
      numbers,
      numbers.map((value) => BigInt(value)),
    );
    for (const base of [0n, -1n, 2n ** 62n, -(2n ** 62n), 2n ** 32n - 1n]) {
      const times = numbers.filter((value) => Math.abs(value) < 2 ** 52).map((value) => base + BigInt(value));
      check(TIMESTAMP_NANOSECOND, times, times);
    }
  });

  test("times too far apart for one base are exact", () => {
    const ends = [-(2n ** 63n), 2n ** 63n - 1n, 0n];
    check(TIMESTAMP_NANOSECOND, ends, ends);
  });

  test("no NULL, no validity buffer", () => {
    expect(columnBuffers(INT64, vectorOf(INT64, [1, 2]), 2)).toMatchObject({ nullCount: 0, buffers: [new Uint8Array(0), {}] });
    expect(columnBuffers(INT64, vectorOf(INT64, [1, undefined]), 2)).toMatchObject({ nullCount: 1, buffers: [new Uint8Array([1]), {}] });
  });
});

describe("what readers get back", () => {
  /** Writes batches one after the other on the same memory, and reads each. */
  function check(type: DataType, vectors: readonly Vector[], rowCount: number): void {
    const header = { name: "v", type };
    for (const compression of [undefined, "lz4", "zstd"] as const) {
      const parts = vectors.map((vector) => encodeArrowBatch([header], { rowCount, vectors: [vector] }, compression));
      const reader = new ArrowReader();
      const want = vectors.map((vector) => Array.from({ length: rowCount }, (_, row) => scalarAt(vector, type, row)));
      const got: unknown[] = [];
      for (const { metadata, body } of streamMessages(Buffer.concat([encodeArrowSchema([header]), ...parts]))) {
        const message = reader.read(metadata, body);
        if (message.kind !== "batch") continue;
        const [vector] = message.batch.vectors;
        got.push(Array.from({ length: rowCount }, (_, row) => vector && scalarAt(vector, type, row)));
      }
      expect(got).toEqual(want);
    }
  }

  test("texts of dictionaries in runs and one by one, long and empty ones, NULLs, large dictionaries", () => {
    const rowCount = 3000;
    const small = [undefined, "a", "", "a text of more bytes than a loop copies, which is 32", "ü"];
    const large = [undefined, ...Array.from({ length: 70_000 }, (_, i) => `t${i}`)];
    const vectors = [small, large].flatMap((dictionary) =>
      [1, 7, 3000].flatMap((run) =>
        [0, 1].map((from): Vector => {
          const codeAt = (row: number): number => from + ((Math.floor(row / run) * 7919) % (dictionary.length - from));
          return { kind: "dictionary", codes: Uint32Array.from({ length: rowCount }, (_, row) => codeAt(row)), dictionary };
        }),
      ),
    );
    check(STRING, vectors, rowCount);
  });

  test("whole numbers in arrays of every class", () => {
    const values = Array.from({ length: 500 }, (_, row) => (row * 7) % 120);
    const classes = [Int8Array, Uint8Array, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array];
    const vectors = classes.map((numbers): Vector => ({ kind: "number", values: numbers.from(values), validity: undefined }));
    for (const type of [INT8, INT16, UINT16, INT32, INT64, UINT64, FLOAT32, FLOAT64]) check(type, vectors, values.length);
    const edges = [Int8Array.of(-128, 127), Int16Array.of(-32_768, 32_767), Int32Array.of(-(2 ** 31), 2 ** 31 - 1)];
    check(INT64, [...edges, Uint32Array.of(0, 2 ** 32 - 1), Float64Array.of(-(2 ** 53) + 1, 2 ** 53 - 1)].map(numberVector), 2);
  });

  test("bytes that cannot be compressed stand as they are", () => {
    let state = 42;
    const values = Float64Array.from({ length: 1000 }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state * 1.000_000_1 + Math.sqrt(state);
    });
    check(FLOAT64, [numberVector(values)], values.length);
    const [plain, packed] = ([undefined, "zstd"] as const).map(
      (compression) =>
        encodeArrowBatch([{ name: "v", type: BINARY }], { rowCount: 1, vectors: [vectorOf(BINARY, [new Uint8Array([7])])] }, compression)
          .length,
    );
    expect(packed).toBeLessThan((plain ?? 0) + 100);
  });
});

function numberVector(values: NumberArray): Vector {
  return { kind: "number", values, validity: undefined };
}
