/**
 * A structured query of logs as JSON (contract http.md 8.2), checked and typed. Enums are tagged as the reference tags them,
 * `{"Contains":"x"}`, `"Exist"`; tags may also be written in snake case. Source of the shapes: log-query of GreptimeDB, `LogQuery`.
 *
 *   {"table":{"schema_name":"public","table_name":"logs"},"time_filter":{"start":"2024-12"},"limit":{"fetch":10},"columns":["message"],
 *    "filters":{"Single":{"expr":{"NamedIdent":"message"},"filters":[{"Contains":"error"}]}},"context":"None","exprs":[]}
 */
import { invalidArguments } from "../../base/error.ts";

/** Rows that are given where a request does not say how many. */
const FETCH_DEFAULT = 1000;
/** Most rows that a request may ask for, skipped ones included. Reason: they are sorted. Error: InvalidArguments. */
const ROWS_MAX = 1_000_000;
/** Most filters and expressions of a request. Reason: each is a piece of SQL. Error: InvalidArguments. */
const NODES_MAX = 1000;
/** Deepest nesting of them. Error: InvalidArguments. */
const DEPTH_MAX = 32;
/** Most lines or seconds around a match. Error: InvalidArguments. */
const CONTEXT_MAX = 1_000_000;

/** Something to compute of a row. */
export type LogExpr =
  | { readonly kind: "column"; readonly name: string }
  | { readonly kind: "position"; readonly index: number }
  | { readonly kind: "literal"; readonly value: string }
  | { readonly kind: "call"; readonly name: string; readonly args: readonly LogExpr[]; readonly alias: string | undefined }
  | {
      readonly kind: "aggregate";
      readonly name: string;
      readonly args: readonly LogExpr[];
      /** Length of slices of time. */
      readonly range: string | undefined;
      readonly by: readonly LogExpr[];
      readonly alias: string | undefined;
    }
  | { readonly kind: "decompose"; readonly expr: LogExpr; readonly fields: readonly (readonly [name: string, type: string])[] }
  | { readonly kind: "binary"; readonly left: LogExpr; readonly op: BinaryOp; readonly right: LogExpr }
  | { readonly kind: "alias"; readonly expr: LogExpr; readonly alias: string }
  | { readonly kind: "filter"; readonly filter: ColumnFilters };

/** Operators as SQL has them. */
const OPERATORS = {
  eq: "=",
  ne: "<>",
  lt: "<",
  le: "<=",
  gt: ">",
  ge: ">=",
  plus: "+",
  minus: "-",
  multiply: "*",
  divide: "/",
  modulo: "%",
  and: "AND",
  or: "OR",
} as const;

/** One of them. */
export type BinaryOp = (typeof OPERATORS)[keyof typeof OPERATORS];

/** What a value is asked. */
export type ContentFilter =
  | { readonly kind: "exact" | "prefix" | "postfix" | "contains" | "regex"; readonly text: string }
  | { readonly kind: "exist" | "is-true" | "is-false" }
  | { readonly kind: "range"; readonly low: Bound | undefined; readonly high: Bound | undefined }
  | { readonly kind: "in"; readonly values: readonly string[] }
  | { readonly kind: "equal"; readonly value: string | number | boolean }
  | { readonly kind: "compound"; readonly filters: readonly ContentFilter[]; readonly conjunction: "AND" | "OR" };

/** An end of a range. */
export interface Bound {
  readonly value: string;
  readonly inclusive: boolean;
}

/** An expression and what is asked of it, all of it. */
export interface ColumnFilters {
  readonly expr: LogExpr;
  readonly filters: readonly ContentFilter[];
}

/** Filters of rows. */
export type Filters =
  | { readonly kind: "single"; readonly filter: ColumnFilters }
  | { readonly kind: "and" | "or"; readonly filters: readonly Filters[] }
  | { readonly kind: "not"; readonly filter: Filters };

