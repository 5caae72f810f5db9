/**
 * Series that PromQL is measured on, beside those of `scrapes.ts`.
 *
 * | metric | series | labels beside `instance` and `job` |
 * |---|---|---|
 * | `shop_requests_total` | 10 an instance | `handler` |
 * | `shop_request_duration_seconds_bucket` | 12 an instance | `le` |
 * | `shop_info`, always 1 | 1 an instance | `version` |
 * | `user_events_total` | 10 a user | `shard`, `user`, and `zone`, one of 100; no instance |
 */
import { seededRandom } from "./random.ts";
import type { Label, SeriesRounds } from "./scrapes.ts";

/** When rounds are. */
export interface RoundPlan {
  /** Milliseconds since 1970 of the first round. */
  readonly startMs: number;
  readonly intervalSeconds: number;
  readonly seed: number;
}

const HANDLERS = 10;
const BOUNDS = ["0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "+Inf"];
const SERIES_PER_INSTANCE = HANDLERS + BOUNDS.length + 1;
const VERSIONS = 4;
/** Of an instance, a handler and a round. So many that hardly two rates are equal: of those, servers choose others for `topk`. */
const REQUESTS_MAX = 1_000_000;
/** What counters begin with. Reason: near 0, versions of Prometheus extrapolate differently. */
const FIRST_VALUE = 1_000_000_000;

/** See the file header: the first three metrics. */
export class ShopSeries implements SeriesRounds {
  readonly values: Float64Array;
  private readonly plan: RoundPlan;
  private readonly random: ReturnType<typeof seededRandom>;
  private round = 0;

  constructor(instances: number, plan: RoundPlan) {
    this.values = new Float64Array(instances * SERIES_PER_INSTANCE).fill(FIRST_VALUE);
    this.plan = plan;
    this.random = seededRandom(plan.seed);
    this.add();
  }

  timeOf(series: number): number {
    return timeOfRound(this.plan, this.round) + (Math.floor(series / SERIES_PER_INSTANCE) % 100);
  }

  labelsOf(series: number): readonly Label[] {
    const place = series % SERIES_PER_INSTANCE;
    const number = Math.floor(series / SERIES_PER_INSTANCE);
    const instance: Label = ["instance", `10.1.${number >> 8}.${number & 255}:8080`];
    const job: Label = ["job", "shop"];
    if (place < HANDLERS) return [["__name__", "shop_requests_total"], ["handler", `/api/v1/handler-${place}`], instance, job];
    const bound = BOUNDS[place - HANDLERS];
    if (bound !== undefined) return [["__name__", "shop_request_duration_seconds_bucket"], instance, job, ["le", bound]];
    return [["__name__", "shop_info"], instance, job, ["version", `1.${number % VERSIONS}.0`]];
  }

  isCounter(series: number): boolean {
    return series % SERIES_PER_INSTANCE < SERIES_PER_INSTANCE - 1;
  }

  next(): void {
    this.round++;
    this.add();
  }

  private add(): void {
    const { values, random } = this;
    for (let at = 0; at < values.length; at += SERIES_PER_INSTANCE) {
      for (let handler = 0; handler < HANDLERS; handler++) values[at + handler] = (values[at + handler] ?? 0) + random.below(REQUESTS_MAX);
      let below = 0;
      for (let bound = 0; bound < BOUNDS.length; bound++) {
        below += random.below(REQUESTS_MAX);
        values[at + HANDLERS + bound] = (values[at + HANDLERS + bound] ?? 0) + below;
      }
      values[at + SERIES_PER_INSTANCE - 1] = 1;
    }
  }
}

/** Series that each user has. */
export const SHARDS = 10;
const ZONES = 100;
const EVENTS_MAX = 50;

/** See the file header: the last metric. */
export class UserSeries implements SeriesRounds {
  readonly values: Float64Array;
  private readonly plan: RoundPlan;
  private readonly random: ReturnType<typeof seededRandom>;
  private round = 0;

  constructor(users: number, plan: RoundPlan) {
    this.values = new Float64Array(users * SHARDS).fill(FIRST_VALUE);
    this.plan = plan;
    this.random = seededRandom(plan.seed);
  }

  timeOf(series: number): number {
    return timeOfRound(this.plan, this.round) + (series % 1000);
  }

  labelsOf(series: number): readonly Label[] {
    const user = Math.floor(series / SHARDS);
    return [
      ["__name__", "user_events_total"],
      ["job", "events"],
      ["shard", String(series % SHARDS)],
      ["user", `user-${String(user).padStart(6, "0")}`],
      ["zone", `zone-${user % ZONES}`],
    ];
  }

  isCounter(): boolean {
    return true;
  }

  next(): void {
    this.round++;
    for (let at = 0; at < this.values.length; at++) this.values[at] = (this.values[at] ?? 0) + this.random.below(EVENTS_MAX);
  }
}

function timeOfRound({ startMs, intervalSeconds }: RoundPlan, round: number): number {
  return startMs + round * intervalSeconds * 1000;
}
