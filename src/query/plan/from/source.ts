/** FROM: which relation a query reads and what its columns are called. */
import { unreachable } from "../../../base/assert.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import { BOOLEAN, INT64, STRING } from "../../../column/data-type.ts";
import type { Table } from "../../../table/catalog.ts";
import { isFileTable } from "../../../table/file-table.ts";
import type { ColumnSchema } from "../../../table/schema.ts";
import type { ViewInfo } from "../../../table/view.ts";
import type { Environment } from "../../function/signature/environment.ts";
import type { BuiltInTable } from "../common/computed-rows.ts";
import { functionNamed } from "../../function/registry.ts";
import type { Expression, JoinKind, ObjectName, RelationAlias, Select, TableReference } from "../../sql/syntax/ast.ts";
import { ROW_CALLS } from "../../sql/syntax/call-name.ts";
import { plainSelect } from "../../sql/syntax/plain-trees.ts";
import { contains, containsSubQuery } from "../bind/ast-walk.ts";
import { conditionInSteps } from "../bind/bind-in-steps.ts";
import { asofConditions } from "./asof.ts";
import { compare, unify } from "../bind/coerce.ts";
import { conjunctsOf, literal, mapColumns, type TypedExpression } from "../../expression/expression.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import { externalRelation } from "./external-source.ts";
import { OuterScope } from "../common/outer-scope.ts";
import { planError } from "../bind/plan-error.ts";
import { partsOfPlan } from "../bind/plan-size.ts";
import type { Planner } from "../common/planner.ts";
import type { Relation } from "../common/relation.ts";
import { findColumn, type Scope, type ScopeColumn } from "../bind/scope.ts";
import { checkNoGraphTable } from "../common/semantic-graph.ts";
import type { Steps } from "../bind/steps.ts";
import { rowCallPlan, seriesPlan, unnestPlan } from "./unnest-source.ts";
import { planView } from "./view.ts";
import { builtInTable } from "../virtual/built-in-table.ts";
import { CATALOG_NAME, INFORMATION_SCHEMA, isInformationSchema } from "../../../table/reserved-names.ts";
import { mysqlInformationTable, postgresInformationTable, postgresRelation } from "../virtual/information-schema.ts";
import { tableFunction } from "../virtual/table-functions.ts";

/** What a query reads. */
export interface Source {
  readonly scope: Scope;
  readonly columns: readonly ColumnHeader[];
  readonly relation: Relation;
  /** Set when the relation is this one table. */
  readonly table: Table | undefined;
}

/** A table name in full. */
export interface ResolvedName {
  readonly database: string;
  readonly table: string;
}

/** Database and table of a name of one to three parts. @throws DbError PlanQuery for another catalog */
export function resolveName(name: ObjectName, database: string): ResolvedName {
  const table = name.at(-1) ?? "";
  if (name.length > 3 || (name.length === 3 && name[0] !== CATALOG_NAME)) {
    throw planError(`there is no catalog '${name[0]}'; the only one is '${CATALOG_NAME}'`);
  }
  const where = name.at(-2) ?? database;
  return isInformationSchema(where) ? { database: INFORMATION_SCHEMA, table: table.toLowerCase() } : { database: where, table };
}

/** The error of a table that does not exist. */
function tableNotFound({ database, table }: ResolvedName): DbError {
  return new DbError(StatusCode.TableNotFound, `Failed to plan SQL: Table not found: ${CATALOG_NAME}.${database}.${table}`);
}

/** One row without columns. */
const ONE_ROW: Source = {
  scope: [],
  columns: [],
  relation: { kind: "rows", name: "", columns: [], source: { kind: "one-row" } },
  table: undefined,
};

