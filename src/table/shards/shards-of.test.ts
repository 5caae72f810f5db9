import { describe, expect, test } from "bun:test";
import { logicalSchema, modelShard, physicalSchema, placedSchema } from "../../../test/support/placement-model.ts";
import { type Random, seededRandom } from "../../../bench/macro/random.ts";
import { ALL_TIME, type TagPredicate, type TimeRange } from "../scan.ts";
import type { TableSchema } from "../schema.ts";
import { logicalPlacementOf, placementOf, type TablePlacement } from "./placement.ts";
import { shardsOf } from "./shards-of.ts";

const SHARDS = 13;
const VALUES: readonly (string | undefined)[] = [undefined, "a", "b", "c"];
const TAGS = [
  { id: 3, name: "host" },
  { id: 4, name: "zone", default: { kind: "literal", value: "a" } },
] as const;
const PLAIN = placedSchema("plain", 1, TAGS, { options: { spread: "9" } });
const CHANGED = placedSchema("changed", 2, TAGS, { spreads: [{ spread: 3 }, { from: 10n, spread: 8 }, { from: 20n, spread: 5 }] });
const BY_ZONE = placedSchema("by_zone", 3, TAGS, { partitions: { columns: ["zone"], rules: ["zone < 'b'", "zone >= 'b'"] } });
const RULED = placedSchema("ruled", 3, TAGS, {
  partitions: {
    columns: ["zone"],
    rules: ["zone < 'b'", "zone >= 'b'"],
    tests: [
      { kind: "compare", column: "zone", operator: "<", text: "b" },
      { kind: "compare", column: "zone", operator: ">=", text: "b" },
    ],
  },
});
const PHYSICAL = physicalSchema("phy", 1024, [
  { id: 5, name: "host" },
  { id: 6, name: "zone" },
  { id: 7, name: "pod" },
]);
const LOGICAL = logicalSchema("up", 1025, "phy", ["zone", "host"]);

interface Case {
  readonly schema: TableSchema;
  readonly placement: TablePlacement;
  readonly physical?: TableSchema;
}

const CASES: readonly Case[] = [
  ...[PLAIN, CHANGED, BY_ZONE, RULED].map((schema) => ({ schema, placement: placementOf(schema, SHARDS) })),
  { schema: LOGICAL, placement: logicalPlacementOf(LOGICAL, PHYSICAL, SHARDS), physical: PHYSICAL },
];

/** Shards of all rows that meet the conditions. */
function shardsOfRows({ schema, physical }: Case, predicates: readonly TagPredicate[], { start, end }: TimeRange): readonly number[] {
  const found = new Set<number>();
  for (const host of VALUES) {
    for (const zone of VALUES) {
      const row: Readonly<Record<string, string | undefined>> = { host, zone };
      const meets = ({ kind, column, ...how }: TagPredicate): boolean =>
        kind === "in" ? "values" in how && how.values.includes(row[column]) : "test" in how && how.test(row[column]);
      if (!predicates.every(meets)) continue;
      const given = Object.entries(row).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
      const nulls = physical === undefined ? Object.keys(row).filter((name) => row[name] === undefined) : [];
      const tags = { names: given.map(([name]) => name), values: given.map(([, value]) => value), nulls };
      for (const time of [-5n, 5n, 10n, 15n, 20n, 25n]) {
        if (time >= start && time < end) found.add(modelShard(schema, { tags, time, unit: "millisecond" }, SHARDS, physical));
      }
    }
  }
  return [...found].sort((a, b) => a - b);
}

function randomPredicates(random: Random): readonly TagPredicate[] {
  return Array.from({ length: random.below(4) }, (): TagPredicate => {
    const column = random.below(2) === 0 ? "host" : "zone";
    const values = random.sample(random.below(4), VALUES.length).map((i) => VALUES[i]);
    return random.below(4) === 0 ? { kind: "test", column, test: (value) => values.includes(value) } : { kind: "in", column, values };
  });
}

const isEquality = (name: string, predicates: readonly TagPredicate[]): boolean =>
  predicates.some(({ kind, column }) => kind === "in" && column === name);

describe.each(CASES)("shards of table $schema.name", (each) => {
  test("hold all rows that meet random conditions, and no others of full tag sets", () => {
    for (let seed = 0; seed < 300; seed++) {
      const random = seededRandom(seed);
      const predicates = randomPredicates(random);
      const start = BigInt(random.below(30) - 6);
      const times = random.below(3) === 0 ? ALL_TIME : { start, end: start + BigInt(random.below(30)) };
      const got = shardsOf(each.placement, predicates, times);
      const want = shardsOfRows(each, predicates, times);
      expect(got).toEqual(expect.arrayContaining([...want]));
      const placing = each.schema.partitions?.columns ?? ["host", "zone"];
      const isFull = placing.every((name) => isEquality(name, predicates)) && predicates.every(({ kind }) => kind === "in");
      const isSame = times === ALL_TIME || each.schema !== CHANGED; // The model has no row at each time.
      if (isFull && isSame && want.length > 0) expect([seed, got]).toEqual([seed, want]);
    }
  });
});

const equal = (column: string, ...values: readonly (string | undefined)[]): TagPredicate => ({ kind: "in", column, values });

test("a full tag set names one shard, a part of one those of the table", () => {
  const placement = placementOf(PLAIN, SHARDS);
  expect(shardsOf(placement, [equal("host", "a"), equal("zone", undefined)], ALL_TIME)).toHaveLength(1);
  expect(shardsOf(placement, [equal("host", "a")], ALL_TIME)).toHaveLength(9);
  expect(shardsOf(placement, [], ALL_TIME)).toHaveLength(9);
  expect(shardsOf(placementOf(BY_ZONE, SHARDS), [equal("zone", "a")], ALL_TIME)).toHaveLength(1);
  const logical = logicalPlacementOf(LOGICAL, PHYSICAL, SHARDS);
  expect(shardsOf(logical, [equal("host", "a"), equal("zone", "b")], ALL_TIME)).toHaveLength(1);
  expect(shardsOf(logical, [equal("host", "a")], ALL_TIME)).toHaveLength(SHARDS);
});

test("spreads of other times do not count", () => {
  const placement = placementOf(CHANGED, SHARDS);
  expect(shardsOf(placement, [], { start: 0n, end: 10n })).toHaveLength(3);
  expect(shardsOf(placement, [], { start: 10n, end: 20n })).toHaveLength(8);
  expect(shardsOf(placement, [], { start: 9n, end: 11n })).toHaveLength(8);
  expect(shardsOf(placement, [], { start: 20n, end: 21n })).toHaveLength(5);
  expect(shardsOf(placement, [], { start: 20n, end: 20n })).toEqual([]);
});

test("conditions that nothing meets leave no shard, too many tag sets those of the table", () => {
  const placement = placementOf(PLAIN, SHARDS);
  expect(shardsOf(placement, [equal("host", "a"), equal("host", "b"), equal("zone", "a")], ALL_TIME)).toEqual([]);
  const many = Array.from({ length: 33 }, (_, i) => `v${i}`);
  expect(shardsOf(placement, [equal("host", ...many), equal("zone", ...many)], ALL_TIME)).toHaveLength(9);
});
