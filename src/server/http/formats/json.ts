/**
 * Rows as JSON objects: `{"data":[{"a":1}],"execution_time_ms":3}`. Keys are sorted; of columns with one name the last wins.
 */
import type { ColumnHeader } from "../../../column/batch.ts";
import { JSON_DIALECT } from "../../common/kernels/cell-column.ts";
import type { RowLayout } from "../../common/kernels/interleave.ts";
import { type ResultFormat, utf8 } from "./format.ts";
import { printRows } from "./row-stream.ts";
import { singleResult } from "./single-result.ts";

function sortedColumns(headers: readonly ColumnHeader[]): readonly (readonly [string, number])[] {
  const last = new Map<string, number>();
  for (const [position, header] of headers.entries()) last.set(header.name, position);
  return [...last].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

function layoutOf(names: readonly string[]): RowLayout {
  if (names.length === 0) return { before: [], after: utf8(",{}") };
  return { before: names.map((name, index) => utf8(`${index === 0 ? ",{" : ","}${JSON.stringify(name)}:`)), after: utf8("}") };
}

/** `json`. */
export const json: ResultFormat = {
  label: "json",
  contentType: "application/json",
  encode: (results, options) =>
    singleResult(results, "json", async function* (result) {
      if (result.kind === "affected") {
        yield utf8(`{"affected_rows":${result.rowCount},"data":[],"execution_time_ms":${options.elapsedMillis()}}`);
        return;
      }
      const sorted = sortedColumns(result.headers);
      const positions = sorted.map(([, position]) => position);
      const layout = layoutOf(sorted.map(([name]) => name));
      yield utf8('{"data":[');
      let first = true;
      for await (const chunk of printRows(
        result.headers,
        result.batches,
        positions,
        JSON_DIALECT,
        layout,
        options.limit,
        { rows: 0 },
        options.pace,
      )) {
        yield first ? chunk.subarray(1) : chunk;
        first = false;
      }
      yield utf8(`],"execution_time_ms":${options.elapsedMillis()}}`);
    }),
};
