/**
 * A structured query of logs as one SELECT. Values stand in it as literals, names in quotes; nothing that a client sent is text of SQL.
 *
 *   table ─► time, filters ─► rows around matches ─► expressions, one SELECT around the other ─► columns, newest first ─► skip, fetch
 *
 * What stands around a match is found in one pass over the rows of the time range: each has the number (or moment) of the last match before
 * it and of the next one behind it, by windows.
 */
import { invalidArguments } from "../../base/error.ts";
import { UNITS_PER_SECOND } from "../../column/data-type.ts";
import { printName, printString, quoteName } from "../../query/sql/print/print-name.ts";
import type { TableSchema } from "../../table/schema.ts";
import { formatTimestamp } from "../../value/format-time.ts";
import type { Bound, ColumnFilters, ContentFilter, Filters, LogExpr, LogQuery } from "./log-query.ts";
import type { NanosRange } from "./time-range.ts";

/** Columns that are only there while the rows around matches are looked for. */
const [PLACE, MATCH, LAST, NEXT] = ["__place", "__match", "__last_match", "__next_match"] as const;
/** Types of decomposed fields, and what reads them. */
const JSON_READERS: Readonly<Record<string, string>> = {
  string: "json_get_string",
  text: "json_get_string",
  utf8: "json_get_string",
  int: "json_get_int",
  int64: "json_get_int",
  bigint: "json_get_int",
  float: "json_get_float",
  float64: "json_get_float",
  double: "json_get_float",
  bool: "json_get_bool",
  boolean: "json_get_bool",
};

/** The rows so far. */
interface Rows {
  /** A SELECT. */
  readonly sql: string;
  /** Column to sort by; undefined once there is no time any more. */
  readonly time: string | undefined;
}

/** @throws DbError InvalidArguments for what has no SQL */
export function logSql(query: LogQuery, schema: TableSchema, range: NanosRange): string {
  const source = new LogSource(schema);
  let rows: Rows = { sql: source.rows(query, range), time: source.time };
  for (const [index, expr] of query.exprs.entries()) rows = source.with(rows, expr, index);
  const columns = query.columns.length === 0 ? "*" : query.columns.map(quoteName).join(", ");
  const order = rows.time === undefined ? "" : ` ORDER BY ${quoteName(rows.time)} DESC`;
  return `SELECT ${columns} FROM (${rows.sql}) AS "rows"${order} LIMIT ${query.fetch} OFFSET ${query.skip}`;
}

/** A table as queries of logs see it. */
class LogSource {
  /** The time index. */
  readonly time: string;
  private readonly schema: TableSchema;
  private readonly perSecond: number;

  constructor(schema: TableSchema) {
    this.schema = schema;
    const time = schema.columns.find(({ semantic }) => semantic === "timestamp");
    if (time?.type.kind !== "timestamp") throw invalidArguments("cannot query logs of a table without a time index");
    this.time = time.name;
    this.perSecond = UNITS_PER_SECOND[time.type.unit];
  }

  /** The rows of the time range that match, and those around them. */
  rows({ filters, context }: LogQuery, { start, end }: NanosRange): string {
    const time = quoteName(this.time);
    const within: string[] = [];
    if (start !== undefined) within.push(`${time} >= ${timeLiteral(start)}`);
    if (end !== undefined) within.push(`${time} < ${timeLiteral(end)}`);
    const matches = this.filtersSql(filters);
    const from = `FROM ${printName([this.schema.database, this.schema.name])}`;
    if (context.kind === "none" || matches === undefined) {
      return `SELECT * ${from}${whereOf([...within, ...(matches === undefined ? [] : [matches])])}`;
    }
    const isLines = context.kind === "lines";
    const place = isLines ? `row_number() OVER (ORDER BY ${time})` : `CAST(${time} AS BIGINT)`;
    const numbered = `SELECT *, ${place} AS ${PLACE} ${from}${whereOf(within)}`;
    const marked = `SELECT *, CASE WHEN ${matches} THEN ${PLACE} END AS ${MATCH} FROM (${numbered}) AS numbered`;
    const before = `max(${MATCH}) OVER (ORDER BY ${PLACE} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS ${LAST}`;
    const behind = `min(${MATCH}) OVER (ORDER BY ${PLACE} ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS ${NEXT}`;
    const unit = isLines ? 1 : this.perSecond;
    const near = `${PLACE} - ${LAST} <= ${context.after * unit} OR ${NEXT} - ${PLACE} <= ${context.before * unit}`;
    const hidden = [PLACE, MATCH, LAST, NEXT].join(", ");
    return `SELECT * EXCLUDE (${hidden}) FROM (SELECT *, ${before}, ${behind} FROM (${marked}) AS marked) AS near WHERE ${near}`;
  }

