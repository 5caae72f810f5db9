import { expect, test } from "bun:test";
import fc from "fast-check";
import { MemorySeries } from "../../../../../test/support/memory-series.ts";
import { answerOf, type PlainAnswer, type Sample, TestRun } from "../../../../../test/support/promql-query.ts";
import { plus } from "../histogram/arithmetic.ts";
import { observed } from "../histogram/observed.fixture.ts";
import type { NativeHistogram } from "../series-source.ts";
import { areClose, PLAIN_FUNCTIONS, type Started } from "./histogram-windows.fixture.ts";

const BOUNDS = [Float64Array.of(1, 4, 9), Float64Array.of(1, 9)];

type Kind = "number" | "exponential" | "custom";
interface Move {
  readonly gap: number;
  readonly kind: Kind;
  readonly observations: readonly number[];
  readonly isNew: boolean;
  readonly schema: number;
  readonly start: number | undefined;
}

const OBSERVATION = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constantFrom(0.01, 0.3, -2));
const KINDS: readonly fc.Arbitrary<Kind>[] = [
  fc.constant("exponential"),
  fc.constant("custom"),
  fc.oneof({ weight: 8, arbitrary: fc.constant<Kind>("exponential") }, { weight: 1, arbitrary: fc.constant<Kind>("number") }),
  fc.oneof({ weight: 8, arbitrary: fc.constant<Kind>("exponential") }, { weight: 1, arbitrary: fc.constant<Kind>("custom") }),
  fc.constant("number"),
];

/** Samples of one series: counters that grow, and now and then begin anew. */
const SERIES: fc.Arbitrary<readonly Started[]> = fc.nat(KINDS.length - 1).chain((which) =>
  fc
    .array(
      fc.record<Move>({
        gap: fc.integer({ min: 500, max: 20_000 }),
        kind: KINDS[which] ?? fc.constant("number"),
        observations: fc.array(OBSERVATION, { maxLength: 4 }),
        isNew: fc.nat(6).map((at) => at === 0),
        schema: fc.constantFrom(0, 0, 0, 1, 2),
        start: fc.option(fc.integer({ min: -15_000, max: 10 }), { nil: undefined, freq: 2 }),
      }),
      { minLength: 1, maxLength: 30 },
    )
    .map(samplesOf),
);

function samplesOf(moves: readonly Move[]): readonly Started[] {
  let seen: readonly number[] = [];
  let time = 0;
  return moves.map(({ gap, kind, observations, isNew, schema, start }) => {
    time += gap;
    seen = isNew ? observations : [...seen, ...observations];
    return { time, sample: sampleOf(kind, seen, schema), start: start === undefined ? 0 : Math.max(0, time + start) };
  });
}

function sampleOf(kind: Kind, seen: readonly number[], schema: number): Sample {
  if (kind === "number") return seen.length;
  if (kind === "exponential") return observed(seen, { schema, zeroThreshold: 0.05, customValues: undefined });
  return observed(seen, { schema: -53, zeroThreshold: 0, customValues: BOUNDS[schema % 2] });
}

function sourceOf(samples: readonly Started[]): MemorySeries {
  const source = new MemorySeries();
  for (const { time, sample, start } of samples) source.add(new Map([["__name__", "h_total"]]), time, sample, start);
  return source;
}

const STEP = 7000;
const STEPS = 20;
const times = (startMillis: number, steps: number): Parameters<typeof answerOf>[1] => ({
  startMillis,
  endMillis: startMillis + (steps - 1) * STEP,
  stepMillis: STEP,
  lookbackMillis: 60_000,
});

async function pointsOf(query: string, samples: readonly Started[], startMillis: number, steps: number): Promise<PlainAnswer> {
  const run = new TestRun();
  const answer = await answerOf(query, times(startMillis, steps), sourceOf(samples), run);
  // A selector that stands twice is kept until the query ends.
  if (query.split("h_total").length === 2) expect(run.held).toBe(0);
  return answer;
}

