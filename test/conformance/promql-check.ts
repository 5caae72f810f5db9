/** Answers beside what a script expects of them. */
import { errorText } from "../../src/base/error.ts";
import type { SeriesSource } from "../../src/query/promql/evaluation/series-source.ts";
import { answerOf, LOOKBACK_MILLIS, type PlainAnswer, type PlainSeries } from "../support/promql-query.ts";
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
    return answer.kind === "scalar" && value !== undefined && isClose(wanted.scalar, value) ? undefined : `the number is ${value}`;
  }
  if (answer.kind === "scalar" && wanted.isInstant) return wanted.series.length === 0 ? undefined : "a scalar came";
  const got = new Map<string, PlainSeries>(answer.series.map((series) => [keyOf(series.labels), series]));
  if (got.size !== answer.series.length) return "the same labels came twice";
  const { startMillis, stepMillis } = wanted.matrix ?? wanted;
  const keys = wanted.series.map(({ labels }) => keyOf(labels));
  for (const key of got.keys())
    if (!keys.includes(key)) return `unexpected ${key}: ${[...(got.get(key)?.points.values() ?? [])].join(" ")}`;
  for (const [index, { points }] of wanted.series.entries()) {
    const found = pointsFinding(points, got.get(keys[index]!)?.points ?? new Map(), startMillis, stepMillis);
    if (found !== undefined) return `${keys[index]} ${found}`;
  }
  const isOrdered = wanted.expectations.some(({ kind }) => kind === "ordered");
  if (isOrdered && (!answer.isOrdered || [...got.keys()].join(" ") !== keys.join(" "))) return `the order is ${[...got.keys()].join(" ")}`;
  return undefined;
}

function pointsFinding(points: readonly Point[], got: ReadonlyMap<number, number>, start: number, step: number): string | undefined {
  const expected = points.filter((point) => point !== undefined).length;
  if (expected !== got.size) return `has ${[...got].map(([time, value]) => `${value}@${time}`).join(" ")}, not ${JSON.stringify(points)}`;
  for (const [index, point] of points.entries()) {
    if (point === undefined) continue;
    const value = got.get(start + index * step);
    if (typeof point !== "number" || value === undefined || !isClose(point, value))
      return `is ${value} at ${index}, not ${JSON.stringify(point)}`;
  }
  return undefined;
}

/** An instant query is the same at any place of a range query. */
async function rangeFinding(wanted: Evaluation, answer: PlainAnswer, source: SeriesSource): Promise<string | undefined> {
  const { isInstant, query, startMillis: at } = wanted;
  if (!isInstant || (answer.kind !== "vector" && answer.kind !== "scalar") || /\b(?:sort|range|step|start|end)\w*\s*\(/i.test(query))
    return undefined;
  const instant = new Map(answer.series.map(({ labels, points }) => [keyOf(labels), points.get(at)]));
  for (const place of [0, 1, 2]) {
    const stepMillis = 60_000;
    const startMillis = at - place * stepMillis;
    const times = { startMillis, endMillis: startMillis + 2 * stepMillis, stepMillis, lookbackMillis: LOOKBACK_MILLIS };
    let range: PlainAnswer;
    try {
      range = await answerOf(query, times, source);
    } catch (error) {
      // Another step of the range may fail where this one does not.
      if (/same labelset|multiple matches|duplicate series/.test(errorText(error))) continue;
      return `in a range, at place ${place}: ${errorText(error)}`;
    }
    const there = new Map<string, number>();
    for (const { labels, points } of range.series) {
      const value = points.get(at);
      if (value !== undefined) there.set(keyOf(labels), value);
    }
    if (there.size !== instant.size) return `in a range, at place ${place}: ${there.size} series`;
    for (const [key, value] of instant) {
      const other = there.get(key);
      if (other === undefined || value === undefined || !isClose(value, other)) return `in a range, at place ${place}: ${key} is ${other}`;
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
