/** The data set and the queries are the same on every run, and shaped as promised. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBatches } from "./batches.ts";
import { type Dataset, FIELDS, SMOKE, STEP_SECONDS, stepCount, TAGS, timeRange } from "./dataset.ts";
import { generate, generateFile } from "./generator.ts";
import { queriesFor } from "./queries.ts";
import { normalTable, seededRandom } from "./random.ts";

const SMALL: Dataset = { ...SMOKE, rows: 2500, hosts: 100 };
const folder = await mkdtemp(join(tmpdir(), "varve-bench-test-"));

afterAll(async () => {
  await rm(folder, { recursive: true });
});

function textOf(dataset: Dataset): string {
  const pieces: string[] = [];
  const bytes = generate(dataset, (piece) => void pieces.push(new TextDecoder().decode(piece)));
  const text = pieces.join("");
  expect(text.length).toBe(bytes);
  return text;
}

describe("the generator", () => {
  test("gives the same bytes for the same seed, others for another", () => {
    expect(textOf(SMALL)).toBe(textOf(SMALL));
    expect(textOf({ ...SMALL, seed: 1 })).not.toBe(textOf(SMALL));
    expect(Bun.hash(textOf(SMALL)).toString(16)).toMatchInlineSnapshot(`"e111b71eef899c26"`);
  });

  test("writes each host once a step, with all tags and integer fields in range", () => {
    const lines = textOf({ ...SMALL, rows: 250 })
      .trimEnd()
      .split("\n");
    expect(lines).toHaveLength(250);
    for (const [row, line] of lines.entries()) {
      const [tags, fields, time] = line.split(" ");
      expect(tags?.split(",").map((pair) => pair.split("=")[0])).toEqual(["cpu", ...TAGS]);
      expect(tags).toContain(`hostname=host_${row % 100},`);
      expect(fields?.split(",").map((pair) => pair.split("=")[0])).toEqual([...FIELDS]);
      for (const [, value] of fields?.matchAll(/=(\d+)i/g) ?? []) expect(Number(value)).toBeLessThanOrEqual(100);
      expect(fields?.match(/=\d+i(?:,|$)/g)).toHaveLength(FIELDS.length);
      expect(time).toBe(`${SMALL.startSeconds + Math.floor(row / 100) * STEP_SECONDS}000000000`);
    }
  });

  test("keeps a host's tags, and its datacenter in its region", () => {
    const tagsOfHost7 = textOf(SMALL)
      .split("\n")
      .filter((line) => line.startsWith("cpu,hostname=host_7,"))
      .map((line) => line.split(" ")[0]);
    expect(new Set(tagsOfHost7).size).toBe(1);
    expect(tagsOfHost7[0]).toMatch(/,region=([a-z0-9-]+),datacenter=\1[a-e],/);
  });

  test("walks in steps of a standard normal distribution", () => {
    const table = normalTable();
    const mean = table.reduce((sum, value) => sum + value, 0) / table.length;
    const variance = table.reduce((sum, value) => sum + (value - mean) ** 2, 0) / table.length;
    expect(mean).toBeCloseTo(0, 9);
    expect(variance).toBeCloseTo(1, 3);
  });
});

describe("batches of a file", () => {
  test("end after whole lines and hold every row once", async () => {
    const { path, bytes } = generateFile(SMALL, join(folder, "small.lp"));
    const batches = findBatches(path, 1000);
    expect(batches.rows).toBe(2500);
    expect(batches.bytes).toBe(bytes);
    expect(batches.offsets).toHaveLength(4);
    const text = await Bun.file(path).text();
    const rows = batches.offsets.slice(1).map((end, i) => text.slice(batches.offsets[i], end).split("\n").length - 1);
    expect(rows).toEqual([1000, 1000, 500]);
  });

  test("count a last line without its line feed", async () => {
    const path = join(folder, "cut.lp");
    await Bun.write(path, "a b=1\na b=2");
    expect(findBatches(path, 1)).toEqual({ offsets: [0, 6, 11], rows: 2, bytes: 11 });
  });
});

describe("the queries", () => {
  const queries = queriesFor(SMOKE, 3);

  test("are three of each of fifteen types, the same every time", () => {
    expect(queries).toHaveLength(45);
    expect(queriesFor(SMOKE, 3)).toEqual([...queries]);
    expect(new Set(queries.map((query) => query.type)).size).toBe(15);
  });

  test("ask for hosts and times that exist", () => {
    const { start } = timeRange(SMOKE);
    for (const { sql } of queries) {
      for (const [, host] of sql.matchAll(/'host_(\d+)'/g)) expect(Number(host)).toBeLessThan(SMOKE.hosts);
      for (const [, time] of sql.matchAll(/>= '([^']+)'/g)) expect(Date.parse(time ?? "") / 1000).toBeGreaterThanOrEqual(start);
    }
  });

  test("draw windows inside data that is longer than the window", () => {
    const day: Dataset = { ...SMOKE, rows: SMOKE.hosts * 8640 };
    expect(stepCount(day)).toBe(8640);
    const { end } = timeRange(day);
    for (const { type, sql } of queriesFor(day, 5).filter((query) => query.type.startsWith("double"))) {
      const last = /< '([^']+)'/.exec(sql)?.[1] ?? "";
      expect(Date.parse(last) / 1000, type).toBeLessThanOrEqual(end);
    }
  });
});

test("a random sample has no value twice and ends when there are no more", () => {
  const sample = seededRandom(1).sample(8, 10);
  expect(new Set(sample).size).toBe(8);
  expect(
    seededRandom(1)
      .sample(8, 3)
      .sort((a, b) => a - b),
  ).toEqual([0, 1, 2]);
});
