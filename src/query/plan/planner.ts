/** What planning reads, and the switches of tests. */
import type { Clock } from "../../base/clock.ts";
import type { Catalog } from "../../table/catalog.ts";
import type { Environment } from "../function/environment.ts";

/** Everything a planner reads. */
export interface Planner {
  readonly catalog: Catalog;
  readonly environment: Environment;
  /** False: nothing is pushed into scans and no rule runs, so that the plan means what the text says. For the oracle of tests. */
  readonly optimise: boolean;
}

/** The environment of a statement that starts now. */
export function environmentOf(clock: Clock, variables: { readonly database: string; readonly timeZone: string }): Environment {
  return { now: clock.nowNanos(), timeZone: variables.timeZone, database: variables.database };
}
