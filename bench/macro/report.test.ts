/** The tables say what was measured: medians, spreads, and ratios taken inside a run. */
import { describe, expect, test } from "bun:test";
import type { IngestResult } from "./ingest-bench.ts";
import { ingestText, switchText, table } from "./report.ts";
import { median, percentile, spread } from "./statistics.ts";

function result(name: string, run: number, seconds: number): IngestResult {
  return {
    name,
    durability: "disk",
    shape: { rowsPerBatch: 1000, connections: 2 },
    run,
    load: {
      rows: 1000,
      bytes: 347_000,
      requests: 1,
      seconds,
      startedAtMs: 0,
      ackMsP50: 1,
      ackMsP99: 2,
      ackMsMax: 3,
      bad: 0,
      firstBad: undefined,
      cpuSeconds: 0.1,
    },
    queryableSeconds: seconds,
    cpuSecondsAtAck: 1,
    cpuSecondsAtRest: 2,
    rssBytesPeak: 2 ** 20,
    diskBytes: 4500,
    logBytes: 500,
    diskBytesWritten: 9000,
  };
}

test("an ingest table has a line a server, with the ratio of each run", () => {
  // The machine was twice as slow in run 2: the peer is half as fast as Varve in both.
  const results = [result("Varve", 1, 1), result("peer", 1, 2), result("Varve", 2, 2), result("peer", 2, 4)];
  const lines = ingestText(results, "Varve").split("\n");
  expect(lines.find((line) => line.startsWith("| peer"))).toMatch(
    /\| +375 \| 2 runs, ±33 % \|.*\| +0\.50 \|.*\| +4\.50 \| +0\.50 \| +9\.0 \|/,
  );
  expect(lines.find((line) => line.startsWith("| Varve"))).toMatch(/\| +1\.00 \|/);
});

test("a switch is set against the rate of the same run without it", () => {
  const results = [1, 2].flatMap((run) => [result("Varve, compaction on", run, 5 * run), result("Varve, compaction off", run, 4 * run)]);
  expect(switchText(results, "compaction")).toEqual(["Varve, 1,000 × 2: with compaction 0.80 of the rate without.\n"]);
  expect(
    switchText(
      results.filter(({ name }) => name.endsWith("on")),
      "compaction",
    ),
  ).toEqual([]);
});

test("a table lines up, numbers on the right", () => {
  expect(
    table(
      ["name", "ms"],
      [
        ["a", "1"],
        ["bcdef", "1,000"],
      ],
    ),
  ).toBe("| name  |    ms |\n|-------|------:|\n| a     |     1 |\n| bcdef | 1,000 |\n");
});

describe("statistics", () => {
  test("of some values", () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(percentile([5, 1, 4, 2, 3], 0.5)).toBe(3);
    expect(percentile([5, 1, 4, 2, 3], 0.99)).toBe(5);
    expect(spread([9, 10, 11])).toBeCloseTo(0.1, 12);
  });

  test("of one value and of none", () => {
    expect(spread([7])).toBe(0);
    expect(percentile([7], 0.01)).toBe(7);
    expect(median([])).toBeNaN();
    expect(percentile([], 0.5)).toBeNaN();
  });
});
