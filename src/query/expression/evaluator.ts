/**
 * Evaluates expressions over batches: by a generated loop where the emitter can, by the interpreter elsewhere. One evaluator belongs to one
 * expression of one running query; it keeps a loop for each layout of vectors it meets.
 */
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import { assert } from "../../base/assert.ts";
import { type DataType, isNested } from "../../column/data-type.ts";
import type { NumberArray, Vector } from "../../column/vector.ts";
import { sliceBatch } from "../../column/slice.ts";
import { vectorOfTexts } from "../../column/texts.ts";
import { bucketOf } from "./bucket-of.ts";
import { columnsOf, isVolatile, type TypedExpression } from "./expression.ts";
import { isCodes } from "./emit.ts";
import type { EvaluationContext } from "./evaluation-context.ts";
import { NESTED_BATCH_BYTES_MAX } from "../../base/limits.ts";
import { type FilterSteps, runSteps, StepsByLayout } from "./filter-steps.ts";
import type { Value } from "../function/value/value.ts";
import { evaluate, type RowReader } from "./interpreter.ts";
import { bucketStarts } from "./kernels/bucket-starts.ts";
import { LiftedTable } from "./lifted-table.ts";
import { constantsOf, type LoopParts, Loops, tablesOf, updateTables, vectorsOfLoop } from "./loops.ts";
import { RowValues, withLongConstants } from "./row-values.ts";
import { type ColumnParts, type ColumnRun, columnRun, readsTexts } from "./text-columns.ts";
import { endOfPiece, joinedPieces, moveBy, textColumnsOf } from "./text-pieces.ts";
import { timeParts } from "./time-parts.ts";
import { BatchRow, batchTooLarge, PickedRow, constantVector, valuesVector } from "./vector-values.ts";

/** Bytes from which a value counts as the query's memory while those of its batch are computed: few rows have as many. */
const COUNTED_BYTES_MIN: number = 64 * 1024;

type ProjectionLoop = (V: readonly Vector[], P: unknown, T: unknown, n: number, O: NumberArray, M: Uint8Array) => number;

/** What the loops of an expression are made with. */
function loopParts(kind: LoopParts["kind"], headers: readonly ColumnHeader[], context: EvaluationContext): LoopParts {
  const columns: ColumnParts = {
    environment: context.environment,
    other: (expression) => {
      const evaluator = new VectorEvaluator(expression, headers, context);
      return (batch) => evaluator.quickVector(batch);
    },
  };
  return { kind, context, columns, tableOf: (expression, column) => tableOf(expression, column, headers, context) };
}

/** A table of the values of entries, which are computed as a batch of their own where that is quick. */
function tableOf(expression: TypedExpression, column: number, headers: readonly ColumnHeader[], context: EvaluationContext): LiftedTable {
  let evaluator: VectorEvaluator | undefined;
  return new LiftedTable(expression, context.environment, (entries, count) => {
    evaluator ??= new VectorEvaluator(expression, headers, context);
    const vectors = headers.map((_, index) => (index === column ? entries : NO_ROWS));
    return evaluator.quickVector({ rowCount: count, vectors });
  });
}

/** Stands for columns that an expression does not read. */
const NO_ROWS: Vector = { kind: "number", values: new Float64Array(0), validity: undefined };

/** Takes the rows for which a condition is true, with turns for others; gives how many they are. */
async function passing(
  rows: RowValues,
  row: { row: number; readonly read: RowReader },
  rowCount: number,
  put: (at: number, count: number) => void,
): Promise<number> {
  let count = 0;
  const take = (at: number, value: Value): void => {
    if (value === true) put(at, count++);
  };
  for (let at = 0; at < rowCount; at++) {
    at = rows.run(at, rowCount, row, take);
    if (at < rowCount) take(at, await rows.later(rowAt(row, at)));
  }
  return count;
}

function rowAt(row: { row: number; readonly read: RowReader }, at: number): RowReader {
  row.row = at;
  return row.read;
}

/** Rows of batches where a condition is true. */
export class FilterEvaluator {
  private steps: StepsByLayout;
  private predicate: TypedExpression;
  private rows: RowValues | undefined;
  private readonly headers: readonly ColumnHeader[];
  private readonly context: EvaluationContext;
  private readonly parts: LoopParts;
  private readonly slowRows: WeakMap<TypedExpression, RowValues> = new WeakMap();
  private selection = new Uint32Array(0);
  private texts: readonly number[];

  constructor(predicate: TypedExpression, headers: readonly ColumnHeader[], context: EvaluationContext) {
    this.predicate = predicate;
    this.headers = headers;
    this.context = context;
    this.parts = loopParts("filter", headers, context);
    this.steps = new StepsByLayout(predicate, this.parts);
    this.texts = textColumnsOf(predicate, headers);
  }

