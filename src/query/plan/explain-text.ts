/** Plans as text, for EXPLAIN: one operator a line, indented below the one that reads it. */
import type { ColumnHeader } from "../../column/batch.ts";
import { displayName, isNested } from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";
import { ALL_TIME, type FieldCondition, type TagPredicate, type TimeRange } from "../../table/scan.ts";
import { type NodeMetrics, ownMillis } from "../operator/contract/node-metrics.ts";
import { toText } from "../../value/value-text.ts";
import { floatText } from "../../value/number-text.ts";
import { formatTimestamp } from "../../value/format-time.ts";
import { intervalText } from "../../value/interval-text.ts";
import { isInterval, type Value } from "../function/value/value.ts";
import type { DataType } from "../../column/data-type.ts";
import { timeIndexOf } from "../../table/schema.ts";
import { printExpression } from "../sql/print/print.ts";
import { operandsOf, type TypedExpression } from "../expression/expression.ts";
import {
  type AggregateCall,
  type FilledColumn,
  type FrameBound,
  type GroupKey,
  inputsOf,
  type PlanNode,
  type SortItem,
  type SubQueryCall,
  type WindowCall,
  type WindowFrame,
} from "../operator/contract/node.ts";

/** Most values of an IN that are listed. */
const VALUES_SHOWN = 8;

/** The plan as the query means it: what is read and computed. */
export function logicalText(node: PlanNode): string {
  return lines(node, 0, (each) => logicalLine(each)).join("\n");
}

/** The plan as it runs: what the scan is asked for. With `metrics`, what each operator did. */
export function physicalText(node: PlanNode, metrics?: ReadonlyMap<PlanNode, NodeMetrics>): string {
  return lines(node, 0, (each) => physicalLine(each) + metricsText(each, metrics)).join("\n");
}

function lines(node: PlanNode, depth: number, line: (node: PlanNode) => string): string[] {
  return [`${"  ".repeat(depth)}${line(node)}`, ...inputsOf(node).flatMap((input) => lines(input, depth + 1, line))];
}

function logicalLine(node: PlanNode): string {
  switch (node.kind) {
    case "scan": {
      const { database, name } = node.table.schema;
      return `TableScan: ${database}.${name}${listed(", filter=", node.predicates.map(printExpression))}`;
    }
    case "newest-first":
      return `Limit: newest ${node.wanted}`;
    default:
      return physicalLine(node).replace("Exec", "");
  }
}

function listed(prefix: string, texts: readonly string[]): string {
  return texts.length === 0 ? "" : `${prefix}[${texts.join(" AND ")}]`;
}

function physicalLine(node: PlanNode): string {
  switch (node.kind) {
    case "scan":
      return `ScanExec: ${scanText(node)}`;
    case "source":
      return node.name === "" ? "OneRowExec" : `BuiltInTableExec: ${node.name}`;
    case "filter":
      return `FilterExec: ${expressionText(node.predicate)}`;
    case "project":
      return `ProjectionExec: [${node.expressions.map((each, i) => `${expressionText(each)} AS ${node.columns[i]?.name}`).join(", ")}]`;
    case "aggregate":
      return `AggregateExec: by=[${node.keys.map(keyText).join(", ")}], aggregates=[${node.aggregates.map(callText).join(", ")}]`;
    case "overlap":
      return `OverlapExec: slots=${node.copies} of ${node.buckets.width} ${node.buckets.unit}s${node.ages ? ", ages" : ""}`;
    case "fill-slots":
      return `FillSlotsExec: [${node.items.map((item, i) => fillText(item, node.columns[node.keyCount + 1 + i])).join(", ")}]`;
    case "sort":
      if (node.keep === undefined) return `SortExec: [${node.items.map(itemText).join(", ")}]`;
      return `TopNExec: [${node.items.map(itemText).join(", ")}], keep=${node.keep}`;
    case "limit":
      return `LimitExec: skip=${node.offset}, fetch=${node.count ?? "all"}`;
    case "join":
      return `HashJoinExec: ${node.join}${listed(
        ", on=",
        node.keys.map((key) => `${expressionText(key.left)} = ${expressionText(key.right)}`),
      )}${node.residual === undefined ? "" : `, filter=${expressionText(node.residual)}`}`;
    case "lateral-join":
      return `LateralJoinExec: ${node.join}${node.condition === undefined ? "" : `, filter=${expressionText(node.condition)}`}`;
    case "apply":
      return `SubQueryExec: [${node.calls.map(subQueryText).join(", ")}]`;
    case "window":
      return windowLine(node);
    case "grouping-sets": {
      const sets = node.sets.map((set) => `(${set.join(" ")})`);
      return `GroupingSetsExec: keys=[${node.keys.map(expressionText).join(", ")}], sets=[${sets.join(", ")}]`;
    }
    case "unnest":
      return `UnnestExec: [${node.lists.map(expressionText).join(", ")}]`;
    case "if-empty":
      return "IfEmptyExec";
    case "first-of-each":
      return `DistinctOnExec: [${node.keys.map(expressionText).join(", ")}]`;
    case "asof":
      return `AsofJoinExec: ${node.join}, keys=${node.keyCount}`;
    case "union":
      return "UnionExec";
    case "recursive":
      return `RecursiveExec: ${node.all ? "all rows" : "distinct rows"} of ${node.working}`;
    case "set-filter":
      return `${node.operator === "intersect" ? "Intersect" : "Except"}Exec${node.all ? ": all" : ""}`;
    case "newest-first":
      return `NewestFirstExec: wanted=${node.wanted}, stretches=${node.buckets === undefined ? "by row density" : "by time bucket"}`;
  }
}

