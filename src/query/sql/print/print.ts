/**
 * Expressions and queries → text, as a person would write them: operators apart by blanks, parentheses only where the tree needs them,
 * names in quotes only where they need them. Parsing the text gives the same tree again (a property test says so). With long literals cut
 * it is the name of a result column without an alias.
 */
import { unreachable } from "../../../base/assert.ts";
import { sqlName } from "../../../column/data-type.ts";
import type {
  AlignClause,
  Expression,
  FillClause,
  FrameEdge,
  JoinKind,
  OrderItem,
  Query,
  QueryEnd,
  RelationAlias,
  SampleClause,
  Select,
  SelectItem,
  TableReference,
  Tql,
  WindowClause,
} from "../syntax/ast.ts";
import { BARE_CALLS, SPECIAL_CALLS } from "../syntax/call-name.ts";
import { OPERATOR_POWER, Power } from "../syntax/precedence.ts";
import { treeRows } from "../syntax/row-trees.ts";
import type { ValueRows } from "../syntax/value-rows.ts";
import { printName, printPart, printString, quoteName } from "./print-name.ts";
import { SHOWN_LITERAL_CHARACTERS, shownHex, shownText } from "./shown-literal.ts";

/** How keywords and quoted names are written. */
export interface PrintStyle {
  /** Writes a keyword, given in lower case. */
  readonly word: (keyword: string) => string;
  /** Keeps the quotes of names that need none: in VALUES a quoted name is a string. */
  readonly keepQuotes: boolean;
  /** Characters of a literal or of a name's part beyond which only its beginning is written, and `…`. Default: all are written. */
  readonly charactersMax?: number;
}

/** Keywords in capitals. */
export const UPPER: PrintStyle = { word: (keyword) => keyword.toUpperCase(), keepQuotes: false };
const WHOLE: PrintStyle = { word: (keyword) => keyword, keepQuotes: false };
const SHOWN: PrintStyle = { ...WHOLE, charactersMax: SHOWN_LITERAL_CHARACTERS };

/**
 * `max(usage_user)`, `a + 1`, `date_trunc('minute', ts)`, `a is not null and (b or c)`; keywords in lower case. For names of columns,
 * errors and plans: literals of more than `SHOWN_LITERAL_CHARACTERS` are cut, so that different expressions may give the same text.
 */
export function printExpression(expression: Expression): string {
  return print(expression, SHOWN);
}

/** As `printExpression` with whole literals: equal texts are equal expressions. */
export function printWhole(expression: Expression): string {
  return print(expression, WHOLE);
}

/** An expression in a given style. */
export function print(expression: Expression, style: PrintStyle): string {
  const { word } = style;
  switch (expression.kind) {
    case "number":
      return expression.text;
    case "string":
      return printString(shownText(expression.value, style.charactersMax));
    case "binary-literal":
      return `x'${shownHex(expression.value, style.charactersMax)}'`;
    case "boolean":
      return word(String(expression.value));
    case "placeholder":
      return `$${expression.index + 1}`;
    case "null":
    case "default":
      return word(expression.kind);
    case "interval":
      return `${word("interval")} ${printString(expression.text)}`;
    case "column":
      return printColumn(expression, style);
    case "unary":
      return printUnary(expression, style);
    case "binary":
      return printBinary(expression, style);
    case "is":
    case "between":
    case "in-list":
    case "like":
      return printPredicate(expression, style);
    case "cast":
      return printCast(expression, style);
    case "case":
      return printCase(expression, style);
    case "call":
      return printCall(expression, style);
    case "range":
      return printRange(expression, style);
    case "sub-query":
      return `(${printQuery(expression.query, style)})`;
    case "exists":
      return `${word("exists")} (${printQuery(expression.query, style)})`;
    case "in-query":
      return printInQuery(expression, style);
    case "quantified": {
      const left = operand(expression.operand, OPERATOR_POWER[expression.operator], style);
      return `${left} ${expression.operator} ${word(expression.quantifier)} (${printQuery(expression.query, style)})`;
    }
    default:
      return unreachable(expression);
  }
}

type Node<Kind extends Expression["kind"]> = Extract<Expression, { kind: Kind }>;

/** How tightly an expression holds together. */
function powerOf(expression: Expression): number {
  switch (expression.kind) {
    case "binary":
      return OPERATOR_POWER[expression.operator];
    case "unary":
      return expression.operator === "not" ? Power.not : Power.sign;
    case "is":
      return Power.is;
    case "between":
    case "in-list":
    case "in-query":
    case "like":
      return Power.predicate;
    case "quantified":
      return OPERATOR_POWER[expression.operator];
    case "range":
      return Power.cast;
    default:
      return Power.primary;
  }
}

