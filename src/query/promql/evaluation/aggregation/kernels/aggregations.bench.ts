/**
 * Aggregations of 1,000 series of 240 steps into one group, and of 240,000 series of one step: nanoseconds a value.
 * `bun src/query/promql/evaluation/aggregation/kernels/aggregations.bench.ts`
 */
import { quantileOf } from "../../functions/kernels/ranked.ts";
import { emptySteps } from "../../kernels/steps.ts";
import type { StepSeries } from "../../scope.ts";
import { AGGREGATIONS, finished, newAccumulator } from "./accumulators.ts";
import { Chosen } from "./chosen.ts";
import { Listed } from "./listed.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const ROUNDS: number = SMALL ? 1 : 30;
const free = (): void => undefined;

let seed = 1;
function random(): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return seed / 0x80000000;
}

interface Shape {
  readonly name: string;
  readonly series: readonly StepSeries[];
  readonly steps: number;
}

function shapeOf(name: string, count: number, steps: number): Shape {
  const series = Array.from({ length: SMALL ? 10 : count }, () => {
    const values = Float64Array.from({ length: steps }, () => random() * 1000);
    return { labels: [], dropsName: false, values, present: new Uint8Array(steps).fill(1), histograms: undefined };
  });
  return { name, series, steps };
}

const holed = shapeOf("240 steps, one missing", 1000, 240);
for (const { present } of holed.series) present[7] = 0;
const shapes = [shapeOf("240 steps", 1000, 240), holed, shapeOf("one step", 240_000, 1)];

const runs = new Map<string, (shape: Shape) => void>();
for (const [name, aggregation] of AGGREGATIONS) {
  runs.set(name, ({ series, steps }) => {
    const into = newAccumulator(steps);
    for (const one of series) aggregation.add(into, one);
    finished(into, aggregation);
  });
}
runs.set("topk(10, …)", ({ series, steps }) => {
  const chosen = new Chosen(steps, "largest", free);
  const most = new Float64Array(steps).fill(10);
  for (const one of series) chosen.add(one, most, 0, steps, -1);
});
runs.set("quantile(0.9, …)", ({ series, steps }) => {
  const listed = new Listed(steps, free);
  for (const one of series) listed.add(one);
  listed.results(emptySteps(steps), 0, steps, (values) => quantileOf(0.9, values.count, (place) => values.at(place)));
});

console.log(`ns a value${" ".repeat(10)}${shapes.map(({ name }) => name.padStart(24)).join("")}`);
for (const [name, run] of runs) {
  const times = shapes.map((shape) => {
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < ROUNDS; round++) {
      const start = Bun.nanoseconds();
      run(shape);
      best = Math.min(best, Bun.nanoseconds() - start);
    }
    return (best / (shape.series.length * shape.steps)).toFixed(2).padStart(24);
  });
  console.log(name.padEnd(20) + times.join(""));
}
