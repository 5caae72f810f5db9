/** `rate` and its kin over the columns of one series: a day of samples each second, windows of five minutes, a step of one. */
import { bench, group, run } from "mitata";
import { windowsOf } from "../../kernels/windows.ts";
import { AVG_OVER_TIME, MAX_OVER_TIME } from "./over-time.ts";
import type { RangeKernel } from "./range-input.ts";
import { QUANTILE_OVER_TIME } from "./ranked.ts";
import { RATE } from "./rate.ts";

const SAMPLES = 86_400;
const times = Float64Array.from({ length: SAMPLES }, (_, at) => at * 1000);
const counter = Float64Array.from({ length: SAMPLES }, (_, at) => at * 3);
const resetting = counter.map((value, at) => (at % 100 === 0 ? 0 : value));
const moments = { startMillis: 300_000, stepMillis: 60_000, count: 1435 };
const rangeMillis = 300_000;
const out = new Float64Array(moments.count);
const present = new Uint8Array(moments.count);
const parameters = [new Float64Array(moments.count).fill(0.9)];

function over(kernel: RangeKernel, values: Float64Array): () => number {
  return () => {
    const windows = windowsOf(times, SAMPLES, moments, rangeMillis);
    kernel({ times, values, count: SAMPLES, windows, moments, rangeMillis, evaluation: moments, parameters }, out, present);
    return out[0]!;
  };
}

group("86,400 samples, 1,435 steps", () => {
  bench("rate", over(RATE, counter));
  bench("rate of a counter that restarts every 100 samples", over(RATE, resetting));
  bench("avg_over_time", over(AVG_OVER_TIME, counter));
  bench("max_over_time", over(MAX_OVER_TIME, counter));
  bench("quantile_over_time", over(QUANTILE_OVER_TIME, resetting));
});

await run();
