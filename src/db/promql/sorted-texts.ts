/** Many texts sorted in pieces of some milliseconds: a million at once take a second. */
import type { Pace } from "../../base/scheduler/pace.ts";

/** Texts that are sorted or merged at once. */
const PIECE = 4096;

/** The texts by code unit; `texts` is used up. */
export async function sortedInTurns(texts: string[], pace: Pick<Pace, "turn">): Promise<readonly string[]> {
  let from = texts;
  for (let start = 0; start < from.length; start += PIECE) {
    const piece = from.slice(start, start + PIECE).sort();
    for (let i = 0; i < piece.length; i++) from[start + i] = piece[i] as string;
    await pace.turn();
  }
  let to: string[] = [];
  for (let width = PIECE; width < from.length; width *= 2) {
    for (let start = 0; start < from.length; start += 2 * width) await merge(from, to, start, width, pace);
    [from, to] = [to, from];
  }
  return from;
}

/** Merges `[start, start + width)` and the `width` behind it. */
async function merge(from: readonly string[], to: string[], start: number, width: number, pace: Pick<Pace, "turn">): Promise<void> {
  const middle = Math.min(from.length, start + width);
  const end = Math.min(from.length, start + 2 * width);
  let left = start;
  let right = middle;
  for (let at = start; at < end; at++) {
    if (at % PIECE === 0) await pace.turn();
    const takesLeft = left < middle && (right >= end || (from[left] as string) <= (from[right] as string));
    to[at] = from[takesLeft ? left++ : right++] as string;
  }
}