/** An operand, in parentheses when it binds less tightly than `power`. */
function operand(expression: Expression, power: number, style: PrintStyle): string {
  const text = print(expression, style);
  return powerOf(expression) < power ? `(${text})` : text;
}

function printColumn({ name, quoted }: Node<"column">, style: PrintStyle): string {
  const { keepQuotes } = style;
  const last = name.length - 1;
  return name
    .map((part) => shownText(part, style.charactersMax))
    .map((part, i) => ((quoted && keepQuotes && i === last) || (last === 0 && BARE_CALLS.has(part)) ? quoteName(part) : printPart(part)))
    .join(".");
}

function printUnary(node: Node<"unary">, style: PrintStyle): string {
  if (node.operator === "not") return `${style.word("not")} ${operand(node.operand, Power.not, style)}`;
  // A second sign goes into parentheses, since `--` begins a comment.
  return node.operator + operand(node.operand, Power.sign + 1, style);
}

function printBinary({ operator, left, right }: Node<"binary">, style: PrintStyle): string {
  const power = OPERATOR_POWER[operator];
  return `${operand(left, power, style)} ${style.word(operator)} ${operand(right, power + 1, style)}`;
}

function printPredicate(node: Node<"is" | "between" | "in-list" | "like">, style: PrintStyle): string {
  const { word } = style;
  const not = node.negated ? `${word("not")} ` : "";
  const left = operand(node.operand, node.kind === "is" ? Power.is : Power.predicate, style);
  const tight = (expression: Expression): string => operand(expression, Power.predicate + 1, style);
  switch (node.kind) {
    case "is":
      return `${left} ${word("is")} ${not}${word(node.test)}`;
    case "between":
      return `${left} ${not}${word("between")} ${tight(node.low)} ${word("and")} ${tight(node.high)}`;
    case "in-list":
      return `${left} ${not}${word("in")} (${node.items.map((item) => print(item, style)).join(", ")})`;
    case "like": {
      const escape = node.escape === undefined ? "" : ` ${word("escape")} ${printString(node.escape)}`;
      return `${left} ${not}${word(node.insensitive ? "ilike" : "like")} ${tight(node.pattern)}${escape}`;
    }
    default:
      return unreachable(node);
  }
}

function printInQuery(node: Node<"in-query">, style: PrintStyle): string {
  const not = node.negated ? `${style.word("not")} ` : "";
  return `${operand(node.operand, Power.predicate, style)} ${not}${style.word("in")} (${printQuery(node.query, style)})`;
}

function printCast(node: Node<"cast">, style: PrintStyle): string {
  const { word } = style;
  const type = word(sqlName(node.type).toLowerCase());
  return `${word(node.safe ? "try_cast" : "cast")}(${print(node.operand, style)} ${word("as")} ${type})`;
}

function printCase(node: Node<"case">, style: PrintStyle): string {
  const { word } = style;
  const parts = [word("case")];
  if (node.operand !== undefined) parts.push(print(node.operand, style));
  for (const { when, result } of node.branches) parts.push(word("when"), print(when, style), word("then"), print(result, style));
  if (node.otherwise !== undefined) parts.push(word("else"), print(node.otherwise, style));
  parts.push(word("end"));
  return parts.join(" ");
}

/** Bounds of a slice; two colons side by side would be a cast. */
function joinedBounds([from = "", ...rest]: readonly string[]): string {
  const [to, stride] = rest;
  if (stride === undefined) return [from, ...rest].join(":");
  return `${from}:${to === "" ? " " : to}:${stride}`;
}

/** `x[1]`, `x[1:3]`: bounds that are NULL were left out. */
function printBrackets({ name, args }: Node<"call">, style: PrintStyle): string {
  const [value, ...rest] = args;
  if (value === undefined) return "";
  // ARRAY[1] is a list.
  const isArray = value.kind === "column" && value.name.length === 1 && value.name[0] === "array";
  const text = isArray ? quoteName("array") : operand(value, Power.primary, style);
  const bounds = rest.map((bound, i) => (name === "[:]" && i < 2 && bound.kind === "null" ? "" : print(bound, style)));
  return `${text}[${joinedBounds(bounds)}]`;
}