/** See the file header. */
export interface LogQuery {
  readonly table: { readonly database: string | undefined; readonly name: string };
  readonly time: { readonly start: string | undefined; readonly end: string | undefined; readonly span: string | undefined };
  readonly skip: number;
  readonly fetch: number;
  /** Empty: all. */
  readonly columns: readonly string[];
  readonly filters: Filters;
  /** What is shown around each row that matches. */
  readonly context: { readonly kind: "none" } | { readonly kind: "lines" | "seconds"; readonly before: number; readonly after: number };
  readonly exprs: readonly LogExpr[];
}

/** @param value what JSON.parse gave @throws DbError InvalidArguments that names the place */
export function logQueryOf(value: unknown): LogQuery {
  return new Reader().query(value);
}

type Members = Readonly<Record<string, unknown>>;

/** Reads the parts, and counts them. */
class Reader {
  private nodes = 0;

  query(value: unknown): LogQuery {
    const query = membersOf(value, "the query");
    const table = membersOf(query["table"], "table");
    const time = optionalMembers(query["time_filter"], "time_filter");
    const limit = optionalMembers(query["limit"], "limit");
    const skip = countOf(limit["skip"], "limit.skip", ROWS_MAX) ?? 0;
    const fetch = countOf(limit["fetch"], "limit.fetch", ROWS_MAX) ?? FETCH_DEFAULT;
    if (skip + fetch > ROWS_MAX) throw wrong("limit", `at most ${ROWS_MAX} rows with those that are skipped`);
    const name = textOf(table["table_name"], "table.table_name");
    const catalog = optionalText(table["catalog_name"], "table.catalog_name") ?? "";
    if (catalog !== "" && catalog !== "greptime") throw wrong("table.catalog_name", '"greptime"');
    return {
      table: { database: optionalText(table["schema_name"], "table.schema_name") || undefined, name },
      time: {
        start: optionalText(time["start"], "time_filter.start"),
        end: optionalText(time["end"], "time_filter.end"),
        span: optionalText(time["span"], "time_filter.span"),
      },
      skip,
      fetch,
      columns: listOf(query["columns"] ?? [], "columns").map((each) => textOf(each, "columns")),
      filters: query["filters"] === undefined || query["filters"] === null ? ALL : this.filters(query["filters"], 0),
      context: contextOf(query["context"]),
      exprs: listOf(query["exprs"] ?? [], "exprs").map((each) => this.expr(each, 0)),
    };
  }

  /** A list is all of its filters, as earlier versions of the interface have it. */
  private filters(value: unknown, depth: number): Filters {
    this.enter(depth);
    if (Array.isArray(value)) return { kind: "and", filters: value.map((each) => this.bareFilters(each, depth + 1)) };
    const [tag, content] = variantOf(value, "filters");
    switch (tag) {
      case "single":
        return { kind: "single", filter: this.columnFilters(content, depth + 1) };
      case "and":
      case "or":
        return { kind: tag, filters: listOf(content, "filters").map((each) => this.filters(each, depth + 1)) };
      case "not":
        return { kind: "not", filter: this.filters(content, depth + 1) };
      default:
        throw wrong("filters", "Single, And, Or or Not");
    }
  }

  private bareFilters(value: unknown, depth: number): Filters {
    const members = membersOf(value, "filters");
    return "expr" in members || "column_name" in members
      ? { kind: "single", filter: this.columnFilters(members, depth) }
      : this.filters(value, depth);
  }

  private columnFilters(value: unknown, depth: number): ColumnFilters {
    this.enter(depth);
    const members = membersOf(value, "filters.Single");
    const name = optionalText(members["column_name"], "filters.Single.column_name");
    const expr: LogExpr = name === undefined ? this.expr(members["expr"], depth + 1) : { kind: "column", name };
    return { expr, filters: listOf(members["filters"] ?? [], "filters.Single.filters").map((each) => this.content(each, depth + 1)) };
  }

