import { expect, test } from "bun:test";
import fc from "fast-check";
import { lineOf, type Point } from "../../../test/support/influx/points.ts";
import { pointsOf } from "../../../test/support/influx/points.ts";
import { naiveDecode } from "../../../test/support/influx/naive-decode.ts";
import { FLOAT64, INT64, STRING, TIMESTAMP_NANOSECOND } from "../../column/data-type.ts";
import type { SchemaLookup } from "../../table/write-batch.ts";
import { type DecodeOptions, InfluxDecoder, type Precision } from "./decode.ts";
import { WINDOW_SECONDS } from "../common/time-window.ts";

const SEED = 20_250_611;

/** A table that exists: its names clash with some that the generator makes. */
const schemas: SchemaLookup = {
  columnOf: (_database, table, column) => {
    if (table !== "m") return undefined;
    if (column === "host") return { type: STRING, semantic: "tag" };
    if (column === "fixed") return { type: INT64, semantic: "field" };
    if (column === "b") return { type: FLOAT64, semantic: "field" };
    return column === "ts" ? { type: TIMESTAMP_NANOSECOND, semantic: "timestamp" } : undefined;
  },
};

/** Mostly `usual`, so that most lines are good; sometimes one of `others`. */
function mostly<T>(usual: fc.Arbitrary<T>, ...others: fc.Arbitrary<T>[]): fc.Arbitrary<T> {
  return fc.oneof({ weight: 24 * others.length, arbitrary: usual }, ...others);
}

const precision = fc.constantFrom<Precision>("ns", "us", "ms", "s", "m", "h");
const measurement = mostly(fc.constantFrom("m", "cpu", "a\\ b", "a\\,b", "x=y", "wéb", "q\\"), fc.constantFrom('"', ""));
const tag = mostly(
  fc.constantFrom("host=a", "host=b", "region=us\\ west", "a\\ b=a\\,b", "r\\=s=\\\\ x", "é=ü", 'z="q"'),
  fc.constantFrom(
    "host=",
    "=a",
    "a=b=c",
    "f1=a",
    "fixed=a",
    "ts=a",
    "time_column=a",
    "b",
    "host=\u0001",
    "host=\u007f",
    "tab=\t",
    "host=a\\",
  ),
);
const digits = fc.stringMatching(/^[0-9]{1,18}$/);
const integer = mostly(
  fc.integer({ min: -9, max: 1000 }).map(String),
  fc.integer().map(String),
  fc.integer({ min: -(2 ** 53), max: 2 ** 53 }).map(String),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  fc.constantFrom(
    "9223372036854775808",
    "-9223372036854775809",
    "00000000000000000000000000012",
    "-0",
    "",
    "1.5",
    "+1",
    "--1",
    "1i",
    "5e3",
  ),
);
const unsigned = mostly(
  fc.nat().map(String),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
  fc.constantFrom("18446744073709551616", "-1", "", "1.0", "0000000000000000000000000000"),
);
const float = mostly(
  fc.constantFrom("1", "58", "1.5", "98.59872611464968", "0.1", "-3.25"),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.tuple(digits, digits).map(([whole, fraction]) => `${whole}.${fraction}`),
  fc.constantFrom("1.", ".5", "-.5", "-0", "1e5", "1E-400", "1e999", "-", ".", "+1", "1e", "0x10", "NaN", "inf", "1\u00a0"),
);
const text = fc
  .array(fc.constantFrom("a", "bc", " ", ",", "=", "\\n", "\\t", '\\"', "\\\\", "\\x", "\n", "é", "\r", "\ud83d\ude00", '="'), {
    maxLength: 12,
  })
  .map((parts) => `"${parts.join("")}"`);
const boolean = mostly(
  fc.constantFrom("t", "T", "true", "True", "TRUE", "f", "F", "false", "False", "FALSE"),
  fc.constantFrom("tRUE", "fals", "truee", "tr", "Tr", "x", "TRUe"),
);
const field = mostly(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.tuple(fc.constantFrom("f1", "f2", "f3", "fixed", "usage_user", "va\\ lue"), integer).map(([n, v]) => `${n}=${v}i`),
    },
    { weight: 2, arbitrary: fc.tuple(fc.constantFrom("b", "temperature", "k\\=v", "\\x"), float).map(([n, v]) => `${n}=${v}`) },
    fc.tuple(fc.constantFrom("u1", "u2"), unsigned).map(([n, v]) => `${n}=${v}u`),
    fc.tuple(fc.constantFrom("s1", "s2", "é"), text).map(([n, v]) => `${n}=${v}`),
    fc.tuple(fc.constantFrom("ok", '"'), boolean).map(([n, v]) => `${n}=${v}`),
  ),
  fc.constantFrom(
    "f1=1.5",
    "b=1i",
    "host=1i",
    "region=t",
    "time_column=1i",
    "ts=1i",
    "=1i",
    "f1",
    "f1=",
    "f=1i=2i",
    "\u007f=1i",
    "",
    "s1=5",
  ),
);
const time = mostly(
  fc.oneof(
    fc.constantFrom("1686441600000000000", "1686441610000000000", "0", "007"),
    fc.integer({ min: -100_000, max: 100_000 }).map(String),
  ),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  fc.constantFrom(
    "9223372036854775807",
    "-9223372036854775808",
    "-9223372036854775809",
    "9223372036854775808",
    "9223372036",
    "-9223372036",
  ),
  fc.constantFrom("1e9", "--1", "-", "12 13", "00000000000000000000000000001", "1\\", "1\r", "+1", ""),
);
const separator = mostly(fc.constant(" "), fc.constantFrom("  ", ""), fc.constantFrom("\t", "\\ "));
const lineEnd = mostly(
  fc.constantFrom("\n", "\r\n"),
  fc.constantFrom(" \n", "\n\n", "\n# comment\n", "\n  \t", "\r\n\r\n", "\n#\n#", "\n\r"),
);

