/** The aggregation as the oracle runs it: one row at a time, keys as text, accumulators as objects. */
import type { Value } from "../function/value.ts";
import { valueKey } from "../function/value.ts";
import type { GroupKey, PlanNode } from "../plan/node.ts";
import type { ExecBatch, ExecContext } from "./exec-context.ts";
import { checkCancelled } from "./exec-context.ts";
import { gatherBatch } from "./held-rows.ts";
import { evaluate } from "./interpreter.ts";
import { type RowAccumulator, rowAccumulator } from "./row-accumulator.ts";
import { Partitions, SPLIT_LEVELS_MAX } from "./spill/partitions.ts";
import { pieces } from "./spill/pieces.ts";
import { SpillContext } from "./spill/spill-context.ts";
import { BatchRow, valuesVector } from "./vector-values.ts";

interface Group {
  readonly keys: readonly Value[];
  readonly accumulators: readonly RowAccumulator[];
}

type Aggregate = Extract<PlanNode, { kind: "aggregate" }>;

/** About what a group takes beside its accumulators, bytes. */
const GROUP_BYTES = 200;
/** Parts of the operator's share of memory that the groups of one piece of a batch may take. */
const PIECES_PER_SHARE = 4;

/** The groups of `input`, whose keys are all row keys. Those that do not fit in memory go over the disk, as in the other twin. */
export async function* aggregateInterpreted(
  node: Aggregate,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
): AsyncIterable<ExecBatch> {
  const spill = new SpillContext(node, context);
  try {
    yield* grouped(node, input, context, spill, 0);
  } finally {
    await spill.close();
  }
}

async function* grouped(
  node: Aggregate,
  input: AsyncIterable<ExecBatch>,
  shared: ExecContext,
  spill: SpillContext,
  level: number,
): AsyncGenerator<ExecBatch> {
  const budget = shared.budget.part("aggregate");
  const groups = new Groups(node, { ...shared, budget });
  let rest: Partitions | undefined;
  try {
    for await (const batch of input) {
      checkCancelled(shared);
      for (const piece of pieces(batch, spill.rowsOf(batch.rowCount * GROUP_BYTES, batch.rowCount, PIECES_PER_SHARE))) {
        const isFull = rest === undefined && groups.canSplit && level < SPLIT_LEVELS_MAX;
        if (isFull && !spill.fits(piece.rowCount * GROUP_BYTES, budget)) rest = await Partitions.create(node.input.columns, level, spill);
        const { selection, hashes } = groups.add(piece, rest === undefined);
        if (selection.length > 0) await rest?.add(gatherBatch(piece, selection, selection.length), hashes);
      }
      await shared.pace.turn();
    }
    await rest?.finish();
    if (groups.size > 0) yield groups.batch();
  } finally {
    budget.close();
  }
  if (rest === undefined) return;
  for (const part of rest.parts) if (part.rowCount > 0) yield* grouped(node, part.read(), shared, spill, level + 1);
  await rest.drop();
}

/** The groups that are held. */
class Groups {
  private readonly groups: Map<string, Group> = new Map();
  private readonly node: Aggregate;
  private readonly context: ExecContext;

  constructor(node: Aggregate, context: ExecContext) {
    this.node = node;
    this.context = context;
    if (node.keys.length === 0) this.groups.set("", this.newGroup([]));
  }

  get size(): number {
    return this.groups.size;
  }

  /** Whether rows of further groups may go elsewhere. */
  get canSplit(): boolean {
    return this.node.keys.length > 0 && this.groups.size > 0;
  }

  /** Takes rows; gives the positions of those whose group is not held and may not be new, and the hashes of their keys. */
  add(batch: ExecBatch, mayGrow: boolean): { readonly selection: Uint32Array; readonly hashes: Uint32Array } {
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

  /** One row a group. */
  batch(): ExecBatch {
    const { node } = this;
    const all = [...this.groups.values()];
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
    return { rowCount: all.length, vectors: [...keys, ...results] };
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
