import { expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { diskFolder } from "../../../test/support/disk-folder.ts";
import { toolRun } from "../../../test/support/tool-run.ts";
import { bench } from "./bench.ts";
import { HostLoad } from "./load.ts";
import { quantile } from "./machine.ts";

test("a short run prints what it found and leaves nothing behind", async () => {
  const folder = await mkdtemp(join(diskFolder(), "varve-test-"));
  try {
    const { status, out, err } = await toolRun(bench, ["--seconds", "1", "--hosts", "50", "--dir", folder]);
    expect([status, err]).toEqual([0, ""]);
    expect(out).toMatch(/ x .*GiB\n.*Bun .*\n\n +p50 +p99\nsync of 4 KiB .* ms +.*\nwrite of 10000 rows, 4 connections /);
    expect(out).toMatch(/rows a second, each on disk +\S+\nrows; bytes a row on disk +\S+ +\d+\.\d\d\n$/);
    expect(await readdir(folder)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 60_000);

test("an interruption ends the server and removes its folder", async () => {
  const folder = await mkdtemp(join(diskFolder(), "varve-test-"));
  const leaving = new AbortController();
  try {
    setTimeout(() => leaving.abort(), 1500);
    const { status } = await toolRun(bench, ["--seconds", "60", "--hosts", "50", "--dir", folder], { signal: leaving.signal });
    expect(status).toBe(130);
    expect(await readdir(folder)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 60_000);

test("wrong flags are refused before anything is started", async () => {
  for (const args of [["x"], ["--seconds", "0"], ["--hosts", "a"]]) expect((await toolRun(bench, args)).status).toBe(2);
});

test("the load is a row a host and step, the same each time", () => {
  const load = new HostLoad(3);
  const lines = Buffer.from(load.body(7)).toString().trimEnd().split("\n");
  expect(lines.map((line) => /hostname=host_(\d).* (\d+)$/.exec(line)?.slice(1).join(" "))).toEqual([
    ...[0, 1, 2].map((host) => `${host} 1704067200000000000`),
    ...[0, 1, 2].map((host) => `${host} 1704067210000000000`),
    "0 1704067220000000000",
  ]);
  expect(Buffer.from(new HostLoad(3).body(7)).toString().trimEnd().split("\n")).toEqual(lines);
  expect(lines[0]?.length).toBeGreaterThan(300);
});

test("quantiles are values that are there", () => {
  expect(quantile([], 0.5)).toBe(0);
  expect(quantile([3, 1, 2], 0.5)).toBe(2);
  expect(quantile([1, 2], 0.99)).toBe(2);
});
