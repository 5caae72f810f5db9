/**
 * The order of series by their tags: key columns one after another, NULL first, text by code point, other types by value.
 */
import { assert } from "../../base/assert.ts";
import type { DataType } from "../../column/data-type.ts";
import { compareTexts, type TextTable, textAt } from "../../column/text-table.ts";
import type { Scalar } from "../../column/vector.ts";
import { compareTagValues, tagValue } from "../../table/tag-value.ts";
import { sortByText } from "./text-order.ts";

/** One tag column of a table's series, as of some moment. */
export interface TagColumnView {
  readonly columnId: number;
  readonly type: DataType;
  /** Code by series number. */
  readonly codes: Uint32Array;
  readonly texts: TextTable;
}

/**
 * Series in the order of their tags.
 *
 * One counting sort a tag column, from the last to the first: 10 ns a series and column, whatever the values are.
 */
export function orderByTags(series: Uint32Array, columns: readonly TagColumnView[]): Uint32Array {
  // Ranking looks at every value that a tag ever had: not for the few series of one query.
  if (columns.some(({ texts }) => texts.size > series.length * FEW_SERIES_FACTOR)) return orderFew(series, columns);
  let order = series.slice();
  for (let c = columns.length - 1; c >= 0; c--) {
    const column = columns[c] as TagColumnView;
    const { ranks, count } = rankCodes(column, series);
    if (count > 1) order = sortByRank(order, column.codes, ranks, count);
  }
  return order;
}

/** Values a series from which series are compared one by one. */
const FEW_SERIES_FACTOR = 16;

/** By comparing texts. */
function orderFew(series: Uint32Array, columns: readonly TagColumnView[]): Uint32Array {
  return series.slice().sort((a, b) => {
    for (const { codes, texts, type } of columns) {
      const x = codes[a] as number;
      const y = codes[b] as number;
      if (x === y) continue;
      const difference =
        type.kind === "string" ? 0 : compareTagValues(tagScalar(textAt(texts, x), type), tagScalar(textAt(texts, y), type));
      return difference || compareTexts(texts, x, y);
    }
    return a - b;
  });
}

/** A stable counting sort. */
function sortByRank(series: Uint32Array, codes: Uint32Array, ranks: Uint32Array, rankCount: number): Uint32Array<ArrayBuffer> {
  const cursors = new Uint32Array(rankCount + 1);
  for (let i = 0; i < series.length; i++) {
    const rank = ranks[codes[series[i] as number] as number] as number;
    cursors[rank + 1] = (cursors[rank + 1] as number) + 1;
  }
  for (let rank = 1; rank <= rankCount; rank++) cursors[rank] = (cursors[rank] as number) + (cursors[rank - 1] as number);
  const sorted = new Uint32Array(series.length);
  for (let i = 0; i < series.length; i++) {
    const number = series[i] as number;
    const rank = ranks[codes[number] as number] as number;
    const at = cursors[rank] as number;
    cursors[rank] = at + 1;
    sorted[at] = number;
  }
  return sorted;
}

/** Rank of each code that the series use, among those. */
function rankCodes(column: TagColumnView, series: Uint32Array): { readonly ranks: Uint32Array; readonly count: number } {
  const { codes, texts } = column;
  const ranks = new Uint32Array(texts.size);
  let count = 0;
  for (let i = 0; i < series.length; i++) {
    const code = codes[series[i] as number] as number;
    if (ranks[code] === 0) {
      ranks[code] = 1;
      count++;
    }
  }
  const used = new Uint32Array(count);
  for (let code = 0, at = 0; at < count; code++) if (ranks[code] === 1) used[at++] = code;
  if (column.type.kind === "string") sortByText(used, texts);
  else sortByValue(used, column);
  for (let rank = 0; rank < count; rank++) ranks[used[rank] as number] = rank;
  return { ranks, count };
}

function sortByValue(codes: Uint32Array, { texts, type }: TagColumnView): void {
  const values = new Map<number, Scalar>();
  for (const code of codes) values.set(code, tagScalar(textAt(texts, code), type));
  codes.sort((a, b) => compareTagValues(values.get(a), values.get(b)) || compareTexts(texts, a, b));
}

/** The value of a tag's text as the series registry holds it: one of the type, since writes are checked. */
export function tagScalar(text: string | undefined, type: DataType): Scalar {
  if (text === undefined) return undefined;
  const parsed = tagValue(text, type);
  assert(parsed.ok, `tags are values of their type; got ${text} for ${type.kind}`);
  return parsed.value;
}

/** Order of tag values: NULL first, then by code point, which is the order of their UTF-8 bytes. */
export function compareText(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1;
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // Surrogates sort above the rest of the plane, as their code points do.
    const xHigh = x >= 0xd800 && x < 0xe000;
    const yHigh = y >= 0xd800 && y < 0xe000;
    if (xHigh !== yHigh) return xHigh ? 1 : -1;
    return x - y;
  }
  return a.length - b.length;
}