/** The relation of a FROM clause. @throws DbError TableNotFound, PlanQuery */
export function* sourceOf(from: TableReference | undefined, planner: Planner): Steps<Source> {
  if (from === undefined) return ONE_ROW;
  // Joins lean to the left: a chain of them is planned from its first relation on, and not each within the next.
  const joins: Join[] = [];
  let first: TableReference = from;
  for (; first.kind === "join"; first = first.left) joins.push(first);
  let source = yield* singleSource(first, planner);
  for (let join = joins.pop(); join !== undefined; join = joins.pop()) source = yield* joinSource(join, source, planner);
  return source;
}

/** A relation of FROM that is no join. */
function* singleSource(from: Exclude<TableReference, Join>, planner: Planner): Steps<Source> {
  switch (from.kind) {
    case "table":
      return yield* tableSource(from, planner);
    case "derived":
      return derivedSource(yield* planner.plan(from.query, planner), from.alias);
    case "table-function":
      return yield* functionSource(from, planner);
    default:
      return unreachable(from);
  }
}

function* tableSource(from: Extract<TableReference, { kind: "table" }>, planner: Planner): Steps<Source> {
  const { catalog, environment } = planner;
  const query = from.name.length === 1 ? planner.named.get(from.name[0] ?? "") : undefined;
  if (query !== undefined) {
    environment.planSize?.add(partsOfPlan(query.node));
    return renamed(derivedSource(query.node, query.alias), from.alias);
  }
  const name = resolveName(from.name, environment.database);
  const table = catalog.table(name.database, name.table);
  const qualifier = name.table;
  if (table !== undefined && isFileTable(table.schema)) {
    const { columns, source } = externalRelation(table.schema, planner.files);
    const relation: Relation = { kind: "rows", name: name.table, columns, source };
    return placed({ scope: scopeOf(columns, qualifier), columns, relation, table: undefined }, name, from.alias);
  }
  if (table !== undefined) {
    const columns = table.schema.columns.map((column) => ({ name: column.name, type: scannedType(column) }));
    const scope = table.schema.columns.map((column, index) => ({
      qualifier,
      name: column.name,
      expression: columnExpression(column, index),
      hints: column.hints,
    }));
    return placed({ scope, columns, relation: { kind: "table", table, columns }, table }, name, from.alias);
  }
  const view = catalog.view(name.database, name.table);
  if (view !== undefined) return placed(yield* viewSource(view, planner), name, from.alias);
  const builtIn = computedTable(name, from.name, environment);
  if (builtIn === undefined) {
    // What MySQL selects from where it selects from nothing.
    if (environment.isMysql === true && from.name.length === 1 && name.table === "dual" && from.alias === undefined) return ONE_ROW;
    checkNoGraphTable(name);
    throw tableNotFound(name);
  }
  const { columns } = builtIn;
  const relation: Relation = { kind: "rows", name: name.table, columns, source: builtIn.source };
  const hidden: Scope = (builtIn.hidden ?? []).map((column) => ({
    qualifier,
    name: column.name,
    expression: literal(column.type, column.value),
    shown: "hidden",
  }));
  const named = scopeOf(columns, qualifier).map((column, i) =>
    i < (builtIn.shown ?? columns.length) ? column : { ...column, shown: "hidden" as const },
  );
  return placed({ scope: [...named, ...hidden], columns, relation, table: undefined }, name, from.alias);
}

/** The table of a name that the server computes. */
function computedTable(name: ResolvedName, written: ObjectName, { isPostgres, isMysql }: Environment): BuiltInTable | undefined {
  const isInformation = name.database === INFORMATION_SCHEMA;
  if (isPostgres !== true) return (isMysql === true && isInformation ? mysqlInformationTable(name.table) : undefined) ?? builtInTable(name);
  const ofPostgres = isInformation ? postgresInformationTable(name.table) : undefined;
  return ofPostgres ?? builtInTable(name) ?? postgresRelation(written);
}

/** A table, view or built-in table where it lies, or under an alias. */
function placed(source: Source, { database }: ResolvedName, alias: RelationAlias | undefined): Source {
  if (alias !== undefined) return renamed(source, alias);
  return { ...source, scope: source.scope.map((column) => ({ ...column, place: [CATALOG_NAME, database] })) };
}