function printCall(node: Node<"call">, style: PrintStyle): string {
  const { word } = style;
  if (node.name.startsWith("[")) return printBrackets(node, style);
  if (node.name.startsWith("@@")) return node.name;
  const name = SPECIAL_CALLS.has(node.name) ? quoteName(node.name) : printPart(shownText(node.name, style.charactersMax));
  const distinct = node.distinct ? `${word("distinct")} ` : "";
  const [separator] = node.name === "group_concat" ? node.args.slice(-1) : [];
  const plain = separator === undefined ? node.args : node.args.slice(0, -1);
  const args = node.star ? "*" : plain.map((arg) => print(arg, style)).join(", ");
  const sorted = node.orderBy.length === 0 ? "" : ` ${printOrderBy(node.orderBy, style)}`;
  const order = separator === undefined ? sorted : `${sorted} ${word("separator")} ${print(separator, style)}`;
  const filter = node.filter === undefined ? "" : ` ${word("filter")} (${word("where")} ${print(node.filter, style)})`;
  const nulls = node.nulls === undefined ? "" : ` ${word(`${node.nulls} nulls`)}`;
  const over = node.over === undefined ? "" : ` ${printOver(node.over, style)}`;
  return `${name}(${distinct}${args}${order})${filter}${nulls}${over}`;
}

/** `over w`, `over (partition by a)`. */
function printOver(over: WindowClause, style: PrintStyle): string {
  const isName = over.base !== undefined && over.partitionBy.length === 0 && over.orderBy.length === 0 && over.frame === undefined;
  return `${style.word("over")} ${isName ? printPart(over.base ?? "") : printWindow(over, style)}`;
}

/** `(w partition by a order by b rows between 1 preceding and current row)`. */
function printWindow({ base, partitionBy, orderBy, frame }: WindowClause, style: PrintStyle): string {
  const { word } = style;
  const parts: string[] = [];
  if (base !== undefined) parts.push(WINDOW_PARTS.has(base) ? quoteName(base) : printPart(base));
  if (partitionBy.length > 0) parts.push(`${word("partition by")} ${partitionBy.map((key) => print(key, style)).join(", ")}`);
  if (orderBy.length > 0) parts.push(printOrderBy(orderBy, style));
  if (frame !== undefined) {
    const [start, end] = [printEdge(frame.start, "preceding", style), printEdge(frame.end, "following", style)];
    parts.push(`${word(frame.unit)} ${word("between")} ${start} ${word("and")} ${end}`);
  }
  return `(${parts.join(" ")})`;
}

/** Names that would be read as the beginning of a part of a window. */
const WINDOW_PARTS: ReadonlySet<string> = new Set(["partition", "rows", "range", "groups"]);

function printEdge(edge: FrameEdge, unbounded: string, style: PrintStyle): string {
  if (edge.kind === "current") return style.word("current row");
  if (edge.kind === "unbounded") return style.word(`unbounded ${unbounded}`);
  const offset = operand(edge.offset, Power.predicate + 1, style);
  const isWord = edge.offset.kind === "column" && edge.offset.name.length === 1;
  return `${isWord ? `(${offset})` : offset} ${style.word(edge.direction)}`;
}

/** `group by a, b`, `group by grouping sets ((a, b), (a), ())`. */
function printGroupBy({ groupBy, groupAll, groupingSets }: Select, style: PrintStyle): string {
  if (groupAll === true) return style.word("group by all");
  const list = (keys: readonly Expression[]): string => keys.map((key) => print(key, style)).join(", ");
  if (groupingSets === undefined) return `${style.word("group by")} ${list(groupBy)}`;
  const sets = groupingSets.map((set) => `(${list(set.flatMap((index) => groupBy[index] ?? []))})`);
  return `${style.word("group by grouping sets")} (${sets.join(", ")})`;
}

function printRange(node: Node<"range">, style: PrintStyle): string {
  const { kind } = node.duration;
  const text = print(node.duration, style);
  const duration = kind === "string" || kind === "number" || kind === "interval" ? text : `(${text})`;
  return `${operand(node.operand, Power.primary, style)} ${style.word("range")} ${duration}${printFill(node.fill, style)}`;
}

function printFill(fill: FillClause | undefined, style: PrintStyle): string {
  if (fill === undefined) return "";
  const { word } = style;
  if (fill.kind !== "constant") return ` ${word("fill")} ${word(fill.kind)}`;
  const isNumber = fill.value.kind === "unary" && fill.value.operand.kind === "number";
  return ` ${word("fill")} ${operand(fill.value, isNumber ? Power.sign : Power.primary, style)}`;
}