  /** Row positions, ascending, and how many of them count. Valid until the next call. */
  select(batch: Batch): { readonly selection: Uint32Array; readonly count: number } {
    const selection = this.roomFor(batch.rowCount);
    let count = 0;
    for (let from = 0; from < batch.rowCount; ) {
      const to = endOfPiece(batch, from, this.texts);
      const piece = sliceBatch(batch, from, to);
      const into = selection.subarray(count);
      const steps = this.steps.of(piece);
      const found = runSteps(steps, piece, into);
      const kept = found < 0 ? this.interpret(piece, into) : this.interpretLeft(steps, piece, into, found);
      moveBy(into, kept, from);
      count += kept;
      from = to;
    }
    return { selection, count };
  }

  /** As `select`, with turns for others; what takes long on one row is computed on another thread. */
  async selectInTurns(batch: Batch): Promise<{ readonly selection: Uint32Array; readonly count: number }> {
    const rows = this.rows ?? (await this.begin());
    const selection = this.roomFor(batch.rowCount);
    let count = 0;
    for (let from = 0; from < batch.rowCount; ) {
      const to = endOfPiece(batch, from, this.texts);
      const piece = sliceBatch(batch, from, to);
      const into = selection.subarray(count);
      const steps = this.steps.of(piece);
      const loop = steps.loops?.of(piece);
      if (loop !== undefined && loop.tables.length > 0) await updateTables(loop, piece, this.context);
      const found = runSteps(steps, piece, into);
      let kept = found;
      if (found < 0) kept = await this.interpretInTurns(piece, rows, into);
      else if (steps.slow !== undefined) kept = await this.interpretLeftInTurns(steps, piece, into, found);
      moveBy(into, kept, from);
      count += kept;
      from = to;
      if (from < batch.rowCount) await this.context.pace.turn();
    }
    return { selection, count };
  }

  private roomFor(rowCount: number): Uint32Array {
    if (this.selection.length < rowCount) this.selection = new Uint32Array(rowCount);
    return this.selection;
  }

  private interpretInTurns(batch: Batch, rows: RowValues, selection: Uint32Array): Promise<number> {
    return passing(rows, new BatchRow(batch, this.headers), batch.rowCount, (at, count) => (selection[count] = at));
  }

  /** What the steps left to the interpreter, over the rows that are left. */
  private interpretLeft({ slow }: FilterSteps, batch: Batch, selection: Uint32Array, left: number): number {
    if (slow === undefined) return left;
    const row = new BatchRow(batch, this.headers);
    let count = 0;
    for (let i = 0; i < left; i++) {
      row.row = selection[i] as number;
      if (evaluate(slow, row.read, this.context.environment) === true) selection[count++] = row.row;
    }
    return count;
  }

  private interpretLeftInTurns({ slow }: FilterSteps, batch: Batch, selection: Uint32Array, left: number): Promise<number> | number {
    if (slow === undefined) return left;
    let rows = this.slowRows.get(slow);
    if (rows === undefined) this.slowRows.set(slow, (rows = new RowValues(slow, this.context)));
    const row = new PickedRow(new BatchRow(batch, this.headers), selection);
    return passing(rows, row, left, (at, count) => (selection[count] = selection[at] as number));
  }

