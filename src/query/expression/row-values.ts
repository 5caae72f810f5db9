/**
 * Expressions that take long on one row, such as `array_intersect` of a million elements: computed on a thread of their own, so that this
 * one goes on meanwhile.
 *
 *   a row ─► within an allowance (`call-weights.ts`) ─► its value
 *                 └─► too long ─► others have a turn, and it is tried again ─► the thread gets the expression and what it reads of the row
 *
 * The whole expression goes, so that what its calls hand to each other is copied nowhere. Where it reads a query around it, or has too many
 * parts to be sent, its operands go. Parts that read no column are computed once for all rows.
 *
 * What a thread is given, and what it gives, counts as the query's memory before it is copied.
 */
import { DbError } from "../../base/error.ts";
import type { DataType } from "../../column/data-type.ts";
import { castValue } from "../../value/cast.ts";
import type { Environment } from "../function/signature/environment.ts";
import type { Value } from "../function/value/value.ts";
import {
  columnsOf,
  hasParameter,
  literal,
  operandsOf,
  partsOf,
  readsCatalog,
  type TypedExpression,
  withOperands,
  mapOperands,
} from "./expression.ts";
import { Allowance, spendOnCast, takeRow, TOO_LONG } from "./call-weights.ts";
import { checkCancelled } from "../../base/scheduler/pace.ts";
import type { EvaluationContext } from "./evaluation-context.ts";
import { evaluate, type RowReader } from "./interpreter.ts";
import { bytesOfValue, type CallJob, type LongCalls } from "./long-calls.ts";
import { encodeExpression } from "./expression-shape.ts";

/** Most parts of an expression that is sent. Reason: a copy of 2,000 takes a millisecond or two. */
const SENT_PARTS_MAX = 2000;
/** Times that a value is copied on its way: as a message, and as the other thread has it. */
const COPIES = 2;
/** What a part of an expression takes of an allowance, beside calls. */
const PART_WEIGHT = 1;

let lastId = 0;
interface SentForm {
  readonly id: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly columns: readonly number[];
}

/** Numbers and bytes of expressions that were sent; undefined: it cannot be. */
const sent = new WeakMap<TypedExpression, SentForm | undefined>();

function sentForm(expression: TypedExpression): SentForm | undefined {
  if (sent.has(expression)) return sent.get(expression);
  const isSent = partsOf(expression, SENT_PARTS_MAX + 1) <= SENT_PARTS_MAX && !hasParameter(expression) && !readsCatalog(expression);
  const form = isSent ? { id: ++lastId, bytes: encodeExpression(expression), columns: [...columnsOf(expression)] } : undefined;
  sent.set(expression, form);
  return form;
}

/** Computes the values of one expression, row by row, with turns for others. */
export class RowValues {
  private readonly expression: TypedExpression;
  private readonly context: EvaluationContext;
  private readonly allowance: Allowance;
  private readonly rowWeight: number;

  constructor(expression: TypedExpression, context: EvaluationContext) {
    this.expression = expression;
    this.context = context;
    this.allowance = new Allowance(context.calls?.allowance);
    this.rowWeight = partsOf(expression, 1_000_000) * PART_WEIGHT;
  }

  /** The value of a row: at once, unless others are to have a turn or it takes long. @throws DbError what the expression throws */
  of(row: RowReader): Value | Promise<Value> {
    const { allowance, expression, context } = this;
    if (allowance.isSpent) return this.later(row);
    allowance.take(this.rowWeight);
    const value = allowance.within(() => evaluate(expression, row, context.environment));
    return value === TOO_LONG ? this.later(row) : value;
  }

  /**
   * Hands over the values of rows `[from, to)` as far as they come at once; gives the row at which it stopped, whose value `later` gives.
   */
  run(from: number, to: number, row: { row: number; readonly read: RowReader }, take: (at: number, value: Value) => void): number {
    const { allowance, expression, context, rowWeight } = this;
    const { environment } = context;
    let at = from;
    allowance.within(() => {
      for (; at < to && takeRow(rowWeight); at++) {
        row.row = at;
        take(at, evaluate(expression, row.read, environment));
      }
    });
    return at;
  }

  /** The value of a row, once others had a turn. @throws DbError what the expression throws, Cancelled */
  async later(row: RowReader): Promise<Value> {
    const { allowance, expression, context } = this;
    await context.pace.turn();
    checkCancelled(context);
    allowance.renew();
    const value = await valueOf(expression, row, context, allowance);
    allowance.take(this.rowWeight);
    return value;
  }
}

/** The value of an expression on one row that may take long: in full here where there is no other place. */
async function valueOf(expression: TypedExpression, row: RowReader, context: EvaluationContext, allowance: Allowance): Promise<Value> {
  const value = allowance.within(() => evaluate(expression, row, context.environment));
  if (value !== TOO_LONG) return value;
  await context.pace.turn();
  checkCancelled(context);
  allowance.renew();
  if (context.calls === undefined) return evaluate(expression, row, context.environment);
  const form = sentForm(expression);
  return form === undefined ? byOperands(expression, row, context, allowance) : onThread(form, row, context, context.calls);
}

