/**
 * Evaluates expressions over batches: by a generated loop where the emitter can, by the interpreter elsewhere. One evaluator belongs to one
 * expression of one running query; it keeps a loop for each layout of vectors it meets.
 */
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import { assert } from "../../base/assert.ts";
import { type DataType, isNested } from "../../column/data-type.ts";
import type { NumberArray, Vector } from "../../column/vector.ts";
import { bucketOf } from "./bucket-of.ts";
import { columnsOf, isVolatile, type TypedExpression } from "./expression.ts";
import { emitFilter, emitProjection, isCodes, type LoopConstant, type LoopText, layoutOf } from "./emit.ts";
import type { EvaluationContext } from "./evaluation-context.ts";
import { NESTED_BATCH_BYTES_MAX } from "../../base/limits.ts";
import { generated } from "./generated-code.ts";
import type { Value } from "../function/value/value.ts";
import { evaluate, type RowReader } from "./interpreter.ts";
import { bucketStarts } from "./kernels/bucket-starts.ts";
import { LiftedTable } from "./lifted-table.ts";
import { RowValues, withLongConstants } from "./row-values.ts";
import { timeParts } from "./time-parts.ts";
import { BatchRow, batchTooLarge, constantVector, valuesVector } from "./vector-values.ts";

/** Bytes from which a value counts as the query's memory while those of its batch are computed: few rows have as many. */
const COUNTED_BYTES_MIN: number = 64 * 1024;

type FilterLoop = (V: readonly Vector[], P: unknown, T: unknown, n: number, S: Uint32Array) => number;
type ProjectionLoop = (V: readonly Vector[], P: unknown, T: unknown, n: number, O: NumberArray, M: Uint8Array) => number;

interface Loop<F> {
  readonly run: F;
  readonly text: LoopText;
  readonly tables: readonly LiftedTable[];
}

const PARAMETERS = { filter: ["V", "P", "T", "n", "S"], project: ["V", "P", "T", "n", "O", "M"] } as const;

/** Loops of one expression by layout. */
class Loops<F extends (...args: never[]) => number> {
  private readonly byLayout = new Map<string, Loop<F> | undefined>();
  private readonly expression: TypedExpression;
  private readonly kind: "filter" | "project";
  private readonly context: EvaluationContext;
  private readonly columns: readonly number[];

  constructor(expression: TypedExpression, kind: "filter" | "project", context: EvaluationContext) {
    this.expression = expression;
    this.kind = kind;
    this.context = context;
    this.columns = [...columnsOf(expression)];
  }

  /** The loop for a batch laid out like this, or undefined when there is none. */
  of(batch: Batch): Loop<F> | undefined {
    if (this.context.interpretOnly) return undefined;
    const key = this.columns.map((index) => this.layoutKey(batch.vectors[index])).join(",");
    if (this.byLayout.has(key)) return this.byLayout.get(key);
    const made = this.make(batch);
    this.byLayout.set(key, made);
    return made;
  }

  private layoutKey(vector: Vector | undefined): string {
    if (vector === undefined) return "-";
    const { kind, array, nullable } = layoutOf(vector);
    return `${kind} ${array} ${nullable}`;
  }

  private make(batch: Batch): Loop<F> | undefined {
    const layout = batch.vectors.map(layoutOf);
    const text = this.kind === "filter" ? emitFilter(this.expression, layout) : emitProjection(this.expression, layout);
    if (text === undefined) return undefined;
    this.context.onSource?.(this.kind, text.body);
    const run = generated<F>(this.kind, PARAMETERS[this.kind], text.body);
    return { run, text, tables: text.lifted.map((lifted) => new LiftedTable(lifted.expression, this.context.environment)) };
  }
}

