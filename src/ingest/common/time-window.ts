/**
 * Fixed ranges of 4,503,598 s (52 days) counted from 1970, in which distances in nanoseconds are exact in a double. A time always belongs
 * to the same one, so that later rows of one series and time stay behind earlier ones.
 */
import { assert } from "../../base/assert.ts";
import { CHUNK_TIME_SPAN_MAX } from "../../base/limits.ts";

/** Seconds of a window: its nanoseconds, and two fractions of a second, are exact. */
export const WINDOW_SECONDS: number = Math.floor(CHUNK_TIME_SPAN_MAX / 1e9) - 1;

assert((WINDOW_SECONDS + 1) * 1e9 <= CHUNK_TIME_SPAN_MAX, "a window's nanoseconds, plus the two fractions of a second, are exact");

/** Number of the window that holds a time. */
export function windowOf(seconds: number): number {
  return Math.floor(seconds / WINDOW_SECONDS);
}
