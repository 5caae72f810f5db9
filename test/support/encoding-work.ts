/** What encoding a file goes by in tests: memory without a limit, and a pace that says how often others had a turn. */
import { Scheduler } from "../../src/base/scheduler/scheduler.ts";
import { fixedClock } from "../../src/base/clock.ts";
import { MemoryBudget } from "../../src/base/memory/memory-budget.ts";
import { Pace } from "../../src/base/scheduler/pace.ts";
import type { EncodingWork } from "../../src/query/copy/encode-parquet.ts";

/** Work whose time never comes to an end, so that nobody else has a turn. */
export function unpaced(): EncodingWork {
  return { budget: new MemoryBudget(), signal: new AbortController().signal, pace: new Pace(new Scheduler(fixedClock(0n))) };
}

/** Work by a clock on which each look takes a second, so that each step gives others a turn; `turns` counts them. */
export function slowWork(): EncodingWork & { readonly turns: () => number } {
  let now = 0;
  let turns = 0;
  const clock = { ...fixedClock(0n), monotonicMillis: () => (now += 1000) };
  return { ...unpaced(), pace: new Pace(new Scheduler(clock), () => turns++), turns: () => turns };
}