function constantsOf(constants: readonly LoopConstant[], batch: Batch): readonly unknown[] {
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

function tablesOf(loop: Loop<unknown>, batch: Batch): readonly unknown[] {
  return loop.tables.map((table, i) => {
    const vector = batch.vectors[loop.text.lifted[i]?.column ?? -1];
    if (vector === undefined || !isCodes(vector)) throw new Error("a lifted expression reads a column of codes");
    return table.update(vector, batch.rowCount);
  });
}

/** Brings the tables of a loop up to a batch, with turns for others. */
async function updateTables(loop: Loop<unknown> | undefined, batch: Batch, context: EvaluationContext): Promise<void> {
  for (const [i, table] of loop?.tables.entries() ?? []) {
    const vector = batch.vectors[loop?.text.lifted[i]?.column ?? -1];
    if (vector !== undefined && isCodes(vector)) await table.updateInTurns(vector, batch.rowCount, context);
  }
}

function rowAt(row: BatchRow, at: number): RowReader {
  row.row = at;
  return row.read;
}

/** Rows of batches where a condition is true. */
export class FilterEvaluator {
  private loops: Loops<FilterLoop>;
  private predicate: TypedExpression;
  private rows: RowValues | undefined;
  private readonly headers: readonly ColumnHeader[];
  private readonly context: EvaluationContext;
  private selection = new Uint32Array(0);

  constructor(predicate: TypedExpression, headers: readonly ColumnHeader[], context: EvaluationContext) {
    this.predicate = predicate;
    this.headers = headers;
    this.context = context;
    this.loops = new Loops(predicate, "filter", context);
  }

  /** Row positions, ascending, and how many of them count. Valid until the next call. */
  select(batch: Batch): { readonly selection: Uint32Array; readonly count: number } {
    if (this.selection.length < batch.rowCount) this.selection = new Uint32Array(batch.rowCount);
    const { selection } = this;
    const loop = this.loops.of(batch);
    const count =
      loop === undefined
        ? -1
        : loop.run(batch.vectors, constantsOf(loop.text.constants, batch), tablesOf(loop, batch), batch.rowCount, selection);
    return { selection, count: count < 0 ? this.interpret(batch, selection) : count };
  }

  /** As `select`, with turns for others; what takes long on one row is computed on another thread. */
  async selectInTurns(batch: Batch): Promise<{ readonly selection: Uint32Array; readonly count: number }> {
    const rows = this.rows ?? (await this.begin());
    const loop = this.loops.of(batch);
    await updateTables(loop, batch, this.context);
    if (this.selection.length < batch.rowCount) this.selection = new Uint32Array(batch.rowCount);
    const { selection } = this;
    if (loop !== undefined) {
      const found = loop.run(batch.vectors, constantsOf(loop.text.constants, batch), tablesOf(loop, batch), batch.rowCount, selection);
      if (found >= 0) return { selection, count: found };
    }
    const row = new BatchRow(batch, this.headers);
    let count = 0;
    const take = (at: number, value: Value): void => {
      if (value === true) selection[count++] = at;
    };
    for (let at = 0; at < batch.rowCount; at++) {
      at = rows.run(at, batch.rowCount, row, take);
      if (at < batch.rowCount) take(at, await rows.later(rowAt(row, at)));
    }
    return { selection, count };
  }

  private async begin(): Promise<RowValues> {
    this.predicate = await withLongConstants(this.predicate, this.context);
    this.loops = new Loops(this.predicate, "filter", this.context);
    return (this.rows = new RowValues(this.predicate, this.context));
  }

  private interpret(batch: Batch, selection: Uint32Array): number {
    const row = new BatchRow(batch, this.headers);
    let count = 0;
    for (let i = 0; i < batch.rowCount; i++) {
      row.row = i;
      if (evaluate(this.predicate, row.read, this.context.environment) === true) selection[count++] = i;
    }
    return count;
  }
}

/** Types whose values no table of a dictionary's entries holds: intervals are no scalars, lists may be long. */
const isHeavy = (type: DataType): boolean => type.kind === "interval" || isNested(type);

const isPlain = ({ kind }: TypedExpression): boolean => kind === "column" || kind === "literal";

interface Lift {
  readonly column: number;
  readonly table: LiftedTable;
}

function liftOf(expression: TypedExpression, context: EvaluationContext): Lift | undefined {
  const [column, ...others] = columnsOf(expression);
  const isLiftable = column !== undefined && others.length === 0 && !isVolatile(expression) && !isHeavy(expression.type);
  return isLiftable ? { column, table: new LiftedTable(expression, context.environment) } : undefined;
}

/** Values of an expression over batches, as vectors. */
export class VectorEvaluator {
  private loops: Loops<ProjectionLoop>;
  private expression: TypedExpression;
  private readonly headers: readonly ColumnHeader[];
  private readonly context: EvaluationContext;
  private lift: Lift | undefined;
  private rows: RowValues | undefined;

  constructor(expression: TypedExpression, headers: readonly ColumnHeader[], context: EvaluationContext) {
    this.expression = expression;
    this.headers = headers;
    this.context = context;
    this.loops = new Loops(expression, "project", context);
    this.lift = liftOf(expression, context);
  }

  /** The vector of a batch. A column's vector is passed on, not copied. */
  vector(batch: Batch): Vector {
    const { expression } = this;
    if (expression.kind === "column") return columnVector(batch, expression.index);
    if (expression.kind === "literal") return constantVector(expression.type, expression.value, batch.rowCount);
    if (this.context.interpretOnly) return this.interpret(batch);
    return this.bucketed(batch) ?? this.lifted(batch) ?? this.looped(batch) ?? this.interpret(batch);
  }

  /** As `vector`, with turns for others; what takes long on one row is computed on another thread. */
  async vectorInTurns(batch: Batch): Promise<Vector> {
    if (isPlain(this.expression)) return this.vector(batch);
    const rows = this.rows ?? (await this.begin());
    if (isPlain(this.expression)) return this.vector(batch);
    if (this.context.interpretOnly) return this.interpretInTurns(batch, rows);
    const { lift } = this;
    const lifted = lift === undefined ? undefined : batch.vectors[lift.column];
    if (lifted !== undefined && isCodes(lifted)) await lift?.table.updateInTurns(lifted, batch.rowCount, this.context);
    const made = this.bucketed(batch) ?? this.lifted(batch);
    if (made !== undefined) return made;
    await updateTables(this.loops.of(batch), batch, this.context);
    return this.looped(batch) ?? this.interpretInTurns(batch, rows);
  }

  private async begin(): Promise<RowValues> {
    this.expression = await withLongConstants(this.expression, this.context);
    this.loops = new Loops(this.expression, "project", this.context);
    this.lift = liftOf(this.expression, this.context);
    return (this.rows = new RowValues(this.expression, this.context));
  }

  private async interpretInTurns(batch: Batch, rows: RowValues): Promise<Vector> {
    const budget = this.context.budget.part("texts and lists");
    try {
      const row = new BatchRow(batch, this.headers);
      const values: Value[] = [];
      let bytes = 0;
      const take = (_: number, value: Value): void => {
        const own = typeof value === "string" || value instanceof Uint8Array ? value.length : 0;
        if (own > 0 && (bytes += own) > NESTED_BATCH_BYTES_MAX) throw batchTooLarge();
        if (own >= COUNTED_BYTES_MIN) budget.reserve(own);
        values.push(value);
      };
      for (let at = 0; at < batch.rowCount; at++) {
        at = rows.run(at, batch.rowCount, row, take);
        if (at < batch.rowCount) take(at, await rows.later(rowAt(row, at)));
      }
      return valuesVector(this.expression.type, values);
    } finally {
      budget.close();
    }
  }

  private bucketed(batch: Batch): Vector | undefined {
    const parts = timeParts(this.expression, batch);
    if (parts !== undefined) return parts;
    const [, time] = this.expression.kind === "call" ? this.expression.args : [];
    if (time?.kind !== "column") return undefined;
    const vector = batch.vectors[time.index];
    const buckets = vector?.kind === "time" ? bucketOf(this.expression, time.index) : undefined;
    return vector?.kind === "time" && buckets !== undefined ? bucketStarts(vector, buckets, batch.rowCount) : undefined;
  }

  private lifted(batch: Batch): Vector | undefined {
    const vector = this.lift === undefined ? undefined : batch.vectors[this.lift.column];
    if (this.lift === undefined || vector === undefined || !isCodes(vector)) return undefined;
    return this.lift.table.update(vector, batch.rowCount).vector(vector.codes, batch.rowCount);
  }

  private looped(batch: Batch): Vector | undefined {
    const loop = this.loops.of(batch);
    if (loop === undefined) return undefined;
    const { type } = this.expression;
    const values =
      type.kind === "boolean"
        ? new Uint8Array(batch.rowCount)
        : type.kind === "float" && type.bits === 32
          ? new Float32Array(batch.rowCount)
          : new Float64Array(batch.rowCount);
    const validity = new Uint8Array(batch.rowCount);
    const state = loop.run(batch.vectors, constantsOf(loop.text.constants, batch), tablesOf(loop, batch), batch.rowCount, values, validity);
    return state < 0 ? undefined : { kind: "number", values, validity: state === 0 ? undefined : validity };
  }

  private interpret(batch: Batch): Vector {
    const row = new BatchRow(batch, this.headers);
    let bytes = 0;
    const values = Array.from({ length: batch.rowCount }, (_, i) => {
      row.row = i;
      const value = evaluate(this.expression, row.read, this.context.environment);
      const isLong = typeof value === "string" || value instanceof Uint8Array;
      if (isLong && (bytes += value.length) > NESTED_BATCH_BYTES_MAX) throw batchTooLarge();
      return value;
    });
    return valuesVector(this.expression.type, values);
  }
}

function columnVector(batch: Batch, index: number): Vector {
  const vector = batch.vectors[index];
  assert(vector !== undefined, `a batch with column ${index}`);
  return vector;
}

/** The vectors of several expressions over a batch, one after the other, with turns for others. */
export async function vectorsOf(evaluators: readonly VectorEvaluator[], batch: Batch): Promise<readonly Vector[]> {
  const vectors: Vector[] = [];
  for (const evaluator of evaluators) vectors.push(await evaluator.vectorInTurns(batch));
  return vectors;
}
