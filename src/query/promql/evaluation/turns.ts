/** Work in pieces with the turns of a query: what is shorter than a piece is done at once. */
import { MORE, PIECE, ranges, type Work } from "./kernels/pieces.ts";
import { isTurnDue, type QueryScope, takeTurn } from "./scope.ts";

/** Does the work. Undefined: it is done already. @throws DbError when nobody waits for the query any more */
export function inPieces(work: Work, query: QueryScope): Promise<void> | undefined {
  return work(PIECE) === MORE ? others(work, query) : undefined;
}

async function others(work: Work, query: QueryScope): Promise<void> {
  do {
    if (isTurnDue(query)) await takeTurn(query);
  } while (work(PIECE) === MORE);
}

/** Calls `loop` for all of `count` steps, in ranges `[from, to)`. Undefined: it is done already. @param cost of a step, in samples */
export function overSteps(
  query: QueryScope,
  count: number,
  loop: (from: number, to: number) => void,
  cost: number = 1,
): Promise<void> | undefined {
  return inPieces(ranges(count, loop, cost), query);
}
