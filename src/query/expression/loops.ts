/**
 * Generated loops of one expression, one for each layout of vectors that it meets. What reads texts comes as columns that are computed
 * before the loop, behind those of the batch:
 *
 *   length(url) > 80 AND code = 7        batch: url, code ─► + length(url) ─► one loop over numbers
 */
import type { Batch } from "../../column/batch.ts";
import type { Vector } from "../../column/vector.ts";
import { columnsOf, isVolatile, mapOperands, type TypedExpression } from "./expression.ts";
import { type ColumnLayout, emitFilter, emitProjection, isCodes, type LoopConstant, type LoopText, layoutOf } from "./emit.ts";
import type { EvaluationContext } from "./evaluation-context.ts";
import { generated } from "./generated-code.ts";
import type { LiftedTable } from "./lifted-table.ts";
import { type ColumnParts, type ColumnRun, columnRun, readsTexts } from "./text-columns.ts";
import type { Operand } from "../function/signature/column-function.ts";

const PARAMETERS = { filter: ["V", "P", "T", "n", "S"], project: ["V", "P", "T", "n", "O", "M"] } as const;

/** Most columns that are computed for a loop. Reason: each takes some bytes a row, which nobody counts. */
const COMPUTED_MAX = 64;

/** One loop, and what it is run with. */
export interface Loop<F> {
  readonly run: F;
  readonly text: LoopText;
  readonly tables: readonly LiftedTable[];
  /** What gives the columns behind those of the batch. */
  readonly computed: readonly ColumnRun[];
}

/** What loops of an expression are made with. */
export interface LoopParts {
  readonly kind: "filter" | "project";
  readonly context: EvaluationContext;
  readonly columns: ColumnParts;
  readonly tableOf: (expression: TypedExpression, column: number) => LiftedTable;
}

/** See the file header. */
export class Loops<F extends (...args: never[]) => number> {
  private readonly byLayout = new Map<string, Loop<F> | undefined>();
  private readonly expression: TypedExpression;
  private readonly parts: LoopParts;
  private readonly columns: readonly number[];

  constructor(expression: TypedExpression, parts: LoopParts) {
    this.expression = expression;
    this.parts = parts;
    this.columns = [...columnsOf(expression)];
  }

  /** The loop for a batch laid out like this, or undefined when there is none. */
  of(batch: Batch): Loop<F> | undefined {
    if (this.parts.context.interpretOnly) return undefined;
    const key = layoutKey(batch, this.columns);
    if (this.byLayout.has(key)) return this.byLayout.get(key);
    const made = this.make(batch);
    this.byLayout.set(key, made);
    return made;
  }

  /** Whether there is one. */
  canRun(batch: Batch): boolean {
    return this.textOf(batch) !== undefined;
  }

  private textOf(batch: Batch): { readonly text: LoopText; readonly computed: readonly ColumnRun[] } | undefined {
    const layout: ColumnLayout[] = Array.from(batch.vectors, layoutOf);
    const computed: ColumnRun[] = [];
    const expression = withComputed(this.expression, batch, this.parts.columns, computed, layout);
    if (computed.length > COMPUTED_MAX) return undefined;
    const text = this.parts.kind === "filter" ? emitFilter(expression, layout) : emitProjection(expression, layout);
    return text === undefined ? undefined : { text, computed };
  }

  private make(batch: Batch): Loop<F> | undefined {
    const { kind, context, tableOf } = this.parts;
    const made = this.textOf(batch);
    if (made === undefined) return undefined;
    const { text, computed } = made;
    context.onSource?.(kind, text.body);
    const run = generated<F>(kind, PARAMETERS[kind], text.body);
    return { run, text, tables: text.lifted.map((lifted) => tableOf(lifted.expression, lifted.column)), computed };
  }
}

