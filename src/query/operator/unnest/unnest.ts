/**
 * Lists as rows: each row once for each place of its longest list, with a column more for each list. Shorter lists give NULL there; a row
 * whose lists are all empty or NULL goes. Rows come out in parts, so that memory is one row's lists and a part.
 */
import { entryLength } from "../../../column/coded-text.ts";
import { type DataType, isNested, NULL } from "../../../column/data-type.ts";
import { decodeNested, decodeNestedInPieces } from "../../../column/nested.ts";
import type { Vector } from "../../../column/vector.ts";
import type { Value } from "../../function/value/value.ts";
import type { PlanNode } from "../contract/node.ts";
import { VectorEvaluator, vectorsOf } from "../../expression/evaluator.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { gather } from "../kernels/gather.ts";
import { constantVector, valueAt, valuesVector } from "../../expression/vector-values.ts";

/** Rows of a batch that comes out, and about how many bytes the columns of the input take in it, unless a row alone has more. */
const BATCH_ROWS = 8192;
const BATCH_BYTES: number = 8 * 1024 * 1024;

type Node = Extract<PlanNode, { kind: "unnest" }>;

/**
 * The rows of `input` with the elements of their lists.
 *
 * @param needed columns that the reader looks at; the others come as NULL. A list itself is rarely among them, and would be copied as often
 *   as it has elements.
 */
export async function* unnest(
  node: Node,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
  needed?: ReadonlySet<number>,
): AsyncIterable<ExecBatch> {
  const evaluators = node.lists.map((list) => new VectorEvaluator(list, node.input.columns, context));
  for await (const batch of input) {
    checkCancelled(context);
    const lists = await vectorsOf(evaluators, batch);
    const part = new Part(batch, node, needed);
    for (let row = 0; row < batch.rowCount; row++) {
      const elements: (readonly Value[])[] = [];
      for (const [i, vector] of lists.entries()) elements.push(await elementsOf(vector, node.lists[i]?.type ?? NULL, row, context));
      const length = elements.reduce((most, each) => Math.max(most, each.length), 0);
      const rowsAtOnce = part.rowsOf(row);
      for (let from = 0; from < length; from += rowsAtOnce) {
        part.add(row, elements, from, Math.min(from + rowsAtOnce, length));
        if (!part.isFull) continue;
        yield part.take();
        checkCancelled(context);
        await context.pace.turn();
      }
    }
    if (part.rowCount > 0) yield part.take();
    await context.pace.turn();
  }
}

/** Elements of a list that are read before others get a turn. */
const ELEMENTS_AT_ONCE = 65_536;

async function elementsOf(vector: Vector, type: DataType, row: number, context: ExecContext): Promise<readonly Value[]> {
  const value = valueAt(vector, type, row);
  if (!(value instanceof Uint8Array) || !isNested(type)) return [];
  if (value.length < ELEMENTS_AT_ONCE) return decodeNested(type, value);
  const pieces: (readonly Value[])[] = [];
  for (const piece of decodeNestedInPieces(type, value, ELEMENTS_AT_ONCE)) {
    pieces.push(piece);
    checkCancelled(context);
    await context.pace.turn();
  }
  return pieces.flat();
}

/** Rows that gather before they come out. */
class Part {
  private rows: number[] = [];
  private columns: Value[][];
  private bytes = 0;
  private readonly batch: ExecBatch;
  private readonly node: Node;

  constructor(batch: ExecBatch, node: Node, needed: ReadonlySet<number> | undefined) {
    const { rowCount } = batch;
    const vectors = batch.vectors.map((vector, c) => {
      const { type } = node.input.columns[c] ?? { type: NULL };
      return needed === undefined || needed.has(c) ? vector : constantVector(type, undefined, rowCount);
    });
    this.batch = { rowCount, vectors };
    this.node = node;
    this.columns = node.lists.map(() => []);
  }

  get rowCount(): number {
    return this.rows.length;
  }

  /** Whether the rows are to be taken. */
  get isFull(): boolean {
    return this.rows.length >= BATCH_ROWS || this.bytes >= BATCH_BYTES;
  }

  /** How often a row may be repeated at a time. */
  rowsOf(row: number): number {
    return Math.max(1, Math.min(BATCH_ROWS, Math.floor(BATCH_BYTES / this.bytesOf(row))));
  }

  /** Bytes of a row of the input, at least 1: those of its long values. */
  private bytesOf(row: number): number {
    let bytes = 1;
    for (const vector of this.batch.vectors) {
      if (vector.kind === "bytes") bytes += (vector.offsets[row + 1] as number) - (vector.offsets[row] as number);
      else if (vector.kind === "coded") bytes += entryLength(vector.entries, vector.codes[row] as number);
    }
    return bytes;
  }

  /** Takes places `[from, to)` of the lists of a row. */
  add(row: number, elements: readonly (readonly Value[])[], from: number, to: number): void {
    this.bytes += this.bytesOf(row) * (to - from);
    for (let i = from; i < to; i++) {
      this.rows.push(row);
      for (const [c, column] of this.columns.entries()) column.push(elements[c]?.[i]);
    }
  }

  /** The rows gathered so far as a batch. */
  take(): ExecBatch {
    const { rows, columns, batch, node } = this;
    const selection = Uint32Array.from(rows);
    const kept = batch.vectors.map((vector) => gather(vector, selection, rows.length));
    const first = node.input.columns.length;
    const added = columns.map((values, i) => valuesVector(node.columns[first + i]?.type ?? NULL, values));
    this.rows = [];
    this.bytes = 0;
    this.columns = columns.map(() => []);
    return { rowCount: rows.length, vectors: [...kept, ...added] };
  }
}
