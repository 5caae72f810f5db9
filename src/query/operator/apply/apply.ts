/**
 * Sub-queries: plans that run for rows of another plan. Rows with equal parameters share one run, and a sub-query without parameters runs
 * once.
 */
import { withOwnMemory } from "../contract/own-memory.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { NESTED_BATCH_BYTES_MAX } from "../../../base/limits.ts";
import { isNested } from "../../../column/data-type.ts";
import type { CompareOperator } from "../../expression/expression.ts";
import type { DataType } from "../../../column/data-type.ts";
import { decodeNested } from "../../../column/nested.ts";
import type { PlanNode, SubQueryCall } from "../contract/node.ts";
import { type RowKeys, RowsWithNulls } from "./rows-with-nulls.ts";
import type { PlanParameter } from "../node-parts/parameter.ts";
import type { SubQueryResult } from "./node.ts";
import { withValues } from "./substitute.ts";
import { compareValues, type Present, type Value, valueKey } from "../../function/value/value.ts";
import { FilterEvaluator, VectorEvaluator, vectorsOf } from "../../expression/evaluator.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { gatherBatch } from "../rows/held-rows.ts";
import { RowValues } from "../../expression/row-values.ts";
import type { MemoryBudget } from "../../../base/memory/memory-budget.ts";
import { pieces } from "../rows/pieces.ts";
import { batchTooLarge, BatchRow, constantVector, valueAt, valuesVector } from "../../expression/vector-values.ts";

/** Runs a plan. */
export type RunPlan = (plan: PlanNode) => AsyncIterable<ExecBatch>;

/** Bytes that a remembered result costs beside its values, about. */
const RESULT_BYTES = 128;

/** Rows whose results are held at a time where they are texts or lists. Reason: each may be megabytes long. */
const LONG_ROWS = 256;

/** The rows of `input` with a column more for each sub-query. */
export function apply(
  node: Extract<PlanNode, { kind: "apply" }>,
  input: AsyncIterable<ExecBatch>,
  runPlan: (original: PlanNode, plan: PlanNode) => AsyncIterable<ExecBatch>,
  shared: ExecContext,
): AsyncIterable<ExecBatch> {
  const { columns } = node.input;
  const rowsAtOnce = node.calls.some(({ type }) => type.kind === "string" || isNested(type)) ? LONG_ROWS : Number.POSITIVE_INFINITY;
  return withOwnMemory("sub-queries", shared, async function* (context) {
    const calls = node.calls.map((call) => new Call(call, columns, (plan) => runPlan(call.plan, plan), context));
    for await (const whole of input) {
      for (const batch of pieces(whole, rowsAtOnce)) {
        checkCancelled(context);
        const results: Value[][] = [];
        for (const call of calls) results.push(await call.results(batch));
        const added = node.calls.map(({ type }, i) => valuesVector(type, results[i] ?? []));
        yield { rowCount: batch.rowCount, vectors: [...batch.vectors, ...added], runs: batch.runs };
      }
    }
  });
}

/** Values of the parameters of each row of a batch, and a key equal for equal ones. */
class Parameters {
  private readonly parameters: readonly PlanParameter[];
  private readonly evaluators: readonly VectorEvaluator[];

  constructor(parameters: readonly PlanParameter[], columns: PlanNode["columns"], context: ExecContext) {
    this.parameters = parameters;
    this.evaluators = parameters.map((parameter) => new VectorEvaluator(parameter.expression, columns, context));
  }

  /** Reads the rows of a batch one by one. */
  async of(batch: ExecBatch): Promise<(row: number) => { readonly key: string; readonly values: ReadonlyMap<number, Value> }> {
    const vectors = await vectorsOf(this.evaluators, batch);
    return (row) => {
      const values = this.parameters.map(({ id, expression }, i) => {
        const vector = vectors[i];
        const value = vector === undefined ? undefined : valueAt(vector, expression.type, row);
        return [id, value instanceof Uint8Array ? value.slice() : value] as const;
      });
      return { key: JSON.stringify(values.map(([, value]) => valueKey(value))), values: new Map(values) };
    };
  }
}

/** Plans for some values of parameters. */
function substitute(plan: PlanNode, values: ReadonlyMap<number, Value>, context: ExecContext): PlanNode {
  return values.size === 0 ? plan : withValues(plan, values, context.environment, !context.interpretOnly);
}

/** What a sub-query says of a row, given the row's operand where it has one. */
type Answer = (operand: Value) => Value;

class Call {
  private readonly call: SubQueryCall;
  private readonly parameters: Parameters;
  private readonly operands: RowValues | undefined;
  private readonly columns: PlanNode["columns"];
  private readonly runPlan: RunPlan;
  private readonly context: ExecContext;
  private readonly memory: MemoryBudget;
  private readonly known = new Map<string, Answer>();

