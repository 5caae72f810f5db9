/** Groups of rows by keys of series, of time and of rows. The reference tells rows apart by the text of their keys. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";
import { FLOAT64, STRING, TIMESTAMP_NANOSECOND } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { Scalar } from "../../../column/vector.ts";
import type { ScannedTable } from "../../../table/catalog.ts";
import { valueKey } from "../../function/value/value.ts";
import { binBuckets, bucketIndexOf, bucketStartOf, type TimeBuckets } from "../../function/time/buckets.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { execContextOf } from "../../statement/shared/select.ts";
import type { GroupKey } from "../aggregate/node.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { GroupKeys, NO_GROUP } from "./group-keys.ts";

const HOSTS = [undefined, "a", "b", "c"] as const;
const ZONES = [undefined, "x", "y"] as const;
/** Twelve series; the tags of one follow from its number. */
const SERIES = HOSTS.length * ZONES.length;
const hostOf = (series: number): string | undefined => HOSTS[series % HOSTS.length];
const zoneOf = (series: number): string | undefined => ZONES[Math.floor(series / HOSTS.length)];

const TABLE = {
  schema: { columns: [{ name: "host" }, { name: "zone" }, { name: "ts" }, { name: "v" }] },
  series: {
    count: SERIES,
    codesOf: (column: string) =>
      Uint32Array.from({ length: SERIES }, (_, s) => (column === "host" ? s % HOSTS.length : Math.floor(s / HOSTS.length))),
    tagOf: (column: string, series: number) => (column === "host" ? hostOf(series) : zoneOf(series)),
    dictionaryOf: (column: string) => (column === "host" ? HOSTS : ZONES),
  },
} as unknown as ScannedTable; // grouping asks for no more

const HEADERS = [
  { name: "ts", type: TIMESTAMP_NANOSECOND },
  { name: "v", type: FLOAT64 },
];
const column = (index: number, name: string, type: TypedExpression["type"]): TypedExpression => ({ kind: "column", index, name, type });
const host = column(0, "host", STRING);

const hours = (count: bigint): TimeBuckets => binBuckets({ months: 0, days: 0, nanos: count }, "nanosecond", 3n) as TimeBuckets;
const months = binBuckets({ months: 1, days: 0, nanos: 0n }, "nanosecond", 0n) as TimeBuckets;
const MONTH = 31n * 86_400_000_000_000n;

/** Each kind of key, and the value that it has in a row. */
interface TestKey {
  readonly key: GroupKey;
  readonly valueOf: (row: TestRow) => Scalar;
}
interface TestRow {
  readonly series: number;
  readonly time: bigint;
  readonly value: number | undefined;
}
const bucketKey = (buckets: TimeBuckets): TestKey => ({
  key: { kind: "bucket", type: TIMESTAMP_NANOSECOND, column: 0, buckets },
  valueOf: ({ time }) => bucketStartOf(buckets, bucketIndexOf(buckets, time)),
});
const KEYS: readonly TestKey[] = [
  { key: { kind: "series", type: STRING, expression: host }, valueOf: ({ series }) => hostOf(series) },
  { key: { kind: "series", type: STRING, expression: column(1, "zone", STRING) }, valueOf: ({ series }) => zoneOf(series) },
  // Not a tag as it is.
  {
    key: {
      kind: "series",
      type: { kind: "boolean" },
      expression: { kind: "is", type: { kind: "boolean" }, operand: host, test: "null", negated: false },
    },
    valueOf: ({ series }) => hostOf(series) === undefined,
  },
  bucketKey(hours(10n)),
  bucketKey(hours(7n)),
  bucketKey(months),
  { key: { kind: "row", type: FLOAT64, expression: column(1, "v", FLOAT64) }, valueOf: ({ value }) => value },
  { key: { kind: "row", type: TIMESTAMP_NANOSECOND, expression: column(0, "ts", TIMESTAMP_NANOSECOND) }, valueOf: ({ time }) => time },
];

/** Batches of runs, whose times ascend. */
const arbitraryRun = fc.record({
  series: fc.nat(SERIES - 1),
  times: fc.array(fc.oneof(fc.bigInt({ min: -60n, max: 60n }), fc.bigInt({ min: 0n, max: MONTH * 3n })), { minLength: 1, maxLength: 8 }),
  values: fc.infiniteStream(fc.constantFrom(undefined, 0, -0, 1, Number.NaN)),
});
const arbitraryBatch = fc.record({ base: fc.constantFrom(0n, 5n, -40n), runs: fc.array(arbitraryRun, { maxLength: 5 }) });
const arbitraryCase = fc.record({
  keys: fc.uniqueArray(fc.nat(KEYS.length - 1), { maxLength: 4 }),
  added: fc.array(arbitraryBatch, { minLength: 1, maxLength: 3 }),
  looked: fc.array(arbitraryBatch, { minLength: 1, maxLength: 3 }),
});

