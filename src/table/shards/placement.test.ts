import { describe, expect, test } from "bun:test";
import { logicalSchema, physicalSchema, placedSchema } from "../../../test/support/placement-model.ts";
import { tableId } from "../../base/units.ts";
import type { TableSchema } from "../schema.ts";
import type { TagSet } from "../series-dictionary.ts";
import { logicalPlacementOf, markOf, placementOf, shardOf, type TablePlacement, tagTextsOf } from "./placement.ts";
import { textHash } from "./place-hash.ts";

const SHARDS = 16;
const HOST = { id: 3, name: "host" };
const ZONE = { id: 4, name: "zone" };

function shard(placement: TablePlacement, tags: Readonly<Record<string, string>>, nulls: readonly string[] = []): number {
  const set: TagSet = { table: "t", names: Object.keys(tags), values: Object.values(tags), nulls };
  return shardOf(placement, markOf(placement, tagTextsOf(set, placement)), placement.spans[0]?.spread ?? 0);
}

const placed = (schema: TableSchema): TablePlacement => placementOf(schema, SHARDS);

/** Never changed: rows of clusters lie there. */
test.each([
  [{ host: "a" }, 13],
  [{ host: "b" }, 0],
  [{ host: "a", zone: "eu" }, 14],
  [{ host: "", zone: "ü" }, 0],
  [{}, 13],
] as const)("tags %o of table 1024 lie in shard %d of 16 for ever", (tags, want) => {
  expect(shard(placed(placedSchema("t", 1024, [HOST, ZONE])), tags)).toBe(want);
});

test("labels of a logical table lie where they do for ever", () => {
  const physical = physicalSchema("phy", 1024, [HOST, ZONE]);
  const placement = logicalPlacementOf(logicalSchema("up", 1025, "phy", ["zone", "host"]), physical, SHARDS);
  const shards = [{}, { host: "a" }, { host: "a", zone: "eu" }, { zone: "eu", host: "a" }].map((labels) => shard(placement, labels));
  expect(shards).toEqual([4, 5, 11, 11]);
  expect(placement.start).toBe(textHash("1025", 0x7fff_ff00));
});

const sets: readonly Readonly<Record<string, string>>[] = Array.from({ length: 200 }, (_, i) => ({ host: `h${i}`, zone: `z${i % 7}` }));

describe("a series stays where it is", () => {
  const before = placed(placedSchema("t", 7, [HOST, ZONE], { options: { spread: "16" } }));

  test.each([
    ["without a default", { id: 9, name: "rack" }],
    ["with a default", { id: 9, name: "rack", default: { kind: "literal", value: "r1" } }],
    [
      "with a default that changed since",
      { id: 9, name: "rack", initial: { kind: "literal", value: "r1" }, default: { kind: "literal", value: "r2" } },
    ],
  ] as const)("when a tag is added %s", (_, rack) => {
    const after = placed(placedSchema("t", 7, [ZONE, rack, HOST], { options: { spread: "16" } }));
    const old = "initial" in rack || "default" in rack ? { rack: "r1" } : {};
    for (const set of sets) expect(shard(after, { ...set, ...old })).toBe(shard(before, set));
    const isLeftOut = !("initial" in rack);
    if (isLeftOut) for (const set of sets) expect(shard(after, set)).toBe(shard(before, set));
    const moved = sets.filter((set) => shard(after, { ...set, rack: "r3" }) !== shard(before, set));
    expect(moved.length).toBeGreaterThan(150);
  });

  test("when its table is renamed", () => {
    const after = placed(placedSchema("other", 7, [HOST, ZONE], { options: { spread: "16" } }));
    for (const set of sets) expect(shard(after, set)).toBe(shard(before, set));
  });

  test("of a logical table when others bring labels", () => {
    const logical = logicalSchema("up", 8, "phy", ["host", "zone"]);
    const one = logicalPlacementOf(logical, physicalSchema("phy", 7, [HOST, ZONE]), SHARDS);
    const other = logicalPlacementOf(logical, physicalSchema("phy", 7, [{ id: 12, name: "pod" }, ZONE, HOST]), SHARDS);
    for (const set of sets) expect(shard(one, set)).toBe(shard(other, set));
  });
});

test("NULL is as good as no tag, and a value is one value however it is written", () => {
  const port = { id: 5, name: "port", type: { kind: "int", bits: 32, signed: true }, default: { kind: "literal", value: 80 } } as const;
  const placement = placed(placedSchema("t", 7, [HOST, port], { options: { spread: "16" } }));
  expect(shard(placement, { host: "a" }, ["port"])).toBe(shard(placement, { host: "a" }));
  expect(shard(placement, { host: "a", port: "+080" })).toBe(shard(placement, { host: "a" }));
  expect(shard(placement, { host: "a", port: "007" })).toBe(shard(placement, { host: "a", port: "7" }));
  expect(shard(placement, { host: "a", port: "" })).toBe(shard(placement, { host: "a" }, ["port"]));
});

test("tables have shards of their own, as many as they spread over, and series are even among them", () => {
  const counts = new Uint32Array(SHARDS);
  for (let id = 1024; id < 1424; id++) {
    const own = new Uint32Array(SHARDS);
    const placement = placed(placedSchema("t", id, [HOST, ZONE]));
    for (const set of sets) own[shard(placement, set)]! += 1;
    const used = own.filter((count) => count > 0);
    expect(used).toHaveLength(4);
    expect(Math.min(...used)).toBeGreaterThan(25);
    for (let s = 0; s < SHARDS; s++) counts[s]! += own[s]!;
  }
  const mean = (400 * sets.length) / SHARDS;
  expect(Math.max(...counts)).toBeLessThan(mean * 1.3);
  expect(Math.min(...counts)).toBeGreaterThan(mean * 0.7);
});

test("tables spread over no more shards than there are", () => {
  for (const shards of [1, 2, 3]) {
    const placement = placementOf({ ...placedSchema("t", 9, [HOST]), id: tableId(9) }, shards);
    expect(new Set(sets.map(({ host = "" }) => shard(placement, { host }))).size).toBe(shards);
  }
});
