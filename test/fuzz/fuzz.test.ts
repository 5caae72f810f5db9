/** The short form of the fuzz, and the model beside broken promises. The long form is `bun run test:fuzz`. */
import { expect, test } from "bun:test";
import { runFuzz } from "./fuzz.ts";
import { Model } from "./model.ts";
import type { SentRow } from "./rows.ts";

const TEST_MS_MAX = 180_000;
/** Its first 105 requests found rows of a pipeline under each other's tags. */
const SEED = 1;

test(
  "a few hundred requests of all protocols to few names keep what was acknowledged, and the server lives",
  async () => {
    const said: string[] = [];
    const report = await runFuzz({
      requests: 400,
      seed: SEED,
      threads: [1, 2],
      restartEvery: 200,
      compareEvery: 40,
      say: (text) => said.push(text),
    });
    expect([report.failures, report.failures.length === 0 ? [] : said]).toEqual([[], []]);
    expect(report.starts).toBeGreaterThan(2);
    expect(report.rows).toBeGreaterThan(100);
  },
  TEST_MS_MAX,
);

const ROWS: readonly SentRow[] = [1, 2].map((number) => ({ id: String(number), value: number * 7, second: number }));
const found = (id: string, ...cells: readonly string[]): { readonly id: string; readonly cells: ReadonlySet<string> } => ({
  id,
  cells: new Set([id, ...cells]),
});

function filled(isKept = true): Model {
  const model = new Model();
  model.sent([{ table: "t", rows: ROWS }], () => isKept);
  return model;
}

test.each([
  ["a row that is gone", [found("1", "7")], ["row 2 of t was acknowledged and is gone"]],
  ["a row that is there twice", [found("1", "7"), found("1", "7"), found("2", "n14")], ["row 1 is in t twice"]],
  ["a row of another value", [found("1", "8"), found("2", "14")], ["row 1 of t has lost its value 7"]],
  ["a row that nobody sent", [found("1", "7"), found("2", "14"), found("3", "21")], ["row 3 should not be in t"]],
])("the model finds %s", (_what, rows, wrong) => {
  expect(filled().compare("t", rows)).toEqual(wrong);
});

test("the model takes rows of refused requests as they are found first", () => {
  const model = filled(false);
  expect(model.compare("t", [found("1", "7")])).toEqual([]);
  model.settle();
  expect(model.compare("t", [found("1", "7"), found("2", "14")])).toEqual(["row 2 should not be in t"]);
  expect(model.compare("t", [])).toEqual(["row 1 of t was acknowledged and is gone"]);
});

test("the model follows tables that are renamed, emptied and lose rows", () => {
  const model = filled();
  model.apply({ kind: "rename", table: "t", to: "u" });
  expect([model.compare("t", []), model.compare("u", [found("1", "7"), found("2", "14")])]).toEqual([[], []]);
  model.apply({ kind: "delete", table: "u", id: "1" });
  expect(model.compare("u", [found("2", "14")])).toEqual([]);
  model.apply({ kind: "clear", table: "u" });
  expect(model.compare("u", [])).toEqual([]);
});