  private async begin(): Promise<RowValues> {
    this.predicate = await withLongConstants(this.predicate, this.context);
    this.steps = new StepsByLayout(this.predicate, this.parts);
    this.texts = textColumnsOf(this.predicate, this.headers);
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

function liftOf(expression: TypedExpression, headers: readonly ColumnHeader[], context: EvaluationContext): Lift | undefined {
  const [column, ...others] = columnsOf(expression);
  const isLiftable = column !== undefined && others.length === 0 && !isVolatile(expression) && !isHeavy(expression.type);
  return isLiftable ? { column, table: tableOf(expression, column, headers, context) } : undefined;
}

/** Values of an expression over batches, as vectors. */
export class VectorEvaluator {
  private readonly parts: LoopParts;
  private loops: Loops<ProjectionLoop>;
  /** What gives its texts, or its truths and numbers out of texts, without a loop. */
  private run: ColumnRun | undefined;
  private texts: readonly number[];
  private expression: TypedExpression;
  private readonly headers: readonly ColumnHeader[];
  private readonly context: EvaluationContext;
  private lift: Lift | undefined;
  private rows: RowValues | undefined;

  constructor(expression: TypedExpression, headers: readonly ColumnHeader[], context: EvaluationContext) {
    this.expression = expression;
    this.headers = headers;
    this.context = context;
    this.parts = loopParts("project", headers, context);
    this.loops = new Loops(expression, this.parts);
    this.lift = liftOf(expression, headers, context);
    this.run = this.runOf(expression);
    this.texts = textColumnsOf(expression, headers);
  }

  private runOf(expression: TypedExpression): ColumnRun | undefined {
    const isOfTexts = expression.type.kind === "string" || readsTexts(expression);
    return isOfTexts && !this.context.interpretOnly ? columnRun(expression, this.parts.columns) : undefined;
  }

  /** The vector of a batch. A column's vector is passed on, not copied. */
  vector(batch: Batch): Vector {
    const { expression } = this;
    if (expression.kind === "column") return columnVector(batch, expression.index);
    if (expression.kind === "literal") return constantVector(expression.type, expression.value, batch.rowCount);
    if (this.context.interpretOnly) return this.interpret(batch);
    return this.quickVector(batch) ?? this.interpret(batch);
  }

  /** As `vector`, but nothing at all where only the interpreter knows. */
  quickVector(batch: Batch): Vector | undefined {
    const { expression } = this;
    if (expression.kind === "column") return batch.vectors[expression.index];
    if (expression.kind === "literal") return constantVector(expression.type, expression.value, batch.rowCount);
    return this.fromBytes(batch) ?? this.lifted(batch) ?? this.inPieces(batch);
  }

  /** From the offsets of times, the bytes of a table's entries, or of rows. */
  private fromBytes(batch: Batch): Vector | undefined {
    const bucketed = this.bucketed(batch);
    if (bucketed !== undefined) return bucketed;
    const { lift } = this;
    const vector = lift === undefined ? undefined : batch.vectors[lift.column];
    // Strings of tags are the same for all batches: their values are kept as such.
    if (vector?.kind === "dictionary") return undefined;
    const quick = vector?.kind === "coded" ? lift?.table.quickVector(vector, batch.rowCount) : undefined;
    return quick ?? (this.run === undefined ? undefined : this.inPieces(batch));
  }

  /** As `vector`, with turns for others; what takes long on one row is computed on another thread. */
  async vectorInTurns(batch: Batch): Promise<Vector> {
    if (isPlain(this.expression)) return this.vector(batch);
    const rows = this.rows ?? (await this.begin());
    if (isPlain(this.expression)) return this.vector(batch);
    if (this.context.interpretOnly) return this.interpretInTurns(batch, rows);
    const quick = this.fromBytes(batch);
    if (quick !== undefined) return quick;
    const { lift } = this;
    const lifted = lift === undefined ? undefined : batch.vectors[lift.column];
    if (lifted !== undefined && isCodes(lifted)) await lift?.table.updateInTurns(lifted, batch.rowCount, this.context);
    const made = this.lifted(batch);
    if (made !== undefined) return made;
    await updateTables(this.loops.of(batch), batch, this.context);
    return this.inPieces(batch) ?? this.interpretInTurns(batch, rows);
  }

  private async begin(): Promise<RowValues> {
    this.expression = await withLongConstants(this.expression, this.context);
    this.loops = new Loops(this.expression, this.parts);
    this.lift = liftOf(this.expression, this.headers, this.context);
    this.run = this.runOf(this.expression);
    this.texts = textColumnsOf(this.expression, this.headers);
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

  /** From bytes or by a loop, few enough texts at a time. */
  private inPieces(batch: Batch): Vector | undefined {
    const pieces: Vector[] = [];
    const ends: number[] = [];
    for (let from = 0; from < batch.rowCount || from === 0; ) {
      const to = endOfPiece(batch, from, this.texts);
      const piece = sliceBatch(batch, from, to);
      const made = this.computed(piece) ?? this.looped(piece);
      if (made === undefined || to >= batch.rowCount)
        return made === undefined || from === 0 ? made : joinedPieces([...pieces, made], [...ends, to]);
      pieces.push(made);
      ends.push(to);
      from = to;
    }
    return undefined;
  }

  private computed(batch: Batch): Vector | undefined {
    const operand = this.run?.(batch, undefined);
    if (operand === undefined) return undefined;
    switch (operand.kind) {
      case "numbers":
        return { kind: "number", values: operand.values, validity: operand.validity };
      case "texts":
        return vectorOfTexts(operand.texts, batch.rowCount);
      case "constant":
        return constantVector(this.expression.type, operand.value, batch.rowCount);
    }
  }

  private looped(batch: Batch): Vector | undefined {
    const loop = this.loops.of(batch);
    const vectors = loop === undefined ? undefined : vectorsOfLoop(loop, batch);
    if (loop === undefined || vectors === undefined) return undefined;
    const { type } = this.expression;
    const values =
      type.kind === "boolean"
        ? new Uint8Array(batch.rowCount)
        : type.kind === "float" && type.bits === 32
          ? new Float32Array(batch.rowCount)
          : new Float64Array(batch.rowCount);
    const validity = new Uint8Array(batch.rowCount);
    const state = loop.run(vectors, constantsOf(loop.text.constants, batch), tablesOf(loop, batch), batch.rowCount, values, validity);
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
