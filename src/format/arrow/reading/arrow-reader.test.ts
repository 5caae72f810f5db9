import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import { BOOLEAN, type DataType, INT16, INT64, isNested, STRING, TIMESTAMP_NANOSECOND, UINT64 } from "../../../column/data-type.ts";
import { decodeNested, type NestedPart } from "../../../column/nested.ts";
import { scalarAt } from "../../../column/scalar.ts";
import { exactInteger } from "../../../column/exact-integer.ts";
import type { Scalar, Vector } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { encodeArrowBatch, encodeArrowEnd, encodeArrowSchema } from "../encode-stream.ts";
import { ArrowReader } from "./arrow-reader.ts";
import { type StreamMessage, streamMessages } from "./stream-messages.ts";

const MIB: number = 1024 * 1024;

const fixture = (name: string): Promise<Uint8Array> => Bun.file(join(import.meta.dir, "fixtures", name)).bytes();

interface Stream {
  readonly headers: readonly ColumnHeader[];
  readonly batches: readonly Batch[];
}

function readStream(bytes: Uint8Array, bytesMax: number = 64 * MIB): Stream {
  const reader = new ArrowReader(bytesMax);
  const batches: Batch[] = [];
  let headers: readonly ColumnHeader[] = [];
  for (const { metadata, body } of streamMessages(bytes)) {
    const message = reader.read(metadata, body);
    if (message.kind === "schema") ({ headers } = message);
    if (message.kind === "batch") batches.push(message.batch);
  }
  return { headers, batches };
}

/** A value as the fixtures have it: numbers as text, bytes in hexadecimal, lists as lists. */
function cellOf(value: NestedPart, type: DataType): unknown {
  if (value === undefined) return null;
  if (type.kind === "float") return String(Number(value));
  if (typeof value === "boolean") return value;
  if (value instanceof Uint8Array) return isNested(type) ? partsOf(value, type) : Buffer.from(value).toString("hex");
  return typeof value === "object" ? [value.months, value.days, String(value.nanos)] : String(value);
}

function partsOf(bytes: Uint8Array, type: DataType): unknown[] {
  if (!isNested(type)) throw new Error("a nested type");
  return decodeNested(type, bytes).map((part, i) => {
    if (type.kind === "list") return cellOf(part, type.element);
    if (type.kind === "struct") return cellOf(part, type.fields[i]?.type ?? STRING);
    return cellOf(part, i % 2 === 0 ? type.key : type.value);
  });
}

function cellsOf(vector: Vector, type: DataType, rowCount: number): unknown[] {
  return Array.from({ length: rowCount }, (_, row) => cellOf(scalarAt(vector, type, row), type));
}

/** What pyarrow says, with floats as this language prints them. */
function wanted(cells: readonly unknown[], type: DataType): unknown[] {
  return cells.map((cell) => (type.kind === "float" && cell !== null ? String(Number(cell)) : cell));
}

/** Intervals of columns are texts here. */
const INTERVALS = ["1 mons 2 days 0.000000003 secs", null];

async function check(name: string): Promise<Stream> {
  const stream = readStream(await fixture(`${name}.arrows`));
  const want = (await Bun.file(join(import.meta.dir, "fixtures", `${name}.json`)).json()) as Record<string, unknown[]>[];
  expect(stream.batches.length).toBe(want.length);
  for (const [i, batch] of stream.batches.entries()) {
    for (const [c, { name: column, type }] of stream.headers.entries()) {
      const got = cellsOf(batch.vectors[c] as Vector, type, batch.rowCount);
      if (type.kind === "interval") expect(got.slice(0, 2)).toEqual(INTERVALS);
      else expect([column, ...got]).toEqual([column, ...wanted(want[i]?.[column] ?? [], type)]);
    }
  }
  return stream;
}

describe("streams of pyarrow 26 hold what it says", () => {
  for (const name of ["every-type", "version-4", "lz4", "zstd", "empty", "delta", "replaced", "delta-numbers"]) {
    test(name, async () => {
      await check(name);
    });
  }
});