  constructor(call: SubQueryCall, columns: PlanNode["columns"], runPlan: RunPlan, shared: ExecContext) {
    this.call = call;
    this.columns = columns;
    this.runPlan = runPlan;
    this.memory = shared.budget.part("sub-query");
    const context = { ...shared, budget: this.memory };
    this.context = context;
    this.parameters = new Parameters(call.parameters, columns, context);
    this.operands = "operand" in call.result ? new RowValues(call.result.operand, context) : undefined;
  }

  /** The result for each row of a batch. */
  async results(batch: ExecBatch): Promise<Value[]> {
    const { operands } = this;
    const parametersOf = await this.parameters.of(batch);
    const row = new BatchRow(batch, this.columns);
    const results: Value[] = [];
    let bytes = 0;
    for (let i = 0; i < batch.rowCount; i++) {
      const { key, values } = parametersOf(i);
      const answer = this.known.get(key) ?? (await this.run(key, values));
      row.row = i;
      const operand = operands?.of(row.read);
      const value = answer(operand instanceof Promise ? await operand : operand);
      bytes += sizeOf(value);
      if (bytes > NESTED_BATCH_BYTES_MAX) throw batchTooLarge();
      results.push(value);
    }
    return results;
  }

  private async run(key: string, values: ReadonlyMap<number, Value>): Promise<Answer> {
    checkCancelled(this.context);
    const { plan, result } = this.call;
    const bytes = RESULT_BYTES + key.length * 2;
    if (!this.context.budget.fits(bytes)) this.forget();
    this.context.budget.reserve(bytes);
    const answer = await answerOf(result, this.runPlan(substitute(plan, values, this.context)), plan, this.context);
    this.known.set(key, answer);
    await this.context.pace.turn();
    return answer;
  }

  /** Forgets the results of this call: a run of the sub-query costs time, and what is remembered costs memory that others need. */
  private forget(): void {
    this.known.clear();
    this.memory.release(this.memory.used);
  }
}

async function answerOf(result: SubQueryResult, batches: AsyncIterable<ExecBatch>, plan: PlanNode, context: ExecContext): Promise<Answer> {
  switch (result.kind) {
    case "exists": {
      for await (const batch of batches) if (batch.rowCount > 0) return () => true;
      return () => false;
    }
    case "scalar": {
      const value = await onlyValue(batches, plan);
      context.budget.reserve(sizeOf(value));
      return () => value;
    }
    case "any":
    case "all": {
      const compared = new ComparedValues(result.operator, result.kind, result.value.type);
      const values = new RowValues(result.value, context);
      for await (const batch of batches) {
        checkCancelled(context);
        const row = new BatchRow(batch, plan.columns);
        for (row.row = 0; row.row < batch.rowCount; row.row++) {
          const given = values.of(row.read);
          const value = given instanceof Promise ? await given : given;
          if (compared.add(value)) context.budget.reserve(RESULT_BYTES + sizeOf(value));
        }
      }
      return (operand) => compared.test(operand);
    }
  }
}

/** Bytes of a value that its entry does not count, about; texts are kept twice, as they are and in a key. */
function sizeOf(value: Value): number {
  return typeof value === "string" ? value.length * 4 : value instanceof Uint8Array ? value.length * 3 : 0;
}

/** The value of a sub-query used as one; NULL without rows. @throws DbError EngineExecuteQuery for several rows */
export async function onlyValue(batches: AsyncIterable<ExecBatch>, plan: PlanNode): Promise<Value> {
  const type = plan.columns[0]?.type ?? { kind: "null" };
  let value: Value;
  let rows = 0;
  for await (const batch of batches) {
    rows += batch.rowCount;
    if (rows > 1)
      throw new DbError(
        StatusCode.EngineExecuteQuery,
        "a sub-query used as a value returned more than one row; add LIMIT 1 or aggregate it",
      );
    const [vector] = batch.vectors;
    if (batch.rowCount === 1 && vector !== undefined) value = valueAt(vector, type, 0);
    if (value instanceof Uint8Array) value = value.slice();
  }
  return value;
}

type StructType = Extract<DataType, { kind: "struct" }>;

const keysOfRow = (type: StructType, row: Present): RowKeys =>
  row instanceof Uint8Array ? decodeNested(type, row).map((part) => (part === undefined ? undefined : valueKey(part))) : [];

/** The values that ANY, ALL and IN compare with. Order needs the ends alone; equality the values. */
class ComparedValues {
  private least: Value;
  private greatest: Value;
  private hasNull = false;
  private readonly keys = new Set<string>();
  private readonly operator: CompareOperator;
  private readonly isAny: boolean;

  /** Of rows of several values that are equal, or not: NULL in one of them leaves open whether they are. */
  private readonly rows: { readonly type: StructType; readonly known: RowsWithNulls } | undefined;

