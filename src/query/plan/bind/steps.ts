/**
 * Planning in steps: generators that yield where others may have a turn, some hundred nodes apart (`base/scheduler/pace.ts`: `inTurns`,
 * `atOnce`).
 * What binds one expression, or passes once over a plan, is one step; `bind-in-steps.ts` cuts long expressions.
 */

/** Work that gives a `T`, and yields between its steps. */
export type Steps<T> = Generator<void, T>;

/** The values of a list, each changed by work in steps. */
export function* eachInSteps<T, R>(values: readonly T[], change: (value: T, index: number) => Steps<R>): Steps<R[]> {
  const changed: R[] = [];
  for (const [i, value] of values.entries()) {
    changed.push(yield* change(value, i));
    yield;
  }
  return changed;
}