test("texts of dictionaries are codes, of which each text has one, and codes that were handed over stay what they were", async () => {
  for (const [name, texts] of [
    ["delta", [undefined, "a", "b", "c", "d", "e"]],
    ["replaced", [undefined, "a", "b"]],
  ] as const) {
    const { batches } = await check(name);
    expect(batches[0]?.vectors[0]).toMatchObject({ kind: "dictionary", codes: new Uint32Array([1, 2, 0]), dictionary: texts });
  }
  const { headers, batches } = await check("every-type");
  const twice = batches[0]?.vectors[headers.findIndex(({ name }) => name === "dictionary twice")];
  expect(twice).toMatchObject({ kind: "dictionary", codes: new Uint32Array([1, 0, 1, 1, 1]), dictionary: [undefined, "same"] });
});

test("numbers and texts lie on the body where it is aligned, and are copied where it is not", () => {
  const headers = [
    { name: "n", type: { kind: "float", bits: 64 } as const },
    { name: "s", type: STRING },
  ];
  const batch = { rowCount: 2, vectors: [vectorOf(headers[0]!.type, [1, 2]), vectorOf(STRING, ["a", "b"])] };
  const bytes = Buffer.concat([encodeArrowSchema(headers), encodeArrowBatch(headers, batch, undefined)]);
  for (const shift of [0, 1, 4]) {
    const place = new Uint8Array(bytes.length + 8);
    place.set(bytes, shift);
    const [read] = readStream(place.subarray(shift, shift + bytes.length)).batches;
    const [numbers, texts] = read?.vectors ?? [];
    expect(cellsOf(numbers as Vector, headers[0]!.type, 2)).toEqual(["1", "2"]);
    expect(cellsOf(texts as Vector, STRING, 2)).toEqual(["a", "b"]);
    expect(numbers?.kind === "number" && numbers.values.buffer === place.buffer).toBe(shift === 0);
    expect(texts?.kind === "bytes" && texts.bytes.buffer === place.buffer).toBe(true);
  }
});

test("what this server writes it reads", async () => {
  for (const compression of [undefined, "lz4", "zstd"] as const) {
    const { headers, batches } = readStream(await fixture("every-type.arrows"));
    const own = Buffer.concat([
      encodeArrowSchema(headers),
      ...batches.map((batch) => encodeArrowBatch(headers, batch, compression)),
      encodeArrowEnd(),
    ]);
    const again = readStream(own);
    for (const [c, { name, type }] of headers.entries()) {
      const [before, after] = [batches, again.batches].map(([batch]) => cellsOf(batch?.vectors[c] as Vector, type, batch?.rowCount ?? 0));
      if (type.kind !== "interval" && type.kind !== "null") expect([name, after]).toEqual([name, before]);
    }
  }
});

describe("refuses", () => {
  function check(read: () => unknown, code: StatusCode, message: RegExp): void {
    try {
      read();
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(DbError);
      expect((thrown as DbError).code).toBe(code);
      expect((thrown as DbError).message).toMatch(message);
      return;
    }
    throw new Error(`was taken; want ${message}`);
  }

  test("unions, by the column's name", async () => {
    const bytes = await fixture("union.arrows");
    check(() => readStream(bytes), StatusCode.Unsupported, /column either: a union/);
  });

  test("batches without their schema, and dictionaries that did not come", async () => {
    const [, dictionary, batch] = [...streamMessages(await fixture("delta.arrows"))] as [StreamMessage, StreamMessage, StreamMessage];
    check(() => new ArrowReader().read(batch.metadata, batch.body), StatusCode.InvalidArguments, /first message of a stream is its schema/);
    const [schema] = [...streamMessages(await fixture("delta.arrows"))] as [StreamMessage];
    const reader = new ArrowReader();
    reader.read(schema.metadata, schema.body);
    check(() => reader.read(batch.metadata, batch.body), StatusCode.InvalidArguments, /dictionary 0 of column tag did not come/);
    check(() => reader.read(schema.metadata, schema.body), StatusCode.InvalidArguments, /a stream has one schema/);
    check(
      () => reader.read(dictionary.metadata, new Uint8Array(0)),
      StatusCode.InvalidArguments,
      /a body of 0 bytes, of which \d+ are announced/,
    );
  });

  test("text that is not UTF-8, and text that is cut within a character", () => {
    const headers = [{ name: "s", type: STRING }];
    for (const [bytes, offsets] of [
      [new Uint8Array([0xff, 0x61]), new Uint32Array([0, 1, 2])],
      [new TextEncoder().encode("ü"), new Uint32Array([0, 1, 2])],
    ] as const) {
      const batch: Batch = { rowCount: 2, vectors: [{ kind: "bytes", offsets, bytes, validity: undefined }] };
      const stream = Buffer.concat([encodeArrowSchema(headers), encodeArrowBatch(headers, batch, undefined)]);
      check(() => readStream(stream), StatusCode.InvalidArguments, /column s has text that is not UTF-8/);
    }
  });

  test("batches that would take more memory than one may", async () => {
    for (const codec of ["lz4", "zstd"]) {
      const bytes = await fixture(`${codec}.arrows`);
      check(() => readStream(bytes, 1000), StatusCode.RuntimeResourcesExhausted, /more than 1000 bytes/);
    }
  });
});

