/** Messages with rows, read by hand, beside @bufbuild/protobuf: over requests as clients send them and over broken ones. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { JsonValue } from "@bufbuild/protobuf";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { attemptDamaged } from "../../../test/support/mutations.ts";
import { canCompileProtos, type Codec, codecOf } from "../../../test/support/proto-schema.ts";
import { DbError } from "../../base/error.ts";
import { type DataType, INT64, STRING, TIMESTAMP_MILLISECOND } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Scalar } from "../../column/vector.ts";
import type { SchemaLookup, TableWrite } from "../../table/write-batch.ts";
import { type DecodedRows, GreptimeDecoder, type RowMessage } from "./decode.ts";
import { CELL_BYTES, CELL_BYTES_MAX, STEP_ROWS, WRITE_CELLS_MAX } from "./limits.ts";
import { checkMessage } from "./request-table.ts";

/** buf takes 0.2 s, and much more on a machine where everything else runs, too. */
const COMPILE_MS_MAX = 60_000;
/** 12,000 messages take a second; five and more on a machine where everything else runs, too. */
const DAMAGED_MS_MAX = 60_000;
const SEED = 20_261_124;

const MESSAGES = {
  row_inserts: "RowInsertRequests",
  row_deletes: "RowDeleteRequests",
  inserts: "InsertRequests",
  deletes: "DeleteRequests",
} as const;

let codecs: Readonly<Record<RowMessage, Codec<unknown>>>;
const canCompile = canCompileProtos();
if (!canCompile) process.stderr.write("greptime/decode.test.ts is skipped: buf cannot run here\n");
beforeAll(() => {
  if (!canCompile) return;
  const of = (message: RowMessage): Codec<unknown> => codecOf(`greptime.v1.${MESSAGES[message]}`);
  codecs = { row_inserts: of("row_inserts"), row_deletes: of("row_deletes"), inserts: of("inserts"), deletes: of("deletes") };
}, COMPILE_MS_MAX);

const NO_TABLES: SchemaLookup = { columnOf: () => undefined };

function decode(message: RowMessage, json: JsonValue, schemas: SchemaLookup = NO_TABLES): DecodedRows {
  return new GreptimeDecoder().decode(message, codecs[message].write(json), { database: "public", schemas });
}

/** Rows by table: each column's value as JSON has it; NULL is null. */
function plain({ batch }: DecodedRows): Record<string, unknown>[] {
  return batch.tables.flatMap(({ table, rowCount, keys, times, fields, shape }) =>
    Array.from({ length: rowCount }, (_, row) => {
      const { names, values } = batch.dictionary.tagsOf(keys[row] as number);
      const time = shape?.find(({ semantic }) => semantic === "timestamp")?.name ?? "";
      const cells = fields.map(({ name, type, vector }) => [name, shown(scalarAt(vector, type, row), type)] as const);
      return {
        table,
        ...Object.fromEntries(names.map((name, i) => [name, values[i]])),
        [time]: String(times.base + BigInt(times.offsets[row] as number)),
        ...Object.fromEntries(cells.filter(([, value]) => value !== null)),
      };
    }),
  );
}

function shown(value: Scalar, type: DataType): unknown {
  if (value === undefined) return null;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (typeof value === "bigint" || type.kind === "int") return String(value);
  return value;
}

const base = (name: string, datatype: string, semanticType: string): { columnName: string; datatype: string; semanticType: string } => ({
  columnName: name,
  datatype,
  semanticType,
});

/** A type of a column: its name, the field of its values, values as JSON of the message, and as `plain` shows them. */
interface Kind {
  readonly datatype: string;
  readonly field: string;
  readonly values: fc.Arbitrary<JsonValue>;
  readonly show?: (value: JsonValue) => unknown;
}