type Call = Extract<Expression, { kind: "call" }>;
type TableFunction = Extract<TableReference, { kind: "table-function" }>;

/** The rows of a function such as `generate_series(1, 3)`. */
function* functionSource(from: TableFunction, planner: Planner): Steps<Source> {
  const { name, args, alias, ordinality = false } = from;
  if (name === "unnest") {
    const plan = unnestPlan(args, planner, planner.outer, ordinality);
    // PostgreSQL calls a column of values as the function, or as the relation.
    return derivedSource(plan, planner.environment.isPostgres === true ? relationAliasOf(plan, name, alias) : alias);
  }
  if (ROW_CALLS.has(name) || (ordinality && isSeries(name))) {
    const call: Call = { kind: "call", name, args, star: false, distinct: false, orderBy: [], filter: undefined, span: from.span };
    const plan = rowCallPlan(call, planner, planner.outer, ordinality);
    return derivedSource(plan, relationAliasOf(plan, name, alias));
  }
  if (!isSeries(name) && functionNamed(name) !== undefined && !ordinality) return yield* valueSource(from, planner);
  const rows = tableFunction(name, args, planner.environment);
  const { columns } = rows;
  return renamed({ scope: scopeOf(columns, name), columns, relation: { kind: "rows", name, ...rows }, table: undefined }, alias);
}

/** The alias of a call of rows: where they have one column, it is called as the relation. */
function relationAliasOf({ columns }: PlanNode, name: string, alias: RelationAlias | undefined): RelationAlias {
  const given = alias ?? { name, columns: [] };
  const isOne = columns.length === 1 || (columns.length === 2 && columns[1]?.name === "ordinality");
  return given.columns.length > 0 || !isOne ? given : { name: given.name, columns: [given.name] };
}

/** `FROM f(x) AS a`: the value of a function that makes no rows, in one row and a column that is called as the relation. */
function* valueSource({ name, args, alias, span }: TableFunction, planner: Planner): Steps<Source> {
  const call: Expression = { kind: "call", name, args, star: false, distinct: false, orderBy: [], filter: undefined, span };
  const items: Select["items"] = [{ kind: "expression", expression: call, alias: alias?.name ?? name }];
  return derivedSource(yield* planner.plan(plainSelect({ items, from: undefined, span }), planner), alias ?? { name, columns: [] });
}

const isSeries = (name: string): boolean => name === "generate_series" || name === "range";

/** A view under its name, with the columns it has. */
function* viewSource(view: ViewInfo, planner: Planner): Steps<Source> {
  const { node, positions } = yield* planView(view, planner);
  const whole = scopeOf(node.columns, view.name);
  const scope = positions.flatMap((at, i): Scope => {
    const column = whole[at];
    return column === undefined ? [] : [{ ...column, name: view.columns[i] ?? column.name }];
  });
  return { scope, columns: node.columns, relation: { kind: "derived", node }, table: undefined };
}

function scopeOf(columns: readonly ColumnHeader[], qualifier: string | undefined): Scope {
  return columns.map(({ name, type }, index) => ({ qualifier, name, expression: { kind: "column", type, index, name } }));
}

/** The rows of a planned query. */
function derivedSource(node: PlanNode, alias: RelationAlias | undefined): Source {
  const { columns } = node;
  return renamed({ scope: scopeOf(columns, undefined), columns, relation: { kind: "derived", node }, table: undefined }, alias);
}

/** The same relation under an alias. @throws DbError PlanQuery when the alias names more columns than there are */
function renamed(source: Source, alias: RelationAlias | undefined): Source {
  if (alias === undefined) return source;
  if (alias.columns.length > source.scope.length) {
    throw planError(
      `Source table contains ${source.scope.length} columns but only ${alias.columns.length} names given as column alias of ${alias.name}`,
    );
  }
  const scope = source.scope.map((column, i) => ({
    ...column,
    qualifier: alias.name,
    place: undefined,
    name: alias.columns[i] ?? column.name,
  }));
  return { ...source, scope };
}