/** Of which kinds the vectors of some columns are. */
export function layoutKey(batch: Batch, columns: readonly number[]): string {
  let key = "";
  for (const index of columns) {
    const vector = batch.vectors[index];
    if (vector === undefined) key += "-,";
    else {
      const { kind, array, nullable } = layoutOf(vector);
      key += `${kind} ${array} ${nullable},`;
    }
  }
  return key;
}

/** Whether an expression depends on one column alone, whose vector has codes: then it is computed once an entry. */
export function isLifted(expression: TypedExpression, batch: Batch): boolean {
  const [column, ...others] = columnsOf(expression);
  const vector = column === undefined ? undefined : batch.vectors[column];
  return others.length === 0 && vector !== undefined && isCodes(vector) && !isVolatile(expression);
}

/** The expression with columns in the place of what reads texts; says how they are computed and laid out. */
function withComputed(
  expression: TypedExpression,
  batch: Batch,
  parts: ColumnParts,
  computed: ColumnRun[],
  layout: ColumnLayout[],
): TypedExpression {
  if (expression.kind === "column" || expression.kind === "literal" || isLifted(expression, batch)) return expression;
  const run = readsTexts(expression) ? columnRun(expression, parts) : undefined;
  if (run === undefined) return mapOperands(expression, (operand) => withComputed(operand, batch, parts, computed, layout));
  computed.push(run);
  const index = layout.push({ kind: "number", array: "computed", nullable: true }) - 1;
  return { kind: "column", type: expression.type, index, name: "" };
}

/** The vectors that a loop reads: those of the batch, and what is computed of them; undefined: the interpreter has to. */
export function vectorsOfLoop({ computed }: Loop<unknown>, batch: Batch): readonly Vector[] | undefined {
  if (computed.length === 0) return batch.vectors;
  const vectors = [...batch.vectors];
  for (const run of computed) {
    const operand = run(batch, undefined);
    const vector = operand === undefined ? undefined : numberVector(operand, batch.rowCount);
    if (vector === undefined) return undefined;
    vectors.push(vector);
  }
  return vectors;
}

function numberVector(operand: Operand, rowCount: number): Vector | undefined {
  if (operand.kind === "numbers") {
    return { kind: "number", values: operand.values, validity: operand.validity ?? new Uint8Array(rowCount).fill(1) };
  }
  return undefined;
}

/** What `P` of a loop is for a batch. */
export function constantsOf(constants: readonly LoopConstant[], batch: Batch): readonly unknown[] {
  return constants.map((constant) => {
    if (constant.kind === "value") return constant.value;
    const vector = batch.vectors[constant.column];
    return vector?.kind === "time" ? clampedOffset(constant.value - vector.base) : 0;
  });
}

/** A difference of times as a number that compares rightly with offsets, all of which lie within ±2^53. */
function clampedOffset(difference: bigint): number {
  if (difference > 2n ** 53n) return 2 ** 54;
  return difference < -(2n ** 53n) ? -(2 ** 54) : Number(difference);
}

/** What `T` of a loop is for a batch. */
export function tablesOf(loop: Loop<unknown>, batch: Batch): readonly unknown[] {
  return loop.tables.map((table, i) => {
    const vector = batch.vectors[loop.text.lifted[i]?.column ?? -1];
    if (vector === undefined || !isCodes(vector)) throw new Error("a lifted expression reads a column of codes");
    return table.quickTable(vector, batch.rowCount) ?? table.update(vector, batch.rowCount);
  });
}

/** Brings the tables of a loop up to a batch, with turns for others. */
export async function updateTables(loop: Loop<unknown> | undefined, batch: Batch, context: EvaluationContext): Promise<void> {
  for (const [i, table] of loop?.tables.entries() ?? []) {
    const vector = batch.vectors[loop?.text.lifted[i]?.column ?? -1];
    if (vector === undefined || !isCodes(vector) || table.quickTable(vector, batch.rowCount) !== undefined) continue;
    await table.updateInTurns(vector, batch.rowCount, context);
  }
}
