/** The aggregation as the oracle runs it: one row at a time, keys as text, accumulators as objects. */
import type { Vector } from "../../../column/vector.ts";
import type { Value } from "../../function/value/value.ts";
import { valueKey } from "../../function/value/value.ts";
import type { GroupKey } from "./node.ts";
import type { PlanNode } from "../contract/node.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { groupedInParts, type HeldGroups } from "./grouped-in-parts.ts";
import { gatherBatch } from "../rows/held-rows.ts";
import { evaluate } from "../../expression/interpreter.ts";
import { resultOf, type RowAccumulator, rowAccumulator } from "../rows/row-accumulator.ts";
import type { Partitions } from "../spill/partitions.ts";
import { BatchRow, valuesVector } from "../../expression/vector-values.ts";

interface Group {
  readonly keys: readonly Value[];
  readonly accumulators: readonly RowAccumulator[];
}

type Aggregate = Extract<PlanNode, { kind: "aggregate" }>;

/** About what a group takes beside its accumulators, bytes. */
const GROUP_BYTES = 200;
/** Rows that are taken before others get a turn: a row takes some microseconds. */
const ROWS_AT_ONCE = 4096;

/** The groups of `input`, whose keys are all row keys. */
export function aggregateInterpreted(node: Aggregate, input: AsyncIterable<ExecBatch>, context: ExecContext): AsyncIterable<ExecBatch> {
  return groupedInParts(node, input, context, (own) => new Groups(node, own));
}

/** The groups that are held. */
class Groups implements HeldGroups {
  readonly rowsAtOnce: number = ROWS_AT_ONCE;
  readonly rowBytes: number = GROUP_BYTES;
  private readonly groups: Map<string, Group> = new Map();
  private readonly node: Aggregate;
  private readonly context: ExecContext;

  constructor(node: Aggregate, context: ExecContext) {
    this.node = node;
    this.context = context;
    if (node.keys.length === 0) this.groups.set("", this.newGroup([]));
  }

  get count(): number {
    return this.groups.size;
  }

  add(batch: ExecBatch): undefined {
    this.take(batch, true);
  }

  async addKnown(batch: ExecBatch, others: Partitions): Promise<void> {
    const { selection, hashes } = this.take(batch, false);
    if (selection.length > 0) await others.add(gatherBatch(batch, selection, selection.length), hashes);
  }

  /** Takes rows; gives the positions of those whose group is not held and may not be new, and the hashes of their keys. */
  private take(batch: ExecBatch, mayGrow: boolean): { readonly selection: Uint32Array; readonly hashes: Uint32Array } {
    const { node, context } = this;
    const { environment } = context;
    const left: number[] = [];
    const hashes: number[] = [];
    const row = new BatchRow(batch, node.input.columns);
    for (let i = 0; i < batch.rowCount; i++) {
      row.row = i;
      const keys = node.keys.map((key) => own(evaluate(expressionOf(key), row.read, environment)));
      const text = keys.map(valueKey).join("|");
      let group = this.groups.get(text);
      if (group === undefined && !mayGrow) {
        left.push(i);
        hashes.push(Bun.hash.xxHash32(text));
        continue;
      }
      if (group === undefined) {
        context.budget.reserve(GROUP_BYTES + text.length * 2);
        group = this.newGroup(keys);
        this.groups.set(text, group);
      }
      this.addRow(group, row);
    }
    return { selection: Uint32Array.from(left), hashes: Uint32Array.from(hashes) };
  }

  private newGroup(keys: readonly Value[]): Group {
    return { keys, accumulators: this.node.aggregates.map((call) => rowAccumulator(call, this.context.budget.reserve)) };
  }

  private addRow(group: Group, row: BatchRow): void {
    const { environment } = this.context;
    for (const [k, call] of this.node.aggregates.entries()) {
      if (call.filter !== undefined && evaluate(call.filter, row.read, environment) !== true) continue;
      const args = call.args.map((argument) => own(evaluate(argument, row.read, environment)));
      group.accumulators[k]?.add(
        args,
        call.orderBy.map((item) => own(evaluate(item.expression, row.read, environment))),
      );
    }
  }

  async *batches(): AsyncGenerator<ExecBatch> {
    const { node, context } = this;
    const all = [...this.groups.values()];
    const keys = node.keys.map((key, i) =>
      valuesVector(
        key.type,
        all.map((group) => group.keys[i]),
      ),
    );
    const results: Vector[] = [];
    for (const [k, call] of node.aggregates.entries()) {
      const values: Value[] = [];
      for (const { accumulators } of all) {
        const accumulator = accumulators[k];
        values.push(accumulator === undefined ? undefined : await resultOf(accumulator, context));
        if (context.pace.isDue()) await context.pace.turn();
      }
      results.push(valuesVector(call.type.result, values));
    }
    yield { rowCount: all.length, vectors: [...keys, ...results] };
  }
}

function expressionOf(key: GroupKey): Extract<GroupKey, { kind: "row" }>["expression"] {
  if (key.kind !== "row") throw new Error("plans for the interpreter have row keys only");
  return key.expression;
}

/** A value that does not lie on a batch's memory. */
function own(value: Value): Value {
  return value instanceof Uint8Array ? value.slice() : value;
}