const whole = (min: number, max: number): fc.Arbitrary<JsonValue> => fc.integer({ min, max });
const wide: fc.Arbitrary<JsonValue> = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
const KINDS: readonly Kind[] = [
  { datatype: "BOOLEAN", field: "bool", values: fc.boolean() },
  { datatype: "INT8", field: "i8", values: whole(-128, 127), show: String },
  { datatype: "INT16", field: "i16", values: whole(-32_768, 32_767), show: String },
  { datatype: "INT32", field: "i32", values: whole(-(2 ** 31), 2 ** 31 - 1), show: String },
  { datatype: "INT64", field: "i64", values: wide },
  { datatype: "UINT8", field: "u8", values: whole(0, 255), show: String },
  { datatype: "UINT16", field: "u16", values: whole(0, 65_535), show: String },
  { datatype: "UINT32", field: "u32", values: whole(0, 2 ** 32 - 1), show: String },
  { datatype: "UINT64", field: "u64", values: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String) },
  { datatype: "FLOAT32", field: "f32", values: fc.float({ noNaN: true, noDefaultInfinity: true }) },
  { datatype: "FLOAT64", field: "f64", values: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { datatype: "STRING", field: "string", values: fc.string({ unit: "grapheme", maxLength: 120 }) },
  { datatype: "BINARY", field: "binary", values: fc.uint8Array({ maxLength: 120 }).map((bytes) => Buffer.from(bytes).toString("base64")) },
  { datatype: "DATE", field: "date", values: whole(-(2 ** 31), 2 ** 31 - 1) },
  { datatype: "DATETIME", field: "datetime", values: wide },
  { datatype: "TIMESTAMP_SECOND", field: "timestampSecond", values: wide },
  { datatype: "TIMESTAMP_NANOSECOND", field: "timestampNanosecond", values: wide },
  { datatype: "TIME_SECOND", field: "timeSecond", values: whole(0, 86_399).map(String), show: Number },
  { datatype: "TIME_NANOSECOND", field: "timeNanosecond", values: whole(0, 86_399_000_000_000).map(String), show: Number },
];

interface Request {
  readonly kinds: readonly Kind[];
  readonly rows: readonly { readonly host: string | undefined; readonly ts: string; readonly cells: readonly (JsonValue | undefined)[] }[];
}

const requests: fc.Arbitrary<Request> = fc.shuffledSubarray([...KINDS], { minLength: 1 }).chain((kinds) =>
  fc.record({
    kinds: fc.constant(kinds),
    rows: fc.array(
      fc.record({
        host: fc.option(fc.constantFrom("a", "b", "ü", ""), { nil: undefined }),
        ts: fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 13n }), fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n })).map(String),
        cells: fc.tuple(...kinds.map(({ values }) => fc.option(values, { nil: undefined }))),
      }),
      { minLength: 1, maxLength: 40 },
    ),
  }),
);

function asRows({ kinds, rows }: Request): JsonValue {
  const schema = [
    base("host", "STRING", "TAG"),
    base("ts", "TIMESTAMP_MILLISECOND", "TIMESTAMP"),
    ...kinds.map(({ datatype }, i) => base(`c${i}`, datatype, "FIELD")),
  ];
  const cell = (field: string, value: JsonValue | undefined): JsonValue => (value === undefined ? {} : { [`${field}Value`]: value });
  return {
    inserts: [
      {
        tableName: "t",
        rows: {
          schema,
          rows: rows.map(({ host, ts, cells }) => ({
            values: [
              cell("string", host),
              cell("timestampMillisecond", ts),
              ...cells.map((value, i) => cell(kinds[i]?.field ?? "", value)),
            ],
          })),
        },
      },
    ],
  };
}

/** A null_mask: bit i is row i. */
function maskOf(values: readonly unknown[]): string {
  const bytes = new Uint8Array(Math.ceil(values.length / 8));
  for (const [i, value] of values.entries()) if (value === undefined) bytes[i >> 3] = (bytes[i >> 3] ?? 0) | (1 << (i & 7));
  return Buffer.from(bytes).toString("base64");
}

function asColumns({ kinds, rows }: Request): JsonValue {
  const column = (
    name: string,
    datatype: string,
    semanticType: string,
    field: string,
    values: readonly (JsonValue | undefined)[],
  ): JsonValue => ({
    ...base(name, datatype, semanticType),
    values: { [`${field}Values`]: values.filter((value) => value !== undefined) },
    ...(values.includes(undefined) ? { nullMask: maskOf(values) } : {}),
  });
  return {
    inserts: [
      {
        tableName: "t",
        rowCount: rows.length,
        columns: [
          column(
            "host",
            "STRING",
            "TAG",
            "string",
            rows.map(({ host }) => host),
          ),
          column(
            "ts",
            "TIMESTAMP_MILLISECOND",
            "TIMESTAMP",
            "timestampMillisecond",
            rows.map(({ ts }) => ts),
          ),
          ...kinds.map(({ datatype, field }, i) =>
            column(
              `c${i}`,
              datatype,
              "FIELD",
              field,
              rows.map(({ cells }) => cells[i]),
            ),
          ),
        ],
      },
    ],
  };
}