describe("damaged streams are read or refused, and take no more memory than they may", () => {
  const names = ["every-type", "lz4", "zstd", "delta", "version-4"];
  for (const [seed, name] of names.entries()) {
    test(name, async () => {
      const good = await fixture(`${name}.arrows`);
      const change = fc.tuple(fc.nat(good.length - 1), fc.constantFrom(0, 1, 2, 4, 8, 0x10, 0x7f, 0x80, 0xfe, 0xff));
      let refused = 0;
      fc.assert(
        fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), fc.nat(good.length), fc.nat(9), (changes, end, cut) => {
          const bad = good.slice(0, cut === 0 ? end : good.length);
          for (const [at, byte] of changes) if (at < bad.length) bad[at] = byte;
          try {
            for (const { rowCount } of readStream(bad, MIB).batches) expect(rowCount).toBeLessThanOrEqual(MIB);
          } catch (thrown) {
            if (!(thrown instanceof DbError)) throw thrown;
            refused++;
          }
        }),
        { seed: 20_261_124 + seed, numRuns: 1000 },
      );
      expect(refused).toBeGreaterThan(100);
    }, 30_000);
  }
});

test("random columns of 64-bit integers are those of bigints", () => {
  const value = fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -(2n ** 53n) - 1n, max: 2n ** 53n + 1n }));
  fc.assert(
    fc.property(fc.array(fc.option(value, { nil: undefined }), { maxLength: 20 }), (values) => {
      const headers = [
        { name: "i", type: INT64 },
        { name: "t", type: { kind: "timestamp", unit: "nanosecond" } as const },
      ];
      const vectors = headers.map(({ type }) => vectorOf(type, values));
      const bytes = Buffer.concat([encodeArrowSchema(headers), encodeArrowBatch(headers, { rowCount: values.length, vectors }, undefined)]);
      const [batch] = readStream(bytes).batches;
      for (const [c, { type }] of headers.entries()) {
        const want = values.map((each) => (each === undefined ? null : String(each)));
        expect(cellsOf(batch?.vectors[c] as Vector, type, values.length)).toEqual(want);
      }
    }),
    { seed: 20_261_124, numRuns: 300 },
  );
});

