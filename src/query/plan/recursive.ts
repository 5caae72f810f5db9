/**
 * WITH RECURSIVE: `first UNION [ALL] next`, where `next` names the query that is being made. `first` runs once; `next` runs over the rows
 * of the round before, until there are none. The rows of all rounds are the result; without ALL, rows that were there are left out.
 */
import { commonType } from "../function/signature/common-type.ts";
import type { CommonTable, SetOperation } from "../sql/syntax/ast.ts";
import { castColumns } from "./bind/cast-columns.ts";
import { inputsOf, type PlanNode } from "../operator/contract/node.ts";
import { planError } from "./bind/plan-error.ts";
import type { Planner } from "./common/planner.ts";
import type { Steps } from "./bind/steps.ts";

type Source = Extract<PlanNode, { kind: "source" }>;

/** The plan of a query that may read itself; undefined when it is none of that form or does not. @throws DbError PlanQuery */
export function* planRecursive({ alias, query }: CommonTable, planner: Planner): Steps<PlanNode | undefined> {
  if (query.kind !== "set-operation" || query.operator !== "union") return undefined;
  const first = yield* planner.plan(query.left, planner);
  const name = `rows of the round before of ${alias.name} (${planner.newId()})`;
  const working: Source = { kind: "source", name, columns: first.columns, source: { kind: "working", of: name } };
  const inside = { ...planner, named: new Map(planner.named).set(alias.name, { alias, node: working }) };
  const next = yield* planner.plan(query.right, inside);
  if (!reads(next, name)) return undefined;
  checkEnd(query, alias.name);
  if (first.columns.length !== next.columns.length) {
    throw planError(
      `UNION queries have different number of columns: left has ${first.columns.length} columns ` +
        `whereas right has ${next.columns.length} columns`,
    );
  }
  const wrong = first.columns.find((column, i) => commonType(column.type, next.columns[i]?.type ?? column.type) === undefined);
  if (wrong !== undefined)
    throw planError(`recursive query ${alias.name}: column ${wrong.name} is of another type in its second part; cast it`);
  const step = castColumns(next, first.columns, planner.environment);
  return { kind: "recursive", first, step, columns: first.columns, working: name, all: query.all };
}

function checkEnd({ orderBy, limit, offset }: SetOperation, name: string): void {
  if (orderBy.length === 0 && limit === undefined && offset === undefined) return;
  throw planError(`recursive query ${name}: ORDER BY, LIMIT and OFFSET belong to the query that reads it`);
}

/** Whether a plan reads the rows of the round before. */
function reads(node: PlanNode, working: string): boolean {
  if (node.kind === "source") return node.name === working;
  return inputsOf(node).some((input) => reads(input, working));
}
