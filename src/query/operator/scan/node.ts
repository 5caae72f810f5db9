/** The scan of a table. */
import type { ColumnHeader } from "../../../column/batch.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { Scalar } from "../../../column/vector.ts";
import type { ScannedTable } from "../../../table/catalog.ts";
import {
  ALL_TIME,
  type FieldBounds,
  type FieldCondition,
  type ScanRequest,
  type SummaryRequest,
  type TagPredicate,
  type TextPart,
  type TimeRange,
} from "../../../table/scan.ts";
import { timeIndexOf } from "../../../table/schema.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { ownExpression, value } from "../../expression/expression-shape.ts";
import { expressionText, VALUES_SHOWN } from "../../expression/expression-text.ts";
import { formatTimestamp } from "../../../value/format-time.ts";
import { isInterval } from "../../function/value/value.ts";
import {
  absent,
  bigint,
  bool,
  float,
  kinds,
  list,
  once,
  oneOf,
  optional,
  record,
  type Shape,
  text,
  whole,
} from "../../plan-format/shape.ts";
import { listed, nodeKind, type NodeKind } from "../node-parts/node-kind.ts";
import { scannedTable } from "../node-parts/table-identity.ts";
import { timeRange } from "../node-parts/time-shapes.ts";

/** A condition on one tag: values that it may have, or a condition whose only column is the tag. */
export type PlannedTagPredicate =
  | Extract<TagPredicate, { kind: "in" }>
  | { readonly kind: "test"; readonly column: string; readonly condition: TypedExpression };

/** A scan without what the executor adds. */
export interface PlannedRequest
  extends Omit<ScanRequest, "signal" | "numbers" | "mayReuseArrays" | "rowTests" | "unread" | "tagPredicates"> {
  readonly tagPredicates: readonly PlannedTagPredicate[];
}

/** Reads a table. */
export interface ScanNode {
  readonly kind: "scan";
  readonly table: ScannedTable;
  readonly columns: readonly ColumnHeader[];
  readonly request: PlannedRequest;
  /** Conditions as they were written, where the plan is shown. */
  readonly predicates: readonly string[];
}

const scalar: Shape<Scalar> = {
  write: (given, to) => value.write(given, to),
  read: (from) => {
    const given = value.read(from);
    return isInterval(given) ? from.fail("an interval is no value of a field") : given;
  },
};

const fieldCondition: Shape<FieldCondition> = once(() => fieldConditions);
const fieldConditions: Shape<FieldCondition> = kinds<FieldCondition>({
  in: { column: text, values: list(scalar) },
  range: { column: text, min: optional(scalar), max: optional(scalar) },
  text: { column: text, part: record<TextPart>({ text, wholeStart: bool, wholeEnd: bool, lowered: bool }) },
  all: { of: list(fieldCondition) },
  any: { of: list(fieldCondition) },
});

/** `undefined` stands for NULL. */
const tagValue: Shape<string | undefined> = {
  write: (given, to) => to.plain(given),
  read: (from) => {
    const given = from.scalar(from.tag());
    return given === undefined || typeof given === "string" ? given : from.fail("a value of a tag is wanted");
  },
};

const request: Shape<PlannedRequest> = record<PlannedRequest>({
  projection: list(text),
  timeRange,
  tagPredicates: list(
    kinds<PlannedTagPredicate>({ in: { column: text, values: list(tagValue) }, test: { column: text, condition: ownExpression } }),
  ),
  fieldBounds: list(record<FieldBounds>({ column: text, min: optional(float), max: optional(float) })),
  fieldConditions: absent(list(fieldCondition)),
  summaries: absent(
    record<SummaryRequest>({
      columns: list(record<SummaryRequest["columns"][number]>({ column: text, wantsBounds: bool, wantsSum: bool })),
      buckets: optional(record<{ readonly width: bigint; readonly origin: bigint }>({ width: bigint, origin: bigint })),
      isPerSeries: bool,
    }),
  ),
  order: oneOf("none", "series-time", "listed"),
  newestPerSeries: absent(bool),
  limit: absent(whole(0)),
});

/** See the file header. */
export const SCAN: NodeKind<ScanNode> = nodeKind<ScanNode>({
  kind: "scan",
  fields: { table: scannedTable, request, predicates: list(text) },
  explain: (node) => `ScanExec: ${scanText(node)}`,
  means({ table: { schema }, predicates }) {
    return `TableScan: ${schema.database}.${schema.name}${listed(", filter=", predicates)}`;
  },
  wrong: ({ columns, request: { projection } }) =>
    columns.length === projection.length ? undefined : `${projection.length} columns are read, and ${columns.length} are named`,
});

function scanText({ table, request: asked }: ScanNode): string {
  const { type } = timeIndexOf(table.schema);
  const parts = [
    `${table.schema.database}.${table.schema.name}`,
    `projection=[${asked.projection.join(", ")}]`,
    `time=${rangeText(asked.timeRange, type)}`,
  ];
  if (asked.tagPredicates.length > 0) parts.push(`tags=[${asked.tagPredicates.map(predicateText).join(", ")}]`);
  const pruned = [
    ...asked.fieldBounds.map(({ column, min, max }) => `${column} in ${min ?? "-inf"}..${max ?? "+inf"}`),
    ...(asked.fieldConditions ?? []).map(conditionText),
  ];
  if (pruned.length > 0) parts.push(`prune=[${pruned.join(", ")}]`);
  parts.push(`order=${asked.order}`);
  if (asked.newestPerSeries === true) parts.push("newest_per_series=true");
  if (asked.summaries !== undefined) parts.push("statistics_of_pages=true");
  if (asked.limit !== undefined) parts.push(`limit=${asked.limit}`);
  return parts.join(", ");
}

/** `[start, end)` of a time range. */
function rangeText({ start, end }: TimeRange, type: DataType): string {
  const unit = type.kind === "timestamp" ? type.unit : "nanosecond";
  const from = start === ALL_TIME.start ? "-inf" : formatTimestamp(start, unit);
  return `[${from}, ${end === ALL_TIME.end ? "+inf" : formatTimestamp(end, unit)})`;
}

function predicateText(predicate: PlannedTagPredicate): string {
  if (predicate.kind === "test") return expressionText(predicate.condition);
  const shown = predicate.values.slice(0, VALUES_SHOWN).map((each) => (each === undefined ? "NULL" : `'${each}'`));
  const more = predicate.values.length > VALUES_SHOWN ? `, … ${predicate.values.length} in all` : "";
  return `${predicate.column} in (${shown.join(", ")}${more})`;
}

function conditionText(condition: FieldCondition): string {
  switch (condition.kind) {
    case "in": {
      const more = condition.values.length > VALUES_SHOWN ? `, … ${condition.values.length} in all` : "";
      return `${condition.column} in (${condition.values.slice(0, VALUES_SHOWN).map(scalarText).join(", ")}${more})`;
    }
    case "range":
      return `${condition.column} in ${scalarText(condition.min) ?? "-inf"}..${scalarText(condition.max) ?? "+inf"}`;
    case "text":
      return `${condition.column} with ${scalarText(condition.part.text)}`;
    default:
      return `(${condition.of.map(conditionText).join(condition.kind === "all" ? " and " : " or ")})`;
  }
}

function scalarText(given: Scalar): string | undefined {
  if (given === undefined) return undefined;
  return typeof given === "string" ? `'${given}'` : given instanceof Uint8Array ? `X'${given.toHex()}'` : String(given);
}
