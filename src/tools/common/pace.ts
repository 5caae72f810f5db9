/** Turns of long work in a process that does nothing else. */
import { systemClock } from "../../base/clock.ts";
import { Pace } from "../../base/scheduler/pace.ts";
import { Scheduler } from "../../base/scheduler/scheduler.ts";

/** A pace of its own: it yields now and then, so that signals and answers are heard. */
export function ownPace(): Pace {
  return new Pace(new Scheduler(systemClock));
}