function fillText({ rule }: FilledColumn, header: ColumnHeader | undefined): string {
  const what = rule.kind === "constant" ? literalText(header?.type ?? { kind: "null" }, rule.value) : rule.kind.toUpperCase();
  return `${header?.name} FILL ${what}`;
}

function subQueryText({ result, parameters }: SubQueryCall): string {
  const taken = parameters.map((parameter) => `$${parameter.id} = ${expressionText(parameter.expression)}`);
  const what = "operand" in result ? `${expressionText(result.operand)} ${result.operator} ${result.kind}` : result.kind;
  return taken.length === 0 ? what : `${what} (${taken.join(", ")})`;
}

function scanText({ table, request }: Extract<PlanNode, { kind: "scan" }>): string {
  const { type } = timeIndexOf(table.schema);
  const parts = [
    `${table.schema.database}.${table.schema.name}`,
    `projection=[${request.projection.join(", ")}]`,
    `time=${rangeText(request.timeRange, type)}`,
  ];
  if (request.tagPredicates.length > 0) parts.push(`tags=[${request.tagPredicates.map(predicateText).join(", ")}]`);
  const pruned = [
    ...request.fieldBounds.map(({ column, min, max }) => `${column} in ${min ?? "-inf"}..${max ?? "+inf"}`),
    ...(request.fieldConditions ?? []).map(conditionText),
  ];
  if (pruned.length > 0) parts.push(`prune=[${pruned.join(", ")}]`);
  parts.push(`order=${request.order}`);
  if (request.newestPerSeries === true) parts.push("newest_per_series=true");
  if (request.summaries !== undefined) parts.push("figures_of_pages=true");
  if (request.limit !== undefined) parts.push(`limit=${request.limit}`);
  return parts.join(", ");
}

/** `[start, end)` of a time range. */
function rangeText({ start, end }: TimeRange, type: DataType): string {
  const unit = type.kind === "timestamp" ? type.unit : "nanosecond";
  const from = start === ALL_TIME.start ? "-inf" : formatTimestamp(start, unit);
  return `[${from}, ${end === ALL_TIME.end ? "+inf" : formatTimestamp(end, unit)})`;
}

function predicateText(predicate: TagPredicate): string {
  if (predicate.kind === "test") return `${predicate.column} passes a test`;
  const shown = predicate.values.slice(0, VALUES_SHOWN).map((value) => (value === undefined ? "NULL" : `'${value}'`));
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

function scalarText(value: Scalar): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === "string" ? `'${value}'` : value instanceof Uint8Array ? `X'${value.toHex()}'` : String(value);
}

function keyText(key: GroupKey): string {
  switch (key.kind) {
    case "series":
      return `${expressionText(key.expression)} (once a series)`;
    case "bucket":
      return key.buckets.kind === "fixed"
        ? `time bucket of ${key.buckets.width} ${key.buckets.unit}s`
        : `time bucket of ${key.buckets.months} months`;
    case "row":
      return expressionText(key.expression);
  }
}

function callText(call: AggregateCall): string {
  const args = call.function.name === "count" && call.args.length === 0 ? "*" : call.args.map(expressionText).join(", ");
  const order = call.orderBy.length === 0 ? "" : ` ORDER BY [${call.orderBy.map(itemText).join(", ")}]`;
  const filter = call.filter === undefined ? "" : ` FILTER (WHERE ${expressionText(call.filter)})`;
  return `${call.function.name}(${call.distinct ? "DISTINCT " : ""}${args})${order}${filter}`;
}

function windowLine({ partitionBy, orderBy, calls }: Extract<PlanNode, { kind: "window" }>): string {
  const [partition, order] = [partitionBy, orderBy].map((items) => items.map(itemText).join(", "));
  return `WindowExec: partition=[${partition}], order=[${order}], calls=[${calls.map(windowText).join(", ")}]`;
}

function windowText(call: WindowCall): string {
  switch (call.kind) {
    case "rank":
      return `${call.name}(${call.name === "ntile" ? call.buckets : ""})`;
    case "shift":
      return `lag(${expressionText(call.value)}, ${call.steps}, ${expressionText(call.otherwise)})`;
    case "pick":
      return `nth_value(${expressionText(call.value)}, ${call.nth}) ${frameText(call.frame)}`;
    case "aggregate":
      return `${callText(call.call)} ${frameText(call.frame)}`;
    case "anomaly":
      return `anomaly_score_${call.name}(${expressionText(call.value)}) ${frameText(call.frame)}`;
  }
}

