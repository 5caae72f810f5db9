/** Queries of every form → plans: SELECT, VALUES, set operations, WITH. */
import { unreachable } from "../../base/assert.ts";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import { displayName, sameType } from "../../column/data-type.ts";
import { valuesVector } from "../exec/vector-values.ts";
import { chosenType } from "../function/common-type.ts";
import type { Environment } from "../function/environment.ts";
import type { Catalog } from "../../table/catalog.ts";
import type { FileAccess } from "../../table/file-access.ts";
import type { PromqlEngine } from "../promql-engine.ts";
import type { CommonTable, Expression, Query, QueryEnd, Select, SetOperation, TableReference, ValuesQuery, WithQuery } from "../sql/ast.ts";
import { NO_FACTS, type SystemFacts } from "../system-facts.ts";
import { bind } from "./bind.ts";
import { castColumns } from "./cast-columns.ts";
import { unify } from "./coerce.ts";
import type { TypedExpression } from "./expression.ts";
import type { PlanNode } from "./node.ts";
import { notSupported, planError } from "./plan-error.ts";
import { distinct } from "./plan-rows.ts";
import { planSelect } from "./plan-select.ts";
import { PlanSize } from "./plan-size.ts";
import type { Planner } from "./planner.ts";
import { planRecursive } from "./recursive.ts";
import { finished, type Steps } from "./steps.ts";
import { planTql } from "./tql.ts";

/** What queries read, of the context of a statement. */
interface PlannerSources {
  readonly catalog: Catalog;
  readonly system?: SystemFacts | undefined;
  readonly files?: FileAccess | undefined;
  readonly promql?: PromqlEngine | undefined;
}

/** A planner for the queries of one statement. @param reserve counts memory of the query that is planned */
export function newPlanner(
  sources: PlannerSources,
  environment: Environment,
  optimise: boolean,
  reserve?: (bytes: number) => void,
): Planner {
  const { catalog, system = NO_FACTS, files, promql } = sources;
  let ids = 0;
  let views = 0;
  return {
    catalog,
    environment: { ...environment, planSize: new PlanSize(reserve) },
    optimise,
    files,
    named: new Map(),
    outer: undefined,
    openViews: [],
    nextView: () => ++views,
    system,
    promql,
    plan: planInSteps,
    newId: () => ids++,
  };
}

/** The plan of a query, all at once. @throws DbError PlanQuery, TableNotFound, Unsupported */
export function planQuery(query: Query, planner: Planner): PlanNode {
  return finished(planInSteps(query, planner));
}

/** The plan of a query. @throws DbError PlanQuery, TableNotFound, Unsupported */
export function* planInSteps(query: Query, planner: Planner): Steps<PlanNode> {
  yield;
  switch (query.kind) {
    case "select":
      return yield* planSelect(query, planner);
    case "with":
      return yield* planWith(query, planner);
    case "set-operation":
      return (yield* ended(query, planner)) ?? (yield* planSetOperation(query, planner));
    case "values-query":
      return (yield* ended(query, planner)) ?? (yield* planValues(query, planner));
    default:
      return unreachable(query);
  }
}

/** ORDER BY and LIMIT above a query that is no SELECT: as `SELECT * FROM (query) ORDER BY …`. Undefined when there are none. */
function* ended(query: SetOperation | ValuesQuery, planner: Planner): Steps<PlanNode | undefined> {
  const { orderBy, limit, offset, span } = query;
  if (orderBy.length === 0 && limit === undefined && offset === undefined) return undefined;
  const bare: Query = { ...query, ...NO_END };
  const from: TableReference = { kind: "derived", query: bare, lateral: false, alias: undefined, span };
  const select: Select = {
    kind: "select",
    distinct: false,
    distinctOn: [],
    items: [{ kind: "star", table: undefined, span }],
    from,
    where: undefined,
    groupBy: [],
    having: undefined,
    orderBy,
    limit,
    offset,
    span,
  };
  return yield* planSelect(select, planner);
}

const NO_END: QueryEnd = { orderBy: [], limit: undefined, offset: undefined };

function* planWith(query: WithQuery, planner: Planner): Steps<PlanNode> {
  const named = new Map(planner.named);
  const here: Planner = { ...planner, named };
  const names = new Set<string>();
  for (const table of query.tables) {
    const { alias } = table;
    // Also a name of a query around this one: whoever reads it must not have to know which of the two is meant.
    if (names.has(alias.name) || planner.named.has(alias.name)) throw planError(`WITH query name "${alias.name}" specified more than once`);
    names.add(alias.name);
    const node = yield* definitionOf(table, query.recursive === true, here);
    named.set(alias.name, { alias, node });
  }
  return yield* here.plan(query.query, here);
}