function wanted({ kinds, rows }: Request): Record<string, unknown>[] {
  return rows.map(({ host, ts, cells }) => ({
    table: "t",
    ...(host === undefined ? {} : { host }),
    ts,
    ...Object.fromEntries(
      cells.flatMap((value, i) => {
        const show = kinds[i]?.show;
        return value === undefined ? [] : [[`c${i}`, show === undefined ? value : show(value)]];
      }),
    ),
  }));
}

/** Everything that a client may send: text as it was, numbers that JSON prints alike. */
const normal = (rows: readonly Record<string, unknown>[]): unknown => JSON.parse(JSON.stringify(rows));

describe.skipIf(!canCompile)("decoding", () => {
  test("reads rows and columns of every type as the library writes them", () => {
    const property = fc.property(requests, (request) => {
      const want = normal(wanted(request));
      expect(normal(plain(decode("row_inserts", asRows(request))))).toEqual(want);
      expect(normal(plain(decode("inserts", asColumns(request))))).toEqual(want);
    });
    fc.assert(property, { seed: SEED, numRuns: 150 });
  });

  test("reads rows that fill several blocks, each column on from where the last one ended", () => {
    const [some, more] = fc.sample(requests, { seed: SEED, numRuns: 60 }).filter(({ kinds }) => kinds.length > 12);
    for (const sample of [some, more] as Request[]) {
      const rows = Array.from({ length: 1500 }, (_, i) => ({
        ...(sample.rows[i % sample.rows.length] as Request["rows"][0]),
        ts: String(i),
      }));
      const request = { ...sample, rows };
      const want = normal(wanted(request));
      expect(normal(plain(decode("row_inserts", asRows(request))))).toEqual(want);
      expect(normal(plain(decode("inserts", asColumns(request))))).toEqual(want);
    }
  });

  test(
    "damaged and truncated messages are refused or read, never worse",
    () => {
      const [sample] = fc.sample(requests, { seed: SEED, numRuns: 1 });
      const request = {
        kinds: KINDS,
        rows: (sample as Request).rows.slice(0, 3).map((row) => ({ ...row, cells: KINDS.map(() => undefined) })),
      };
      const full = fc.sample(fc.tuple(...KINDS.map(({ values }) => values)), { seed: SEED, numRuns: 2 });
      const rows = full.map((cells, i) => ({ host: "a", ts: String(i), cells }));
      const all: Request = { kinds: KINDS, rows: [...rows, ...request.rows] };
      const decoder = new GreptimeDecoder();
      let refused = 0;
      for (const message of ["row_inserts", "inserts"] as const) {
        const bytes = codecs[message].write(message === "inserts" ? asColumns(all) : asRows(all));
        attemptDamaged(bytes, { seed: SEED, numRuns: 6000 }, (bad) => {
          try {
            decoder.decode(message, bad, { database: "public", schemas: NO_TABLES });
          } catch (error) {
            expect(error).toBeInstanceOf(DbError);
            refused++;
          }
        });
      }
      expect(refused).toBeGreaterThan(6000);
    },
    DAMAGED_MS_MAX,
  );

  test("a table of many cells comes as several writes, in steps", () => {
    const rowCount = WRITE_CELLS_MAX + 7;
    const time = new BinaryWriter();
    for (let row = 0; row < rowCount; row++) time.int64(row);
    const column = new BinaryWriter().tag(1, 2).string("ts").tag(2, 0).int32(2).tag(5, 0).int32(16);
    column.tag(3, 2).bytes(new BinaryWriter().tag(17, 2).bytes(time.finish()).finish());
    const insert = new BinaryWriter().tag(1, 2).string("t").tag(3, 2).bytes(column.finish()).tag(4, 0).uint32(rowCount);
    const bytes = new BinaryWriter().tag(1, 2).bytes(insert.finish()).finish();
    const steps = new GreptimeDecoder().steps("inserts", bytes, { database: "public", schemas: NO_TABLES });
    let count = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) count++;
    const { tables } = step.value.batch;
    expect(count).toBeGreaterThan(rowCount / STEP_ROWS);
    expect(tables.map((write) => write.rowCount)).toEqual([WRITE_CELLS_MAX, 7]);
    const { base: first, offsets } = (tables[1] as TableWrite).times;
    expect(Array.from(offsets, (offset) => Number(first) + offset)).toEqual([0, 1, 2, 3, 4, 5, 6].map((i) => WRITE_CELLS_MAX + i));
  });

  test("a row count that nothing stands for takes no memory", () => {
    const columns = [{ ...base("ts", "TIMESTAMP_SECOND", "TIMESTAMP"), values: { timestampSecondValues: ["1"] } }];
    const refused = "row_count is 4294967295";
    expect(() => decode("inserts", { inserts: [{ tableName: "t", columns, rowCount: 4_294_967_295 }] })).toThrow(/unfold|row_count/);
    expect(() => decode("inserts", { inserts: [{ tableName: "t", columns, rowCount: 2_000_000 }] })).toThrow(refused.slice(0, 12));
  });
});

