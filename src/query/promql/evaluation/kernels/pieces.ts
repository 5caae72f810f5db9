/**
 * Loops in pieces, so that a series of millions of samples does not hold the thread. What is shorter than a piece is done at once.
 *
 * Not generators: what the compiler of hot code inlines into one is slow from then on (the falls of 980 samples: 2.5 µs by a function, up
 * to 13 µs below a generator; Bun 1.4.5).
 */

/** Most samples or steps, or as much work, between two looks at the pace. Reason: at 10 ns each, less than a millisecond. */
export const PIECE = 65_536;

/** Does more of some work, about `budget` samples or steps. What is left of the budget when all is done, at least 0; `MORE`: it is not. */
export type Work = (budget: number) => number;

/** There is more to do. */
export const MORE = -1;

/** Calls `loop` for `[from, to)` up to `count`. @param cost of one, in samples */
export function ranges(count: number, loop: (from: number, to: number) => void, cost: number = 1): Work {
  let from = 0;
  return (budget) => {
    const to = Math.min(count, from + Math.ceil(budget / cost));
    loop(from, to);
    const used = (to - from) * cost;
    from = to;
    return to < count ? MORE : Math.max(0, budget - used);
  };
}

/** One after the other; each is made when those before it are done. Undefined: there is nothing to do. */
export function sequence(...parts: readonly (() => Work | undefined)[]): Work {
  let at = 0;
  let current = parts[0]?.();
  return (budget) => {
    let left = budget;
    while (at < parts.length) {
      if (current !== undefined) left = current(Math.max(1, left));
      if (left === MORE) return MORE;
      current = parts[++at]?.();
    }
    return left;
  };
}

/** All of the work. */
export function wholly(work: Work): void {
  while (work(PIECE) === MORE);
}
