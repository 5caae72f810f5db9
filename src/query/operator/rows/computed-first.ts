/**
 * Operators that cannot wait in the middle of a batch (groupings, sorts, windows) get what takes long of their expressions as columns:
 *
 *   aggregate  keys upper(s), sum(length(t)) FILTER (WHERE u LIKE '%x')
 *     ◄ rows + upper(s), u LIKE '%x'
 *     ◄ rows + CASE WHEN #filter THEN length(t) END          arguments are computed of the rows that pass alone
 *
 * Where the operator hands its rows on, the columns are taken out again.
 */
import type { ColumnHeader } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import { expressionKey, isVolatile, literal, partsOf, type TypedExpression } from "../../expression/expression.ts";
import { type AggregateCall, changedAggregate } from "../node-parts/aggregate-call.ts";
import { type PlanNode, rebuilt } from "../contract/node.ts";
import { VectorEvaluator } from "../../expression/evaluator.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { isLongExpression, shortPieces } from "./short-pieces.ts";

type NodeOf<K extends PlanNode["kind"]> = Extract<PlanNode, { kind: K }>;
type Reader = NodeOf<"aggregate" | "sort" | "window">;
type RunOf<N> = (node: N, input: AsyncIterable<ExecBatch>, context: ExecContext) => AsyncIterable<ExecBatch>;

/** Parts of an expression up to which it is looked for among those that are computed already. */
const SHARED_PARTS_MAX = 256;

/** Runs an operator over rows that have what takes long of its expressions as columns. */
export function computedFirst<N extends Reader>(
  node: N,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
  run: RunOf<N>,
): AsyncIterable<ExecBatch> {
  const columns = new AddedColumns(node.input.columns);
  const reader = context.interpretOnly ? node : withColumns(node, columns);
  if (columns.isEmpty) return run(node, input, context);
  return computed(node, reader, columns, input, context, run);
}

async function* computed<N extends Reader>(
  node: N,
  reader: N,
  columns: AddedColumns,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
  run: RunOf<N>,
): AsyncGenerator<ExecBatch> {
  const metrics = context.metrics?.get(node);
  if (metrics !== undefined) context.metrics?.set(reader, metrics); // What spills counts as the plan's own.
  const rows = run(reader, columns.of(shortPieces(input, context), context), context);
  if (node.kind === "aggregate") yield* rows;
  else for await (const batch of rows) yield { ...batch, vectors: columns.without(batch.vectors) };
}

/** The operator over the columns. */
function withColumns<N extends Reader>(node: N, columns: AddedColumns): N {
  const changed = node.kind === "aggregate" ? changedGrouping(node, columns) : rebuilt(node, (input) => input, columns.placed);
  if (columns.isEmpty) return node;
  const own = node.kind === "aggregate" ? node.columns : columns.with(node.columns);
  return { ...(changed as N), input: { ...node.input, columns: columns.with(node.input.columns) }, columns: own };
}

function changedGrouping(node: NodeOf<"aggregate">, columns: AddedColumns): PlanNode {
  return {
    ...node,
    // What depends on tags alone is computed once a series.
    keys: node.keys.map((key) => (key.kind === "row" ? { ...key, expression: columns.placed(key.expression) } : key)),
    aggregates: node.aggregates.map((call) => changedCall(call, columns)),
  };
}

/** Arguments of rows that a filter drops are not computed: they might fail. */
function changedCall(call: AggregateCall, columns: AddedColumns): AggregateCall {
  const isLong = [...call.args, ...call.orderBy.map(({ expression }) => expression)].some(isLongExpression);
  if (call.filter === undefined || !isLong) return changedAggregate(call, columns.placed);
  const filter = columns.placedFirst(call.filter);
  const guarded = (each: TypedExpression): TypedExpression => {
    if (!isLongExpression(each)) return each;
    const { type } = each;
    return columns.placed({ kind: "case", type, branches: [{ when: filter, result: each }], otherwise: literal(type, undefined) });
  };
  return { ...changedAggregate({ ...call, filter: undefined }, guarded), filter };
}

/** Columns behind those of the input. */
class AddedColumns {
  private readonly columns: readonly ColumnHeader[];
  private readonly expressions: TypedExpression[] = [];
  private readonly byKey = new Map<string | TypedExpression, TypedExpression>();

  constructor(columns: readonly ColumnHeader[]) {
    this.columns = columns;
  }

  private get width(): number {
    return this.columns.length;
  }

  get isEmpty(): boolean {
    return this.expressions.length === 0;
  }

  /** An expression as it is, or as the column that has its values when it takes long. */
  readonly placed = (expression: TypedExpression): TypedExpression => {
    return isLongExpression(expression) ? this.placedFirst(expression) : expression;
  };

  /** An expression as a column; columns that are added later may read it. */
  placedFirst(expression: TypedExpression): TypedExpression {
    const isShared = !isVolatile(expression) && partsOf(expression, SHARED_PARTS_MAX) < SHARED_PARTS_MAX;
    const key = isShared ? expressionKey(expression) : expression;
    const known = this.byKey.get(key);
    if (known !== undefined) return known;
    const index = this.width + this.expressions.push(expression) - 1;
    const column: TypedExpression = { kind: "column", type: expression.type, index, name: `#${index}` };
    this.byKey.set(key, column);
    return column;
  }

  private get headers(): readonly ColumnHeader[] {
    return this.expressions.map(({ type }, i) => ({ name: `#${this.width + i}`, type }));
  }

  /** The headers of the input or of what comes out, which begins with them, with those of the columns. */
  with(columns: readonly ColumnHeader[]): readonly ColumnHeader[] {
    return [...columns.slice(0, this.width), ...this.headers, ...columns.slice(this.width)];
  }

  /** What comes out without the columns. */
  without(vectors: readonly Vector[]): readonly Vector[] {
    return [...vectors.slice(0, this.width), ...vectors.slice(this.width + this.expressions.length)];
  }

  /** The rows of `batches` with the columns. */
  async *of(batches: AsyncIterable<ExecBatch>, context: ExecContext): AsyncGenerator<ExecBatch> {
    const headers = this.with(this.columns);
    const evaluators = this.expressions.map((expression) => new VectorEvaluator(expression, headers, context));
    for await (const batch of batches) {
      if (batch.summary !== undefined) {
        yield batch;
        continue;
      }
      const vectors = [...batch.vectors];
      for (const evaluator of evaluators) vectors.push(await evaluator.vectorInTurns({ rowCount: batch.rowCount, vectors }));
      yield { ...batch, vectors };
      await context.pace.turn();
    }
  }
}
