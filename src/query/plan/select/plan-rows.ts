/** SELECT without aggregation. */
import { groupKeyOf, placeKey } from "../common/group-keys.ts";
import { bindQualify, qualified, Windows } from "./bind-windows.ts";
import { prunedInput } from "./input-plan.ts";
import { distinct } from "../../operator/aggregate/distinct-rows.ts";
import type { PlanNode } from "../../operator/contract/node.ts";
import { conjunction } from "../../expression/expression.ts";
import { bindRowFilter, finish, finishFirstOf, newestFirst, type OrderedOutput, orderedOutput, type SelectBody } from "./select-body.ts";
import type { Steps } from "../bind/steps.ts";
import { Unnests, withoutStructs } from "./unnests.ts";
import { asksForNewestRows } from "../rules/time-descending-limit.ts";

/** The plan of a SELECT whose rows are rows of its input. */
export function* planRows(written: SelectBody): Steps<PlanNode> {
  const { select, input, limits, planner } = written;
  const body = { ...written, items: withoutStructs(written.items, input.binder) };
  const unnests = new Unnests(input.binder);
  const windows = new Windows(unnests.binder, select.windows ?? []);
  const output = yield* orderedOutput(body, windows.binder);
  const qualify = yield* bindQualify(body, windows);
  const having = yield* bindRowFilter(body, windows.binder);
  const kept = [qualify, having].filter((condition) => condition !== undefined);
  const filter = conjunction(kept);
  const simple = output.order.length === 0 && !select.distinct && windows.isEmpty && unnests.isEmpty && filter === undefined;
  if (select.distinct && windows.isEmpty && unnests.isEmpty && filter === undefined) {
    const grouped = yield* distinctOfTable(body, output);
    if (grouped !== undefined) return finish(grouped, output.order, limits, body.items.length);
  }
  const rowLimit = limits.count === undefined ? undefined : limits.count + limits.offset;
  const early = simple && planner.optimise && input.split.residual.length === 0 && rowLimit !== undefined && rowLimit > 0;
  const needed = [...output.expressions, ...windows.expressions(), ...unnests.expressions(), ...(filter === undefined ? [] : [filter])];
  yield;
  const pruned = yield* prunedInput(input, needed, { order: "listed", ...(early ? { limit: rowLimit } : {}) });
  yield;
  const unnested = unnests.over(pruned.node, pruned.place);
  const { node, place } = qualified(windows.over(unnested.node, unnested.place), filter);
  const projected: PlanNode = { kind: "project", input: node, columns: output.columns, expressions: output.expressions.map(place) };
  if (output.firstOf.length > 0) return finishFirstOf(projected, output, limits, body.items.length);
  if (select.distinct) return finish(distinct(projected), output.order, limits, body.items.length);
  const isPlain = windows.isEmpty && unnests.isEmpty && filter === undefined;
  const newest = newestFirst(body, output, projected, (first, { schema }) =>
    isPlain && asksForNewestRows(schema, first) ? { buckets: undefined } : undefined,
  );
  return newest ?? finish(projected, output.order, limits, body.items.length);
}

/**
 * The distinct rows of a table, grouped right over its scan: what depends on tags alone is then computed once a series. `SELECT DISTINCT
 * hostname, region` of 8.64M rows of 4,000 hosts takes 20 ms instead of 253, on one thread.
 */
function* distinctOfTable({ input, planner }: SelectBody, { expressions, columns, firstOf }: OrderedOutput): Steps<PlanNode | undefined> {
  const { table } = input.source;
  if (table === undefined || !planner.optimise || input.subQueries.calls.length > 0 || firstOf.length > 0) return undefined;
  const keys = expressions.map((expression) => groupKeyOf(expression, table.schema));
  if (keys.every(({ kind }) => kind === "row")) return undefined;
  const needed = expressions.filter((_, i) => keys[i]?.kind !== "series");
  const { node, place } = yield* prunedInput(input, needed, { order: "series-time" });
  return { kind: "aggregate", input: node, columns, keys: keys.map((key) => placeKey(key, place)), aggregates: [], table };
}