type Join = Extract<TableReference, { kind: "join" }>;

/**
 * A condition of ON that holds a query is one of WHERE over the right side, which is then planned for each row of the left:
 *
 *   a LEFT JOIN b ON b.x = (SELECT … a.y)    a LEFT JOIN LATERAL (SELECT * FROM b WHERE b.x = (SELECT … a.y)) b ON true
 */
function withLateralCondition(from: Join): Join {
  const { join, right, constraint, span } = from;
  if (constraint?.kind !== "on" || (join !== "inner" && join !== "left") || !containsSubQuery(constraint.condition)) return from;
  if (right.kind !== "table" && right.kind !== "derived") return from;
  const name = right.alias?.name ?? (right.kind === "table" ? right.name.at(-1) : undefined);
  if (name === undefined || (right.kind === "derived" && right.lateral)) return from;
  const query = plainSelect({ items: [{ kind: "star", table: undefined, span }], from: right, where: constraint.condition, span });
  const lateral: TableReference = { kind: "derived", query, lateral: true, alias: { name, columns: [] }, span };
  return { ...from, right: lateral, constraint: { kind: "on", condition: { kind: "boolean", value: true, span } } };
}

function* joinSource(written: Join, left: Source, planner: Planner): Steps<Source> {
  const from = withLateralCondition(written);
  const before = outerScopeOf(left, planner);
  if (from.right.kind === "derived" && from.right.lateral) {
    const { right } = from;
    const node = yield* planner.plan(right.query, { ...planner, outer: before });
    return yield* lateralSource(from, derivedSource(node, right.alias), node, left, before, planner);
  }
  if (from.right.kind === "table-function") {
    const node = lateralFunction(from.right, before, planner);
    if (node !== undefined)
      return yield* lateralSource(from, derivedSource(node, lateralAlias(from.right, node)), node, left, before, planner);
  }
  const right = yield* sourceOf(from.right, planner);
  if (from.join === "asof" || from.join === "asof-left") return yield* asofSource(from, from.join, left, right, planner);
  const [mode, swapped] = MODES[from.join];
  planner.environment.planSize?.add(left.columns.length + right.columns.length);
  const [first, second] = swapped ? [right, left] : [left, right];
  const width = first.columns.length;
  const sides = {
    left: swapped ? shifted(left.scope, width) : left.scope,
    right: swapped ? right.scope : shifted(right.scope, width),
  };
  const { on, scope } = yield* constrained(from, sides, planner);
  yield;
  const relation: Relation = { kind: "join", join: mode, left: first.relation, right: second.relation, on };
  if (mode === "semi" || mode === "anti") return { scope: first.scope, columns: first.columns, relation, table: undefined };
  return { scope, columns: [...first.columns, ...second.columns], relation, table: undefined };
}

/** Of USING the last column is the order: the left one is not before the right one. */
function* asofSource(from: Join, kind: "asof" | "asof-left", left: Source, right: Source, planner: Planner): Steps<Source> {
  const width = left.columns.length;
  planner.environment.planSize?.add((width + right.columns.length) * 4);
  const sides = { left: left.scope, right: shifted(right.scope, width) };
  const { on, scope } = yield* constrained(from, sides, planner);
  const isNamed = from.constraint?.kind !== "on";
  const conditions = on.map((each, i) =>
    isNamed && i === on.length - 1 && each.kind === "compare" ? { ...each, operator: ">=" as const } : each,
  );
  const join = kind === "asof" ? "inner" : "left";
  const { environment } = planner;
  const relation: Relation = {
    kind: "asof",
    join,
    left: left.relation,
    right: right.relation,
    ...asofConditions(conditions, width, environment),
  };
  return { scope, columns: [...left.columns, ...right.columns], relation, table: undefined };
}

