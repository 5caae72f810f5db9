/** `load_with_nhcb`: classic histograms as native ones, with their bounds as custom buckets. */
import type { NativeHistogram } from "../../src/query/promql/evaluation/series-source.ts";
import { CUSTOM_SCHEMA } from "../../src/query/promql/evaluation/histogram/terms.ts";
import type { Point, ScriptSeries } from "./promql-script.ts";

interface Classic {
  readonly labels: ReadonlyMap<string, string>;
  /** By bound. */
  readonly buckets: Map<number, readonly Point[]>;
  sums: readonly Point[];
  counts: readonly Point[];
}

/** The series that a load adds beside its own. */
export function customSeries(series: readonly ScriptSeries[]): readonly ScriptSeries[] {
  const classics = new Map<string, Classic>();
  for (const one of series) {
    const name = one.labels.get("__name__") ?? "";
    const part = /_(bucket|sum|count)$/.exec(name)?.[1];
    if (part === undefined) continue;
    const labels = new Map([...one.labels, ["__name__", name.replace(/_(?:bucket|sum|count)$/, "")]] as const);
    labels.delete("le");
    const key = JSON.stringify([...labels].toSorted(([a], [b]) => (a < b ? -1 : 1)));
    const classic = classics.get(key) ?? { labels, buckets: new Map(), sums: [], counts: [] };
    classics.set(key, classic);
    if (part === "sum") classic.sums = one.points;
    else if (part === "count") classic.counts = one.points;
    else classic.buckets.set(boundOf(one.labels.get("le") ?? ""), one.points);
  }
  return [...classics.values()]
    .filter(({ buckets }) => buckets.size > 0)
    .map(({ labels, ...rest }) => ({ labels, points: pointsOf(rest) }));
}

function boundOf(le: string): number {
  return /inf/i.test(le) ? Number.POSITIVE_INFINITY : Number(le);
}

function pointsOf({ buckets, sums, counts }: Omit<Classic, "labels">): readonly Point[] {
  const length = Math.max(sums.length, counts.length, ...Array.from(buckets.values(), (points) => points.length));
  return Array.from({ length }, (_, at): Point => {
    const there = [...buckets].flatMap(([bound, points]) => (typeof points[at] === "number" ? [[bound, points[at]] as const] : []));
    if (there.length === 0) return undefined;
    return { histogram: histogramOf(there, numberAt(sums, at) ?? 0, numberAt(counts, at)), tellsHint: false };
  });
}

function numberAt(points: readonly Point[], at: number): number | undefined {
  const point = points[at];
  return typeof point === "number" ? point : undefined;
}

function histogramOf(
  buckets: readonly (readonly [bound: number, count: number])[],
  sum: number,
  count: number | undefined,
): NativeHistogram {
  const ordered = buckets.toSorted(([a], [b]) => a - b);
  const finite = ordered.filter(([bound]) => Number.isFinite(bound));
  const all = ordered.at(-1)?.[0] === Number.POSITIVE_INFINITY ? (ordered.at(-1)?.[1] ?? 0) : (count ?? finite.at(-1)?.[1] ?? 0);
  const cumulative = [...finite.map(([, below]) => below), all];
  return {
    schema: CUSTOM_SCHEMA,
    zeroThreshold: 0,
    zeroCount: 0,
    count: count ?? all,
    sum,
    positiveSpans: [{ index: 0, counts: Float64Array.from(cumulative, (below, at) => below - (cumulative[at - 1] ?? 0)) }],
    negativeSpans: [],
    customValues: Float64Array.from(finite, ([bound]) => bound),
    resetHint: "unknown",
  };
}
