/** Intervals as text (contract query.md 2.3). */
import type { IntervalParts } from "../../column/interval-bytes.ts";

/** `14 mons 3 days 4 hours 5 mins 6.000100000 secs`; parts that are zero are left out, negative ones carry their own sign. */
export function intervalText(value: IntervalParts): string {
  const parts: string[] = [];
  if (value.months !== 0) parts.push(`${value.months} mons`);
  if (value.days !== 0) parts.push(`${value.days} days`);
  const sign = value.nanos < 0n ? "-" : "";
  const nanos = value.nanos < 0n ? -value.nanos : value.nanos;
  const seconds = nanos / 1_000_000_000n;
  const add = (amount: bigint, name: string): void => {
    if (amount !== 0n) parts.push(`${sign}${amount} ${name}`);
  };
  add(seconds / 3600n, "hours");
  add((seconds / 60n) % 60n, "mins");
  const rest = nanos % 60_000_000_000n;
  if (rest !== 0n || parts.length === 0) {
    parts.push(`${sign}${rest / 1_000_000_000n}.${String(rest % 1_000_000_000n).padStart(9, "0")} secs`);
  }
  return parts.join(" ");
}
