import { codedOf, plainOf, TEXTS } from "../../../../test/support/coded-text.ts";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  BINARY,
  BOOLEAN,
  type DataType,
  DATE,
  FLOAT32,
  FLOAT64,
  INT64,
  JSON_TYPE,
  type NestedType,
  STRING,
  TIMESTAMP_NANOSECOND,
  UINT64,
} from "../../../column/data-type.ts";
import { decimalText } from "../../../column/decimal.ts";
import { encodeNested } from "../../../column/nested.ts";
import type { Scalar, Vector } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { CellColumn, type CellDialect, CSV_DIALECT, CSV_SINGLE_DIALECT, JSON_DIALECT } from "./cell-column.ts";
import { floatText } from "../../../value/number-text.ts";

const SEED = { seed: 20_260_101, numRuns: 300 };
const decoder = new TextDecoder();

function cellsOf(vector: Vector, type: DataType, rowCount: number, dialect: CellDialect = JSON_DIALECT, column?: CellColumn): string[] {
  const cells = column ?? new CellColumn(type, dialect);
  cells.encode(vector, rowCount);
  return Array.from({ length: rowCount }, (_, row) => decoder.decode(cells.bytes.subarray(cells.starts[row], cells.ends[row])));
}

/** Prints scalars of a type and compares the cells. */
function check(type: DataType, values: readonly Scalar[], want: readonly string[], dialect: CellDialect = JSON_DIALECT): void {
  expect(cellsOf(vectorOf(type, values), type, values.length, dialect)).toEqual([...want]);
}

describe("numbers", () => {
  test("decimals are text in JSON, and bare in CSV", () => {
    const short = { kind: "decimal", precision: 6, scale: 2 } as const;
    const long = { kind: "decimal", precision: 38, scale: 37 } as const;
    check(short, [150, -5, undefined, 0], ['"1.50"', '"-0.05"', "null", '"0.00"']);
    check(short, [150, -5, undefined, 0], ["1.50", "-0.05", "", "0.00"], CSV_DIALECT);
    fc.assert(
      fc.property(fc.array(fc.maxSafeInteger(), { minLength: 1 }), fc.integer({ min: 0, max: 18 }), (values, scale) =>
        check(
          { kind: "decimal", precision: 18, scale },
          values,
          values.map((value) => `"${decimalText(value, scale)}"`),
        ),
      ),
      SEED,
    );
    check({ kind: "decimal", precision: 18, scale: 0 }, [10n ** 18n - 1n, undefined], ['"999999999999999999"', "null"]);
    check(long, [1n - 10n ** 38n, undefined], [`"-9.${"9".repeat(37)}"`, "null"]);
  });

  test("lists and structs are JSON, in CSV in quotes", () => {
    const list = { kind: "list", element: INT64 } as const;
    const struct = {
      kind: "struct",
      fields: [
        { name: "b", type: list },
        { name: "a", type: STRING },
      ],
    } as const;
    const numbers = encodeNested(list, [1, undefined]);
    check(list, [numbers, undefined, encodeNested(list, [])], ["[1,null]", "null", "[]"]);
    check(list, [numbers, undefined], ['"[1,null]"', ""], CSV_DIALECT);
    check(struct, [encodeNested(struct, [numbers, 'x"'])], ['{"a":"x\\"","b":[1,null]}']);
  });

  test("integers are exact in the whole 64-bit range", () => {
    check(
      INT64,
      [0, -1, undefined, 1e9, -1e9, 999_999_999, 2 ** 53 - 1, -(2 ** 53) + 1],
      ["0", "-1", "null", "1000000000", "-1000000000", "999999999", "9007199254740991", "-9007199254740991"],
    );
    check(INT64, [-(2n ** 63n), 2n ** 63n - 1n, undefined], ["-9223372036854775808", "9223372036854775807", "null"]);
    check(
      TIMESTAMP_NANOSECOND,
      [-(2n ** 63n), 2n ** 63n - 1n, undefined, 5n],
      ["-9223372036854775808", "9223372036854775807", "null", "5"],
    );
    check(UINT64, [2n ** 64n - 1n, 0n], ["18446744073709551615", "0"]);
    const whole = fc.array(fc.maxSafeInteger(), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(whole, (values) => check(INT64, values, values.map(String))),
      SEED,
    );
  });

  test("floats keep .0, use exponents outside 1e-5..1e16, and have no text for what JSON cannot hold", () => {
    const cases: readonly (readonly [number, string])[] = [
      [1024, "1024.0"],
      [0, "0.0"],
      [-0, "-0.0"],
      [66.6, "66.6"],
      [1e15, "1000000000000000.0"],
      [9_999_999_999_999_998, "9999999999999998.0"],
      [1e16, "1e16"],
      [-1.5e300, "-1.5e300"],
      [0.000_01, "0.00001"],
      [0.000_009_9, "9.9e-6"],
      [5e-324, "5e-324"],
      [0.1 + 0.2, "0.30000000000000004"],
      [Number.NaN, "null"],
      [Number.POSITIVE_INFINITY, "null"],
      [Number.NEGATIVE_INFINITY, "null"],
    ];
    check(
      FLOAT64,
      cases.map(([value]) => value),
      cases.map(([, text]) => text),
    );
  });

  test("floats read back as the same double", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Object.is(Number(floatText(value)), value)).toBe(true);
        check(FLOAT64, [value], [floatText(value)]);
      }),
      SEED,
    );
  });

  test("equal neighbours do not hide a sign of zero", () => check(FLOAT64, [0, -0, 0, 5, 5], ["0.0", "-0.0", "0.0", "5.0", "5.0"]));
  test("32-bit floats are widened", () => check(FLOAT32, [-1000.14], ["-1000.1400146484375"]));
  test("booleans and dates", () => {
    check(BOOLEAN, [true, undefined, false], ["true", "null", "false"]);
    check(DATE, [-1, 20_000], ["-1", "20000"]);
  });
});