async function onThread({ id, bytes, columns }: SentForm, row: RowReader, context: EvaluationContext, calls: LongCalls): Promise<Value> {
  const { now, timeZone, database } = context.environment;
  const values = columns.map((column) => [column, row(column)] as const);
  const budget = context.budget.part("calls of functions");
  try {
    budget.reserve(COPIES * values.reduce((sum, [, value]) => sum + bytesOfValue(value), 0));
    const job: CallJob = { expressionId: id, expression: bytes, row: values, environment: { now, timeZone, database } };
    return await calls.call(job, { signal: context.signal, reserve: (bytes) => budget.reserve(COPIES * bytes) });
  } finally {
    budget.close();
  }
}

/** As `evaluate`, with operands that may take long each. */
async function byOperands(expression: TypedExpression, row: RowReader, context: EvaluationContext, allowance: Allowance): Promise<Value> {
  const operand = (each: TypedExpression): Promise<Value> => valueOf(each, row, context, allowance);
  if (expression.kind === "case") {
    for (const { when, result } of expression.branches) if ((await operand(when)) === true) return operand(result);
    return operand(expression.otherwise);
  }
  const decisive = expression.kind === "logic" ? expression.operator === "or" : undefined;
  const isStrict = expression.kind === "call" && expression.function.nulls === "propagate";
  const values: TypedExpression[] = [];
  for (const each of operandsOf(expression)) {
    const value = await operand(each);
    if (value === decisive && decisive !== undefined) return value;
    if (value === undefined && isStrict) return undefined;
    values.push(literal(each.type, value));
  }
  return evaluate(withOperands(expression, values), row, context.environment);
}

/** Values of parts that read no column and take long; of parts that fail, the error tells itself where a row needs them. */
const constants = new WeakMap<TypedExpression, TypedExpression>();

/** The same expression, with the values of its parts that read no column in their place. @throws DbError Cancelled */
export async function withLongConstants(expression: TypedExpression, context: EvaluationContext): Promise<TypedExpression> {
  const parts: TypedExpression[] = [];
  if (constantParts(expression, parts) && expression.kind !== "literal") parts.push(expression);
  if (parts.length === 0 || context.calls === undefined) return expression;
  const values = new Map<TypedExpression, TypedExpression>();
  for (const part of parts) {
    const value = constants.get(part) ?? (await constantOf(part, context));
    constants.set(part, value);
    if (value !== part) values.set(part, value);
  }
  return values.size === 0 ? expression : replaced(expression, values);
}

/**
 * Finds the largest parts that are computed from constants alone: the planner leaves none but long ones and those that fail. Gives
 * whether the whole is such a part.
 */
function constantParts(expression: TypedExpression, into: TypedExpression[]): boolean {
  if (expression.kind === "literal") return true;
  if (expression.kind === "column" || expression.kind === "parameter") return false;
  const operands = operandsOf(expression);
  const isWhole = expression.kind !== "call" || expression.function.volatility !== "volatile";
  const areConstant = operands.map((operand) => constantParts(operand, into));
  if (isWhole && areConstant.every((is) => is)) return true;
  for (const [i, operand] of operands.entries()) if (areConstant[i] === true && operand.kind !== "literal") into.push(operand);
  return false;
}

function replaced(expression: TypedExpression, values: ReadonlyMap<TypedExpression, TypedExpression>): TypedExpression {
  const value = values.get(expression);
  return value ?? mapOperands(expression, (operand) => replaced(operand, values));
}

/** The value of an expression that reads no column, with turns for others. @throws DbError what it throws, Cancelled */
export async function constantValue(expression: TypedExpression, context: EvaluationContext): Promise<Value> {
  return valueOf(expression, NO_ROW, context, new Allowance(context.calls?.allowance));
}

/** A value as one of another type: at once, unless it is long. Text is read in the zone of the environment. @throws DbError as CAST */
export function castInTurns(
  value: Value,
  from: DataType,
  to: DataType,
  environment: Pick<Environment, "timeZone">,
  context: EvaluationContext,
): Value | Promise<Value> {
  const cast = new Allowance(context.calls?.allowance).within(() => {
    spendOnCast(value, to);
    return castValue(value, from, to, environment);
  });
  if (cast !== TOO_LONG) return cast;
  // The zone matters to times alone, which are read quickly.
  if (to.kind === "timestamp" || to.kind === "date") return castValue(value, from, to, environment);
  const expression: TypedExpression = {
    kind: "cast",
    type: to,
    operand: { kind: "column", type: from, index: 0, name: "value" },
    safe: false,
  };
  return valueOf(expression, () => value, context, new Allowance(context.calls?.allowance));
}

const NO_ROW: RowReader = () => undefined;

async function constantOf(expression: TypedExpression, context: EvaluationContext): Promise<TypedExpression> {
  try {
    const value = await constantValue(expression, context);
    context.budget.reserve(bytesOfValue(value)); // It stays as long as the query.
    return literal(expression.type, value);
  } catch (error) {
    checkCancelled(context);
    if (error instanceof DbError) return expression;
    throw error;
  }
}