  private content(value: unknown, depth: number): ContentFilter {
    this.enter(depth);
    const [tag, content] = variantOf(value, "filter");
    switch (tag) {
      case "exact":
      case "prefix":
      case "postfix":
      case "contains":
      case "regex":
        return { kind: tag, text: textOf(content, tag) };
      case "contain":
        return { kind: "contains", text: textOf(content, tag) };
      case "exist":
        return { kind: "exist" };
      case "istrue":
        return { kind: "is-true" };
      case "isfalse":
        return { kind: "is-false" };
      case "between":
        return betweenOf(membersOf(content, "Between"));
      case "greatthan":
      case "greaterthan":
      case "gt":
        return { kind: "range", low: boundOf(content, "GreatThan"), high: undefined };
      case "lessthan":
      case "lt":
        return { kind: "range", low: undefined, high: boundOf(content, "LessThan") };
      case "in":
        this.nodes += listOf(content, "In").length;
        return { kind: "in", values: listOf(content, "In").map((each) => textOf(each, "In")) };
      case "equal":
        return { kind: "equal", value: equalOf(content) };
      case "compound":
        return this.compound(content, depth);
      default:
        throw wrong("filter", `a known kind of filter, not ${JSON.stringify(tag.slice(0, 40))}`);
    }
  }

  /** `[[filter, …], "And"]`. */
  private compound(value: unknown, depth: number): ContentFilter {
    const [list, conjunction] = listOf(value, "Compound");
    const word = String(conjunction).toLowerCase();
    if (word !== "and" && word !== "or") throw wrong("Compound", 'a list of filters and "And" or "Or"');
    const filters = listOf(list, "Compound").map((each) => this.content(each, depth + 1));
    return { kind: "compound", filters, conjunction: word === "and" ? "AND" : "OR" };
  }

  private expr(value: unknown, depth: number): LogExpr {
    this.enter(depth);
    const [tag, content] = variantOf(value, "expr");
    const all = (list: unknown, place: string): readonly LogExpr[] => listOf(list ?? [], place).map((each) => this.expr(each, depth + 1));
    switch (tag) {
      case "namedident":
      case "column":
        return { kind: "column", name: textOf(content, "NamedIdent") };
      case "positionalident":
        return { kind: "position", index: countOf(content, "PositionalIdent", ROWS_MAX) ?? 0 };
      case "literal":
        return { kind: "literal", value: textOf(content, "Literal") };
      case "scalarfunc": {
        const members = membersOf(content, "ScalarFunc");
        return { kind: "call", name: functionOf(members), args: all(members["args"], "args"), alias: aliasOf(members) };
      }
      case "aggrfunc": {
        const members = membersOf(content, "AggrFunc");
        const range = optionalText(members["range"], "AggrFunc.range");
        const by = all(members["by"], "AggrFunc.by");
        return { kind: "aggregate", name: functionOf(members), args: all(members["args"], "args"), range, by, alias: aliasOf(members) };
      }
      case "decompose":
        return this.decompose(membersOf(content, "Decompose"), depth);
      case "binaryop": {
        const members = membersOf(content, "BinaryOp");
        const op = String(members["op"]).toLowerCase();
        if (!Object.hasOwn(OPERATORS, op)) throw wrong("BinaryOp.op", `one of ${Object.keys(OPERATORS).join(", ")}`);
        const [left, right] = [this.expr(members["left"], depth + 1), this.expr(members["right"], depth + 1)];
        return { kind: "binary", left, op: OPERATORS[op as keyof typeof OPERATORS], right };
      }
      case "alias": {
        const members = membersOf(content, "Alias");
        return { kind: "alias", expr: this.expr(members["expr"], depth + 1), alias: textOf(members["alias"], "Alias.alias") };
      }
      case "filter":
        return { kind: "filter", filter: this.columnFilters(membersOf(content, "Filter")["filter"], depth + 1) };
      default:
        throw wrong("expr", `a known kind of expression, not ${JSON.stringify(tag.slice(0, 40))}`);
    }
  }

