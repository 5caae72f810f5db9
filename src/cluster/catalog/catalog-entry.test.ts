/** Changes and snapshots as they lie in the lists: what is written is read, and nothing else is. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { thrownBy } from "../../../test/support/failure-of.ts";
import { corruptionOf } from "../../base/error.ts";
import { type CatalogEntry, type CatalogSnapshot, decodeEntry, decodeSnapshot, encodeEntry, encodeSnapshot } from "./catalog-entry.ts";

const ENTRY: CatalogEntry = {
  version: 7,
  id: "0f8c6a52-93c4-4f0e-9f8e-2f3f0f1b7d11",
  changes: [
    { key: "database/metrics", value: { options: { ttl: "7d" } } },
    { key: "next/table", value: 1026 },
    { key: "view/1025", value: undefined },
    { key: "later/key", value: null },
  ],
};

const SNAPSHOT: CatalogSnapshot = {
  catalogVersion: 7,
  number: 9,
  entries: [
    ["shards", 16],
    ["database/metrics", { options: { ttl: "7d" } }],
    ["next/table", 1026],
    ["later/key", null],
  ],
};

function fixture(name: string): string {
  return readFileSync(join(import.meta.dir, "fixtures", name), "utf8").trimEnd();
}

test("what was written by version 1 is read, and written the same", () => {
  expect(decodeEntry("catalog", { number: 9, text: fixture("change-v1.json") })).toEqual(ENTRY);
  expect(encodeEntry(ENTRY)).toBe(fixture("change-v1.json"));
  expect(decodeSnapshot("snapshots", { number: 9, text: fixture("snapshot-v1.json") })).toEqual(SNAPSHOT);
  expect(encodeSnapshot(SNAPSHOT)).toBe(fixture("snapshot-v1.json"));
});

/** What differs from a good entry, and what is said of it. */
const REFUSED: readonly (readonly [of: Readonly<Record<string, unknown>>, why: string])[] = [
  [{ format: 2 }, "it is of format 2, and only 1 is known"],
  [{ format: "1" }, "it has no format"],
  [{ version: 0 }, "no whole number above 0"],
  [{ version: 1.5 }, "no whole number above 0"],
  [{ version: "7" }, "no whole number above 0"],
  [{ id: "" }, "its id is none"],
  [{ id: 7 }, "its id is none"],
  [{ id: "x".repeat(65) }, "its id is none"],
  [{ changes: undefined }, "it has no list of keys"],
  [{ changes: {} }, "it has no list of keys"],
  [{ changes: [["a", 1, 2]] }, "one of its keys is none"],
  [{ changes: [[]] }, "one of its keys is none"],
  [{ changes: [[""]] }, "one of its keys is none"],
  [{ changes: [[5, 1]] }, "one of its keys is none"],
  [{ changes: ["a"] }, "one of its keys is none"],
];

test.each(REFUSED)("a change with %j is refused", (of, why) => {
  const text = JSON.stringify({ ...(JSON.parse(encodeEntry(ENTRY)) as object), ...of });
  const failure = thrownBy(() => decodeEntry("catalog", { number: 9, text }));
  expect(failure.message).toContain(why);
  expect(corruptionOf(failure)).toEqual({ file: "catalog, message 9", offset: undefined, kind: "structure" });
});

test.each([
  [{ catalogVersion: -1 }, "no whole number"],
  [{ number: "9" }, "no whole number"],
  [{ number: 6 }, "version 7 cannot be at number 6"],
  [{ entries: [["shards"]] }, "its entry shards has no value"],
  [{ entries: null }, "it has no list of keys"],
  [{ format: 0 }, "it is of format 0"],
] as const)("a snapshot with %j is refused", (of, why) => {
  const text = JSON.stringify({ ...(JSON.parse(encodeSnapshot(SNAPSHOT)) as object), ...of });
  expect(thrownBy(() => decodeSnapshot("snapshots", { number: 9, text })).message).toContain(why);
});

test.each(["", "[]", "null", "7", '"x"', '{"format":1'])("%j is no entry", (text) => {
  for (const decode of [decodeEntry, decodeSnapshot])
    expect(corruptionOf(thrownBy(() => decode("catalog", { number: 9, text })))).toBeDefined();
});
