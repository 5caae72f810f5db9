/**
 * Results of queries as Prometheus' JSON, made while they are sent. Series of a range are held and put in the order of their labels, as
 * numbers and not as text, which is ten times as long; all others come as they are made.
 */
import { sortedInTurns } from "../../../base/scheduler/sorted-in-turns.ts";
import { compareTexts } from "../../../ingest/prometheus/read/read-series.ts";
import type { Annotations, Labels, QueryAnswer, SampledSeries, SteppedSeries } from "../../../db/promql/promql-db.ts";
import { JsonPieces } from "./json-pieces.ts";
import { PointHeads } from "./point-heads.ts";
import { addPoints, type PointsOf } from "./series-points.ts";
import { numberText } from "./kernels/points.ts";
import { histogramJson, metricJson, pointJson, timeJson } from "./value-text.ts";

/** Most warnings, and most infos, that are told. */
const TOLD_MAX = 10;
/** Bytes of a series that is held, beside its points, nearly. */
const SERIES_BYTES = 500;
/** Bits of the number that says that a series has ended. */
const STALE = [2, 0x7ff00000] as const;

type Pieces = AsyncGenerator<Uint8Array<ArrayBuffer>>;

/** How a result is printed. */
export interface ResultForm {
  readonly isInstant: boolean;
  /** Most series; 0 = all. */
  readonly limit: number;
  /** JSON of the statistics, asked for at the end; undefined: none are wanted. */
  readonly stats: (() => string) | undefined;
}

/** The whole envelope. Ends the query when it is made, fails, or is no longer wanted. */
export async function* resultPieces(answer: QueryAnswer, form: ResultForm): Pieces {
  const pieces = new JsonPieces('{"status":"success","data":{"resultType":');
  try {
    const { result, times } = answer;
    let isCut = false;
    if (result.kind === "string") pieces.add(`"string","result":[${pointHead(times.startMillis)},${JSON.stringify(result.value)}]`);
    else if (result.kind === "scalar" && form.isInstant) {
      pieces.add(`"scalar","result":${pointJson(times.startMillis, result.values[0] ?? Number.NaN)}`);
    } else {
      pieces.add(`"${result.kind === "vector" && form.isInstant ? "vector" : "matrix"}","result":[`);
      isCut = yield* listed(seriesOf(answer, form), answer, form.limit, pieces);
      pieces.add("]");
    }
    if (form.stats !== undefined) pieces.add(`,"stats":${form.stats()}`);
    pieces.add(`}${annotationsJson(answer.annotations, isCut)}}`);
    yield pieces.take();
  } finally {
    answer.done();
  }
}

function pointHead(millis: number): string {
  const point = pointJson(millis, 0);
  return point.slice(1, point.indexOf(","));
}

/** Adds a series to the text, and stops where it may be sent. */
type Printing = (out: JsonPieces) => Iterable<void>;

async function* listed(
  series: AsyncIterable<Iterable<Printing>>,
  { run }: QueryAnswer,
  limit: number,
  pieces: JsonPieces,
): AsyncGenerator<Uint8Array<ArrayBuffer>, boolean> {
  let count = 0;
  for await (const some of series) {
    for (const print of some) {
      if (limit > 0 && count === limit) return true;
      if (count++ > 0) pieces.add(",");
      for (const _ of print(pieces)) {
        if (!pieces.isFull) continue;
        yield pieces.take();
        await run.pace.turn();
      }
      if (pieces.isFull) yield pieces.take();
      if (run.pace.isDue()) await run.pace.turn();
    }
  }
  return false;
}

/** Some at a time: waiting for each takes as long as its text. */
async function* seriesOf(answer: QueryAnswer, { isInstant }: ResultForm): AsyncGenerator<Iterable<Printing>> {
  const { result, times } = answer;
  switch (result.kind) {
    case "string":
      return;
    case "scalar":
      yield [
        printingOf([], steppedPoints({ labels: [], values: result.values, present: undefined, histograms: undefined }, headsOf(times))),
      ];
      return;
    case "matrix":
      for await (const series of result.series) yield [printingOf(series.labels, sampledPoints(series))];
      return;
    case "vector": {
      if (isInstant) {
        for await (const some of result.series) yield samplesOf(some, times.startMillis);
        return;
      }
      const heads = headsOf(times);
      const ordered = await inOrder(result.series, answer);
      yield ordered.values().map((series) => printingOf(series.labels, steppedPoints(series, heads)));
    }
  }
}