function frameText({ unit, start, end }: WindowFrame): string {
  const text = (bound: FrameBound, unbounded: string): string => {
    if (bound.kind === "unbounded") return `UNBOUNDED ${unbounded}`;
    if (bound.kind === "current") return "CURRENT ROW";
    if (bound.kind === "value") return expressionText(bound.value);
    return `${Math.abs(bound.steps)} ${bound.steps < 0 ? "PRECEDING" : "FOLLOWING"}`;
  };
  return `${unit.toUpperCase()} BETWEEN ${text(start, "PRECEDING")} AND ${text(end, "FOLLOWING")}`;
}

function itemText(item: SortItem): string {
  return `${expressionText(item.expression)} ${item.descending ? "DESC" : "ASC"} NULLS ${item.nullsFirst ? "FIRST" : "LAST"}`;
}

/** Times are in milliseconds: `elapsed_compute` without the operators below, `elapsed` with them. */
function metricsText(node: PlanNode, all: ReadonlyMap<PlanNode, NodeMetrics> | undefined): string {
  const metrics = all?.get(node);
  if (all === undefined || metrics === undefined) return "";
  const { scan, rows, batches, bytes, elapsedMs, spilledBytes, parts: tasks, partMs = 0, held } = metrics;
  const parts = [
    `output_rows: ${rows}`,
    `elapsed_compute: ${ownMillis(node, all).toFixed(3)}ms`,
    `elapsed: ${elapsedMs.toFixed(3)}ms`,
    `output_batches: ${batches}`,
    `output_bytes: ${bytes}`,
  ];
  if (spilledBytes > 0) parts.push(`spilled_bytes: ${spilledBytes}`);
  if (held !== undefined) parts.push(`held_side: ${held}`);
  if (tasks !== undefined) parts.push(`tasks: ${tasks}`, `tasks_elapsed: ${partMs.toFixed(3)}ms`);
  if (scan !== undefined) {
    parts.push(`bytes_read: ${scan.bytesRead}`, `files_read: ${scan.filesRead}`, `files_skipped: ${scan.filesSkipped}`);
    if (scan.filesSkippedByTags > 0) parts.push(`files_skipped_by_tags: ${scan.filesSkippedByTags}`);
    parts.push(`pages_read: ${scan.pagesRead}`, `pages_skipped: ${scan.pagesSkipped}`);
    if (scan.pagesSummarised > 0) parts.push(`pages_summarised: ${scan.pagesSummarised}`);
    if (scan.pagesSkippedByIndex > 0) parts.push(`pages_skipped_by_index: ${scan.pagesSkippedByIndex}`);
    parts.push(`rows_scanned: ${scan.rowsReturned}`);
  }
  return ` metrics=[${parts.join(", ")}]`;
}

/** A typed expression as a person would write it. */
function expressionText(expression: TypedExpression): string {
  const parts = operandsOf(expression).map(expressionText);
  const [first = "", second = ""] = parts;
  switch (expression.kind) {
    case "literal":
      return literalText(expression.type, expression.value);
    case "parameter":
      return `$${expression.id}`;
    case "column":
      return expression.name;
    case "call":
      return `${expression.function.name}(${parts.join(", ")})`;
    case "arithmetic":
    case "compare":
      return `(${first} ${expression.operator} ${second})`;
    case "logic":
      return `(${parts.join(` ${expression.operator.toUpperCase()} `)})`;
    case "not":
      return `NOT ${first}`;
    case "is":
      return `${first} IS ${expression.negated ? "NOT " : ""}${expression.test.toUpperCase()}`;
    case "in-set": {
      const values = expression.values.slice(0, VALUES_SHOWN).map((value) => literalText(expression.operand.type, value));
      return `${first} ${expression.negated ? "NOT " : ""}IN (${values.join(", ")}${expression.values.length > VALUES_SHOWN ? ", …" : ""})`;
    }
    case "like":
      return `${first} ${expression.negated ? "NOT " : ""}${expression.insensitive ? "ILIKE" : "LIKE"} ${second}`;
    case "case":
      return `CASE(${parts.join(", ")})`;
    case "cast":
      return `${expression.safe ? "TRY_CAST" : "CAST"}(${first} AS ${displayName(expression.type)})`;
  }
}

function literalText(type: DataType, value: Value): string {
  if (value === undefined) return "NULL";
  if (isInterval(value)) return `INTERVAL '${intervalText(value)}'`;
  if (value instanceof Uint8Array) return isNested(type) ? toText(value, type) : `X'${value.toHex()}'`;
  if (type.kind === "timestamp") return `'${formatTimestamp(BigInt(value as bigint), type.unit)}'`;
  if (type.kind === "float") return floatText(Number(value));
  return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);
}