const line = fc
  .record({
    measurement,
    tags: fc.uniqueArray(tag, { maxLength: 3, selector: (pair) => pair.slice(0, 2) }),
    fields: fc.array(field, { minLength: 1, maxLength: 6 }),
    time,
    separators: fc.tuple(separator, separator),
    lineEnd,
  })
  .map(({ measurement: name, tags, fields, time: stamp, separators, lineEnd: ending }) => {
    const tail = stamp === "" ? "" : `${separators[1]}${stamp}`;
    return `${[name, ...tags].join(",")}${separators[0]}${fields.join(",")}${tail}${ending}`;
  });
const body = fc.array(line, { maxLength: 15, size: "max" }).map((lines) => new TextEncoder().encode(lines.join("")));

/** Bytes that mean something, and some that are refused, put anywhere. */
const mutation = fc.record({
  at: fc.nat(10_000),
  byte: fc.constantFrom(
    ...[',= \\"\n\r\t#i.-0', "\u0001\u007f"]
      .join("")
      .split("")
      .map((c) => c.charCodeAt(0)),
    0xff,
    0xc3,
    0x80,
  ),
  insert: fc.boolean(),
});

function mutated(bytes: Uint8Array, mutations: readonly { at: number; byte: number; insert: boolean }[]): Uint8Array {
  const list = Array.from(bytes);
  for (const { at, byte, insert } of mutations) list.splice(at % (list.length + 1), insert ? 0 : 1, byte);
  return Uint8Array.from(list);
}

/** Rows of one table and time window keep their order; tables and windows may be told apart freely. */
function grouped(points: readonly Point[]): Record<string, string[]> {
  const groups: Record<string, string[]> = {};
  for (const point of points) {
    const nanos = BigInt(WINDOW_SECONDS) * 1_000_000_000n;
    const window = (point.time - (((point.time % nanos) + nanos) % nanos)) / nanos;
    (groups[`${point.table} ${window}`] ??= []).push(lineOf(point));
  }
  return groups;
}

function optionsOf(unit: Precision): DecodeOptions {
  return {
    database: "public",
    precision: unit,
    defaultTimeNanos: 1_686_441_600_123_456_789n,
    schemas,
    timeColumn: "time_column",
    acceptsTable: (name) => name !== '"',
  };
}

function checkTwin(decoder: InfluxDecoder, bytes: Uint8Array, options: DecodeOptions): void {
  const want = naiveDecode(bytes, options);
  const got = decoder.decode(bytes, options);
  expect(got.errors.map((error) => error.line)).toEqual([...want.badLines]);
  expect(grouped(pointsOf(got.batch))).toEqual(grouped(want.points));
  expect(got.rowCount).toBe(want.points.length);
  expect(got.errorCount).toBe(want.badLines.length);
  expect(got.lineCount).toBe(got.rowCount + got.errorCount);
}

test("gives the rows and the bad lines of the plain decoder, whatever came in earlier requests", () => {
  const decoder = new InfluxDecoder(20_000);
  fc.assert(
    fc.property(fc.array(body, { minLength: 1, maxLength: 3 }), precision, (bodies, unit) => {
      for (const bytes of bodies) checkTwin(decoder, bytes, optionsOf(unit));
    }),
    { seed: SEED, numRuns: 300 },
  );
});

test("gives the rows and the bad lines of the plain decoder on damaged bodies", () => {
  const decoder = new InfluxDecoder();
  fc.assert(
    fc.property(body, fc.array(mutation, { maxLength: 6 }), precision, (bytes, mutations, unit) => {
      checkTwin(decoder, mutated(bytes, mutations), optionsOf(unit));
    }),
    { seed: SEED, numRuns: 500 },
  );
});

test("gives the same for a body cut at any byte as for one that ends there", () => {
  const decoder = new InfluxDecoder();
  const whole = new TextEncoder().encode('m,host=a f1=1i,b=2.5,s="x\\"\ny" 12\r\n# c\ncpu f1=-3i,t=true 9223372036854775807\n');
  for (let end = 0; end <= whole.length; end++) checkTwin(decoder, whole.subarray(0, end), optionsOf("ns"));
});

test("takes any bytes without throwing and in one pass", () => {
  const decoder = new InfluxDecoder();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => checkTwin(decoder, bytes, optionsOf("ns"))),
    { seed: SEED, numRuns: 300 },
  );
});
