/** Many items sorted in pieces of some milliseconds: a million at once take a second. Equal ones keep their order. */
import type { Pace } from "./pace.ts";

/** Items that are sorted or merged at once. */
const PIECE = 4096;

type Compare<T> = (a: T, b: T) => number;

/** Texts by code unit; `texts` is used up. */
export function textsInOrder(texts: string[], pace: Pick<Pace, "turn">): Promise<readonly string[]> {
  return sortedInTurns(texts, (a, b) => (a < b ? -1 : a > b ? 1 : 0), pace);
}

/** The items in order; `items` is used up. */
export async function sortedInTurns<T>(items: T[], compare: Compare<T>, pace: Pick<Pace, "turn">): Promise<readonly T[]> {
  let from = items;
  for (let start = 0; start < from.length; start += PIECE) {
    const piece = from.slice(start, start + PIECE).sort(compare);
    for (let i = 0; i < piece.length; i++) from[start + i] = piece[i] as T;
    await pace.turn();
  }
  let to: T[] = [];
  for (let width = PIECE; width < from.length; width *= 2) {
    for (let start = 0; start < from.length; start += 2 * width) await merge(from, to, start, width, compare, pace);
    [from, to] = [to, from];
  }
  return from;
}

/** Merges `[start, start + width)` and the `width` behind it. */
async function merge<T>(
  from: readonly T[],
  to: T[],
  start: number,
  width: number,
  compare: Compare<T>,
  pace: Pick<Pace, "turn">,
): Promise<void> {
  const middle = Math.min(from.length, start + width);
  const end = Math.min(from.length, start + 2 * width);
  let left = start;
  let right = middle;
  for (let at = start; at < end; at++) {
    if (at % PIECE === 0) await pace.turn();
    const takesLeft = left < middle && (right >= end || compare(from[left] as T, from[right] as T) <= 0);
    to[at] = from[takesLeft ? left++ : right++] as T;
  }
}
