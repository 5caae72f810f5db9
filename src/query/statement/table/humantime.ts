/**
 * Durations of options such as `ttl`: read `7d`, `1h 30m`, `90 seconds`; printed in long units, `7days`, `1h 30m`, `1day`.
 * A month is 30.44 days and a year 365.25 days.
 */

const SECOND = 1_000_000_000n;
const UNITS: readonly (readonly [names: string, nanos: bigint, print: readonly [one: string, many: string]])[] = [
  ["years year yrs yr y", 31_557_600n * SECOND, ["year", "years"]],
  ["months month M", 2_630_016n * SECOND, ["month", "months"]],
  ["weeks week wk wks w", 604_800n * SECOND, ["", ""]],
  ["days day d", 86_400n * SECOND, ["day", "days"]],
  ["hours hour hrs hr h", 3600n * SECOND, ["h", "h"]],
  ["minutes minute mins min m", 60n * SECOND, ["m", "m"]],
  ["seconds second secs sec s", SECOND, ["s", "s"]],
  ["milliseconds millisecond millis msec ms", 1_000_000n, ["ms", "ms"]],
  ["microseconds microsecond micros usec us µs", 1000n, ["us", "us"]],
  ["nanoseconds nanosecond nanos nsec ns", 1n, ["ns", "ns"]],
];
const BY_NAME: ReadonlyMap<string, bigint> = new Map(
  UNITS.flatMap(([names, nanos]) => names.split(" ").map((name) => [name, nanos] as const)),
);

/** Nanoseconds of a duration, or undefined when the text is none. */
export function parseHumantime(text: string): bigint | undefined {
  const part = /\s*(\d{1,18})\s*([A-Za-zµ]+)\s*/y;
  let total = 0n;
  let at = 0;
  while (at < text.length) {
    part.lastIndex = at;
    const match = part.exec(text);
    const unit = BY_NAME.get(match?.[2] ?? "");
    if (match === null || unit === undefined) return undefined;
    total += BigInt(match[1] ?? 0) * unit;
    at = part.lastIndex;
  }
  return at === 0 ? undefined : total;
}

/** A duration in long units; `0s` for none. */
export function formatHumantime(nanos: bigint): string {
  const parts: string[] = [];
  let rest = nanos;
  for (const [, size, [one, many]] of UNITS) {
    if (one === "") continue; // weeks are read but not printed
    const amount = rest / size;
    rest -= amount * size;
    if (amount > 0n) parts.push(`${amount}${amount === 1n ? one : many}`);
  }
  return parts.length === 0 ? "0s" : parts.join(" ");
}