/** A query of WITH, which sees those before it and, where it may, itself. */
function* definitionOf(table: CommonTable, recursive: boolean, planner: Planner): Steps<PlanNode> {
  const { query } = table;
  if (query.kind === "tql") return planTql(query, planner);
  return (recursive ? yield* planRecursive(table, planner) : undefined) ?? (yield* planner.plan(query, planner));
}

function* planSetOperation(query: SetOperation, planner: Planner): Steps<PlanNode> {
  const planned = yield* bothSides(query, planner);
  const [left, right] = alike(query, planned[0], planned[1], planner.environment);
  const { columns } = left;
  if (query.operator === "union") {
    const inputs = [left, right].flatMap((node) => (query.all && node.kind === "union" ? node.inputs : [node]));
    const union: PlanNode = { kind: "union", inputs, columns };
    return query.all ? union : distinct(union);
  }
  const input = query.all ? left : distinct(left);
  return { kind: "set-filter", operator: query.operator, all: query.all, left: input, right, columns };
}

function* bothSides({ left, right }: SetOperation, planner: Planner): Steps<readonly [PlanNode, PlanNode]> {
  return [yield* planner.plan(left, planner), yield* planner.plan(right, planner)];
}

/** Both sides of a set operation with the types that they meet at. The names are the left side's. */
function alike(query: SetOperation, left: PlanNode, right: PlanNode, environment: Environment): readonly [PlanNode, PlanNode] {
  const word = query.operator.toUpperCase();
  if (left.columns.length !== right.columns.length) {
    throw planError(
      `${word} queries have different number of columns: left has ${left.columns.length} columns ` +
        `whereas right has ${right.columns.length} columns`,
    );
  }
  const columns = left.columns.map((column, i): ColumnHeader => {
    const other = right.columns[i] ?? column;
    const type = sameType(column.type, other.type) ? column.type : chosenType(column.type, other.type);
    if (type !== undefined) return { name: column.name, type };
    const why = `${displayName(column.type)} and ${displayName(other.type)} have no common type; cast one of them`;
    throw planError(`Incompatible inputs for ${word}: column ${i + 1}, ${column.name}: ${why}`);
  });
  return [castColumns(left, columns, environment), castColumns(right, columns, environment)];
}

/** Rows of VALUES that are bound at once. */
const ROWS_AT_ONCE = 256;

/** Rows of VALUES, one batch of them. Its columns are called column1, column2, …. */
function* planValues({ rows }: ValuesQuery, planner: Planner): Steps<PlanNode> {
  const width = rows[0]?.length ?? 0;
  const wrong = rows.find((row) => row.length !== width);
  if (wrong !== undefined) throw planError(`Inconsistent data length across values list: got ${wrong.length} values but expected ${width}`);
  const binder = { scope: [], environment: planner.environment, outer: planner.outer };
  const bound: (readonly TypedExpression[])[] = [];
  for (let i = 0; i < width; i++) {
    const column: TypedExpression[] = [];
    for (const row of rows) {
      column.push(bind(row[i] ?? missing(), binder));
      if (column.length % ROWS_AT_ONCE === 0) yield;
    }
    bound.push(unify(column, "VALUES", planner.environment, chosenType));
    yield;
  }
  const columns = bound.map((values, i): ColumnHeader => ({ name: `column${i + 1}`, type: values[0]?.type ?? { kind: "null" } }));
  const constant = bound.every((values) => values.every((value) => value.kind === "literal"));
  if (!constant) return computedRows(bound, columns);
  const vectors = bound.map((values, i) =>
    valuesVector(
      columns[i]?.type ?? { kind: "null" },
      values.map((value) => (value.kind === "literal" ? value.value : undefined)),
    ),
  );
  const batch: Batch = { rowCount: rows.length, vectors };
  return { kind: "source", name: "values", columns, batches: () => [batch] };
}

function missing(): Expression {
  throw planError("a row of VALUES is too short");
}

/** Rows whose values are not all known when they are planned: a projection of one row each. */
function computedRows(bound: readonly (readonly TypedExpression[])[], columns: readonly ColumnHeader[]): PlanNode {
  const one: PlanNode = { kind: "source", name: "", columns: [], batches: () => [{ rowCount: 1, vectors: [] }] };
  const count = bound[0]?.length ?? 0;
  if (count > COMPUTED_ROWS_MAX) throw notSupported(`more than ${COMPUTED_ROWS_MAX} rows of VALUES that are not constants`);
  const inputs = Array.from({ length: count }, (_, row): PlanNode => {
    const expressions = bound.flatMap((values) => values[row] ?? []);
    return { kind: "project", input: one, columns, expressions };
  });
  return { kind: "union", inputs, columns };
}

/** Most rows of VALUES that are not constants. Reason: each is an operator of its own. Error: Unsupported. */
const COMPUTED_ROWS_MAX = 1000;
