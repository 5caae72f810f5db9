/** Answers of the query API: told apart by what they say, not by the order or the text in which they say it. */

/** An answer to compare: values of series by their labels, or a list. */
export interface PromqlAnswer {
  /** Labels as text → `time value` pairs; of a list each entry without any. */
  readonly series: ReadonlyMap<string, readonly number[]>;
}

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: readonly [number, string];
  readonly values?: readonly (readonly [number, string])[];
}

interface Body {
  readonly status: string;
  readonly data: readonly string[] | { readonly result: readonly Series[] };
}

/** Numbers that differ by less than this share are equal. Reason: sums in another order. */
const TOLERANCE = 1e-9;

/** @throws Error for an answer that is none */
export function promqlAnswer(text: string): PromqlAnswer {
  const { status, data } = JSON.parse(text) as Body;
  if (status !== "success") throw new Error(`no answer: ${text.slice(0, 300)}`);
  const series = new Map<string, readonly number[]>();
  if (!("result" in data)) {
    for (const entry of data) series.set(entry, []);
    return { series };
  }
  for (const { metric, value, values } of data.result) {
    const key = JSON.stringify(Object.entries(metric).sort(([a], [b]) => (a < b ? -1 : 1)));
    const points = values ?? (value === undefined ? [] : [value]);
    series.set(
      key,
      points.flatMap(([time, text]) => [time, Number(text)]),
    );
  }
  return { series };
}

/** What of two answers must agree: all of it, the number of series, or nothing. */
export type Agreement = "values" | "count" | "none";

/** The first difference; undefined: there is none. */
export function differenceOf(a: PromqlAnswer, b: PromqlAnswer, agreement: Agreement): string | undefined {
  if (agreement === "none") return undefined;
  if (a.series.size !== b.series.size) return `${a.series.size} series against ${b.series.size}`;
  if (agreement === "count") return undefined;
  for (const [key, values] of a.series) {
    const others = b.series.get(key);
    if (others === undefined) return `${key} is in one answer alone`;
    if (values.length !== others.length) return `${key}: ${values.length / 2} points against ${others.length / 2}`;
    const at = values.findIndex((value, i) => !isNear(value, others[i] ?? Number.NaN));
    if (at >= 0) return `${key}: ${values[at]} against ${others[at]} at ${values[at - (at % 2)]}`;
  }
  return undefined;
}

function isNear(a: number, b: number): boolean {
  if (Object.is(a, b) || a === b) return true;
  return Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}