/** How each join runs, and whether its sides change places for that. */
const MODES: Readonly<Record<Exclude<JoinKind, "asof" | "asof-left">, readonly [Extract<Relation, { kind: "join" }>["join"], boolean]>> = {
  inner: ["inner", false],
  cross: ["inner", false],
  left: ["left", false],
  right: ["left", true],
  full: ["full", false],
  "left-semi": ["semi", false],
  "left-anti": ["anti", false],
  "right-semi": ["semi", true],
  "right-anti": ["anti", true],
};

function shifted(scope: Scope, by: number): Scope {
  return scope.map((column) => ({ ...column, expression: mapColumns(column.expression, (index) => index + by) }));
}

interface Sides {
  readonly left: Scope;
  readonly right: Scope;
}

/** The condition of a join over both sides, and the names above it. */
function* constrained(
  { join, constraint }: Join,
  sides: Sides,
  planner: Planner,
): Steps<{ readonly on: readonly TypedExpression[]; readonly scope: Scope }> {
  const both = [...sides.left, ...sides.right];
  if (constraint === undefined) return { on: [], scope: both };
  if (constraint.kind === "on") {
    const binder = { scope: both, environment: planner.environment, outer: planner.outer };
    const condition = yield* conditionInSteps(constraint.condition, "ON", binder);
    return { on: conjunctsOf(condition), scope: both };
  }
  const joinedBy = constraint.kind === "using" ? constraint.columns : sharedNames(sides);
  const on: TypedExpression[] = [];
  const names = new JoinedNames(both);
  for (const name of joinedBy) {
    const [left, right] = [findColumn(sides.left, [name]), findColumn(sides.right, [name])];
    if (left === undefined || right === undefined) throw planError(`column ${name} of USING is not on both sides of the join`);
    on.push(compare("=", left.expression, right.expression, planner.environment));
    names.merge(left, right, join, planner);
    if (on.length % NAMES_AT_ONCE === 0) yield;
  }
  return { on, scope: names.scope() };
}

/** Names of a USING between two turns of others. */
const NAMES_AT_ONCE = 256;

/**
 * The names above a USING: the name alone means the side whose value is always there, and `*` shows it once, where the side stood whose
 * table has the lesser name, as clients of the interface expect it.
 */
class JoinedNames {
  private readonly both: Scope;
  private readonly changed = new Map<ScopeColumn, ScopeColumn>();
  private readonly added: ScopeColumn[] = [];

  constructor(both: Scope) {
    this.both = both;
  }

  /** Lets the name of two columns mean one. */
  merge(left: ScopeColumn, right: ScopeColumn, join: JoinKind, planner: Planner): void {
    const full = join === "full" ? bothOf(left, right, planner) : undefined;
    const value = full?.expression ?? (join === "right" ? right.expression : left.expression);
    const isLeft = (left.qualifier ?? "") < (right.qualifier ?? "");
    const leftShown = isLeft && left.shown !== "hidden" ? value : "hidden"; // an earlier USING may show it elsewhere
    this.changed.set(left, { ...left, merged: join === "right" || join === "full", shown: leftShown });
    this.changed.set(right, { ...right, merged: join !== "right", shown: isLeft ? "hidden" : value });
    if (full !== undefined) this.added.push({ ...full, shown: "hidden" });
  }

  scope(): Scope {
    return [...this.both.map((column) => this.changed.get(column) ?? column), ...this.added];
  }
}

function sharedNames({ left, right }: Sides): readonly string[] {
  const others = new Set(right.map(({ name }) => name));
  return left.filter((column) => column.merged !== true && others.has(column.name)).map(({ name }) => name);
}

/** What USING means in a full join: the value of whichever side is there. */
function bothOf(left: ScopeColumn, right: ScopeColumn, { environment }: Planner): ScopeColumn {
  const choices = [...choicesOf(left.expression), ...choicesOf(right.expression)];
  environment.planSize?.add(PARTS_PER_CHOICE * choices.length);
  const values = unify(choices, "USING", environment);
  const otherwise = values.at(-1);
  if (otherwise === undefined) throw planError("USING needs two columns");
  const branches = values.slice(0, -1).map((result) => {
    const when: TypedExpression = { kind: "is", type: BOOLEAN, operand: result, test: "null", negated: true };
    return { when, result };
  });
  return { qualifier: undefined, name: left.name, expression: { kind: "case", type: otherwise.type, branches, otherwise } };
}

