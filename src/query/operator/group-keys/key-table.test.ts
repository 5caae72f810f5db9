/** Rows have one number when their keys are equal, whatever vectors hold them. The reference is a map by the text of all keys. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { BOOLEAN, type DataType, FLOAT64, INT64, STRING, TIMESTAMP_NANOSECOND } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { Scalar, Vector } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import { type TextTable, textTableOf } from "../../../column/text-table.ts";
import { valueKey } from "../../function/value/value.ts";
import { keyHashes } from "./key-hashes.ts";
import { KeyTable, NO_ROW } from "./key-table.ts";

const BINARY: DataType = { kind: "binary" };

/** Values of each type, few enough that they meet, with those that are easily told apart wrongly. */
const VALUES: readonly (readonly [DataType, readonly Scalar[]])[] = [
  [INT64, [undefined, 0, 1, -1, 2 ** 40, 2n ** 60n, 2n ** 60n + 1n]],
  [FLOAT64, [undefined, 0, -0, Number.NaN, 1.5, Number.POSITIVE_INFINITY]],
  [STRING, [undefined, "", "a", "b", "ä", "ab"]],
  [BOOLEAN, [undefined, true, false]],
  [TIMESTAMP_NANOSECOND, [undefined, 0n, 1n, -1n, 1_700_000_000_000_000_000n, 1_700_000_000_000_000_001n, -(2n ** 62n)]],
  [BINARY, [undefined, Uint8Array.of(), Uint8Array.of(0), Uint8Array.of(1, 2)]],
];

const SHARED_TEXTS: TextTable = textTableOf(VALUES[2]?.[1] as readonly (string | undefined)[]);

/** Text as a dictionary or table of its own or one that all share, times and all else as their builder makes them. */
function vectorFor(type: DataType, values: readonly Scalar[], form: number): Vector {
  if (type.kind !== "string" || form === 0) return vectorOf(type, values);
  const shared = VALUES[2]?.[1] as readonly (string | undefined)[];
  const own = new Set(values.flatMap((value) => (typeof value === "string" ? [value] : [])));
  const dictionary = form % 2 === 1 ? shared : [undefined, ...own];
  const codes = Uint32Array.from(values, (value) => dictionary.indexOf(value as string | undefined));
  if (form <= 2) return { kind: "dictionary", codes, dictionary };
  return { kind: "coded", codes, entries: form === 3 ? SHARED_TEXTS : textTableOf(dictionary) };
}

interface KeyBatch {
  readonly rowCount: number;
  readonly vectors: readonly Vector[];
  /** By row: the text of its keys, and whether one is NULL. */
  readonly texts: readonly string[];
  readonly hasNull: readonly boolean[];
}

/** Types, and batches of rows over them. */
const arbitraryRows = fc.uniqueArray(fc.nat(VALUES.length - 1), { maxLength: 3 }).chain((columns) => {
  const picks = columns.map((c) => fc.nat((VALUES[c]?.[1].length ?? 1) - 1));
  const batch = fc.record({ rows: fc.array(fc.tuple(...picks), { maxLength: 20 }), form: fc.nat(4) });
  return fc.record({
    columns: fc.constant(columns),
    batches: fc.array(batch, { minLength: 2, maxLength: 6 }),
    asked: fc.array(fc.boolean()),
  });
});

function batchOf(columns: readonly number[], rows: readonly (readonly number[])[], form: number): KeyBatch {
  const values = columns.map((c, k) => rows.map((row) => VALUES[c]?.[1][row[k] ?? 0]));
  return {
    rowCount: rows.length,
    vectors: columns.map((c, k) => vectorFor(VALUES[c]?.[0] ?? INT64, values[k] ?? [], form)),
    texts: rows.map((_, row) => values.map((column) => valueKey(column[row])).join("|")),
    hasNull: rows.map((_, row) => values.some((column) => column[row] === undefined)),
  };
}

const ignore = (): void => undefined;
const ofMany = (isSmall: boolean): string => (isSmall ? "; in one of many tables" : "");

