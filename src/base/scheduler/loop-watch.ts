/**
 * How late a thread's event loop runs what is due: a timer is set again and again, and what it comes late by is observed.
 *
 * The runtime's own measure (`nodejs_eventloop_lag_*`) forgets with each scrape, and has no buckets for a quantile over servers. This
 * one is a histogram, with threads apart. Work of `d` ms is met with a chance of `d / LOOK_MILLIS`. One look costs 0.3 µs.
 */
import type { Histogram } from "prom-client";
import type { Clock } from "../clock.ts";
import type { MetricRegistry } from "../metrics.ts";

/** Between two looks. Reason: twenty a second, as many as the heap's. */
const LOOK_MILLIS = 50;
/** Bucket bounds in seconds; nothing should hold a thread for more than 0.05. */
const BUCKETS: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

/** Begins to watch the event loop of this thread. @param thread its name, the label. @returns what ends it */
export function watchLoop(metrics: MetricRegistry, clock: Pick<Clock, "monotonicMillis">, thread: string): () => void {
  const seconds: Histogram<"thread"> = metrics.histogram(
    "varve_event_loop_delay_seconds",
    "Seconds by which the event loop of a thread is late",
    BUCKETS,
    "thread",
  );
  let due = clock.monotonicMillis() + LOOK_MILLIS;
  const timer = setInterval(() => {
    const now = clock.monotonicMillis();
    seconds.observe({ thread }, Math.max(0, now - due) / 1000);
    due = now + LOOK_MILLIS;
  }, LOOK_MILLIS);
  timer.unref();
  return () => clearInterval(timer);
}
