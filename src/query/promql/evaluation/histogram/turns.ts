/** Loops over histograms with the turns of a query. */
import { isTurnDue, type QueryScope, takeTurn } from "../scope.ts";
import { overSteps } from "../turns.ts";

/** What a histogram costs, in samples: 3 to 50 µs for 200 buckets. */
const COST = 1024;

/** Calls `visit` for all of `count` places. Undefined: it is done already. @throws DbError when nobody waits for the query any more */
export function eachHistogram(query: QueryScope, count: number, visit: (at: number) => void): Promise<void> | undefined {
  const loop = (from: number, to: number): void => {
    for (let at = from; at < to; at++) visit(at);
  };
  return overSteps(query, count, loop, COST);
}

/** What work gives between its turns, which are undefined. @throws DbError when nobody waits for the query any more */
export async function* betweenTurns<T>(work: Iterable<T | undefined>, query: QueryScope): AsyncGenerator<T> {
  for (const one of work) {
    if (one !== undefined) yield one;
    if (isTurnDue(query)) await takeTurn(query);
  }
}
