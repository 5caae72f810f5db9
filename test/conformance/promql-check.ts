/** Answers beside what a script expects of them. */
import { errorText } from "../../src/base/error.ts";
import type { SeriesSource } from "../../src/query/promql/evaluation/series-source.ts";
import { answerOf, LOOKBACK_MILLIS, type PlainAnswer, type PlainSeries, type Sample } from "../support/promql-query.ts";
import { histogramText } from "../../src/query/promql/evaluation/histogram/text.ts";
import { histogramFinding } from "./promql-histogram.ts";
import type { Evaluation, Point } from "./promql-script.ts";

/** Relative difference of values that agree. */
const TOLERANCE = 1e-6;

/** What is wrong with the answer; undefined: nothing. */
export async function findingOf(wanted: Evaluation, source: SeriesSource): Promise<string | undefined> {
  const { startMillis, endMillis, stepMillis } = wanted;
  const fails = wanted.expectations.filter(({ kind }) => kind === "fail");
  let answer: PlainAnswer;
  try {
    answer = await answerOf(wanted.query, { startMillis, endMillis, stepMillis, lookbackMillis: LOOKBACK_MILLIS }, source);
  } catch (error) {
    const message = errorText(error);
    if (fails.length === 0) return `failed: ${error instanceof TypeError ? error.stack : message}`;
    const other = fails.find(
      ({ text }) => text !== undefined && (typeof text === "string" ? !message.endsWith(text) : !text.test(message)),
    );
    return other === undefined ? undefined : `failed with: ${message}`;
  }
  if (fails.length > 0) return "did not fail";
  return annotationFinding(wanted, answer) ?? valueFinding(wanted, answer) ?? (await rangeFinding(wanted, answer, source));
}

function annotationFinding({ expectations }: Evaluation, { warnings, infos }: PlainAnswer): string | undefined {
  for (const { kind, text } of expectations) {
    if (kind === "fail" || kind === "ordered") continue;
    const have = kind === "warn" || kind === "no_warn" ? warnings : infos;
    if (kind === "no_warn" || kind === "no_info") {
      if (have.length > 0) return `${kind}: ${have.join("; ")}`;
    } else if (!have.some((one) => text === undefined || (typeof text === "string" ? one === text : text.test(one))))
      return `${kind} ${String(text)} expected, got: ${have.join("; ")}`;
  }
  return undefined;
}