describe("a reader that borrows the thread's memory", () => {
  /** The same bytes, that many behind a multiple of 8. */
  const shifted = (bytes: Uint8Array, by: number): Uint8Array => {
    const copy = new Uint8Array(bytes.length + by).subarray(by);
    copy.set(bytes);
    return copy;
  };

  /** What each batch holds before the next is read. */
  function cellsOfBatches(bytes: Uint8Array, isReused: boolean): unknown[] {
    const reader = new ArrowReader(64 * MIB);
    if (isReused) reader.borrowMemory(1000);
    let headers: readonly ColumnHeader[] = [];
    const cells: unknown[] = [];
    for (const { metadata, body } of streamMessages(bytes)) {
      const message = reader.read(metadata, body);
      if (message.kind === "schema") ({ headers } = message);
      if (message.kind !== "batch") continue;
      const { vectors, rowCount } = message.batch;
      cells.push(headers.map(({ type }, c) => cellsOf(vectors[c] as Vector, type, rowCount)));
    }
    return cells;
  }

  for (const name of ["every-type", "version-4", "lz4", "zstd", "empty", "delta", "replaced", "delta-numbers"]) {
    test(`reads ${name} wherever it lies`, async () => {
      const bytes = await fixture(`${name}.arrows`);
      const want = cellsOfBatches(bytes, false);
      for (const by of [0, 1, 4]) expect(cellsOfBatches(shifted(bytes, by), true)).toEqual(want);
    });
  }

  test("random numbers, times and texts, batch after batch, with NULLs", () => {
    const types: readonly DataType[] = [INT64, UINT64, TIMESTAMP_NANOSECOND, STRING, BOOLEAN, INT16];
    const headers = types.map((type, i) => ({ name: `c${i}`, type }));
    const whole = (min: bigint, max: bigint): fc.Arbitrary<bigint> =>
      fc.oneof({ arbitrary: fc.bigInt({ min: 0n, max: 100n }), weight: 20 }, fc.bigInt({ min, max }));
    const nullable = (values: fc.Arbitrary<Scalar>): fc.Arbitrary<Scalar> =>
      fc.oneof({ arbitrary: values, weight: 8 }, fc.constant(undefined));
    const row = fc.tuple(
      nullable(fc.oneof({ arbitrary: whole(-(2n ** 31n), 2n ** 31n), weight: 99 }, whole(-(2n ** 63n), 2n ** 63n - 1n))),
      nullable(fc.oneof({ arbitrary: whole(0n, 2n ** 32n), weight: 99 }, whole(0n, 2n ** 64n - 1n))),
      nullable(whole(-(2n ** 54n), 2n ** 54n)),
      nullable(fc.string({ maxLength: 9, unit: "grapheme" })),
      nullable(fc.boolean()),
      nullable(fc.integer({ min: -32_768, max: 32_767 })),
    );
    const batches = fc.array(fc.array(row, { minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(batches, fc.integer({ min: 0, max: 7 }), (rows, by) => {
        const encoded = rows.map((some) => {
          const vectors = types.map((type, c) =>
            vectorOf(
              type,
              some.map((each): Scalar => (typeof each[c] === "bigint" && type.kind === "int" ? exactInteger(each[c]) : each[c])),
            ),
          );
          return encodeArrowBatch(headers, { rowCount: some.length, vectors }, undefined);
        });
        const stream = Buffer.concat([encodeArrowSchema(headers), ...encoded, encodeArrowEnd()]);
        const want = rows.map((some) => types.map((type, c) => some.map((each) => cellOf(each[c], type))));
        expect(cellsOfBatches(shifted(stream, by), true)).toEqual(want);
      }),
      { seed: 20_261_124, numRuns: 300 },
    );
  });
});

test("integers of 64 bits come as 32 where all fit, also in pieces and off a multiple of 4", () => {
  const rowCount = 5000;
  for (const [type, edge, isNarrow] of [
    [INT64, -(2 ** 31), true],
    [INT64, 2 ** 31 - 1, true],
    [INT64, 2 ** 31, false],
    [INT64, -(2 ** 31) - 1, false],
    [UINT64, 2 ** 31 - 1, true],
    [UINT64, 2 ** 32 - 1, false],
  ] as const) {
    const values = Array.from({ length: rowCount }, (_, row) => (row === 4321 ? edge : row));
    const header = { name: "v", type };
    const stream = Buffer.concat([
      encodeArrowSchema([header]),
      encodeArrowBatch([header], { rowCount, vectors: [vectorOf(type, values)] }, undefined),
    ]);
    for (const by of [0, 3]) {
      const copy = new Uint8Array(stream.length + by).subarray(by);
      copy.set(stream);
      const [vector] = readStream(copy).batches[0]?.vectors ?? [];
      expect(vector?.kind === "number" && vector.values instanceof Int32Array).toBe(isNarrow);
      expect(cellsOf(vector as Vector, type, rowCount)).toEqual(values.map(String));
    }
  }
});

test("a dictionary that comes again keeps its codes; another one, and one that was added to, begins anew", async () => {
  const [schema, dictionary, batch, delta] = [...streamMessages(await fixture("delta.arrows"))] as [
    StreamMessage,
    StreamMessage,
    StreamMessage,
    StreamMessage,
  ];
  const reader = new ArrowReader();
  const read = ({ metadata, body }: StreamMessage): ReturnType<ArrowReader["read"]> => reader.read(metadata, body);
  const dictionaryOf = (message: ReturnType<ArrowReader["read"]>): unknown => {
    const [vector] = message.kind === "batch" ? message.batch.vectors : [];
    return vector?.kind === "dictionary" ? vector.dictionary : undefined;
  };
  read(schema);
  read(dictionary);
  const first = dictionaryOf(read(batch));
  expect(first).toBeDefined();
  read(dictionary);
  expect(dictionaryOf(read(batch))).toBe(first);
  expect(read(delta).kind).toBe("dictionary");
  expect(dictionaryOf(read(batch))).toBe(first);
  read(dictionary);
  const anew = dictionaryOf(read(batch));
  expect(anew).not.toBe(first);
  expect((anew as unknown[]).length).toBeLessThan((first as unknown[]).length);
});