interface TestBatch {
  readonly rows: readonly TestRow[];
  readonly batch: ExecBatch;
}

type ArbitraryBatch = typeof arbitraryBatch extends fc.Arbitrary<infer T> ? T : never;

function batchOf({ base, runs }: ArbitraryBatch): TestBatch {
  const rows: TestRow[] = [];
  const starts = [0];
  for (const { series, times, values } of runs) {
    for (const time of times.toSorted((a, b) => Number(a - b))) rows.push({ series, time, value: values.next().value });
    starts.push(rows.length);
  }
  const batch: ExecBatch = {
    rowCount: rows.length,
    vectors: [
      { kind: "time", base, offsets: Float64Array.from(rows, ({ time }) => Number(time - base)), validity: undefined },
      {
        kind: "number",
        values: Float64Array.from(rows, ({ value }) => value ?? 0),
        validity: Uint8Array.from(rows, ({ value }) => (value === undefined ? 0 : 1)),
      },
    ],
    runs: { starts: Uint32Array.from(starts), series: Uint32Array.from(runs, ({ series }) => series) },
  };
  return { rows, batch };
}

const data = new QueryFixture();
const newContext = (): ExecContext => execContextOf({ now: 0n, timeZone: "UTC", database: "public" }, data.context, {});

describe("groups", () => {
  test("are made in segments, found again by look, hashed, and give their keys back", () => {
    fc.assert(
      fc.property(arbitraryCase, ({ keys: picks, added, looked }) => {
        const keys = picks.map((pick) => KEYS[pick] as TestKey);
        const textOf = (row: TestRow): string => keys.map(({ valueOf }) => valueKey(valueOf(row))).join("|");
        const groups = new GroupKeys(
          keys.map(({ key }) => key),
          TABLE,
          HEADERS,
          newContext(),
        );
        const groupOf = new Map<string, number>();
        const hashOf = new Map<string, number>();
        for (const given of added) {
          const { rows, batch } = batchOf(given);
          const { count, starts, groups: ids } = groups.segments(batch);
          if (rows.length > 0) expect([starts[0], starts[count]]).toEqual([0, rows.length]);
          for (let s = 0; s < count; s++) {
            for (let row = starts[s] ?? 0; row < (starts[s + 1] ?? 0); row++) {
              const text = textOf(rows[row] as TestRow);
              if (!groupOf.has(text)) groupOf.set(text, ids[s] ?? NO_GROUP);
              expect(ids[s]).toBe(groupOf.get(text) as number);
            }
          }
          expect(groups.groupCount).toBe(keys.length === 0 ? 1 : groupOf.size);
        }
        if (keys.length > 0) expect([...groupOf.values()].toSorted((a, b) => a - b)).toEqual([...groupOf.keys()].map((_, i) => i));
        for (const given of [...looked, ...added]) {
          const { rows, batch } = batchOf(given);
          const { groups: ids, hashesOf } = groups.lookUp(batch);
          const odd = Uint32Array.from([...rows.keys()].filter((row) => row % 2 === 1));
          const hashes = hashesOf(Uint32Array.from(rows.keys()));
          expect([...hashesOf(odd)]).toEqual([...odd].map((row) => hashes[row] ?? 0));
          for (const [row, own] of rows.entries()) {
            const text = textOf(own);
            if (keys.length > 0) expect(ids[row]).toBe(groupOf.get(text) ?? NO_GROUP);
            expect(hashOf.get(text) ?? hashes[row]).toBe(hashes[row] as number);
            hashOf.set(text, hashes[row] ?? 0);
          }
        }
        for (const [text, group] of groupOf) {
          const back = keys.map(({ key }, k) => valueKey(scalarAt(groups.keyVector(k, group, group + 1), key.type, 0)));
          if (keys.length > 0) expect(back.join("|")).toBe(text);
        }
      }),
      { seed: 21, numRuns: 500 },
    );
  });

  test("of rows alone need no runs", () => {
    const groups = new GroupKeys([KEYS[6]?.key as GroupKey, KEYS[3]?.key as GroupKey], undefined, HEADERS, newContext());
    const { batch } = batchOf({ base: 0n, runs: [] });
    const times = Float64Array.of(1, 50, 2, 51);
    const values = Float64Array.of(1, 1, 1, 2);
    const rows: ExecBatch = {
      ...batch,
      runs: undefined,
      rowCount: 4,
      vectors: [
        { kind: "time", base: 0n, offsets: times, validity: undefined },
        { kind: "number", values, validity: undefined },
      ],
    };
    const { count, starts, groups: ids, ascending } = groups.segments(rows);
    expect([count, [...starts.subarray(0, 5)], [...ids.subarray(0, 4)], ascending]).toEqual([4, [0, 1, 2, 3, 4], [0, 1, 0, 2], false]);
  });
});
