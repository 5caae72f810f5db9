/** Rows that the server computes itself. */
import type { ColumnHeader } from "../../../column/batch.ts";
import type { TimeUnit } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import { interval, timeUnit } from "../../expression/expression-shape.ts";
import { absent, bigint, bool, kinds, list, optional, record, type Shape, text, whole } from "../../plan-format/shape.ts";
import { vector, wrongWithVector } from "../../plan-format/vector-shape.ts";
import type { PromqlRequest } from "../../promql-engine.ts";
import type { IntervalValue, Span } from "../../sql/syntax/ast.ts";
import { nodeKind, type NodeKind } from "../node-parts/node-kind.ts";

/** Where rows come from: a name, and what it is told. */
export type RowSource =
  /** One row without columns. */
  | { readonly kind: "one-row" }
  | { readonly kind: "no-rows" }
  | { readonly kind: "values"; readonly rowCount: number; readonly vectors: readonly Vector[] }
  /** Rows of the round before, of the recursive query that has this name (`recursive/node.ts`). */
  | { readonly kind: "working"; readonly of: string }
  | ServerSource;

/** Sources that the context of the run knows (`contract/row-sources.ts`). */
export type ServerSource =
  /** `public.numbers`, as long as a LIMIT wants. */
  | { readonly kind: "numbers" }
  | { readonly kind: "information-schema"; readonly table: string }
  /** `count` numbers from `start` on, `step` apart. */
  | { readonly kind: "series"; readonly start: bigint; readonly step: bigint; readonly count: bigint }
  | TimeSeries
  /** The files of an external table. */
  | { readonly kind: "external-table"; readonly database: string; readonly table: string; readonly id: number }
  /** `database`: the current one of the query. */
  | { readonly kind: "tql"; readonly request: PromqlRequest; readonly database: string };

/** Times from `start` on, in `unit`, each `step` after the one before, up to `end`. */
export interface TimeSeries {
  readonly kind: "time-series";
  readonly start: bigint;
  readonly end: bigint;
  readonly step: IntervalValue;
  readonly unit: TimeUnit;
  /** Whether steps lead to later times. */
  readonly isUp: boolean;
  /** Whether the end is left out. */
  readonly excluded: boolean;
}

/** Rows of a source. */
export interface SourceNode {
  readonly kind: "source";
  readonly columns: readonly ColumnHeader[];
  readonly source: RowSource;
  /** What EXPLAIN calls it; empty: one row without columns. */
  readonly name: string;
  /** How many rows a LIMIT right above asks for: a source that is as long as is wanted gives as many. */
  readonly rowsWanted?: number;
}

/** One row without columns: what expressions without a FROM read. */
export const ONE_ROW: SourceNode = { kind: "source", name: "", columns: [], source: { kind: "one-row" } };

const promqlRequest: Shape<PromqlRequest> = record<PromqlRequest>({
  promql: text,
  span: record<Span>({ line: whole(0), column: whole(0) }),
  startMillis: whole(),
  endMillis: whole(),
  stepMillis: whole(1),
  lookbackMillis: optional(whole()),
  alias: optional(text),
});

const source: Shape<RowSource> = kinds<RowSource>({
  "one-row": {},
  "no-rows": {},
  values: { rowCount: whole(0), vectors: list(vector) },
  working: { of: text },
  numbers: {},
  "information-schema": { table: text },
  series: { start: bigint, step: bigint, count: bigint },
  "time-series": { start: bigint, end: bigint, step: interval, unit: timeUnit, isUp: bool, excluded: bool },
  "external-table": { database: text, table: text, id: whole(0) },
  tql: { request: promqlRequest, database: text },
});

/** See the file header. */
export const SOURCE: NodeKind<SourceNode> = nodeKind<SourceNode>({
  kind: "source",
  fields: { source, name: text, rowsWanted: absent(whole(0)) },
  explain: ({ name }) => (name === "" ? "OneRowExec" : `BuiltInTableExec: ${name}`),
  wrong({ source: given, columns }) {
    if (given.kind !== "values") return undefined;
    const { rowCount, vectors } = given;
    if (vectors.length !== columns.length) return `${vectors.length} columns are given, and ${columns.length} are named`;
    const wrongs = vectors.map((each, i) => wrongWithVector(each, rowCount, columns[i]?.type ?? { kind: "null" }));
    return wrongs.find((why) => why !== undefined);
  },
});