function keyOf(labels: Iterable<readonly [string, string]>): string {
  return JSON.stringify([...labels].filter(([, value]) => value !== "").toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function valueFinding(wanted: Evaluation, answer: PlainAnswer): string | undefined {
  if (wanted.string !== undefined) return answer.text === wanted.string ? undefined : `the text is ${answer.text}`;
  if (wanted.scalar !== undefined && wanted.isInstant) {
    const value = answer.series[0]?.points.get(wanted.startMillis);
    const isThere = answer.kind === "scalar" && typeof value === "number" && isClose(wanted.scalar, value);
    return isThere ? undefined : `the number is ${value === undefined ? "none" : shown(value)}`;
  }
  if (answer.kind === "scalar" && wanted.isInstant) return wanted.series.length === 0 ? undefined : "a scalar came";
  const got = new Map<string, PlainSeries>(answer.series.map((series) => [keyOf(series.labels), series]));
  if (got.size !== answer.series.length) return "the same labels came twice";
  const { startMillis, stepMillis } = wanted.matrix ?? wanted;
  const keys = wanted.series.map(({ labels }) => keyOf(labels));
  for (const key of got.keys())
    if (!keys.includes(key)) return `unexpected ${key}: ${[...(got.get(key)?.points.values() ?? [])].map(shown).join(" ")}`;
  for (const [index, { points }] of wanted.series.entries()) {
    const found = pointsFinding(points, got.get(keys[index]!)?.points ?? new Map(), startMillis, stepMillis);
    if (found !== undefined) return `${keys[index]} ${found}`;
  }
  const isOrdered = wanted.expectations.some(({ kind }) => kind === "ordered");
  if (isOrdered && (!answer.isOrdered || [...got.keys()].join(" ") !== keys.join(" "))) return `the order is ${[...got.keys()].join(" ")}`;
  return undefined;
}

function pointsFinding(points: readonly Point[], got: ReadonlyMap<number, Sample>, start: number, step: number): string | undefined {
  const expected = points.filter((point) => point !== undefined).length;
  if (expected !== got.size)
    return `has ${[...got].map(([time, value]) => `${shown(value)}@${time}`).join(" ")}, not ${points.map(shown).join(" ")}`;
  for (const [index, point] of points.entries()) {
    if (point === undefined) continue;
    const value = got.get(start + index * step);
    const found = value === undefined ? "is not there" : sampleFinding(point, value);
    if (found !== undefined) return `${found} at ${index}, not ${shown(point)}`;
  }
  return undefined;
}

function sampleFinding(wanted: Point | Sample, got: Sample): string | undefined {
  if (typeof wanted === "number" && typeof got === "number") return isClose(wanted, got) ? undefined : `is ${got}`;
  if (typeof wanted !== "object" || typeof got !== "object") return `is ${shown(got)}`;
  const point = "histogram" in wanted ? wanted : { histogram: wanted, tellsHint: false };
  return histogramFinding(point, got, isClose);
}

function shown(point: Point | Sample): string {
  if (typeof point !== "object") return String(point);
  return histogramText("histogram" in point ? point.histogram : point);
}

/** Steps of a range query, and how many of them lie before and after the moment of an instant one. */
const RANGES: readonly (readonly [stepMillis: number, before: number, after: number])[] = [
  [60_000, 0, 2],
  [60_000, 1, 1],
  [60_000, 2, 0],
  [7001, 5, 3],
  [1, 1, 1],
  [3_600_000, 1, 1],
];

/** An instant query is the same at any place of a range query. */
async function rangeFinding(wanted: Evaluation, answer: PlainAnswer, source: SeriesSource): Promise<string | undefined> {
  const { isInstant, query, startMillis: at } = wanted;
  if (!isInstant || (answer.kind !== "vector" && answer.kind !== "scalar") || /\b(?:sort|range|step|start|end)\w*\s*\(/i.test(query))
    return undefined;
  const instant = new Map(answer.series.map(({ labels, points }) => [keyOf(labels), points.get(at)]));
  for (const [stepMillis, before, after] of RANGES) {
    const place = `in a range of ${before} + 1 + ${after} steps of ${stepMillis} ms`;
    const times = {
      startMillis: at - before * stepMillis,
      endMillis: at + after * stepMillis,
      stepMillis,
      lookbackMillis: LOOKBACK_MILLIS,
    };
    let range: PlainAnswer;
    try {
      range = await answerOf(query, times, source);
    } catch (error) {
      // Another step of the range may fail where this one does not.
      if (/same labelset|multiple matches|duplicate series|Parameter value is NaN/.test(errorText(error))) continue;
      return `${place}: ${errorText(error)}`;
    }
    const there = new Map<string, Sample>();
    for (const { labels, points } of range.series) {
      const value = points.get(at);
      if (value !== undefined) there.set(keyOf(labels), value);
    }
    if (there.size !== instant.size) return `${place}: ${there.size} series`;
    for (const [key, value] of instant) {
      const other = there.get(key);
      const found = other === undefined || value === undefined ? "nothing" : sampleFinding(value, other);
      if (found !== undefined) return `${place}: ${key} is ${found}`;
    }
  }
  return undefined;
}

function isClose(wanted: number, got: number): boolean {
  if (Number.isNaN(wanted) || Number.isNaN(got)) return Number.isNaN(wanted) && Number.isNaN(got);
  if (wanted === got) return true;
  if (!Number.isFinite(wanted) || !Number.isFinite(got) || wanted === 0 || got === 0) return false;
  return Math.abs(wanted - got) / Math.min(Math.abs(wanted) + Math.abs(got), Number.MAX_VALUE) < TOLERANCE;
}
