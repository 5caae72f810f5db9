/**
 * Named places at which a test lets the process die, fail or stand still. In production each is one comparison of a module's variable
 * with null, at steps of flushes, commits and files, never in a loop over rows.
 *
 * A process obeys `VARVE_FAIL_POINTS=name=action[:hit],…`; a test inside the process watches with `watchFailPoints`.
 *
 * | action | at the hit-th time (default the first)                                         |
 * |--------|--------------------------------------------------------------------------------|
 * | kill   | SIGKILL to the whole process, from whatever thread                             |
 * | error  | `DbError StorageUnavailable`, once                                             |
 * | pause  | the thread stands still for `PAUSE_MILLIS`, so that others get ahead of it     |
 */
import { DbError, invalidArguments } from "../error.ts";
import { FAIL_POINTS, type FailPointName } from "./fail-point-names.ts";
import { nearestName } from "../text/nearest.ts";
import { StatusCode } from "../status-code.ts";

/** Variable of the environment that arms fail points in a process and its worker threads. */
export const FAIL_POINTS_VARIABLE = "VARVE_FAIL_POINTS";

/** How long `pause` takes: longer than any step of a small flush, merge or drop. */
const PAUSE_MILLIS = 700;

/** What happens at a fail point. */
export type FailAction = "kill" | "error" | "pause";

/** One entry of the variable. `hit` counts from 1. */
export interface ArmedFailPoint {
  readonly name: FailPointName;
  readonly action: FailAction;
  readonly hit: number;
}

const ACTIONS: readonly FailAction[] = ["kill", "error", "pause"];

let watcher: ((name: FailPointName) => void) | null = null;

/** Marks a place. @throws DbError StorageUnavailable when it is armed to fail */
export function failPoint(name: FailPointName): void {
  if (watcher !== null) watcher(name);
}

/** From now on `watch` is called at every fail point of this thread, until it is null. What it throws is thrown there. */
export function watchFailPoints(watch: ((name: FailPointName) => void) | null): void {
  watcher = watch;
}

/**
 * Arms this thread as the text of the variable says; returns what it armed, none for undefined.
 *
 * @throws DbError InvalidArguments for text that is no list of fail points
 */
export function armFailPoints(text: string | undefined): readonly ArmedFailPoint[] {
  const armed = text === undefined || text === "" ? [] : text.split(",").map(parseEntry);
  if (armed.length === 0) return armed;
  const left = new Map<string, number>();
  watchFailPoints((name) => {
    const hit = (left.get(name) ?? 0) + 1;
    left.set(name, hit);
    for (const entry of armed) if (entry.name === name && entry.hit === hit) act(entry);
  });
  return armed;
}

/** @throws DbError InvalidArguments */
function parseEntry(text: string): ArmedFailPoint {
  const [, name = "", word = "", count = "1"] = /^([^=]*)=([a-z]+)(?::(\d+))?$/.exec(text.trim()) ?? [];
  const action = ACTIONS.find((one) => one === word);
  if (!isFailPoint(name)) {
    const near = nearestName(name, Object.keys(FAIL_POINTS));
    const hint = near === undefined ? "" : `; is ${near} meant?`;
    throw invalidArguments(`cannot arm fail point ${JSON.stringify(name === "" ? text : name)}: there is none of that name${hint}`);
  }
  if (action === undefined)
    throw invalidArguments(`cannot arm fail point ${name}: its action is one of ${ACTIONS.join(", ")}; got ${word}`);
  const hit = Number(count);
  if (hit < 1) throw invalidArguments(`cannot arm fail point ${name}: hits count from 1; got ${count}`);
  return { name, action, hit };
}

function isFailPoint(name: string): name is FailPointName {
  return Object.hasOwn(FAIL_POINTS, name);
}

function act({ name, action }: ArmedFailPoint): void {
  switch (action) {
    case "kill":
      process.kill(process.pid, "SIGKILL");
      return;
    case "error":
      throw new DbError(StatusCode.StorageUnavailable, `fail point ${name}`);
    case "pause":
      Bun.sleepSync(PAUSE_MILLIS);
      return;
  }
}
