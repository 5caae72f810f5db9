import { describe, expect, test } from "bun:test";
import { chunkOf, type FieldColumn, type Request } from "../../../test/support/storage/rows.ts";
import { STRING } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Scalar } from "../../column/vector.ts";
import type { MergeMode } from "../../table/schema.ts";
import { Arena, SlabPool } from "./arena.ts";
import { scatterCoded } from "./scatter-coded.ts";
import { scatterColumn } from "./scatter.ts";
import { type SortedRows, sortRows } from "./sort-rows.ts";

const FIELDS: readonly FieldColumn[] = [
  { id: 10, type: STRING },
  { id: 11, type: STRING },
];
const MODES: readonly MergeMode[] = ["append", "last_row", "last_non_null"];
const arena = new Arena(new SlabPool(0));

/** A request of rows `[from, to)`, one a step of time, that all say `text`; the second field tells rows apart. */
function request(from: number, to: number, text: Scalar): Request {
  const rows = Array.from({ length: to - from }, (_, i) => ({ series: i % 2, time: BigInt(from + i), values: [text, `row ${i}`] }));
  return { rows, columnIds: [10, 11] };
}

function sorted(requests: readonly Request[], mode: MergeMode): SortedRows {
  const chunks = requests.map((each, i) => chunkOf(i + 1, each, FIELDS, arena));
  const bucketOfSeries = Uint32Array.of(0, 1);
  return sortRows(chunks, { base: 0n, minOffset: 0, maxOffset: 1e9, bucketOfSeries, bucketCount: 2 }, mode);
}

/** The codes stand for what the column holds. */
function check(requests: readonly Request[], texts: number): void {
  for (const mode of MODES) {
    const rows = sorted(requests, mode);
    const coded = scatterCoded(rows, 10);
    if (coded === undefined) throw new Error("each request says one text");
    const column = scatterColumn(rows, 10, STRING);
    const got = Array.from(coded.codes, (code) => Buffer.from(coded.texts[code] ?? []).toString());
    expect([coded.texts.length, got]).toEqual([texts, got.map((_, row) => String(scalarAt(column, STRING, row)))]);
  }
}

describe("a column of which each request says one text comes as codes", () => {
  test("where all say the same", () => check([request(0, 40, "shop"), request(40, 90, "shop")], 1));
  test("where they differ", () => check([request(0, 40, "shop"), request(40, 90, "cart"), request(90, 99, "shop")], 2));
  test("where rows of several share a place or lie between each other", () => check([request(0, 40, "old"), request(20, 60, "new")], 2));
  test("where one says the empty text", () => check([request(0, 40, ""), request(40, 90, "x")], 2));
});

describe("other columns do not", () => {
  const refused = (requests: readonly Request[], columnId = 10): void =>
    expect(scatterCoded(sorted(requests, "append"), columnId)).toBeUndefined();
  test("whose rows differ", () => refused([request(0, 40, "shop")], 11));
  test("that a request lacks or has NULL in", () => refused([request(0, 40, "shop"), request(40, 90, undefined)]));
  test("of which nearly every request says something else", () =>
    refused(Array.from({ length: 9 }, (_, i) => request(i * 4, i * 4 + 4, `text ${i}`))));
  test("of very long texts", () => refused([request(0, 40, "x".repeat(600_000)), request(40, 90, "y".repeat(600_000))]));
  test("that are not there", () => refused([request(0, 40, "shop")], 12));
});