describe("times", () => {
  test("are exact, on both sides of 1970", () => {
    const cases = [0n, -1n, 1n, 999_999_999n, 1_000_000_000n, -999_999_999n, -1_000_000_000n, -1_000_000_001n];
    check(TIMESTAMP_NANOSECOND, cases, cases.map(String));
  });

  test("base plus offset for any 64-bit base and 2^53 offset", () => {
    const base = fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n });
    const offsets = fc.array(fc.maxSafeInteger(), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(base, offsets, (from, list) => {
        const vector: Vector = { kind: "time", base: from, offsets: Float64Array.from(list), validity: undefined };
        const want = list.map((offset) => String(from + BigInt(offset)));
        expect(cellsOf(vector, TIMESTAMP_NANOSECOND, list.length)).toEqual(want);
      }),
      SEED,
    );
  });
});

test("times that share digits, go on to others and come back", () => {
  const base = fc.oneof(fc.constantFrom(0n, 1_700_000_000_000n, -5_000_000_000n), fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }));
  const step = fc.oneof(fc.integer({ min: -2, max: 20 }), fc.constantFrom(999_999_999, 1_000_000_000, -1_000_000_000, 2 ** 40, -(2 ** 40)));
  const times = fc.array(fc.tuple(step, fc.boolean()), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(base, fc.constantFrom(0, 999_999_990, 2 ** 53 - 2 ** 46, -(2 ** 53) + 2 ** 46), times, (from, first, list) => {
      let offset = first;
      const offsets = Float64Array.from(list, ([more]) => (offset += more));
      const validity = Uint8Array.from(list, ([, isValid]) => Number(isValid));
      const want = list.map(([, isValid], row) => (isValid ? String(from + BigInt(offsets[row]!)) : "null"));
      const vector: Vector = { kind: "time", base: from, offsets, validity };
      expect(cellsOf(vector, TIMESTAMP_NANOSECOND, list.length)).toEqual(want);
    }),
    SEED,
  );
});

