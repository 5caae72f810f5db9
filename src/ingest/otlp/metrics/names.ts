/**
 * Names of metrics and labels as Prometheus has them (contract ingest.md 4.2).
 */

/** How names are translated. */
export type Strategy =
  | "UnderscoreEscapingWithSuffixes"
  | "UnderscoreEscapingWithoutSuffixes"
  | "NoUTF8EscapingWithSuffixes"
  | "NoTranslation";

/** All strategies; the first one is the default. */
export const STRATEGIES: readonly Strategy[] = [
  "UnderscoreEscapingWithSuffixes",
  "UnderscoreEscapingWithoutSuffixes",
  "NoUTF8EscapingWithSuffixes",
  "NoTranslation",
];

const UNITS: ReadonlyMap<string, string> = new Map(
  `d days h hours min minutes s seconds ms milliseconds us microseconds ns nanoseconds By bytes KiBy kibibytes MiBy mebibytes GiBy gibibytes
  TiBy tibibytes KBy kilobytes MBy megabytes GBy gigabytes TBy terabytes m meters V volts A amperes J joules W watts g grams Cel celsius
  Hz hertz % percent`
    .split(/\s+/)
    .reduce<[string, string][]>((pairs, word, i, words) => (i % 2 === 0 ? [...pairs, [word, words[i + 1] ?? ""]] : pairs), []),
);
const PER_UNITS: ReadonlyMap<string, string> = new Map([
  ["s", "second"],
  ["m", "minute"],
  ["h", "hour"],
  ["d", "day"],
  ["w", "week"],
  ["mo", "month"],
  ["y", "year"],
]);

/** What a metric is, as far as its name shows it. */
export interface MetricNaming {
  readonly name: string;
  readonly unit: string;
  readonly isMonotonicSum: boolean;
  readonly isGauge: boolean;
}

function tokensOf(text: string): string[] {
  return text.split(/[^a-zA-Z0-9]+/).filter((token) => token !== "");
}

/** The table of a metric, but for `_bucket`, `_sum` and `_count`. */
export function metricName(metric: MetricNaming, strategy: Strategy): string {
  switch (strategy) {
    case "NoTranslation":
      return metric.name;
    case "NoUTF8EscapingWithSuffixes":
      return rawWithSuffixes(metric);
    default: {
      const tokens = tokensOf(metric.name);
      const all = strategy === "UnderscoreEscapingWithSuffixes" ? withSuffixes(tokens, metric) : tokens;
      const name = all.join("_");
      return /^\d/.test(name) ? `_${name}` : name;
    }
  }
}

function unitTokens(unit: string): { readonly main: string; readonly per: string } {
  const slash = unit.indexOf("/");
  const main = (slash < 0 ? unit : unit.slice(0, slash)).trim();
  const per = slash < 0 ? "" : unit.slice(slash + 1).trim();
  const clean = (text: string, map: ReadonlyMap<string, string>): string => {
    if (/[{}]/.test(text) || text === "1") return "";
    return map.get(text) ?? tokensOf(text).join("_");
  };
  return { main: clean(main, UNITS), per: clean(per, PER_UNITS) };
}

function withSuffixes(name: readonly string[], metric: MetricNaming): string[] {
  const tokens = [...name];
  const { main, per } = unitTokens(metric.unit);
  if (main !== "" && !tokens.includes(main)) tokens.push(main);
  if (per !== "" && !tokens.includes(per)) tokens.push("per", per);
  if (metric.isMonotonicSum) return [...tokens.filter((token) => token !== "total"), "total"];
  if (metric.isGauge && metric.unit === "1") return [...tokens.filter((token) => token !== "ratio"), "ratio"];
  return tokens;
}

function rawWithSuffixes(metric: MetricNaming): string {
  const { main, per } = unitTokens(metric.unit);
  let { name } = metric;
  const add = (suffix: string): void => {
    if (suffix !== "" && !name.endsWith(suffix)) name = `${name}_${suffix}`;
  };
  add(main);
  if (per !== "") add(`per_${per}`);
  if (metric.isMonotonicSum) add("total");
  else if (metric.isGauge && metric.unit === "1") add("ratio");
  return name;
}

/** The label of an attribute. */
export function labelName(key: string, strategy: Strategy): string {
  if (!strategy.startsWith("Underscore")) return key;
  const name = key.replaceAll(/[^a-zA-Z0-9]/gu, "_");
  if (/^\d/.test(name)) return `key_${name}`;
  return name.startsWith("_") && !name.startsWith("__") ? `key${name}` : name;
}