describe("numbers of rows", () => {
  for (const [nullsMatch, isSmall] of [
    [true, false],
    [false, false],
    [true, true],
    [false, true],
  ] as const) {
    test(`are dense, in the order of the rows, and found again; NULL equals ${nullsMatch ? "NULL" : "nothing"}${ofMany(isSmall)}`, () => {
      fc.assert(
        fc.property(arbitraryRows, ({ columns, batches, asked }) => {
          const types = columns.map((c) => VALUES[c]?.[0] ?? INT64);
          const table = new KeyTable(types, { nullsMatch, isSmall }, ignore);
          const known = new Map<string, number>();
          const all: KeyBatch[] = [];
          for (const [b, { rows, form }] of batches.entries()) {
            const batch = batchOf(columns, rows, form);
            all.push(batch);
            const { rowCount, vectors, texts, hasNull } = batch;
            const isNone = (row: number): boolean => !nullsMatch && hasNull[row] === true;
            const found = texts.map((text, row) => (isNone(row) ? NO_ROW : (known.get(text) ?? NO_ROW)));
            // Looking for rows before they come must not hide them.
            if (asked[b] === true) expect([...table.find(vectors, rowCount)]).toEqual(found);
            if (asked[b] === true)
              expect([...table.strangers(vectors, rowCount)]).toEqual([...texts.keys()].filter((row) => found[row] === NO_ROW));
            const before = known.size;
            const want = texts.map((text, row) => {
              if (isNone(row)) return NO_ROW;
              if (!known.has(text)) known.set(text, known.size);
              return known.get(text) ?? NO_ROW;
            });
            if (b % 2 === 0) expect([...table.add(vectors, rowCount)]).toEqual(want);
            else expect([...table.firsts(vectors, rowCount)]).toEqual([...firstsFrom(want, before)]);
            expect(table.size).toBe(known.size);
          }
          for (const { rowCount, vectors, texts, hasNull } of all) {
            const want = texts.map((text, row) => (!nullsMatch && hasNull[row] ? NO_ROW : known.get(text)));
            expect([...table.find(vectors, rowCount)]).toEqual(want as number[]);
          }
          const ids = Uint32Array.from({ length: known.size }, (_, id) => id);
          const columnsBack = types.map((_, c) => table.vector(c, ids));
          const back = [...ids].map((id) => columnsBack.map((vector, c) => valueKey(scalarAt(vector, types[c] ?? INT64, id))).join("|"));
          expect(back).toEqual([...known.keys()]);
        }),
        { seed: 11, numRuns: 120 },
      );
    });
  }

  test("behind a prefix are those of prefix and rows", () => {
    fc.assert(
      fc.property(arbitraryRows, fc.infiniteStream(fc.integer({ min: -1, max: 3 })), ({ columns, batches }, stream) => {
        if (columns.length === 0) return;
        const table = new KeyTable(
          columns.map((c) => VALUES[c]?.[0] ?? INT64),
          { nullsMatch: true, hasPrefix: true },
          ignore,
        );
        const known = new Map<string, number>();
        for (const { rows, form } of batches) {
          const { rowCount, vectors, texts } = batchOf(columns, rows, form);
          const prefixes = Int32Array.from(rows, () => stream.next().value as number);
          const want = texts.map((text, row) => {
            const prefix = prefixes[row] ?? NO_ROW;
            if (prefix < 0) return NO_ROW;
            const key = `${prefix}|${text}`;
            if (!known.has(key)) known.set(key, known.size);
            return known.get(key) ?? NO_ROW;
          });
          expect([...table.add(vectors, rowCount, prefixes)]).toEqual(want);
          expect([...table.find(vectors, rowCount, prefixes)]).toEqual(want);
        }
        const ids = Uint32Array.from({ length: table.size }, (_, id) => id);
        expect([...table.prefixesOf(ids)]).toEqual([...known.keys()].map((key) => Number.parseInt(key, 10)));
      }),
      { seed: 12, numRuns: 100 },
    );
  });

  test("are counted as they come", () => {
    let bytes = 0;
    const table = new KeyTable([STRING, INT64], { nullsMatch: true }, (more) => (bytes += more));
    const { vectors, rowCount } = batchOf(
      [2, 0],
      [
        [1, 1],
        [1, 2],
        [2, 1],
      ],
      1,
    );
    table.add(vectors, rowCount);
    const once = bytes;
    expect(once).toBeGreaterThan(0);
    table.add(vectors, rowCount);
    table.find(vectors, rowCount);
    expect(bytes).toBe(once);
  });
});

/** Positions of the rows with a new number. */
function firstsFrom(ids: readonly number[], before: number): readonly number[] {
  return [...ids.keys()].filter((row) => (ids[row] ?? 0) >= before && ids.indexOf(ids[row] ?? 0) === row);
}