const TS = base("ts", "TIMESTAMP_MILLISECOND", "TIMESTAMP");
const one = (schema: JsonValue[], ...rows: JsonValue[][]): JsonValue => ({
  inserts: [{ tableName: "t", rows: { schema, rows: rows.map((values) => ({ values })) } }],
});
const at = (ms: number): JsonValue => ({ timestampMillisecondValue: String(ms) });

describe.skipIf(!canCompile)("what is refused", () => {
  const refusals: readonly (readonly [what: string, request: JsonValue, message: string])[] = [
    [
      "no time index",
      one([base("a", "INT64", "FIELD")], [{ i64Value: "1" }]),
      "cannot write to table t: the request has no TIMESTAMP column",
    ],
    [
      "two of them",
      one([TS, base("u", "TIMESTAMP_SECOND", "TIMESTAMP")], [at(1), {}]),
      "column u: it is a second TIMESTAMP column beside ts",
    ],
    ["NULL time", one([TS], [at(1)], [{}]), "column ts, row 1: the time index is NULL"],
    [
      "another type's value",
      one([TS, base("a", "INT64", "FIELD")], [at(1), { f64Value: 1 }]),
      "column a, row 0: it holds field 10 of Value",
    ],
    ["a small number too large", one([TS, base("a", "INT8", "FIELD")], [at(1), { i8Value: 300 }]), "300 is out of range: -128 to 127"],
    ["a row too short", one([TS, base("a", "INT8", "FIELD")], [at(1)]), "row 0: it has 1 values, the schema has 2 columns"],
    ["a row too long", one([TS], [at(1), {}]), "row 0: it has more values than the schema has columns (1)"],
    [
      "an interval",
      one([TS, base("a", "INTERVAL_DAY_TIME", "FIELD")], [at(1), {}]),
      "column a: columns of type INTERVAL are not supported",
    ],
    ["a list", one([TS, base("a", "LIST", "FIELD")], [at(1), {}]), "column a: columns of type LIST are not supported"],
    [
      "a column twice",
      one([TS, base("a", "INT8", "FIELD"), base("a", "INT8", "FIELD")], [at(1), {}, {}]),
      "column a: the request has it twice",
    ],
    ["a tag of bytes", one([TS, base("a", "BINARY", "TAG")], [at(1), {}]), "column a: a tag cannot be binary"],
    ["a vector without dim", one([TS, base("a", "VECTOR", "FIELD")], [at(1), {}]), "column a: a VECTOR needs vector_type.dim"],
    ["no JSON", one([TS, base("a", "JSON", "FIELD")], [at(1), { stringValue: "{" }]), "column a, row 0: it is no JSON"],
    [
      "an index option",
      one([TS, { ...base("a", "STRING", "FIELD"), options: { options: { x: "y" } } }], [at(1), {}]),
      "its option 'x' is not known",
    ],
  ];
  for (const [what, request, message] of refusals) test(what, () => expect(() => decode("row_inserts", request)).toThrow(message));

  test("what a table has otherwise", () => {
    const known = new Map<string, { readonly type: DataType; readonly semantic: "tag" | "field" | "timestamp" }>([
      ["ts", { type: TIMESTAMP_MILLISECOND, semantic: "timestamp" }],
      ["host", { type: STRING, semantic: "tag" }],
      ["n", { type: INT64, semantic: "field" }],
    ]);
    const schemas: SchemaLookup = { columnOf: (_, __, column) => known.get(column), rolesOf: () => ({ engine: "mito", options: {} }) };
    const refused = (column: JsonValue, time: JsonValue = TS): unknown => {
      try {
        return decode("row_inserts", one([time, column], [at(1), {}]), schemas).rowCount;
      } catch (error) {
        return String(error);
      }
    };
    expect(refused(base("n", "FLOAT64", "FIELD"))).toContain("column n: datatype incompatible, expected: Int64, actual: Float64");
    expect(refused(base("n", "INT64", "TAG"))).toContain("column n: semantic_type incompatible, expected: FIELD, actual: TAG");
    expect(refused(base("host", "STRING", "FIELD"))).toContain("semantic_type incompatible, expected: TAG, actual: FIELD");
    expect(refused(base("x", "INT64", "FIELD"), base("time", "TIMESTAMP_MILLISECOND", "TIMESTAMP"))).toContain("another name");
    expect(refused(base("n", "INT64", "FIELD"))).toBe(1);
  });
});

