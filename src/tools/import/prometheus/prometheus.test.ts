import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { XorChunk } from "../../../ingest/prometheus/read/xor-chunk.ts";
import { TestServer } from "../../../../test/support/server-process.ts";
import { type ChunkLayout, histogramChunk } from "../../../../test/support/prometheus/histogram-chunk.ts";
import { type BlockSeries, type RawChunk, writeBlock } from "../../../../test/support/prometheus/block.ts";
import { type ToolEnding, toolRun } from "../../../../test/support/tool-run.ts";
import { sql } from "../../sql/sql.ts";
import { importTool } from "../import.ts";
import { matchersOf } from "./remote-read.ts";
import { readXorChunk } from "./xor-samples.ts";

let server: TestServer;
let folder = "";
beforeAll(async () => {
  server = await TestServer.start({ config: "[prom_store]\nexperimental_enable_prometheus_native_histogram = true\n" });
  folder = join(server.folder, "files");
  await mkdir(folder);
}, 60_000);
afterAll(async () => {
  await server.end();
});

const run = (...args: readonly string[]): Promise<ToolEnding> =>
  toolRun(importTool, ["--url", server.url, ...args], { env: { XDG_STATE_HOME: folder } });
const ask = async (statement: string, database = "public"): Promise<string> =>
  (await toolRun(sql, ["--url", server.url, "--db", database, statement])).out;
const WELL = { status: 0, out: "", err: "" };
const HOUR = 3_600_000;
const START = 1_700_000_000_000;

/** Series of several chunks over five hours. */
const SERIES: readonly BlockSeries[] = ["a", "b", "c"].map((job, series) => ({
  labels: { __name__: "up_time", job, zone: "é" },
  chunks: Array.from({ length: 5 }, (_, chunk) =>
    Array.from({ length: 60 }, (_unused, i): readonly [number, number] => [
      START + chunk * HOUR + i * 60_000,
      series * 1000 + chunk + i / 8,
    ]),
  ),
}));
const TOTALS = "select job, zone, count(*) n, sum(greptime_value) s from up_time group by job, zone order by job";
const WANT = `job,zone,n,s\n${["a", "b", "c"].map((job, i) => `${job},é,300,${300_000 * i + 1706.25}`).join("\n")}\n`;

test("chunks are read as they were written, to the bit", () => {
  const bits = fc.oneof(fc.nat(0xffff_ffff), fc.constantFrom(0, 1, 0x7ff0_0000, 0xffff_ffff));
  const sample = fc.tuple(fc.oneof(fc.nat(100_000), fc.nat(2 ** 40)), bits, bits);
  fc.assert(
    fc.property(fc.integer({ min: -(2 ** 45), max: 2 ** 45 }), fc.array(sample, { minLength: 1, maxLength: 120 }), (first, samples) => {
      const chunk = new XorChunk();
      let time = first;
      const want = samples.map(([step, low, high], i) => {
        if (i > 0) time += step;
        chunk.append(time, low, high);
        return [time, low, high];
      });
      const { count, times, low, high } = readXorChunk(chunk.finish());
      expect(count).toBe(want.length);
      expect(want.map((_, i) => [times[i], low[i], high[i]])).toEqual(want);
    }),
    { seed: 11, numRuns: 300 },
  );
});

test("damaged chunks are errors, never more", () => {
  const chunk = new XorChunk();
  for (let i = 0; i < 100; i++) chunk.append(i * i, i * 77, i);
  const bytes = chunk.finish();
  for (let i = 0; i < bytes.length; i++) {
    const cut = bytes.slice(0, i);
    expect(() => readXorChunk(cut)).toThrow();
    const changed = bytes.slice();
    changed[i] = (changed[i] ?? 0) ^ 0xff;
    try {
      readXorChunk(changed);
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(Error);
    }
  }
});

test("a block is imported, also in small pieces and again", async () => {
  const path = join(folder, "01BLOCK");
  await writeBlock(path, SERIES);
  expect(await run("--batch-rows", "100", path)).toEqual(WELL);
  expect(await ask(TOTALS)).toBe(WANT);
  expect(await run(path)).toEqual(WELL);
  expect(await ask(TOTALS)).toBe(WANT);
});