  private decompose(members: Members, depth: number): LogExpr {
    const schema = textOf(members["schema"], "Decompose.schema");
    if (schema.toLowerCase() !== "json") throw wrong("Decompose.schema", "JSON, the only one that is served");
    const fields = listOf(members["fields"], "Decompose.fields").map((field) => {
      const [name, type] = listOf(field, "Decompose.fields");
      return [textOf(name, "Decompose.fields"), textOf(type, "Decompose.fields")] as const;
    });
    if (fields.length === 0) throw wrong("Decompose.fields", "a list that is not empty");
    this.nodes += fields.length;
    return { kind: "decompose", expr: this.expr(members["expr"], depth + 1), fields };
  }

  private enter(depth: number): void {
    if (depth > DEPTH_MAX) throw invalidArguments(`cannot read the query: it is nested deeper than ${DEPTH_MAX} levels`);
    if (++this.nodes > NODES_MAX) throw invalidArguments(`cannot read the query: it has more than ${NODES_MAX} filters and expressions`);
  }
}

const ALL: Filters = { kind: "and", filters: [] };

function wrong(place: string, wanted: string): Error {
  return invalidArguments(`cannot read the query: ${place} must be ${wanted}`);
}

function membersOf(value: unknown, place: string): Members {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(place, "an object");
  return value as Members;
}

function optionalMembers(value: unknown, place: string): Members {
  return value === undefined || value === null ? {} : membersOf(value, place);
}

function listOf(value: unknown, place: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(place, "a list");
  if (value.length > NODES_MAX) throw wrong(place, `a list of at most ${NODES_MAX}`);
  return value;
}

function textOf(value: unknown, place: string): string {
  if (typeof value !== "string") throw wrong(place, "a text");
  return value;
}

function optionalText(value: unknown, place: string): string | undefined {
  return value === undefined || value === null ? undefined : textOf(value, place);
}

function countOf(value: unknown, place: string, most: number): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > most)
    throw wrong(place, `a whole number from 0 to ${most}`);
  return value;
}

/** `"None"`, or an object of one member; the tag without case and underscores. */
function variantOf(value: unknown, place: string): readonly [tag: string, content: unknown] {
  if (typeof value === "string") return [plainTag(value), undefined];
  const [entry, ...others] = Object.entries(membersOf(value, place));
  if (entry === undefined || others.length > 0) throw wrong(place, "an object of one member, which says its kind");
  return [plainTag(entry[0]), entry[1]];
}

function plainTag(tag: string): string {
  return tag.slice(0, 64).replaceAll("_", "").toLowerCase();
}

function functionOf(members: Members): string {
  const name = textOf(members["name"], "name");
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(name)) throw wrong("name", "the name of a function");
  return name.toLowerCase();
}

function aliasOf(members: Members): string | undefined {
  return optionalText(members["alias"], "alias");
}

function boundOf(value: unknown, place: string): Bound {
  if (typeof value === "string") return { value, inclusive: false };
  const members = membersOf(value, place);
  return { value: textOf(members["value"], `${place}.value`), inclusive: members["inclusive"] === true };
}

function betweenOf(members: Members): ContentFilter {
  const low = { value: textOf(members["start"], "Between.start"), inclusive: members["start_inclusive"] === true };
  const high = { value: textOf(members["end"], "Between.end"), inclusive: members["end_inclusive"] === true };
  return { kind: "range", low, high };
}

/** `{"Int":5}`, or the value itself. */
function equalOf(value: unknown): string | number | boolean {
  const plain = typeof value === "object" ? variantOf(value, "Equal")[1] : value;
  if (typeof plain !== "string" && typeof plain !== "boolean" && (typeof plain !== "number" || !Number.isFinite(plain)))
    throw wrong("Equal", "a text, a number or a truth value");
  return plain;
}

function contextOf(value: unknown): LogQuery["context"] {
  if (value === undefined || value === null) return { kind: "none" };
  const [tag, content] = variantOf(value, "context");
  if (tag === "none") return { kind: "none" };
  if (tag !== "lines" && tag !== "seconds") throw wrong("context", "None, Lines or Seconds");
  const [before, after] = listOf(content, "context").map((each) => countOf(each, "context", CONTEXT_MAX));
  return { kind: tag, before: before ?? 0, after: after ?? 0 };
}