describe.skipIf(!canCompile)("columns", () => {
  test("decimals, vectors, JSON in its three forms, and indexes", () => {
    const schema = [
      TS,
      { ...base("d", "DECIMAL128", "FIELD"), datatypeExtension: { decimalType: { precision: 6, scale: 2 } } },
      { ...base("v", "VECTOR", "FIELD"), datatypeExtension: { vectorType: { dim: 2 } } },
      base("j", "JSON", "FIELD"),
      { ...base("k", "BINARY", "FIELD"), datatypeExtension: { jsonType: "JSON_BINARY" } },
      {
        ...base("s", "STRING", "FIELD"),
        options: { options: { skipping_index: '{"granularity":8192,"false-positive-rate-in-10000":200}', fulltext: '{"enable":true}' } },
      },
    ];
    const floats = Buffer.from(new Float32Array([1, 2]).buffer).toString("base64");
    const object = { object: { entries: [{ key: "a", value: { array: { items: [{ int: "1" }, { float: 2 }, { str: "x" }, {}] } } }] } };
    const values = [at(5), { decimal128Value: { hi: "-1", lo: "-150" } }, { binaryValue: floats }, { stringValue: '{"b":1,"a":2}' }];
    const decoded = decode("row_inserts", one(schema, [...values, { jsonValue: object }, { stringValue: "text" }]));
    expect(plain(decoded)).toEqual([
      { table: "t", ts: "5", d: -150, v: floats, j: '{"a":2,"b":1}', k: '{"a":[1,2.0,"x",null]}', s: "text" },
    ]);
    const s = decoded.batch.tables[0]?.shape?.find(({ name }) => name === "s");
    expect(s?.indexes?.map((clause) => clause.split(" ")[0])).toEqual(["FULLTEXT", "SKIPPING"]);
    expect(s?.indexes?.[1]).toContain("false_positive_rate = '0.02', granularity = '8192'");
  });

  test("deletes name rows by tags and time, and nothing else", () => {
    const schema = [base("host", "STRING", "TAG"), TS];
    const rows = [{ values: [{ stringValue: "a" }, at(1)] }];
    const decoded = decode("row_deletes", { deletes: [{ tableName: "t", rows: { schema, rows } }] });
    expect(plain(decoded)).toEqual([{ table: "t", host: "a", ts: "1" }]);
    const field = { deletes: [{ tableName: "t", rows: { schema: [TS, base("n", "INT64", "FIELD")], rows: [{ values: [at(1), {}] }] } }] };
    expect(() => decode("row_deletes", field)).toThrow("cannot delete from table t: column n: it is a FIELD");
  });

  test("tags of other types become their text, and known series keep their keys", () => {
    const schema = [base("id", "INT64", "TAG"), base("up", "BOOLEAN", "TAG"), TS];
    const row = (id: string, up: boolean): JsonValue[] => [{ i64Value: id }, { boolValue: up }, at(1)];
    const decoded = decode("row_inserts", one(schema, row("-7", true), row("8", false), row("-7", true)));
    expect(plain(decoded).map(({ id, up }) => [id, up])).toEqual([
      ["-7", "true"],
      ["8", "false"],
      ["-7", "true"],
    ]);
    expect(Array.from(decoded.batch.tables[0]?.keys ?? [])).toEqual([0, 1, 0]);
  });
});

test("tables of a message unfold to no more together than one may", () => {
  const most = Math.floor(CELL_BYTES_MAX / CELL_BYTES);
  checkMessage("write to", most);
  expect(() => checkMessage("write to", most + 1)).toThrow("cannot write to tables: its tables unfold to more than 512 MiB together");
});
