/**
 * The default JSON of `/v1/sql`: `{"code":0,"output":[…],"execution_time_ms":N}`. `total_rows` follows the rows, so rows can be sent
 * while the query runs.
 */
import type { Pace } from "../../../base/scheduler/pace.ts";
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import { displayName } from "../../../column/data-type.ts";
import { JSON_DIALECT } from "../../common/kernels/cell-column.ts";
import type { RowLayout } from "../../common/kernels/interleave.ts";
import { type FormatOptions, type ResultFormat, utf8 } from "./format.ts";
import { allColumns, printRows } from "./row-stream.ts";

/** The layout of rows as JSON arrays. The comma before the first row of all is dropped by `arrayRows`. */
function arrayLayout(columnCount: number): RowLayout {
  if (columnCount === 0) return { before: [], after: utf8(",[]") };
  return { before: [utf8(",["), ...Array.from({ length: columnCount - 1 }, () => utf8(","))], after: utf8("]") };
}

/** Rows as `[a,b],[c,d]`. */
export async function* arrayRows(
  headers: readonly ColumnHeader[],
  batches: AsyncIterable<Batch>,
  limit: number | undefined,
  counter: { rows: number },
  pace: Pace,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let first = true;
  const columns = allColumns(headers.length);
  for await (const chunk of printRows(headers, batches, columns, JSON_DIALECT, arrayLayout(headers.length), limit, counter, pace)) {
    yield first ? chunk.subarray(1) : chunk;
    first = false;
  }
}

/** `greptimedb_v1`. */
export const greptimeV1: ResultFormat = {
  label: "greptimedb_v1",
  contentType: "application/json",
  async *encode(results, options: FormatOptions) {
    yield utf8('{"code":0,"output":[');
    let separator = "";
    for await (const result of results) {
      if (result.kind === "affected") {
        yield utf8(`${separator}{"affectedrows":${result.rowCount}}`);
      } else {
        const schemas = result.headers.map(({ name, type }) => ({ name, data_type: displayName(type) }));
        yield utf8(`${separator}{"records":{"schema":{"column_schemas":${JSON.stringify(schemas)}},"rows":[`);
        const counter = { rows: 0 };
        yield* arrayRows(result.headers, result.batches, options.limit, counter, options.pace);
        yield utf8(`],"total_rows":${counter.rows}}}`);
      }
      separator = ",";
    }
    yield utf8(`],"execution_time_ms":${options.elapsedMillis()}}`);
  },
};