function printAlign({ every, to, by, fill }: AlignClause, style: PrintStyle): string {
  const { word } = style;
  const parts = [`${word("align")} ${print(every, style)}`];
  if (to !== undefined) parts.push(`${word("to")} ${print(to, style)}`);
  if (by !== undefined) parts.push(`${word("by")} (${by.map((each) => print(each, style)).join(", ")})`);
  return parts.join(" ") + printFill(fill, style);
}

/** `order by a, b desc nulls last`. */
function printOrderBy(items: readonly OrderItem[], style: PrintStyle): string {
  const { word } = style;
  const texts = items.map(({ expression, descending, nullsFirst }) => {
    const nulls = nullsFirst === undefined ? "" : ` ${word(nullsFirst ? "nulls first" : "nulls last")}`;
    return `${print(expression, style)}${descending ? ` ${word("desc")}` : ""}${nulls}`;
  });
  return `${word("order by")} ${texts.join(", ")}`;
}

/** A query on one line, without a semicolon. */
export function printQuery(query: Query, style: PrintStyle): string {
  const { word } = style;
  switch (query.kind) {
    case "select":
      return printSelect(query, style);
    case "set-operation": {
      const operator = `${word(query.operator)}${query.all ? ` ${word("all")}` : ""}`;
      return `${printPartOf(query.left, style)} ${operator} ${printPartOf(query.right, style)}${printEnd(query, style)}`;
    }
    case "values-query":
      return `${word("values")} ${printRows(query.rows, style)}${printEnd(query, style)}`;
    case "with": {
      const tables = query.tables.map((table) => {
        const inner = table.query.kind === "tql" ? printTql(table.query, style) : printQuery(table.query, style);
        return `${printAliasNames(table.alias)} ${word("as")} (${inner})`;
      });
      return `${word(query.recursive === true ? "with recursive" : "with")} ${tables.join(", ")} ${printQuery(query.query, style)}`;
    }
    default:
      return unreachable(query);
  }
}

/** `tql eval (0, 10, '5s') rate(cpu[5m])`, whose PromQL is as it was written. */
export function printTql(tql: Tql, style: PrintStyle): string {
  const { word } = style;
  const words = [word(`tql ${tql.mode}`)];
  if (tql.verbose) words.push(word("verbose"));
  if (tql.format !== "text") words.push(word(`format ${tql.format}`));
  if (tql.range !== undefined) {
    const { start, end, step, lookback } = tql.range;
    const values = lookback === undefined ? [start, end, step] : [start, end, step, lookback];
    words.push(`(${values.map((value) => print(value, style)).join(", ")})`);
  }
  words.push(tql.promql);
  if (tql.alias !== undefined) words.push(word("as"), printPart(tql.alias));
  return words.join(" ");
}

/** ` tablesample system (10 percent) repeatable (42)`. */
function printSample(sample: SampleClause | undefined, style: PrintStyle): string {
  if (sample === undefined) return "";
  const { word } = style;
  const method = sample.method === undefined ? "" : ` ${word(sample.method)}`;
  const seed = sample.seed === undefined ? "" : ` ${word("repeatable")} (${sample.seed})`;
  return ` ${word("tablesample")}${method} (${sample.amount} ${word(sample.unit)})${seed}`;
}

/** An operand of a set operation, in parentheses unless it is a plain SELECT. */
function printPartOf(query: Query, style: PrintStyle): string {
  const text = printQuery(query, style);
  const plain = query.kind !== "with" && query.kind !== "set-operation" && printEnd(query, style) === "";
  return plain ? text : `(${text})`;
}

/** `(1, 'a'), (2, 'b')`. */
export function printRows(rows: ValueRows<Expression>, style: PrintStyle): string {
  return Array.from(treeRows(rows), (row) => `(${row.map((value) => print(value, style)).join(", ")})`).join(", ");
}

function printEnd({ orderBy, limit, offset }: QueryEnd, style: PrintStyle): string {
  const { word } = style;
  const parts: string[] = [];
  if (orderBy.length > 0) parts.push(printOrderBy(orderBy, style));
  if (limit !== undefined) parts.push(`${word("limit")} ${print(limit, style)}`);
  if (offset !== undefined) parts.push(`${word("offset")} ${print(offset, style)}`);
  return parts.map((part) => ` ${part}`).join("");
}

