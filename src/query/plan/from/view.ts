/**
 * Views in FROM: the text of a view is planned where it is read, in the database that was current when it was made and without the names
 * of the query around it. What the view shows was settled when it was made: columns that its tables got since are left out.
 */
import { DbError, invalidArguments } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { ViewInfo } from "../../../table/view.ts";
import type { Query } from "../../sql/syntax/ast.ts";
import { parseInSteps } from "../../sql/parse-in-turns.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import type { Planner } from "../common/planner.ts";
import type { Steps } from "../bind/steps.ts";

/** Views that lie in one another, and views that a statement reads in all: two views that each read another twice are four. */
const VIEW_DEPTH_MAX = 32;
const VIEWS_READ_MAX = 256;

/** A view that is being planned. */
interface OpenView {
  readonly database: string;
  readonly name: string;
}

/** A planned view. `positions[i]` is where column `i` of the view stands among those of the node. */
export interface PlannedView {
  readonly node: PlanNode;
  readonly positions: readonly number[];
}

const invalid = (message: string): DbError => invalidArguments(`cannot read ${message}`);

/**
 * The plan of a view.
 *
 * @throws DbError InvalidArguments past the limits, Unexpected when its tables no longer have what it reads, TableNotFound
 */
export function* planView(view: ViewInfo, planner: Planner): Steps<PlannedView> {
  const name = `${view.database}.${view.name}`;
  const isOpen = planner.openViews.some((open) => open.database === view.database && open.name === view.name);
  if (isOpen) throw invalid(`view ${name}: it reads itself`);
  if (planner.openViews.length >= VIEW_DEPTH_MAX) throw invalid(`view ${name}: it lies ${VIEW_DEPTH_MAX} views deep, which is the limit`);
  if (planner.nextView() > VIEWS_READ_MAX)
    throw invalid(`view ${name}: the statement reads more than ${VIEWS_READ_MAX} views, each counted as often as read`);
  const node = yield* planned(view, planner);
  return { node, positions: positionsOf(view, node) };
}

/** The plan of a view's query as if it stood alone in its database. */
export function* planInside(query: Query, view: OpenView & Pick<ViewInfo, "queryDatabase">, planner: Planner): Steps<PlanNode> {
  const { environment, openViews } = planner;
  const inside: Planner = {
    ...planner,
    environment: { ...environment, database: view.queryDatabase },
    openViews: [...openViews, view],
    named: new Map(),
    outer: undefined,
  };
  return yield* planner.plan(query, inside);
}

function* planned(view: ViewInfo, planner: Planner): Steps<PlanNode> {
  const [statement] = (yield* parseInSteps(view.query)).statements;
  const kind = statement?.kind;
  if (kind !== "select" && kind !== "set-operation" && kind !== "values-query" && kind !== "with") {
    throw new DbError(StatusCode.Unexpected, `cannot read view ${view.database}.${view.name}: its text is no query; make it again`);
  }
  try {
    return yield* planInside(statement as Query, view, planner);
  } catch (cause) {
    if (!(cause instanceof DbError) || cause.code !== StatusCode.PlanQuery) throw cause;
    throw broken(cause.details.reason ?? cause.message, cause);
  }
}

/** Equal names are told apart by their order. */
function positionsOf(view: ViewInfo, { columns }: PlanNode): readonly number[] {
  const places = new Map<string, number[]>();
  for (let i = columns.length - 1; i >= 0; i--) {
    const name = columns[i]?.name ?? "";
    const known = places.get(name);
    if (known === undefined) places.set(name, [i]);
    else known.push(i);
  }
  return view.sources.map((source) => {
    const at = places.get(source)?.pop(); // The first that is left.
    if (at === undefined) throw broken(`No field named ${source}. Valid fields are ${columns.map(({ name }) => name).join(", ")}.`);
    return at;
  });
}

/** The error of a view whose tables have changed under it, in the words that clients of the contract know. */
function broken(why: string, cause?: unknown): DbError {
  return new DbError(StatusCode.Unexpected, `Failed to decode DataFusion plan: ${why}`, { cause });
}
