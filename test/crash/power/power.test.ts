/** Power losses, in short: a few random lives. The long form is `bun run test:crash --power`. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { livePower } from "./power-life.ts";

const SEED = 1;
const LIVES = 8;
const INTERVAL_LIVES = 4;
const DEATHS = 12;

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "varve-power-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe("a power loss between any two calls to the disk", () => {
  test.each(Array.from({ length: LIVES }, (_, i) => SEED + i))(
    "leaves every acknowledged row, and a log that starts (seed %i)",
    async (seed) => {
      const report = await livePower(seed, DEATHS, join(folder, `always-${seed}`));
      expect(report.deaths).toBe(DEATHS);
      expect(report.acknowledged).toBeGreaterThan(0);
    },
    20_000,
  );

  test.each([1, 2])(
    "beside two ingest threads, on disks that are slow and fail, leaves every acknowledged row of all three logs (seed %i)",
    async (seed) => {
      const report = await livePower(seed, DEATHS, join(folder, `threads-${seed}`), { threads: [2] });
      expect(report.deaths).toBe(DEATHS);
      expect(report.acknowledged).toBeGreaterThan(0);
    },
    20_000,
  );

  test("with wal.sync = interval takes writes since the last sync at most, each of them whole, and the log starts", async () => {
    for (let seed = SEED; seed < SEED + INTERVAL_LIVES; seed++) {
      expect((await livePower(seed, DEATHS, join(folder, `interval-${seed}`), { sync: "interval" })).deaths).toBe(DEATHS);
    }
  }, 20_000);
});

test("a death of the process takes nothing that was acknowledged, though wal.sync = never", async () => {
  const report = await livePower(SEED, DEATHS, join(folder, "never"), { sync: "never" });
  expect({ deaths: report.deaths, powerLosses: report.powerLosses }).toEqual({ deaths: DEATHS, powerLosses: 0 });
  expect(report.acknowledged).toBeGreaterThan(0);
}, 20_000);