test("series of another server are read, in chunks", async () => {
  await ask("create database far");
  const from = new Date(START).toISOString();
  const to = new Date(START + 5 * HOUR).toISOString();
  const url = `${server.url}/v1/prometheus/read?db=public`;
  const args = ["--db", "far", "--remote-read", url, "--match", 'up_time{job=~"a|c"}', "--from", from, "--to", to];
  expect(await run("--batch-rows", "50", ...args)).toEqual(WELL);
  expect(await ask(TOTALS, "far")).toBe(
    `${WANT.split("\n")
      .filter((line) => !line.startsWith("b,"))
      .join("\n")}`,
  );
});

test("native histograms of blocks come in, whole numbers and doubles, and where a series ends", async () => {
  const layout: ChunkLayout = { flags: 0, zeroThreshold: 2 ** -128, schema: 0, positiveSpans: [[1, 2]], negativeSpans: [], bounds: [] };
  const at = (i: number): number => START + i * 15_000;
  const each = <T>(made: (i: number) => T): readonly T[] => Array.from({ length: 4 }, (_, i) => made(i));
  const whole = each((i) => ({ time: BigInt(at(i)), count: BigInt(3 * i + 4), zeroCount: 1n, sum: i * 10, negative: [] }));
  const wholes = whole.map((one, i) => ({ ...one, positive: [BigInt(i + 1), BigInt(i + 1)] }));
  const double = each((i) => ({ time: BigInt(at(i)), count: 2 * i + 1.5, zeroCount: 0, sum: i / 2, positive: [i, i + 1.5], negative: [] }));
  const chunk = (encoding: number, data: Uint8Array, last: number): RawChunk => ({ encoding, data, first: at(0), last });
  const path = join(folder, "01HISTOGRAMS");
  await writeBlock(path, [
    { labels: { __name__: "took", kind: "double" }, chunks: [chunk(3, histogramChunk(layout, double, false), at(3))] },
    { labels: { __name__: "took", kind: "whole" }, chunks: [chunk(2, histogramChunk(layout, wholes, true), at(3) + 1)] },
  ]);
  expect(await run("--batch-rows", "3", path)).toEqual(WELL);
  const asked = async (query: string): Promise<unknown> => {
    const parameters = new URLSearchParams({ query, time: String(at(3) / 1000) });
    const answer = (await (await fetch(`${server.url}/v1/prometheus/api/v1/query?${parameters.toString()}`)).json()) as {
      readonly data: { readonly result: readonly { readonly metric: object; readonly value: readonly [number, string] }[] };
    };
    return answer.data.result.map(({ metric, value }) => [Object.values(metric).at(-1), value[1]]);
  };
  expect(await asked("sort_by_label(histogram_count(took), 'kind')")).toEqual([
    ["double", "7.5"],
    ["whole", "13"],
  ]);
  expect(await asked("sort_by_label(histogram_fraction(1, 2, took), 'kind')")).toEqual([
    ["double", "0.4"],
    ["whole", String(4 / 13)],
  ]);
  const ended = new URLSearchParams({ query: "count(took)", time: String((at(3) + 2) / 1000) });
  expect(await (await fetch(`${server.url}/v1/prometheus/api/v1/query?${ended.toString()}`)).text()).toContain('"1"');
});

test("what is not read is refused by its name", async () => {
  const path = join(folder, "01UNKNOWN");
  await writeBlock(path, [{ labels: { __name__: "other" }, chunks: [{ encoding: 9, data: Uint8Array.of(0, 1), first: 1, last: 2 }] }]);
  const refused = await run(path);
  expect([refused.status, refused.err]).toEqual([1, expect.stringContaining("chunks of encoding 9 are not known, at byte 8, of other{}")]);
  expect((await run(folder)).err).toContain("is no block of Prometheus");
  for (const args of [[], ["--match", "up"], ["--match", "rate(up[5m])", "--from", "1"], ["--match", "up", "--from", "x"]])
    expect((await run("--remote-read", "http://127.0.0.1:1/", ...args)).status).toBe(2);
  expect(matchersOf('up{job!="x"}').length).toBe(2);
});

test("a damaged block is an error with its place", async () => {
  const path = join(folder, "01DAMAGED");
  await writeBlock(path, SERIES.slice(0, 1));
  for (const name of ["index", "chunks/000001"]) {
    const whole = await readFile(join(path, name));
    for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 40)) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 0x40;
      await writeFile(join(path, name), changed);
      const { status, err } = await run("--restart", path);
      if (status !== 0) expect(err).toMatch(/^cannot read .* at byte \d+|version \d+/);
    }
    await writeFile(join(path, name), whole);
  }
});
