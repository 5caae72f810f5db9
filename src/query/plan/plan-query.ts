/** Queries of every form → plans: SELECT, set operations, WITH; VALUES is `values.ts`. */
import { assert, unreachable } from "../../base/assert.ts";
import type { ColumnHeader } from "../../column/batch.ts";
import { displayName, sameType } from "../../column/data-type.ts";
import { chosenType } from "../function/signature/common-type.ts";
import type { Environment } from "../function/signature/environment.ts";
import type { CommonTable, Query, QueryEnd, Select, SetOperation, TableReference, ValuesQuery, WithQuery } from "../sql/syntax/ast.ts";
import { NO_END, plainSelect } from "../sql/syntax/plain-trees.ts";
import { NO_FACTS } from "../system-facts.ts";
import { castColumns } from "./bind/cast-columns.ts";
import type { PlanNode } from "../operator/contract/node.ts";
import { planError } from "./bind/plan-error.ts";
import { distinct } from "../operator/aggregate/distinct-rows.ts";
import { planSelect } from "./plan-select.ts";
import { PlanSize } from "./bind/plan-size.ts";
import type { Planner, PlannerSources } from "./common/planner.ts";
import { withObjects } from "./virtual/with-objects.ts";
import { planRecursive } from "./recursive.ts";
import { atOnce } from "../../base/scheduler/pace.ts";
import type { Steps } from "./bind/steps.ts";
import { planTql } from "./tql.ts";
import { planValues } from "./values.ts";

/**
 * A planner for the queries of one statement.
 *
 * @param reserve counts memory of the query that is planned
 * @param explains whether the plan is to be shown
 */
export function newPlanner(
  sources: PlannerSources,
  environment: Environment,
  optimise: boolean,
  reserve?: (bytes: number) => void,
  explains = false,
): Planner {
  const { catalog, system = NO_FACTS, files, promql } = sources;
  let ids = 0;
  let views = 0;
  return {
    catalog,
    environment: { ...withObjects(environment, sources), planSize: new PlanSize(reserve) },
    optimise,
    files,
    named: new Map(),
    outer: undefined,
    openViews: [],
    nextView: () => ++views,
    system,
    promql,
    explains,
    plan: planInSteps,
    newId: () => ids++,
  };
}

/** The plan of a query, all at once. @throws DbError PlanQuery, TableNotFound, Unsupported */
export function planQuery(query: Query, planner: Planner): PlanNode {
  return atOnce(planInSteps(query, planner));
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
  if (!hasEnd(query)) return undefined;
  const { orderBy, limit, offset, span } = query;
  const bare: Query = { ...query, ...NO_END };
  const from: TableReference = { kind: "derived", query: bare, lateral: false, alias: undefined, span };
  const items: Select["items"] = [{ kind: "star", table: undefined, span }];
  return yield* planSelect(plainSelect({ items, from, orderBy, limit, offset, span }), planner);
}

function hasEnd({ orderBy, limit, offset }: QueryEnd): boolean {
  return orderBy.length > 0 || limit !== undefined || offset !== undefined;
}

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

/** Set operations lean to the left: a chain of them is planned from its first query on, and not each within the next. */
function* planSetOperation(query: SetOperation, planner: Planner): Steps<PlanNode> {
  const chain = [query];
  let first = query.left;
  for (; first.kind === "set-operation" && !hasEnd(first); first = first.left) chain.push(first);
  let made: Rows = { inputs: [yield* planner.plan(first, planner)], isDistinct: false };
  for (let next = chain.pop(); next !== undefined; next = chain.pop()) {
    made = combined(next, made, yield* planner.plan(next.right, planner), planner);
    yield;
  }
  return nodeOf(made);
}

/** The rows of plans one after the other, or the distinct ones among them. */
interface Rows {
  /** One at least, all with the types of the first. Added to in place: a chain of 900 would be copied 900 times. */
  readonly inputs: PlanNode[];
  readonly isDistinct: boolean;
}

function nodeOf({ inputs, isDistinct }: Rows): PlanNode {
  const [first] = inputs;
  assert(first !== undefined, "a set operation has a first query");
  const all: PlanNode = inputs.length === 1 ? first : { kind: "union", inputs, columns: first.columns };
  return isDistinct ? distinct(all) : all;
}

/** One set operation more. Of `a UNION b UNION c`, the rows of all three are looked through for equal ones, once. */
function combined(query: SetOperation, before: Rows, right: PlanNode, { environment, optimise }: Planner): Rows {
  const { operator, all } = query;
  const headers = before.inputs[0]?.columns ?? [];
  const columns = meetingColumns(query, headers, right.columns);
  const other = castColumns(right, columns, environment);
  const isDone = before.isDistinct && (all || !optimise);
  if (operator === "union") {
    const goesOn = !isDone && columns.every(({ type }, i) => sameType(type, headers[i]?.type ?? type));
    const inputs = goesOn ? before.inputs : [castColumns(nodeOf(before), columns, environment)];
    for (const each of all && other.kind === "union" ? other.inputs : [other]) inputs.push(each);
    return { inputs, isDistinct: !all };
  }
  // Without ALL the operator tells rows of the left apart itself. The plain plan, which is the oracle, groups them before.
  const isPlain = all || !optimise;
  const left = castColumns(nodeOf(isPlain ? before : { ...before, isDistinct: false }), columns, environment);
  const input = all || optimise ? left : distinct(left);
  return { inputs: [{ kind: "set-filter", operator, all, left: input, right: other, columns: left.columns }], isDistinct: false };
}

/** The types that both sides of a set operation meet at. The names are the left side's. */
function meetingColumns(query: SetOperation, left: readonly ColumnHeader[], right: readonly ColumnHeader[]): readonly ColumnHeader[] {
  const word = query.operator.toUpperCase();
  if (left.length !== right.length) {
    throw planError(
      `${word} queries have different number of columns: left has ${left.length} columns whereas right has ${right.length} columns`,
    );
  }
  return left.map((column, i): ColumnHeader => {
    const other = right[i] ?? column;
    const type = sameType(column.type, other.type) ? column.type : chosenType(column.type, other.type);
    if (type !== undefined) return { name: column.name, type };
    const why = `${displayName(column.type)} and ${displayName(other.type)} have no common type; cast one of them`;
    throw planError(`Incompatible inputs for ${word}: column ${i + 1}, ${column.name}: ${why}`);
  });
}
