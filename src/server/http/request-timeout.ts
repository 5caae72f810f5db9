/**
 * How long a request may take (contract http.md 6.1): the server's timeout, or what `x-greptime-timeout` says instead.
 */
import { parseHumanDuration } from "../../base/text/human-duration.ts";

const NANOS_PER_MS = 1_000_000n;
/** Longest delay that a timer takes; beyond it a timer would fire at once. */
const TIMER_MS_MAX: number = 2 ** 31 - 1;

/** Milliseconds, or 0 for no timeout. The header counts only when the server has a timeout. */
export function timeoutMsOf(headers: Headers, serverMs: number): number {
  if (serverMs === 0) return 0;
  const header = headers.get("x-greptime-timeout");
  if (header === null) return Math.min(serverMs, TIMER_MS_MAX);
  const duration = parseHumanDuration(header.trim());
  if (!duration.ok) return Math.min(serverMs, TIMER_MS_MAX);
  // Rounded up, so that a timeout below a millisecond is not taken for none.
  const ms = (duration.value + NANOS_PER_MS - 1n) / NANOS_PER_MS;
  return Math.min(Number(ms), TIMER_MS_MAX);
}