for (const [name, plain] of PLAIN_FUNCTIONS) {
  test(`${name} of windows that slide gives what each window gives anew`, async () => {
    await fc.assert(
      fc.asyncProperty(SERIES, fc.integer({ min: 1000, max: 90_000 }), async (samples, rangeMillis) => {
        const answer = await pointsOf(`${name}(h_total[${rangeMillis}ms])`, samples, 3000, STEPS);
        const points = answer.series[0]?.points ?? new Map<number, Sample>();
        for (let step = 0; step < STEPS; step++) {
          const end = 3000 + step * STEP;
          const window = samples.filter(({ time }) => time > end - rangeMillis && time <= end);
          const [wanted, got] = [plain(window, end, rangeMillis), points.get(end)];
          if (!areClose(wanted, got)) expect({ end, got }).toEqual({ end, got: wanted });
        }
      }),
      { seed: 21, numRuns: 120 },
    );
  });
}

const QUERIES = [
  "rate(h_total[40s])",
  "delta(h_total[40s])",
  "sum_over_time(h_total[40s])",
  "irate(h_total[40s])",
  "stddev_over_time(h_total[40s])",
  "increase(h_total[40s] anchored)",
  "increase(h_total[40s] smoothed)",
  "changes(h_total[40s] anchored)",
  "h_total smoothed",
  "histogram_quantile(0.7, h_total)",
  "histogram_count(sum(h_total))",
  "avg_over_time(h_total[1m:9s])",
  "h_total + h_total offset 10s",
  "h_total </ 3",
];

test("a range query gives at each step what the instant query of that step gives, annotations with it", async () => {
  await fc.assert(
    fc.asyncProperty(SERIES, fc.constantFrom(...QUERIES), async (samples, query) => {
      const range = await pointsOf(query, samples, 3000, STEPS);
      const told = { warnings: new Set<string>(), infos: new Set<string>() };
      for (let step = 0; step < STEPS; step++) {
        const end = 3000 + step * STEP;
        const instant = await pointsOf(query, samples, end, 1);
        const [wanted, got] = [instant.series[0]?.points.get(end), range.series[0]?.points.get(end)];
        if (!areClose(wanted, got)) expect({ query, end, got }).toEqual({ query, end, got: wanted });
        for (const one of instant.warnings) told.warnings.add(one);
        for (const one of instant.infos) told.infos.add(one);
      }
      expect([range.warnings.toSorted(), range.infos.toSorted()]).toEqual([[...told.warnings].toSorted(), [...told.infos].toSorted()]);
    }),
    { seed: 22, numRuns: 150 },
  );
});

test("memory of histograms is counted while they are held, and given back", async () => {
  const many = Array.from({ length: 200 }, (_, at): Started => {
    const terms = { schema: 3, zeroThreshold: 0, customValues: undefined };
    return {
      time: 1000 * (at + 1),
      sample: observed(
        Array.from({ length: at }, (_, i) => 1.1 ** (i % 97)),
        terms,
      ),
      start: 0,
    };
  });
  const most = async (query: string): Promise<number> => {
    const run = new TestRun();
    await answerOf(query, times(3000, 20), sourceOf(many), run);
    expect(run.held).toBe(0);
    return run.most;
  };
  expect(await most("sum(h_total)")).toBeGreaterThan(20 * 97 * 8);
  expect(await most("rate(h_total[1m])")).toBeGreaterThan(20 * 97 * 8);
  // Folds of a window's beginnings.
  expect(await most("sum_over_time(h_total[1m])")).toBeGreaterThan(60 * 60 * 8);
  const answer = answerOf("sum_over_time(h_total[1m])", times(3000, 20), sourceOf(many), new TestRun(20_000));
  expect(await answer.catch((error: unknown) => String(error))).toContain("out of memory");
});

test("a histogram that ends its series is not seen", async () => {
  const source = new MemorySeries();
  const labels = new Map([["__name__", "h"]]);
  const one: NativeHistogram = observed([1, 2], { schema: 0, zeroThreshold: 0, customValues: undefined });
  source.add(labels, 1000, one);
  source.add(labels, 2000, plus(one, one)?.histogram ?? one);
  source.add(labels, 3000, "stale");
  const at = async (query: string, millis: number): Promise<unknown> => {
    const { series } = await answerOf(query, times(millis, 1), source);
    return series.map(({ points }) => points.get(millis));
  };
  expect(await at("histogram_count(h)", 2500)).toEqual([4]);
  expect(await at("h", 3500)).toEqual([]);
  expect(await at("count_over_time(h[5s])", 3500)).toEqual([2]);
});
