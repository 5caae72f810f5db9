import { expect, test } from "bun:test";
import type { ScanBatch, ScanRequest } from "./scan.ts";
import { scanInTurns } from "./scan-in-turns.ts";

const BATCH: ScanBatch = { rowCount: 0, vectors: [], runs: { starts: new Uint32Array(1), series: new Uint32Array(0) } };
const PLAIN = { projection: [], timeRange: { start: 0n, end: 1n }, fieldBounds: [], order: "none" } as const;

/** A table that tests `values` before its first batch, and what became of it. */
class Tested {
  scans = 0;
  kept: readonly string[] = [];
  private readonly values: readonly string[];

  constructor(values: readonly string[]) {
    this.values = values;
  }

  async *scan({ tagPredicates }: ScanRequest): AsyncGenerator<ScanBatch> {
    this.scans++;
    this.kept = this.values.filter((value) => tagPredicates.every((each) => each.kind !== "test" || each.test(value)));
    yield BATCH;
    yield BATCH;
  }
}

/** A pace that wants a turn after so many looks at the clock. */
function paceOf(looks: number): { turns: number; held: number; most: number } & Parameters<typeof scanInTurns>[2] {
  let left = looks;
  const work = {
    turns: 0,
    held: 0,
    most: 0,
    pace: {
      isDue: () => --left <= 0,
      turn: async () => {
        work.turns++;
        left = looks;
      },
    },
    reserve: (bytes: number) => {
      work.held += bytes;
      work.most = Math.max(work.most, work.held);
    },
    release: (bytes: number) => void (work.held -= bytes),
  };
  return work;
}

const VALUES: readonly string[] = Array.from({ length: 2000 }, (_, i) => `v${i}`);

async function run(looks: number, limit = Number.POSITIVE_INFINITY): Promise<readonly [Tested, ReturnType<typeof paceOf>, number]> {
  const table = new Tested(VALUES);
  const work = paceOf(looks);
  let tests = 0;
  const odd = (value: string | undefined): boolean => {
    if (++tests > limit) throw new Error("too many steps");
    return /[13579]$/.test(value ?? "");
  };
  let batches = 0;
  for await (const _ of scanInTurns(table, { ...PLAIN, tagPredicates: [{ kind: "test", column: "v", test: odd }] }, work)) batches++;
  expect([batches, work.held, table.kept.length]).toEqual([2, 0, 1000]);
  return [table, work, tests];
}

test("a scan within one stretch keeps nothing and takes no turn", async () => {
  const [table, work, tests] = await run(10_000);
  expect([table.scans, work.turns, work.most, tests]).toEqual([1, 0, 0, 2000]);
});

test("a scan that takes long is left for turns, and each comes further", async () => {
  const [table, work, tests] = await run(100);
  expect(work.turns).toBeGreaterThan(10);
  expect(table.scans).toBe(work.turns + 1);
  // What the first stretch tested is tested again, nothing else.
  expect(tests).toBeLessThan(2000 + 200);
  expect(work.most).toBeGreaterThan(0);
});

test("it comes further even where a turn is always due", async () => {
  const [, work, tests] = await run(1);
  expect(work.turns).toBeLessThanOrEqual(2000 / 64 + 1);
  expect(tests).toBeLessThan(2000 + 100);
});

test("errors of a test end the scan, and give memory back", async () => {
  let error: unknown;
  try {
    await run(100, 500);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({ message: "too many steps" });
});
