/**
 * Series for the queries of the compliance project, made of numbers and not scraped: three instances of a service, every five seconds.
 *
 *   counters     go up by chance and begin anew; gauges wander; one has NaN, infinities and zeros
 *   histograms   classic buckets, some of them empty
 *   sparse ones  come and go with stale markers, or without; one has a sample every four minutes
 *
 * No sample lies on a whole second: until version 3 Prometheus took the sample at the beginning of a range, and now it does not.
 */
import type { SentSeries } from "../support/prometheus/messages.ts";

const INSTANCES = ["demo.promlabs.com:10000", "demo.promlabs.com:10001", "demo.promlabs.com:10002"] as const;
const BOUNDS = ["0.0001", "0.001", "0.01", "0.05", "0.1", "0.5", "1", "5", "25", "+Inf"] as const;
const STEP_MILLIS = 5000;

type Samples = { readonly time: number; readonly value: number | "stale" }[];

/** A series whose samples may be stale markers. */
export interface DemoSeries {
  readonly labels: SentSeries["labels"];
  readonly samples: Samples;
}

/** Numbers in [0, 1), always the same for a seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** All series over `[startMillis, endMillis)`. */
export function demoSeries(startMillis: number, endMillis: number, seed: number): readonly DemoSeries[] {
  const random = randomFrom(seed);
  const all: DemoSeries[] = [];
  for (const [index, instance] of INSTANCES.entries()) {
    const times: number[] = [];
    // As a scraper does: late by some milliseconds, and each instance at a moment of its own.
    for (let time = startMillis; time < endMillis; time += STEP_MILLIS) times.push(time + 137 + 1000 * index + Math.floor(random() * 40));
    const add = (name: string, more: SentSeries["labels"], valueOf: (step: number) => number | "stale" | undefined): void => {
      const samples: Samples = [];
      for (const [step, time] of times.entries()) {
        const value = valueOf(step);
        if (value !== undefined) samples.push({ time, value });
      }
      all.push({ labels: { __name__: name, instance, job: "demo", ...more }, samples });
    };
    addGauges(add, random, index, startMillis);
    addCounters(add, random);
    addHistograms(add, random, times.length);
    addSparse(add, random);
  }
  return all;
}

type Add = (name: string, labels: SentSeries["labels"], valueOf: (step: number) => number | "stale" | undefined) => void;

function addGauges(add: Add, random: () => number, index: number, startMillis: number): void {
  for (const type of ["buffers", "cached", "free", "used"]) {
    let value = 1e9 * (1 + random());
    add("demo_memory_usage_bytes", { type }, () => (value = Math.max(0, value + Math.round((random() - 0.5) * 1e7))));
  }
  let disk = 1e10;
  add("demo_disk_usage_bytes", {}, () => (disk += random() * 1e5));
  add("demo_disk_total_bytes", {}, () => 2.6e11);
  add("demo_num_cpus", {}, () => 4 + index);
  add("demo_is_holiday", {}, (step) => (step % 300 < 20 ? 1 : 0));
  const odd = [0, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e-300, 1e300, 5e-324, -1.5];
  add("demo_odd_values", {}, (step) => odd[Math.floor(step / (3 + index)) % odd.length]);
  add("demo_batch_last_success_timestamp_seconds", {}, (step) => startMillis / 1000 - 3 + 5 * (step - (step % 13)));
}

function addCounters(add: Add, random: () => number): void {
  for (const mode of ["idle", "system", "user"]) {
    let value = 1000 * random();
    add("demo_cpu_usage_seconds_total", { mode }, () => (value = random() < 0.004 ? random() : value + 5 * random()));
  }
  let items = 100;
  add("demo_items_shipped_total", {}, () => (items += Math.floor(random() * 4)));
}

function addHistograms(add: Add, random: () => number, steps: number): void {
  for (const method of ["GET", "POST"]) {
    for (const path of ["/api/bar", "/api/foo"]) {
      const labels = { method, path, status: "200" };
      const counts = Array.from(BOUNDS, () => Math.floor(random() * 100));
      const rows: (readonly number[])[] = [];
      for (let step = 0; step < steps; step++) {
        for (const i of counts.keys()) counts[i]! += i === 2 || i === 8 ? 0 : Math.floor(random() * (i + 2));
        let sum = 0;
        rows.push(counts.map((count) => (sum += count)));
      }
      for (const [i, le] of BOUNDS.entries()) add("demo_api_request_duration_seconds_bucket", { ...labels, le }, (step) => rows[step]?.[i]);
      add("demo_api_request_duration_seconds_count", labels, (step) => rows[step]?.at(-1));
      add("demo_api_request_duration_seconds_sum", labels, (step) => (rows[step]?.at(-1) ?? 0) * 0.0375);
    }
  }
}

function addSparse(add: Add, random: () => number): void {
  // A minute there, two minutes ended by a marker.
  add("demo_intermittent_metric", {}, (step) => (step % 36 < 12 ? random() : step % 36 === 12 ? "stale" : undefined));
  add("demo_silent_metric", { way: "ends without a word" }, (step) => (step % 200 < 60 ? step : undefined));
  add("demo_rare_metric", {}, (step) => (step % 48 === 0 ? step : undefined));
}
