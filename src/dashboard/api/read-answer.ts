/** Bodies of answers into rows. */
import type { AnswerColumn } from "./answer-messages.ts";
import { AnswerStore, type Cell } from "./answer-store.ts";

/** An answer that was read. */
export interface ReadAnswer {
  readonly store: AnswerStore;
  readonly affectedRows: number | undefined;
  readonly serverMs: number | undefined;
  readonly warnings: readonly string[];
}

/** Parses JSON; integers beyond 2^53 become bigint. Texts without such take the quick way. */
export function parseExact(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const exact = (_: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === "number" && !Number.isSafeInteger(value) && context?.source !== undefined && /^-?\d+$/.test(context.source)
      ? BigInt(context.source)
      : value;
  return JSON.parse(text, exact as (key: string, value: unknown) => unknown);
}

interface SqlBody {
  readonly output?: readonly {
    readonly affectedrows?: number;
    readonly records?: {
      readonly schema: { readonly column_schemas: readonly { readonly name: string; readonly data_type: string }[] };
      readonly rows: readonly (readonly Cell[])[];
    };
  }[];
  readonly execution_time_ms?: number;
}

/** An answer of `/v1/sql`: the rows of its last statement that has some. */
export function readSql(text: string): ReadAnswer {
  const body = parseExact(text) as SqlBody;
  const outputs = body.output ?? [];
  const records = outputs.findLast((output) => output.records !== undefined)?.records;
  const columns = records?.schema.column_schemas.map(({ name, data_type }) => ({ name, type: data_type })) ?? [];
  const changed = outputs.filter(({ affectedrows }) => affectedrows !== undefined);
  return {
    store: new AnswerStore(columns, records?.rows ?? []),
    affectedRows: changed.length === 0 ? undefined : changed.reduce((sum, { affectedrows }) => sum + (affectedrows ?? 0), 0),
    serverMs: body.execution_time_ms,
    warnings: [],
  };
}

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: readonly [number, string];
  readonly values?: readonly (readonly [number, string])[];
  readonly histograms?: readonly unknown[];
}

/** An answer of Prometheus' `query` or `query_range`: a row a sample, with the labels as columns. */
export function readPrometheus(text: string): ReadAnswer {
  const { data, warnings } = JSON.parse(text) as {
    readonly data: { readonly resultType: string; readonly result: readonly Series[] | readonly [number, string] };
    readonly warnings?: readonly string[];
  };
  if (data.resultType === "scalar" || data.resultType === "string") {
    const [at, value] = data.result as readonly [number, string];
    return promAnswer([], [[at * 1000, numberOr(value)]], warnings);
  }
  const series = data.result as readonly Series[];
  const labels = [...new Set(series.flatMap(({ metric }) => Object.keys(metric)))];
  const rows: Cell[][] = [];
  for (const { metric, value, values = value === undefined ? [] : [value] } of series) {
    const own = labels.map((label) => metric[label]);
    for (const [at, text] of values) rows.push([at * 1000, numberOr(text), ...own]);
  }
  return promAnswer(labels, rows, warnings);
}

function promAnswer(labels: readonly string[], rows: readonly (readonly Cell[])[], warnings: readonly string[] = []): ReadAnswer {
  const columns: AnswerColumn[] = [
    { name: "time", type: "TimestampMillisecond" },
    { name: "value", type: "Float64" },
    ...labels.map((name) => ({ name, type: "String" })),
  ];
  return { store: new AnswerStore(columns, rows), affectedRows: undefined, serverMs: undefined, warnings };
}

/** Numbers; NaN and the infinities stay texts, which every table shows. */
function numberOr(text: string): Cell {
  const value = Number(text);
  return Number.isFinite(value) ? value : text;
}
