/** The reckoning: it adds up, plays out the same each time, and the page shows it. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../options.ts";
import { runCapacity } from "./capacity.ts";
import { FIGURES } from "./costs.ts";
import { type LaneLoad, playLanes } from "./lanes.ts";
import { needsOf } from "./model.ts";
import { capacityText, PAGE_OPTIONS } from "./report.ts";
import { capacityPage } from "./write-page.ts";

const ALL = { shardsMax: 1024, spread: 1024, gatherMillis: 0 };

test("the page shows it; if not, run bench/capacity/write-page.ts", () => {
  const page = readFileSync(join(import.meta.dir, "../../docs/cluster-capacity.md"), "utf8");
  expect(page).toBe(capacityPage(page));
});

describe("needs", () => {
  test("grow with the rows, and are never less than the copies", () => {
    const [small, large] = [1, 100].map((nodes) => needsOf({ nodes, rowsPerSecond: nodes * 1e6 }, ALL, FIGURES));
    if (small === undefined || large === undefined) throw new Error("there are two");
    expect(small).toMatchObject({ shards: 4, frontends: 2, logServers: 3, logLimit: "copies", isEnough: true });
    expect(large.logMiB / small.logMiB).toBeCloseTo(100);
    expect(large.frontendCores).toBe(100);
    expect(large.storedTB).toBeCloseTo(855, 0);
  });

  test("of 100 million rows a second on 64 shards are those of the design's sketch", () => {
    const layout = { shardsMax: 64, spread: 1024, gatherMillis: 50 };
    const forty = { ...FIGURES, frontendRows: 2_500_000 }; // 40 frontends.
    const { messagesPerSecond, shardMiB, messageBytes } = needsOf({ nodes: 100, rowsPerSecond: 1e8 }, layout, forty);
    expect(messagesPerSecond).toBe(51_200);
    expect(messageBytes / 1024).toBeCloseTo(25, 0);
    expect(shardMiB).toBeCloseTo(19.5, 1);
  });

  test("a gathering time never makes more messages, nor do fewer shards a table", () => {
    for (const nodes of [1, 3, 10, 40]) {
      const load = { nodes, rowsPerSecond: nodes * 1e6 };
      const { messagesPerSecond } = needsOf(load, ALL, FIGURES);
      for (const layout of [
        { ...ALL, gatherMillis: 20 },
        { ...ALL, spread: 4 },
        { ...ALL, shardsMax: 8 },
      ])
        expect(needsOf(load, layout, FIGURES).messagesPerSecond).toBeLessThanOrEqual(messagesPerSecond);
    }
  });

  test("too few nodes are told", () => {
    expect(needsOf({ nodes: 1, rowsPerSecond: 1e7 }, ALL, FIGURES).isEnough).toBe(false);
  });
});

describe("lanes that are played", () => {
  const quiet: LaneLoad = { frontends: 2, shards: 4, spread: 4, streams: 4, rowsPerSecond: 100_000, gatherMillis: 0 };

  test("are the same each time", () => {
    expect(playLanes(quiet, FIGURES)).toEqual(playLanes(quiet, FIGURES));
  });

  test("of a quiet cluster: a message a record, answered after the network and a sync", () => {
    const { messagesPerSecond, ackMillisP50, busy, messageBytes, isSteady } = playLanes(quiet, FIGURES);
    expect(Math.abs(messagesPerSecond - 40)).toBeLessThan(5);
    expect(messageBytes).toBeCloseTo((10_000 * 13.1) / 4, 0);
    expect(ackMillisP50).toBeGreaterThan(0.7);
    expect(ackMillisP50).toBeLessThan(3);
    expect([busy < 0.05, isSteady]).toEqual([true, true]);
  });

  test("that gather wait for it, and send fewer messages", () => {
    const busy = { ...quiet, rowsPerSecond: 4_000_000 };
    const [at, gathered] = [playLanes(busy, FIGURES), playLanes({ ...busy, gatherMillis: 50 }, FIGURES)];
    expect(gathered.messagesPerSecond).toBeLessThan(at.messagesPerSecond / 2);
    expect(gathered.ackMillisP50).toBeGreaterThan(20);
    expect(gathered.ackMillisP99).toBeLessThan(80);
  });

  test("of a disk that is too slow fill, and say so", () => {
    const slow = playLanes({ ...quiet, rowsPerSecond: 20_000_000 }, { ...FIGURES, diskBytes: 20 });
    expect([slow.isSteady, slow.busy]).toEqual([false, 1]);
  });

  test("take what comes in, where there is room", () => {
    for (const spread of [1, 4]) {
      const { messagesPerSecond, messageBytes } = playLanes({ ...quiet, spread, rowsPerSecond: 1_000_000 }, FIGURES);
      expect(Math.abs((messagesPerSecond * messageBytes) / (1e6 * 13.1) - 1)).toBeLessThan(0.15);
    }
  });
});

test("a command line is read, or refused with what it may be", () => {
  for (const [args, message] of [
    [["--nodes", "0"], "--nodes 0: want whole numbers from 1 to 1000"],
    [["--spread", "x"], "--spread x"],
    [["--what"], "Unknown option"],
  ] as const) {
    expect(() => runCapacity(args)).toThrow(UsageError);
    expect(() => runCapacity(args)).toThrow(message);
  }
  expect(capacityText({ ...PAGE_OPTIONS, nodes: [2], scenarios: [{ title: "As asked", ...ALL }] })).toContain("### As asked");
});