  constructor(operator: CompareOperator, quantifier: "any" | "all", type: DataType) {
    this.operator = operator;
    this.isAny = quantifier === "any";
    const isIn = this.isAny ? operator === "=" : operator === "<>";
    this.rows = isIn && type.kind === "struct" ? { type, known: new RowsWithNulls() } : undefined;
  }

  /** Whether the value costs memory. */
  add(given: Value): boolean {
    if (given === undefined) {
      this.hasNull = true;
      return false;
    }
    const value: Present = given instanceof Uint8Array ? given.slice() : given;
    if (this.least === undefined || compareValues(value, this.least) < 0) this.least = value;
    if (this.greatest === undefined || compareValues(value, this.greatest) > 0) this.greatest = value;
    if (this.operator !== "=" && this.operator !== "<>") return false;
    const before = this.keys.size;
    this.keys.add(valueKey(value));
    const isNew = this.keys.size > before;
    if (isNew && this.rows !== undefined) this.rows.known.add(keysOfRow(this.rows.type, value));
    return isNew;
  }

  /** Whether the comparison holds for any, or all, values; NULL where that hangs on a NULL. */
  test(operand: Value): Value {
    const { least, greatest, hasNull } = this;
    if (least === undefined || greatest === undefined) return hasNull ? undefined : !this.isAny;
    if (operand === undefined) return undefined;
    if (this.rows !== undefined) return this.testRow(this.rows, operand);
    const decided = this.isAny ? this.some(operand, least, greatest) : !this.someNot(operand, least, greatest);
    if (decided === this.isAny) return decided;
    return hasNull ? undefined : decided;
  }

  private testRow({ type, known }: NonNullable<ComparedValues["rows"]>, operand: Present): Value {
    const keys = keysOfRow(type, operand);
    if (!keys.includes(undefined) && this.keys.has(valueKey(operand))) return this.isAny;
    return this.hasNull || known.mayEqual(keys) ? undefined : !this.isAny;
  }

  /** Whether the comparison holds for some value. */
  private some(operand: Present, least: Present, greatest: Present): boolean {
    switch (this.operator) {
      case "=":
        return this.keys.has(valueKey(operand));
      case "<>":
        return this.keys.size > 1 || !this.keys.has(valueKey(operand));
      case "<":
        return compareValues(operand, greatest) < 0;
      case "<=":
        return compareValues(operand, greatest) <= 0;
      case ">":
        return compareValues(operand, least) > 0;
      case ">=":
        return compareValues(operand, least) >= 0;
    }
  }

  /** Whether the comparison fails for some value. */
  private someNot(operand: Present, least: Present, greatest: Present): boolean {
    switch (this.operator) {
      case "=":
        return this.keys.size > 1 || !this.keys.has(valueKey(operand));
      case "<>":
        return this.keys.has(valueKey(operand));
      case "<":
        return compareValues(operand, least) >= 0;
      case "<=":
        return compareValues(operand, least) > 0;
      case ">":
        return compareValues(operand, greatest) <= 0;
      case ">=":
        return compareValues(operand, greatest) < 0;
    }
  }
}

/** The rows of `input`, each paired with the rows of the plan that runs for it. */
export async function* lateralJoin(
  node: Extract<PlanNode, { kind: "lateral-join" }>,
  input: AsyncIterable<ExecBatch>,
  runPlan: RunPlan,
  context: ExecContext,
): AsyncIterable<ExecBatch> {
  const parameters = new Parameters(node.parameters, node.input.columns, context);
  const condition = node.condition === undefined ? undefined : new FilterEvaluator(node.condition, node.columns, context);
  for await (const batch of input) {
    const parametersOf = await parameters.of(batch);
    // The batch's memory ends when its source is asked again; the plan may read the same source.
    for (let row = 0; row < batch.rowCount; row++) {
      checkCancelled(context);
      let met = false;
      for await (const part of runPlan(substitute(node.plan, parametersOf(row).values, context))) {
        const own = gatherBatch(batch, new Uint32Array(part.rowCount).fill(row), part.rowCount);
        const pairs: ExecBatch = { rowCount: part.rowCount, vectors: [...own.vectors, ...part.vectors] };
        const { selection, count } = (await condition?.selectInTurns(pairs)) ?? { selection: undefined, count: part.rowCount };
        if (count === 0) continue;
        met = true;
        yield selection === undefined || count === part.rowCount ? pairs : gatherBatch(pairs, selection, count);
      }
      if (!met && node.join === "left") {
        const nulls = node.plan.columns.map(({ type }) => constantVector(type, undefined, 1));
        yield { rowCount: 1, vectors: [...gatherBatch(batch, Uint32Array.of(row), 1).vectors, ...nulls] };
      }
      await context.pace.turn();
    }
  }
}