/** `*`, `t.* exclude (a) replace (b + 1 as b)`. */
function printStar({ table, excluded, replaced }: Extract<SelectItem, { kind: "star" }>, style: PrintStyle): string {
  const { word } = style;
  const parts = [table === undefined ? "*" : `${printPart(table)}.*`];
  if (excluded !== undefined) parts.push(`${word("exclude")} (${excluded.map(printPart).join(", ")})`);
  const others = replaced?.map(({ expression, column }) => `${print(expression, style)} ${word("as")} ${printPart(column)}`);
  if (others !== undefined) parts.push(`${word("replace")} (${others.join(", ")})`);
  return parts.join(" ");
}

function printSelect(select: Select, style: PrintStyle): string {
  const { word } = style;
  const list = (expressions: readonly Expression[]): string => expressions.map((each) => print(each, style)).join(", ");
  const parts = [word(select.distinct ? "select distinct" : "select")];
  if (select.distinctOn.length > 0) parts.push(`${word("on")} (${list(select.distinctOn)})`);
  const items = select.items.map((item) => {
    if (item.kind === "star") return printStar(item, style);
    return print(item.expression, style) + (item.alias === undefined ? "" : ` ${word("as")} ${printPart(item.alias)}`);
  });
  parts.push(items.join(", "));
  const { from, where, groupBy, having, align } = select;
  if (from !== undefined) parts.push(`${word("from")} ${printReference(from, style)}`);
  if (where !== undefined) parts.push(`${word("where")} ${print(where, style)}`);
  if (groupBy.length > 0 || select.groupAll === true || select.groupingSets !== undefined) parts.push(printGroupBy(select, style));
  if (having !== undefined) parts.push(`${word("having")} ${print(having, style)}`);
  if (align !== undefined) parts.push(printAlign(align, style));
  if (select.windows !== undefined) {
    const windows = select.windows.map((each) => `${printPart(each.name)} ${word("as")} ${printWindow(each.window, style)}`);
    parts.push(`${word("window")} ${windows.join(", ")}`);
  }
  if (select.qualify !== undefined) parts.push(`${word("qualify")} ${print(select.qualify, style)}`);
  return parts.join(" ") + printEnd(select, style);
}

const JOIN_WORDS: Readonly<Record<JoinKind, string>> = {
  inner: "join",
  left: "left join",
  right: "right join",
  full: "full join",
  cross: "cross join",
  "left-semi": "left semi join",
  "left-anti": "left anti join",
  "right-semi": "right semi join",
  "right-anti": "right anti join",
  asof: "asof join",
  "asof-left": "asof left join",
};

function printReference(reference: TableReference, style: PrintStyle): string {
  const { word } = style;
  switch (reference.kind) {
    case "table":
      return printName(reference.name) + printAlias(reference.alias, style) + printSample(reference.sample, style);
    case "derived":
      return (
        (reference.lateral ? `${word("lateral")} ` : "") + `(${printQuery(reference.query, style)})` + printAlias(reference.alias, style)
      );
    case "table-function": {
      const args = reference.args.map((argument) => print(argument, style)).join(", ");
      return `${printPart(reference.name)}(${args})${printAlias(reference.alias, style)}`;
    }
    case "join":
      return printJoin(reference, style);
    default:
      return unreachable(reference);
  }
}

function printJoin({ join, left, right, constraint }: Extract<TableReference, { kind: "join" }>, style: PrintStyle): string {
  const { word } = style;
  const natural = constraint?.kind === "natural" ? `${word("natural")} ` : "";
  const inner = printReference(right, style);
  const text = `${printReference(left, style)} ${natural}${word(JOIN_WORDS[join])} ${right.kind === "join" ? `(${inner})` : inner}`;
  switch (constraint?.kind) {
    case "on":
      return `${text} ${word("on")} ${print(constraint.condition, style)}`;
    case "using":
      return `${text} ${word("using")} (${constraint.columns.map(printPart).join(", ")})`;
    default:
      return text;
  }
}

function printAlias(alias: RelationAlias | undefined, { word }: PrintStyle): string {
  return alias === undefined ? "" : ` ${word("as")} ${printAliasNames(alias)}`;
}

/** `t` or `t (a, b)`. */
function printAliasNames({ name, columns }: RelationAlias): string {
  return `${printPart(name)}${columns.length === 0 ? "" : ` (${columns.map(printPart).join(", ")})`}`;
}
