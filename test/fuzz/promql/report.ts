/** What a run of queries found out. */
import { mutated } from "./mutate.ts";
import { SEEDS } from "./seeds.ts";
import { seededRandom } from "../../../bench/macro/random.ts";

/** Failures that are kept. */
const FAILURES_MAX = 20;
/** Characters of a query that a failure shows. */
const SHOWN_CHARACTERS_MAX = 2000;

/** How a run goes. */
export interface PromqlFuzzOptions {
  readonly queries: number;
  readonly seed: number;
  /** Longest that one question may take, in milliseconds; Infinity: as long as it likes. */
  readonly hangMillis: number;
  readonly say: (text: string) => void;
}

/** Counts and failures. */
export class PromqlFuzzReport {
  readonly failures: string[] = [];
  private readonly counts: Map<string, number> = new Map();
  private longest = { millis: 0, what: "" };
  private readonly options: PromqlFuzzOptions;

  constructor(options: PromqlFuzzOptions) {
    this.options = options;
  }

  /** Counts an answer: how a door ended, and how long it took. */
  answered(door: string, outcome: string, millis: number, query: string): void {
    const key = `${door} ${outcome}`;
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    if (millis > this.longest.millis) this.longest = { millis, what: `${door} ${shown(query)}` };
    if (millis > this.options.hangMillis) this.fail(`${door} took ${Math.round(millis)} ms`, query);
  }

  fail(what: string, query: string): void {
    if (this.failures.length < FAILURES_MAX) this.failures.push(`${what}: ${shown(query)}`);
  }

  /** Answers by door and outcome, then the longest. */
  *lines(): Generator<string> {
    for (const [key, count] of [...this.counts].sort(([a], [b]) => (a < b ? -1 : 1))) yield `  ${key}: ${count}`;
    yield `  longest: ${Math.round(this.longest.millis)} ms, ${this.longest.what}`;
  }

  /** How often a door ended so. */
  count(key: string): number {
    return this.counts.get(key) ?? 0;
  }
}

/** A query as JSON text, so that it can be pasted into a test. */
function shown(query: string): string {
  const text = JSON.stringify(query);
  return text.length > SHOWN_CHARACTERS_MAX ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}…` : text;
}

/** The queries of a seed: the first ones as they are, then mutations. */
export function* fuzzedQueries({ queries, seed }: PromqlFuzzOptions): Generator<Uint8Array> {
  const random = seededRandom(seed);
  const encoder = new TextEncoder();
  for (let number = 0; number < queries; number++) {
    const text = SEEDS[random.below(SEEDS.length)] ?? "";
    yield number < SEEDS.length ? encoder.encode(SEEDS[number]) : mutated(text, SEEDS, random);
  }
}