  /** The rows with an expression computed. */
  with(rows: Rows, expr: LogExpr, index: number): Rows {
    const from = `FROM (${rows.sql}) AS e${index}`;
    switch (expr.kind) {
      case "column":
      case "position":
        this.exprSql(expr); // A column that is not there is told of.
        return rows;
      case "filter":
        return { ...rows, sql: `SELECT * ${from} WHERE ${this.columnFiltersSql(expr.filter) ?? "true"}` };
      case "aggregate":
        return this.aggregated(rows, expr, from);
      case "decompose": {
        const text = this.exprSql(expr.expr);
        const fields = expr.fields.map(([name, type]) => `${readerOf(type)}(${text}, ${printString(pathOf(name))}) AS ${quoteName(name)}`);
        return { ...rows, sql: `SELECT *, ${fields.join(", ")} ${from}` };
      }
      case "literal":
      case "call":
      case "binary":
      case "alias":
        return { ...rows, sql: `SELECT *, ${this.exprSql(expr)} AS ${quoteName(aliasOf(expr, `expr_${index}`))} ${from}` };
    }
  }

  private aggregated(rows: Rows, expr: Extract<LogExpr, { kind: "aggregate" }>, from: string): Rows {
    const { name, args, range, by, alias } = expr;
    const call = `${name}(${args.length === 0 ? "*" : args.map((each) => this.exprSql(each)).join(", ")})`;
    const groups = by.map((each) => this.exprSql(each));
    const named = by.map((each, i) => `${groups[i] ?? ""} AS ${quoteName(aliasOf(each, `by_${i}`))}`);
    const as = ` AS ${quoteName(alias ?? name)}`;
    if (range === undefined) {
      const grouped = groups.length === 0 ? "" : ` GROUP BY ${groups.join(", ")}`;
      return { sql: `SELECT ${[...named, call + as].join(", ")} ${from}${grouped}`, time: undefined };
    }
    if (rows.time === undefined) throw invalidArguments("cannot aggregate by slices of time: the rows have no time any more");
    const step = `INTERVAL ${printString(range)}`;
    const slice = `date_bin(${step}, ${quoteName(rows.time)})`;
    const time = `${slice} AS ${quoteName(rows.time)}`;
    const sql = `SELECT ${[time, ...named, call + as].join(", ")} ${from} GROUP BY ${[slice, ...groups].join(", ")}`;
    return { sql, time: rows.time };
  }

  /** Undefined: all rows. */
  private filtersSql(filters: Filters): string | undefined {
    switch (filters.kind) {
      case "single":
        return this.columnFiltersSql(filters.filter);
      case "not": {
        const inner = this.filtersSql(filters.filter);
        return inner === undefined ? "false" : `NOT (${inner})`;
      }
      case "and":
      case "or": {
        const all = filters.filters.map((each) => this.filtersSql(each));
        if (filters.kind === "or" && all.includes(undefined)) return undefined;
        return joined(
          all.filter((each) => each !== undefined),
          filters.kind === "and" ? "AND" : "OR",
        );
      }
    }
  }

  private columnFiltersSql({ expr, filters }: ColumnFilters): string | undefined {
    const operand = this.exprSql(expr);
    if (filters.length === 0) return expr.kind === "binary" ? operand : undefined;
    return joined(
      filters.map((each) => contentSql(operand, each)),
      "AND",
    );
  }