test("equal rows have equal hashes in any vectors, also behind others, and most different ones do not", () => {
  fc.assert(
    fc.property(arbitraryRows, ({ columns, batches }) => {
      const types = columns.map((c) => VALUES[c]?.[0] ?? INT64);
      const known = new Map<string, string>();
      for (const { rows, form } of batches) {
        const { vectors, rowCount, texts } = batchOf(columns, rows, form);
        const hashes = keyHashes(vectors, types, rowCount);
        const behind = keyHashes(vectors, types, rowCount, new Uint32Array(rowCount).fill(7));
        for (const [row, text] of texts.entries()) {
          const own = `${hashes[row]} ${behind[row]}`;
          expect(known.get(text) ?? own).toBe(own);
          known.set(text, own);
        }
      }
      expect(new Set(known.values()).size * 2).toBeGreaterThanOrEqual(known.size);
    }),
    { seed: 13, numRuns: 100 },
  );
});

/** An integer whose second word undoes what the first leaves of a hash without a seed. */
function meeting(row: number): bigint {
  const hash = Math.imul(row, 0x85ebca6b);
  return (BigInt.asIntN(32, BigInt(hash ^ (hash >>> 15))) << 32n) | BigInt(row >>> 0);
}

/** Bytes that have the highest bit of a word for each bit of a number, undone by the next word. */
function flipped(row: number): Uint8Array {
  const bytes = new Uint8Array(8 * 32);
  for (let bit = 0; bit < 32; bit++) if (((row >>> bit) & 1) === 1) bytes.set([0x80, 0, 0, 1, 0x80], bit * 8 + 3);
  return bytes;
}

test("keys that were made to meet do not", () => {
  const rows = Array.from({ length: 4096 }, (_, i) => i);
  for (const [type, values] of [
    [INT64, rows.map(meeting)],
    [BINARY, rows.map(flipped)],
    [INT64, rows.map((row) => (BigInt(row ^ 0x1234567) << 32n) | BigInt(row))],
  ] as const) {
    const hashes = keyHashes([vectorOf(type, values)], [type], rows.length);
    expect(new Set(hashes.map((hash) => hash >>> 20)).size).toBeGreaterThan(2000);
    expect(new Set(hashes.map((hash) => hash & 0xfff)).size).toBeGreaterThan(2000);
  }
});

describe("many keys", () => {
  /** Rows whose keys come and come again while tables grow. */
  const rows = (count: number): readonly number[] =>
    Array.from({ length: count }, (_, i) => Math.imul(i, 0x9e3779b1) >>> (i % 3 === 0 ? 12 : 0));
  const columns: readonly (readonly [name: string, type: DataType, of: (row: number) => Scalar])[] = [
    ["integers", INT64, (row) => (row % 2 === 0 ? row : BigInt(row) * 2n ** 30n)],
    ["texts", STRING, (row) => (row % 50 === 0 ? undefined : `${"x".repeat(row % 90)}${row}`)],
    ["times", TIMESTAMP_NANOSECOND, (row) => BigInt(row) * 2n ** 31n],
    ["integers that would meet without a seed", INT64, (row) => meeting(row)],
    ["bytes that would meet without a secret factor", BINARY, (row) => flipped(row)],
    ["long texts", STRING, (row) => (row % 997 === 0 ? "y".repeat(1_200_000) + String(row % 3) : String(row))],
  ];
  for (const [name, type, of] of columns) {
    for (const [isPair, isSmall] of [
      [false, false],
      [true, false],
      [false, true],
      [true, true],
    ] as const) {
      test(`${name}${isPair ? " beside another key" : ""} keep their numbers while the table grows${ofMany(isSmall)}`, () => {
        const types = isPair ? [type, INT64] : [type];
        const table = new KeyTable(types, { nullsMatch: true, isSmall }, ignore);
        const known = new Map<string, number>();
        const all = rows(60_000);
        for (let from = 0; from < all.length; from += 4099) {
          const part = all.slice(from, from + 4099);
          const values = part.map(of);
          const vectors = isPair
            ? [
                vectorOf(type, values),
                vectorOf(
                  INT64,
                  part.map((row) => row % 7),
                ),
              ]
            : [vectorOf(type, values)];
          const want = values.map((value, i) => {
            const key = `${valueKey(value)}${isPair ? (part[i] as number) % 7 : ""}`;
            if (!known.has(key)) known.set(key, known.size);
            return known.get(key) as number;
          });
          expect([...table.add(vectors, part.length)]).toEqual(want);
          expect([...table.find(vectors, part.length)]).toEqual(want);
        }
        expect(table.size).toBe(known.size);
        const ids = Uint32Array.from({ length: table.size }, (_, id) => id);
        const back = table.vector(0, ids);
        const texts = [...ids].map((id) => valueKey(scalarAt(back, type, id)));
        expect(texts).toEqual([...known.keys()].map((key) => (isPair ? key.slice(0, -1) : key)));
      });
    }
  }
});
