/** What remote write 2.0 says of metrics, as options of the tables that are made for them (contract ingest.md 2.4, 0.7). */

/** Names of types by their numbers; 0 says nothing. */
const TYPES: readonly (string | undefined)[] = [
  undefined,
  "counter",
  "gauge",
  "histogram",
  "gauge_histogram",
  "summary",
  "info",
  "stateset",
];

/** OpenMetrics units as UCUM writes them; others are left out. */
const UNITS: Readonly<Record<string, string>> = {
  seconds: "s",
  celsius: "Cel",
  meters: "m",
  bytes: "By",
  ratios: "1",
  volts: "V",
  amperes: "A",
  joules: "J",
  grams: "g",
};

const TYPE = "greptime.semantic.metric.type";
const UNIT = "greptime.semantic.metric.unit";
const QUALITY = "greptime.semantic.metric.metadata_quality";
/** What two series of one metric say that contradict each other. */
const MIXED = "mixed";

/** Options that a type and a unit make; undefined when they say nothing. */
export function declaredOptions(type: number, unit: string): Readonly<Record<string, string>> | undefined {
  const typeName = TYPES[type];
  const unitName = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
  if (typeName === undefined && unitName === undefined) return undefined;
  return {
    [QUALITY]: "declared",
    ...(typeName === undefined ? {} : { [TYPE]: typeName }),
    ...(unitName === undefined ? {} : { [UNIT]: unitName }),
  };
}

/** What two series of one metric say together. */
export function combined(
  a: Readonly<Record<string, string>> | undefined,
  b: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const both: Record<string, string> = { ...a, ...b };
  for (const name of [TYPE, UNIT]) {
    if (a?.[name] !== undefined && b[name] !== undefined && a[name] !== b[name]) both[name] = MIXED;
  }
  return both;
}
