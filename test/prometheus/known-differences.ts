/** Where Prometheus 2.42, which Debian has, is not what Varve follows: current Prometheus. */
import type { ApiAnswer } from "./compare.ts";

const KNOWN: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^(?:top|bottom)k\(2, demo_odd_values\)$/, "2.42 lets one NaN take the place of another"],
  [/^stddev_over_time\(demo_odd_values/, "2.42 loses a sum that is infinite: NaN"],
  [/^demo_num_cpus atan2 demo_num_cpus$/, "2.42 keeps the name of the left side of atan2"],
  [/^label_(?:replace|join)\(.*~invalid/, "since 3.0 any UTF-8 text names a label"],
];

/** Why the answers to a query may differ; undefined: they may not. @param got the answer of Varve @param found how they differ */
export function knownDifference(query: string, got: ApiAnswer, found: string | undefined): string | undefined {
  const isMatchedTwice = String(got.body?.error ?? "").includes("many-to-one matching must be explicit");
  if (isMatchedTwice && /[<>]|[=!]= /.test(query)) return "2.42 drops what a comparison drops before it looks for a second match";
  // And a comparison may drop one of the two.
  const isOfNaN = /: NaN at \S+, not 0$/.test(found ?? "") || /\b(?:NaN|Inf)\b/.test(query);
  if (/\bstd(?:var|dev) /.test(query) && isOfNaN) return "2.42 has a deviation of 0 where the only value is NaN or infinite";
  return KNOWN.find(([pattern]) => pattern.test(query))?.[1];
}
