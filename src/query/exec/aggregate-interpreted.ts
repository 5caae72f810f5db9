/** The aggregation as the oracle runs it: one row at a time, keys as text, accumulators as objects. */
import type { Value } from "../function/value.ts";
import { valueKey } from "../function/value.ts";
import type { GroupKey, PlanNode } from "../plan/node.ts";
import type { ExecBatch, ExecContext } from "./exec-context.ts";
import { checkCancelled } from "./exec-context.ts";
import { evaluate } from "./interpreter.ts";
import { type RowAccumulator, rowAccumulator } from "./row-accumulator.ts";
import { BatchRow, valuesVector } from "./vector-values.ts";

interface Group {
  readonly keys: readonly Value[];
  readonly accumulators: readonly RowAccumulator[];
}

/** The groups of `input`, whose keys are all row keys. */
export async function* aggregateInterpreted(
  node: Extract<PlanNode, { kind: "aggregate" }>,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
): AsyncIterable<ExecBatch> {
  const groups = new Map<string, Group>();
  const { environment, budget } = context;
  const newGroup = (keys: readonly Value[]): Group => ({
    keys,
    accumulators: node.aggregates.map((call) => rowAccumulator(call, budget.reserve)),
  });
  if (node.keys.length === 0) groups.set("", newGroup([]));
  for await (const batch of input) {
    checkCancelled(context);
    const row = new BatchRow(batch, node.input.columns);
    for (let i = 0; i < batch.rowCount; i++) {
      row.row = i;
      const keys = node.keys.map((key) => own(evaluate(expressionOf(key), row.read, environment)));
      const text = keys.map(valueKey).join("|");
      let group = groups.get(text);
      if (group === undefined) {
        group = newGroup(keys);
        groups.set(text, group);
      }
      for (const [k, call] of node.aggregates.entries()) {
        if (call.filter !== undefined && evaluate(call.filter, row.read, environment) !== true) continue;
        const args = call.args.map((argument) => own(evaluate(argument, row.read, environment)));
        group.accumulators[k]?.add(
          args,
          call.orderBy.map((item) => own(evaluate(item.expression, row.read, environment))),
        );
      }
    }
    await context.pace.turn();
  }
  const all = [...groups.values()];
  if (all.length === 0) return;
  const keys = node.keys.map((key, i) =>
    valuesVector(
      key.type,
      all.map((group) => group.keys[i]),
    ),
  );
  const results = node.aggregates.map((call, k) =>
    valuesVector(
      call.type.result,
      all.map((group) => group.accumulators[k]?.result()),
    ),
  );
  yield { rowCount: all.length, vectors: [...keys, ...results] };
}

function expressionOf(key: GroupKey): Extract<GroupKey, { kind: "row" }>["expression"] {
  if (key.kind !== "row") throw new Error("plans for the interpreter have row keys only");
  return key.expression;
}

/** A value that does not lie on a batch's memory. */
function own(value: Value): Value {
  return value instanceof Uint8Array ? value.slice() : value;
}