/** A value, and its test. */
const PARTS_PER_CHOICE = 3;

/**
 * What a name chooses from, when full joins gave it several values: the first that is there. The next full join chooses from all of them at
 * once, since a choice among choices, which tests what it gives, would be twice as long with each join.
 */
function choicesOf(expression: TypedExpression): readonly TypedExpression[] {
  return expression.kind === "case" ? [...expression.branches.map(({ result }) => result), expression.otherwise] : [expression];
}

/** The names that a relation may take from the one before it. */
function outerScopeOf(left: Source, planner: Planner): OuterScope {
  return new OuterScope((name) => findColumn(left.scope, name)?.expression ?? planner.outer?.resolve(name), planner.newId);
}

/** A function of FROM whose arguments name columns of the relation before it; undefined for one that can stand alone. */
function lateralFunction(from: TableFunction, before: OuterScope, planner: Planner): PlanNode | undefined {
  const { name, args, span, ordinality = false } = from;
  if (name !== "unnest" && !isSeries(name) && !ROW_CALLS.has(name)) return undefined;
  if (!args.some(namesColumn)) return undefined;
  if (name === "unnest") return unnestPlan(args, planner, before, ordinality);
  const call: Call = { kind: "call", name, args, star: false, distinct: false, orderBy: [], filter: undefined, span };
  if (ordinality || ROW_CALLS.has(name)) return rowCallPlan(call, planner, before, ordinality);
  return seriesPlan(call, planner, before);
}

const namesColumn = (expression: Expression): boolean => contains(expression, (node) => node.kind === "column");

/** The alias of a function; its columns are known by its own name where it has none. */
function aliasOf({ name, alias }: TableFunction): RelationAlias {
  return alias ?? { name, columns: [] };
}

const lateralAlias = (from: TableFunction, node: PlanNode): RelationAlias =>
  ROW_CALLS.has(from.name) ? relationAliasOf(node, from.name, from.alias) : aliasOf(from);

/** A relation of FROM that names columns of the one before it. */
function* lateralSource(from: Join, made: Source, node: PlanNode, left: Source, outer: OuterScope, planner: Planner): Steps<Source> {
  if (from.join !== "inner" && from.join !== "left" && from.join !== "cross")
    throw planError(`LATERAL goes with JOIN, LEFT JOIN and CROSS JOIN, not with ${from.join.toUpperCase()} JOIN`);
  const sides = { left: left.scope, right: shifted(made.scope, left.columns.length) };
  const { on, scope } = yield* constrained(from, sides, planner);
  const join = from.join === "left" ? "left" : "inner";
  const relation: Relation = { kind: "lateral", join, left: left.relation, node, parameters: outer.parameters, on };
  return { scope, columns: [...left.columns, ...made.columns], relation, table: undefined };
}

/** Scans give every tag as text, whatever type it was declared with. */
function scannedType(column: ColumnSchema): ColumnHeader["type"] {
  return column.semantic === "tag" ? STRING : column.type;
}

/** What a column's name stands for: the scanned column, cast to the declared type when that is no text (`table/tag-value.ts`). */
function columnExpression(column: ColumnSchema, index: number): TypedExpression {
  const scanned: TypedExpression = { kind: "column", type: scannedType(column), index, name: column.name };
  const { kind } = column.type;
  if (scanned.type.kind === kind) return scanned;
  // Dates and times are kept as the numbers they are.
  const isCounted = kind === "date" || kind === "time" || kind === "timestamp" || kind === "duration";
  const operand: TypedExpression = isCounted ? { kind: "cast", type: INT64, operand: scanned, safe: false } : scanned;
  return { kind: "cast", type: column.type, operand, safe: false };
}