describe("text", () => {
  test("JSON text reads back, from bytes and from a dictionary", () => {
    const texts = fc.array(fc.option(fc.string({ unit: "binary" }), { nil: undefined }), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(texts, (values) => {
        const want = values.map((value) => value ?? null);
        expect(cellsOf(vectorOf(STRING, values), STRING, values.length).map((cell) => JSON.parse(cell))).toEqual(want);
        const dictionary = [undefined, ...values];
        const codes = Uint32Array.from(values, (value, index) => (value === undefined ? 0 : index + 1));
        expect(cellsOf({ kind: "dictionary", codes, dictionary }, STRING, values.length).map((cell) => JSON.parse(cell))).toEqual(want);
      }),
      SEED,
    );
  });

  test("control characters have their short escapes", () =>
    check(STRING, ['\b\t\n\f\r\u0000\u001f"\\/\u007f'], ['"\\b\\t\\n\\f\\r\\u0000\\u001f\\"\\\\/\u007f"']));

  test("CSV quotes only where needed", () => {
    const values = ["plain", "a,b", 'say "x"', "line\nend", "", undefined, " spaced "];
    const want = ["plain", '"a,b"', '"say ""x"""', '"line\nend"', "", "", " spaced "];
    check(STRING, values, want, CSV_DIALECT);
    check(STRING, ["", undefined, "x"], ['""', '""', "x"], CSV_SINGLE_DIALECT);
    check(BINARY, [new Uint8Array([1, 2]), new Uint8Array([3]), new Uint8Array(0)], ['"[1,2]"', "[3]", "[]"], CSV_DIALECT);
  });

  test("a dictionary that grows between batches, and one that is replaced", () => {
    for (const [dialect, none] of [
      [JSON_DIALECT, "null"],
      [CSV_DIALECT, ""],
    ] as const) {
      const quote = (text: string): string => (dialect === JSON_DIALECT ? `"${text}"` : text);
      const column = new CellColumn(STRING, dialect);
      const dictionary: (string | undefined)[] = [undefined, "a"];
      const cells = (codes: readonly number[], from: readonly (string | undefined)[]): string[] =>
        cellsOf({ kind: "dictionary", codes: Uint32Array.from(codes), dictionary: from }, STRING, codes.length, dialect, column);
      expect(cells([1, 0, 1], dictionary)).toEqual([quote("a"), none, quote("a")]);
      dictionary.push("b", "c");
      expect(cells([3, 0, 1, 2], dictionary)).toEqual([quote("c"), none, quote("a"), quote("b")]);
      expect(cells([1, 0], [undefined, "other"])).toEqual([quote("other"), none]);
    }
  });

  test("binary is a list of numbers, JSON stays as it is", () => {
    check(BINARY, [new Uint8Array([0, 255]), undefined], ["[0,255]", "null"]);
    check(JSON_TYPE, ['{"a":[1]}', undefined], ['{"a":[1]}', "null"]);
  });
});

describe("long cells are printed in steps", () => {
  const long = `"${"a\\\n😀".repeat(600_000)}`;
  const numbers: NestedType = { kind: "list", element: INT64 };
  const texts: NestedType = { kind: "list", element: STRING };
  const cases: readonly (readonly [string, DataType, readonly Scalar[]])[] = [
    ["texts", STRING, [undefined, long, "short", `x${long}`, long, ""]],
    [
      "lists",
      numbers,
      [
        encodeNested(
          numbers,
          Array.from({ length: 300_000 }, (_, i) => i),
        ),
        undefined,
        encodeNested(numbers, []),
      ],
    ],
    [
      "lists of texts",
      texts,
      [
        encodeNested(
          texts,
          Array.from({ length: 70_000 }, (_, i) => `a "quoted" ${i}`),
        ),
      ],
    ],
  ];
  for (const [name, type, values] of cases) {
    for (const [kind, dialect] of [
      ["JSON", JSON_DIALECT],
      ["CSV", CSV_DIALECT],
    ] as const) {
      test(`${name} as ${kind}`, () => {
        const distinct = [undefined, ...new Set(values.filter((value) => value !== undefined))] as (string | undefined)[];
        const codes = Uint32Array.from(values, (value) => distinct.indexOf(value as string));
        const vector: Vector = type.kind === "string" ? { kind: "dictionary", codes, dictionary: distinct } : vectorOf(type, values);
        const column = new CellColumn(type, dialect);
        const steps = [...column.encodeSteps(vector, values.length)].length;
        const cells = values.map((_, row) => decoder.decode(column.bytes.subarray(column.starts[row], column.ends[row])));
        const whole = cellsOf(vector, type, values.length, dialect);
        expect(cells.map((cell, i) => cell === whole[i])).toEqual(values.map(() => true));
        expect(steps > 1).toBe(type.kind !== "string" || dialect === JSON_DIALECT);
      });
    }
  }
});

test("text by code is printed as plain text is, whatever came before", () => {
  for (const dialect of [JSON_DIALECT, CSV_DIALECT, CSV_SINGLE_DIALECT]) {
    const column = new CellColumn(STRING, dialect);
    const shared = codedOf(TEXTS);
    const { length } = TEXTS;
    const want = cellsOf(plainOf(TEXTS), STRING, length, dialect);
    for (const vector of [shared, shared, plainOf(TEXTS), shared, codedOf(TEXTS), vectorOf(STRING, TEXTS)])
      expect(cellsOf(vector, STRING, length, dialect, column)).toEqual(want);
  }
});
