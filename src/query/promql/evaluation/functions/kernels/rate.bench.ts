/**
 * Functions of a range over the columns of a series: `bun src/query/promql/evaluation/functions/kernels/rate.bench.ts`.
 *
 * A sample each 15 seconds, 240 steps of a minute; windows of 20 samples (5 minutes) and of 240 (an hour). A line a function: millions of
 * samples of the series a second on one core, finding the windows among it; each sample lies in 5 windows, or in 60. All functions take
 * turns in one process, so that no call site knows but one of them; of each, the tenth fastest of a hundred rounds counts.
 */
import { wholly } from "../../kernels/pieces.ts";
import { Scratch } from "../../kernels/scratch.ts";
import { WindowFinder } from "../../kernels/window-finder.ts";
import { RANGE_FUNCTIONS } from "../range-functions.ts";
import type { RangeKernel } from "./range-input.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const STEPS = 240;
const STEP_MILLIS = 60_000;
const SCRAPE_MILLIS = 15_000;
const SERIES = 24;
const ROUNDS: number = SMALL ? 1 : 100;

interface Shape {
  readonly name: string;
  readonly window: number;
  readonly times: Float64Array;
  readonly counters: readonly Float64Array[];
  readonly restarting: readonly Float64Array[];
  readonly gauges: readonly Float64Array[];
}

let seed = 1;
function random(): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return seed / 0x80000000;
}

function shapeOf(window: number): Shape {
  const count = window + (STEPS * STEP_MILLIS) / SCRAPE_MILLIS;
  const times = Float64Array.from({ length: count }, (_, at) => 1_700_000_000_000 + at * SCRAPE_MILLIS + Math.floor(random() * 50));
  const many = (make: () => Float64Array): Float64Array[] => Array.from({ length: SERIES }, make);
  const counter = (restarts: number): Float64Array => {
    let value = 0;
    return Float64Array.from(times, () => (value = random() < restarts ? 0 : value + Math.floor(random() * 100)));
  };
  return {
    name: `windows of ${window}`,
    window,
    times,
    counters: many(() => counter(0)),
    restarting: many(() => counter(0.05)),
    gauges: many(() => Float64Array.from(times, () => random() * 1000 - 300)),
  };
}

const out = new Float64Array(STEPS);
const present = new Uint8Array(STEPS);
const scratch = new Scratch({ reserve: () => undefined, release: () => undefined });
const parameters = [new Float64Array(STEPS).fill(0.9), new Float64Array(STEPS).fill(0.3)];

/** Millions of samples a second. */
function round(kernel: RangeKernel, { times, window }: Shape, series: readonly Float64Array[]): number {
  const count = times.length;
  const moments = { startMillis: 1_700_000_000_000 + window * SCRAPE_MILLIS, stepMillis: STEP_MILLIS, count: STEPS };
  const rangeMillis = window * SCRAPE_MILLIS;
  const start = Bun.nanoseconds();
  const finder = new WindowFinder(moments, rangeMillis, scratch);
  const { windows } = finder;
  for (const values of series) {
    const work = finder.find(times, count);
    if (work !== undefined) wholly(work);
    wholly(kernel({ times, values, count, windows, moments, rangeMillis, evaluation: moments, parameters, scratch }, out, present));
  }
  return (series.length * count * 1000) / (Bun.nanoseconds() - start);
}

const COUNTERS: ReadonlySet<string> = new Set(["rate", "increase", "irate", "resets"]);
const shapes = [shapeOf(20), shapeOf(240)];
const cases: { readonly name: string; readonly run: readonly (() => number)[]; readonly speeds: number[][] }[] = [];
for (const [name, { kernel }] of RANGE_FUNCTIONS) {
  const add = (title: string, pick: (shape: Shape) => readonly Float64Array[]): void =>
    void cases.push({ name: title, run: shapes.map((shape) => () => round(kernel, shape, pick(shape))), speeds: shapes.map(() => []) });
  add(name, COUNTERS.has(name) ? (shape) => shape.counters : (shape) => shape.gauges);
  if (COUNTERS.has(name)) add(`${name}, a fall each 20 samples`, (shape) => shape.restarting);
}
for (let at = 0; at < ROUNDS; at++) {
  for (const { run, speeds } of cases) for (const [shape, once] of run.entries()) speeds[shape]?.push(once());
}
const fast = (all: number[]): string => (all.toSorted((a, b) => b - a)[Math.floor(all.length / 10)] ?? 0).toFixed(0).padStart(15);
console.log(`M samples/s${" ".repeat(29)}${shapes.map(({ name }) => name.padStart(15)).join("")}`);
for (const { name, speeds } of cases) console.log(name.padEnd(40) + speeds.map(fast).join(""));