/** Of an instant query. */
function* samplesOf(some: readonly SteppedSeries[], millis: number): Generator<Printing> {
  const time = timeJson(millis);
  for (const series of some) {
    if (!isThere(series, 0)) continue;
    yield (out) => {
      out.add(vectorText(series, millis, time));
      return NO_STOPS;
    };
  }
}

const NO_STOPS: readonly void[] = [];

function isThere({ present }: SteppedSeries, step: number): boolean {
  return present === undefined || present[step] === 1;
}

function vectorText({ labels, values, histograms }: SteppedSeries, millis: number, time: string): string {
  const histogram = histograms?.[0];
  const sample =
    histogram === undefined ? `"value":[${time},"${numberText(values[0] as number)}"]` : `"histogram":${histogramJson(millis, histogram)}`;
  return `{"metric":${metricJson(labels)},${sample}}`;
}

/** Of all series of an answer. */
function headsOf({ startMillis, endMillis, stepMillis }: QueryAnswer["times"]): PointHeads {
  const count = Math.floor((endMillis - startMillis) / stepMillis) + 1;
  return new PointHeads(count, (step) => startMillis + step * stepMillis);
}

function steppedPoints(series: SteppedSeries, heads: PointHeads): PointsOf {
  const { values, present, histograms } = series;
  return { count: heads.count, values, present, histograms, heads, millisOf: heads.millisOf };
}

/** Samples without those that end a series. They are borrowed until the next series is asked for, and so are the points. */
function sampledPoints({ count, times, values, histograms }: SampledSeries): PointsOf {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  const present = new Uint8Array(count).fill(1);
  for (let at = 0; at < count; at++) {
    if (words[2 * at] === STALE[0] && words[2 * at + 1] === STALE[1] && histograms?.[at] === undefined) present[at] = 0;
  }
  const millisOf = (at: number): number => times[at] as number;
  return { count, values, present, histograms, heads: new PointHeads(count, millisOf), millisOf };
}

function printingOf(labels: Labels, points: PointsOf): Printing {
  return function* print(out) {
    out.add(`{"metric":${metricJson(labels)}`);
    yield* addPoints(points, out);
    out.add("}");
  };
}

/** All series with a point, by their labels. Their arrays are nobody else's. @throws DbError RuntimeResourcesExhausted */
async function inOrder(all: AsyncIterable<readonly SteppedSeries[]>, { run }: QueryAnswer): Promise<readonly SteppedSeries[]> {
  const held: SteppedSeries[] = [];
  for await (const some of all) {
    for (const { labels, values, present, histograms } of some) {
      if (present !== undefined && !present.includes(1)) continue;
      run.reserve(SERIES_BYTES + values.byteLength + (present?.byteLength ?? 0) + (histograms?.length ?? 0) * SERIES_BYTES);
      held.push({ labels, values, present, histograms });
    }
    if (run.pace.isDue()) await run.pace.turn();
  }
  return sortedInTurns(held, (a, b) => compareLabels(a.labels, b.labels), run.pace);
}

function compareLabels(a: Labels, b: Labels): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [[nameA, valueA], [nameB, valueB]] = [a[i] ?? ["", ""], b[i] ?? ["", ""]];
    const order = compareTexts(nameA, nameB) || compareTexts(valueA, valueB);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function annotationsJson({ warnings, infos }: Annotations, isCut: boolean): string {
  const all = isCut ? new Set([...warnings, "results truncated due to limit"]) : warnings;
  return told("warnings", "warning", all) + told("infos", "info", infos);
}

function told(member: string, kind: string, texts: ReadonlySet<string>): string {
  if (texts.size === 0) return "";
  const shown = [...texts].slice(0, TOLD_MAX);
  if (texts.size > TOLD_MAX) shown.push(`${texts.size - TOLD_MAX} more ${kind} annotations omitted`);
  return `,"${member}":${JSON.stringify(shown)}`;
}
