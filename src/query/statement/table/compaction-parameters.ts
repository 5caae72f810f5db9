/**
 * What `ADMIN compact_table` takes after the table's name.
 *
 * | text                          | what it does here                                                              |
 * |-------------------------------|--------------------------------------------------------------------------------|
 * | `regular`, `strict_window`, `swcs` | nothing: the files of each window are merged in any case                  |
 * | `3600`, `window=3600`         | nothing but being checked: windows are 1, 8 and 64 days                        |
 * | `parallelism=4`               | nothing but being checked: merges run one after another                        |
 * | `start_time=…`, `end_time=…`  | only windows with files in `[start, end)` are merged                           |
 */
import { invalidArguments } from "../../../base/error.ts";
import { ALL_TIME, type TimeRange } from "../../../table/scan.ts";
import { type TableSchema, timeIndexOf } from "../../../table/schema.ts";
import { environmentOf } from "../../plan/common/planner.ts";
import type { QueryContext } from "../../query-context.ts";
import { literalValue } from "../shared/literal-value.ts";

const KINDS: readonly string[] = ["regular", "strict_window", "swcs"];

/** Refuses kinds of compaction that there are not. @throws DbError InvalidArguments */
export function checkCompactionKind(kind: string): void {
  if (KINDS.includes(kind.toLowerCase())) return;
  throw invalidArguments(`cannot compact: no kind ${kind}; use one of ${KINDS.join(", ")}`);
}

/** The times that parameters name; undefined: all. @throws DbError InvalidArguments, InvalidSyntax for a bad time */
export function compactionRange(text: string, schema: TableSchema, context: QueryContext): TimeRange | undefined {
  let { start, end } = ALL_TIME;
  for (const part of text.split(",").filter((piece) => piece.trim() !== "")) {
    const equals = part.indexOf("=");
    const key = equals < 0 ? "window" : part.slice(0, equals).trim().toLowerCase();
    const value = part.slice(equals + 1).trim();
    if (key === "window" || key === "parallelism") checkCount(key, value);
    else if (key === "start_time") start = timeOf(value, schema, context);
    else if (key === "end_time") end = timeOf(value, schema, context);
    else throw invalidArguments(`cannot compact: no parameter ${key}; use window, parallelism, start_time, end_time`);
  }
  if (start > end) throw invalidArguments(`cannot compact: start_time ${start} is after end_time ${end}`);
  return start === ALL_TIME.start && end === ALL_TIME.end ? undefined : { start, end };
}

function checkCount(key: string, value: string): void {
  if (/^\d{1,15}$/.test(value) && Number(value) > 0) return;
  throw invalidArguments(`cannot compact: ${key} is a whole number above 0; got '${value}'`);
}

/** A time in the unit of the time index. */
function timeOf(text: string, schema: TableSchema, context: QueryContext): bigint {
  const { name, type } = timeIndexOf(schema);
  const environment = environmentOf(context.clock, context.variables);
  const span = { line: 1, column: 1 };
  const value = literalValue({ kind: "string", value: text, span }, name, type, environment);
  return typeof value === "bigint" || typeof value === "number" ? BigInt(value) : ALL_TIME.start;
}
