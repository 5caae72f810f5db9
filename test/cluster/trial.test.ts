/** Trials of clusters that are made up: every broken promise is found, and none where there is none. */
import { describe, expect, test } from "bun:test";
import { errorOf } from "../support/failure-of.ts";
import type { Patience } from "./clients.ts";
import { type Defect, FakeCluster } from "./fake-cluster.ts";
import { runTrial, type TrialOptions } from "./trial.ts";

const PATIENCE: Patience = { attempt: 100, request: 400, pause: 3 };

function options(seed: number, more: Partial<TrialOptions> = {}): TrialOptions {
  return {
    seed,
    rounds: 12,
    writers: 2,
    readers: 2,
    faults: ["kill", "stop", "partition"],
    fullCheckEvery: 4,
    patience: PATIENCE,
    faultMs: 20,
    downMsMax: 20,
    progress: () => undefined,
    ...more,
  };
}

const FOUND: readonly (readonly [defect: Defect, want: RegExp])[] = [
  ["loses a row", /^w\d: batch \d+ has lost 1 of 16 rows/],
  ["loses a request", /^w\d: batch \d+ has lost 16 of 16 rows/],
  ["doubles a row", /^w\d: batch \d+ has a row 2 times that was sent 1 times/],
  ["goes back", /^w\d: key \d+ is older: it has version \d+, after \d+/],
  ["loses a key", /^w\d: key \d+ is lost/],
  ["doubles a key", /^w\d: key 0 stands 2 times/],
  ["invents a batch", /^w\d: batch \d+ was never sent/],
  ["invents a row", /^w\d: batch \d+ has rows that were never sent/],
  ["invents a version", /^w\d: key \d+ has version 1000000, which was never sent/],
  ["refuses writes", /^w\d: batch \d+ by f\d was refused: 400 no/],
  ["never writes again", /no write was acknowledged for|failed for \d+ ms: 503/],
  ["never answers again", /queries (?:failed for|were not whole again after)/],
  ["ends by itself", /^d0 ended by itself/],
  ["an old answer by one door", /(?:has lost|is older|is lost).*\(by f1\)/],
];

describe("a cluster that", () => {
  test.concurrent.each(FOUND)("%s is found", async (defect, want) => {
    const { violations } = await runTrial(new FakeCluster(defect), options(7));
    expect(violations.filter((text) => want.test(text))).not.toEqual([]);
  });

  test.concurrent("keeps its promises passes, with every fault of every process", async () => {
    const cluster = new FakeCluster("none");
    const told: string[] = [];
    const report = await runTrial(cluster, options(3, { rounds: 9, progress: (text) => told.push(text) }));
    expect(report.violations).toEqual([]);
    expect(new Set(report.rounds.map(({ fault, target }) => `${fault} of ${target}`)).size).toBe(9);
    expect(told.length).toBe(9);
    for (const what of ["kill", "restart", "stop", "go on", "cut", "heal"])
      expect(cluster.log.some((line) => line.startsWith(`${what} `))).toBe(true);
    const { figures } = report;
    expect(figures.clear).toBeGreaterThan(0);
    expect(figures.acknowledged).toBeGreaterThan(figures.clear); // Some were sent again, and stand there twice by right.
    expect(Math.min(figures.queries, figures.batchesCompared, figures.keysCompared, figures.retries)).toBeGreaterThan(0);
    // Queries wait for the data node that is away, not for a door.
    expect(Math.max(...report.rounds.map(({ wholeMs }) => wholeMs))).toBeLessThan(PATIENCE.request);
  });

  test.concurrent("has two processes hurt at once where that is asked for, never two of NATS, nor all doors", async () => {
    const told: string[] = [];
    const cluster = new FakeCluster("none");
    const report = await runTrial(cluster, options(11, { rounds: 12, pairEvery: 2, progress: (text) => told.push(text) }));
    expect(report.violations).toEqual([]);
    expect(report.rounds.map(({ beside }) => beside !== undefined)).toEqual(Array.from({ length: 12 }, (_, i) => i % 2 === 1));
    const doors = new Set(cluster.doors.map(({ name }) => name));
    for (const { target, beside = "" } of report.rounds) {
      const other = beside.replace(/^.* of /, "");
      expect(other).not.toBe(target);
      expect(doors.size <= 2 && doors.has(target) && doors.has(other)).toBe(false);
    }
    expect(told.filter((line) => line.includes(" and ")).length).toBe(6);
  });

  test.concurrent("is asked for one kind of fault has that alone, in the same order by the same seed", async () => {
    const orders = [];
    for (const seed of [5, 5, 6]) {
      const { rounds } = await runTrial(new FakeCluster("none", 4), options(seed, { rounds: 5, faults: ["kill"], downMsMax: 5 }));
      expect(rounds.every(({ fault }) => fault === "kill")).toBe(true);
      orders.push(rounds.map(({ target }) => target).join());
    }
    expect(orders[0]).toBe(orders[1]!);
    expect(orders[0]).not.toBe(orders[2]!);
  });
});

test("a trial without a fault to make is refused", async () => {
  const refused = await errorOf(runTrial(new FakeCluster("none"), options(1, { faults: [] })));
  expect(refused.message).toBe("no process has any of these faults");
});