  private exprSql(expr: LogExpr): string {
    switch (expr.kind) {
      case "column":
        return quoteName(expr.name);
      case "position": {
        const column = this.schema.columns[expr.index];
        if (column === undefined) throw invalidArguments(`cannot query logs: the table has no column ${expr.index}`);
        return quoteName(column.name);
      }
      case "literal":
        return printString(expr.value);
      case "call":
        return `${expr.name}(${expr.args.map((each) => this.exprSql(each)).join(", ")})`;
      case "binary":
        return `(${this.exprSql(expr.left)} ${expr.op} ${this.exprSql(expr.right)})`;
      case "alias":
        return this.exprSql(expr.expr);
      case "filter":
        return this.columnFiltersSql(expr.filter) ?? "true";
      case "aggregate":
      case "decompose":
        throw invalidArguments(`cannot query logs: an expression of kind ${expr.kind} stands alone, not inside another`);
    }
  }
}

function contentSql(operand: string, filter: ContentFilter): string {
  switch (filter.kind) {
    case "exact":
      return `${operand} = ${printString(filter.text)}`;
    case "prefix":
      return likeSql(operand, `${escapedPattern(filter.text)}%`);
    case "postfix":
      return likeSql(operand, `%${escapedPattern(filter.text)}`);
    case "contains":
      return likeSql(operand, `%${escapedPattern(filter.text)}%`);
    case "regex":
      return `${operand} ~ ${printString(filter.text)}`;
    case "exist":
      return `${operand} IS NOT NULL`;
    case "is-true":
      return `${operand} IS TRUE`;
    case "is-false":
      return `${operand} IS FALSE`;
    case "range":
      return joined([...boundSql(operand, ">", filter.low), ...boundSql(operand, "<", filter.high)], "AND") ?? "true";
    case "in":
      return filter.values.length === 0 ? "false" : `${operand} IN (${filter.values.map(printString).join(", ")})`;
    case "equal":
      return `${operand} = ${typeof filter.value === "string" ? printString(filter.value) : String(filter.value)}`;
    case "compound": {
      const all = filter.filters.map((each) => contentSql(operand, each));
      return joined(all, filter.conjunction) ?? "true";
    }
  }
}

function boundSql(operand: string, operator: string, bound: Bound | undefined): readonly string[] {
  return bound === undefined ? [] : [`${operand} ${operator}${bound.inclusive ? "=" : ""} ${printString(bound.value)}`];
}

function likeSql(operand: string, pattern: string): string {
  return `${operand} LIKE ${printString(pattern)} ESCAPE '!'`;
}

/** A text as it stands in a pattern. */
function escapedPattern(text: string): string {
  return text.replace(/[!%_]/g, "!$&");
}

function joined(conditions: readonly string[], word: "AND" | "OR"): string | undefined {
  if (conditions.length === 0) return undefined;
  return conditions.length === 1 ? conditions[0] : `(${conditions.map((each) => `(${each})`).join(` ${word} `)})`;
}

function whereOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? "" : ` WHERE ${conditions.map((each) => `(${each})`).join(" AND ")}`;
}

function timeLiteral(nanos: bigint): string {
  return printString(`${formatTimestamp(nanos, "nanosecond")}Z`);
}

function aliasOf(expr: LogExpr, otherwise: string): string {
  if (expr.kind === "column") return expr.name;
  if (expr.kind === "alias") return expr.alias;
  return ("alias" in expr ? expr.alias : undefined) ?? (expr.kind === "call" ? expr.name : otherwise);
}

function readerOf(type: string): string {
  const reader = Object.hasOwn(JSON_READERS, type.toLowerCase()) ? JSON_READERS[type.toLowerCase()] : undefined;
  if (reader === undefined)
    throw invalidArguments(`cannot decompose JSON to the type ${JSON.stringify(type.slice(0, 40))}: take string, int, float or bool`);
  return reader;
}

function pathOf(name: string): string {
  return `$[${JSON.stringify(name)}]`;
}
