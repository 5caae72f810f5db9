/** Rows go to one share each, and rows of equal keys to the same one, whatever vectors hold them. The reference is a map by key texts. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type DataType, FLOAT64, INT32, INT64, STRING, TIMESTAMP_NANOSECOND } from "../../../column/data-type.ts";
import type { Scalar, Vector } from "../../../column/vector.ts";
import { textTableOf } from "../../../column/text-table.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { decodePlan, encodePlan } from "../contract/plan-bytes.ts";
import type { NodeOf } from "../contract/node.ts";
import { ShareKeys } from "./key-share.ts";

const SEED = 20261124;
const LONG = "x".repeat(40);
const TEXTS = [undefined, "", "a", "äb", "abcd", "abcde", LONG, `${LONG}y`];

/** Values of each type that are easily told apart wrongly. */
const VALUES: readonly (readonly [DataType, readonly Scalar[]])[] = [
  [INT32, [undefined, 0, 1, -1, 2 ** 31 - 1]],
  [INT64, [undefined, 0, 1, -1, 2 ** 40, 2n ** 60n, 2n ** 60n + 1n]],
  [FLOAT64, [undefined, 0, -0, Number.NaN, 1.5]],
  [STRING, TEXTS],
  [TIMESTAMP_NANOSECOND, [undefined, 0n, -1n, 1_700_000_000_000_000_001n]],
];

function vectorFor(type: DataType, values: readonly Scalar[], form: number): Vector {
  if (type.kind !== "string" || form === 0) return vectorOf(type, values);
  const dictionary = form === 1 ? TEXTS : [undefined, ...TEXTS.slice(1).reverse()];
  const codes = Uint32Array.from(values, (value) => dictionary.indexOf(value as string | undefined));
  if (form === 2) return { kind: "dictionary", codes, dictionary };
  return { kind: "coded", codes, entries: textTableOf(dictionary) };
}

/** The text of a value: -0 is 0. */
function textOf(value: Scalar): string {
  if (value === undefined) return "NULL";
  return typeof value === "string" ? JSON.stringify(value) : String(typeof value === "number" ? value + 0 : value);
}

const columnsOfRows = fc.uniqueArray(fc.nat(VALUES.length - 1), { minLength: 1, maxLength: 3 }).chain((columns) => {
  const picks = columns.map((c) => fc.nat((VALUES[c]?.[1].length ?? 1) - 1));
  const batch = fc.record({ rows: fc.array(fc.tuple(...picks), { maxLength: 30 }), form: fc.nat(3) });
  return fc.record({
    columns: fc.constant(columns),
    batches: fc.array(batch, { minLength: 1, maxLength: 4 }),
    shares: fc.integer({ min: 1, max: 4 }),
  });
});

describe("shares of keys", () => {
  test("are one a row, and the same for equal keys in any vectors", () => {
    const property = fc.property(columnsOfRows, ({ columns, batches, shares }) => {
      const types = columns.map((c) => VALUES[c]?.[0] ?? STRING);
      const shareOf = new Map<string, number>();
      const keys = new ShareKeys(types);
      for (const { rows, form } of batches) {
        const values = columns.map((c, k) => rows.map((row) => VALUES[c]?.[1][row[k] ?? 0]));
        const vectors = values.map((column, k) => vectorFor(types[k] ?? STRING, column, form));
        const seen = new Set<number>();
        for (let share = 0; share < shares; share++) {
          const { rows: own, count } = keys.rowsOf(vectors, rows.length, share, shares);
          for (const row of own.subarray(0, count)) {
            expect(seen.has(row)).toBe(false);
            seen.add(row);
            const text = values.map((column) => textOf(column[row])).join();
            expect(shareOf.get(text) ?? share).toBe(share);
            shareOf.set(text, share);
          }
        }
        expect(seen.size).toBe(rows.length);
      }
    });
    fc.assert(property, { seed: SEED, numRuns: 200 });
  });

  test("are about as large as each other", () => {
    const rowCount = 30_000;
    const numbers: Vector = { kind: "number", values: Float64Array.from({ length: rowCount }, (_, i) => i * 64), validity: undefined };
    const texts = vectorOf(
      STRING,
      Array.from({ length: rowCount }, (_, i) => `http://example.net/catalog/${i}/index.html?from=7`),
    );
    for (const [type, vector] of [
      [INT64, numbers],
      [STRING, texts],
    ] as const) {
      for (let share = 0; share < 3; share++) {
        const { count } = new ShareKeys([type]).rowsOf([vector], rowCount, share, 3);
        expect(Math.abs(count - rowCount / 3)).toBeLessThan(600);
      }
    }
  });
});

test("the operator comes back from its bytes, and not where its share is none", () => {
  const columns = [{ name: "k", type: INT64 }];
  const input: NodeOf<"source"> = { kind: "source", name: "", columns, source: { kind: "no-rows" } };
  const node: NodeOf<"key-share"> = { kind: "key-share", input, columns, keys: [0], share: 1, shares: 2 };
  const names = {
    table(): never {
      throw new Error("it reads no table");
    },
  };
  expect(decodePlan(encodePlan(node), names)).toEqual(node);
  expect(() => decodePlan(encodePlan({ ...node, share: 2 }), names)).toThrow("share 2 is not of 2");
  expect(() => decodePlan(encodePlan({ ...node, keys: [1] }), names)).toThrow("a key is not of the 1 columns");
});
