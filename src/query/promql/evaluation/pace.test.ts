import { describe, expect, test } from "bun:test";
import { Pace } from "../../../base/scheduler/pace.ts";
import { Scheduler } from "../../../base/scheduler/scheduler.ts";
import { answerOf, TestRun } from "../../../../test/support/promql-query.ts";
import { PIECE } from "./kernels/pieces.ts";
import type { SampledSeries, SeriesSource } from "./series-source.ts";

const COUNT = 6 * PIECE;

/** Counts how often it is asked whether others are to have a turn. */
class LookedAt extends Pace {
  looks = 0;

  override isDue(): boolean {
    this.looks++;
    return false;
  }

  override turn(): Promise<void> {
    this.looks++;
    return Promise.resolve();
  }
}

class CountedRun extends TestRun {
  override readonly pace: LookedAt = new LookedAt(new Scheduler());
}

/** Two series of so many samples, one a second. */
function longSeries(count: number): SeriesSource {
  const times = Float64Array.from({ length: count }, (_, at) => at * 1000);
  const values = Float64Array.from({ length: count }, (_, at) => at % 97);
  return {
    async *select(): AsyncGenerator<readonly SampledSeries[]> {
      for (const le of ["1", "+Inf"]) {
        const labels = [["__name__", "m_bucket"] as const, ["le", le] as const];
        yield [{ labels, count, times, values, histograms: undefined, starts: undefined }];
      }
    },
  };
}

async function looksOf(query: string, steps: number, samples: number): Promise<number> {
  const run = new CountedRun();
  const times = { startMillis: 0, endMillis: (steps - 1) * 1000, stepMillis: 1000, lookbackMillis: 300_000 };
  await answerOf(query, times, longSeries(samples), run);
  expect(run.held).toBe(0);
  return run.pace.looks;
}

describe("of two looks at the pace the second comes after a bounded number of steps", () => {
  const few = 16;
  for (const query of [
    "m_bucket",
    "rate(m_bucket[1m])",
    "max_over_time(m_bucket[10m:1s])",
    "abs(m_bucket)",
    "m_bucket * 2",
    "m_bucket > 2",
    "-m_bucket",
    "topk(1, m_bucket)",
    "quantile(0.5, m_bucket)",
    "limit_ratio(0.5, m_bucket)",
    'count_values("v", m_bucket % 3)',
    "histogram_quantile(0.5, m_bucket)",
    "hour(m_bucket)",
    "time() + 1",
    "min_of(time(), 3)",
    "m_bucket @ 5",
  ]) {
    test(query, async () => {
      const looks = await looksOf(query, COUNT, 400);
      // At least one look a piece, beside those that a query of a few steps takes.
      const short = await looksOf(query, few, 400);
      const isConstant = query.includes("@");
      expect(looks - short).toBeGreaterThanOrEqual(isConstant ? 0 : 5);
    });
  }
});

test("a query of one step over a long series looks at the pace as it goes", async () => {
  for (const query of ["sum_over_time(m_bucket[10d])", "quantile_over_time(0.5, m_bucket[10d])", "rate(m_bucket[10d])"]) {
    const run = new CountedRun();
    const times = { startMillis: COUNT * 1000, endMillis: COUNT * 1000, stepMillis: 1000, lookbackMillis: 300_000 };
    await answerOf(query, times, longSeries(COUNT), run);
    expect(run.pace.looks).toBeGreaterThanOrEqual(2 * 5);
  }
});
