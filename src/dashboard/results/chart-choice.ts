/** Which columns of an answer make a chart, until a person says otherwise. */
import type { AnswerColumn } from "../api/answer-messages.ts";
import { unitsPerSecond } from "../api/answer-store.ts";

/** Columns of a chart. */
export interface ChartChoice {
  readonly x: number;
  readonly ys: readonly number[];
  readonly groups: readonly number[];
}

/** Lines for which all numbers of an answer are drawn. */
const YS_MAX = 8;

/** Columns with numbers. */
export function numberColumns(columns: readonly AnswerColumn[]): readonly number[] {
  return columns.flatMap(({ type }, i) => (/^(?:U?Int|Float|Decimal)/.test(type) ? [i] : []));
}

/** Columns with times. */
export function timeColumns(columns: readonly AnswerColumn[]): readonly number[] {
  return columns.flatMap(({ type }, i) => (unitsPerSecond(type) === undefined ? [] : [i]));
}

/** The first time, all numbers, a line for each value of the texts; undefined: there is no time or no number. */
export function chartChoice(columns: readonly AnswerColumn[]): ChartChoice | undefined {
  const [x] = timeColumns(columns);
  const ys = numberColumns(columns).slice(0, YS_MAX);
  if (x === undefined || ys.length === 0) return undefined;
  const groups = columns.flatMap(({ type }, i) => (type === "String" ? [i] : []));
  return { x, ys, groups };
}
