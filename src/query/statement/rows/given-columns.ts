/**
 * Rows of VALUES → columns of the table that they are for. Plain constants in blocks are read where they stand in the text, a column of a
 * block at a time; other values are bound one by one.
 *
 * Errors are those of the rows one after the other: where a column has one, the rows of its block are gone over again, row by row
 * (`complete-row.ts`), which tells the first.
 */
import { boundsOf, fits } from "../../../value/integer-range.ts";
import { DbError, invalidArguments } from "../../../base/error.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { Scalar } from "../../../column/vector.ts";
import type { ColumnSchema } from "../../../table/schema.ts";
import { isVolatile, literal } from "../../expression/expression.ts";
import { constantValue } from "../../expression/row-values.ts";
import type { Environment } from "../../function/signature/environment.ts";
import type { Value } from "../../function/value/value.ts";
import type { ExecContext } from "../../operator/contract/exec-context.ts";
import type { ParameterValue } from "../../prepared-query.ts";
import type { Expression } from "../../sql/syntax/ast.ts";
import { cellTree, type Row, treesOf } from "../../sql/syntax/row-trees.ts";
import { Cell, cellText, type ConstantBlock, type ValueRows } from "../../sql/syntax/value-rows.ts";
import { boundValue, literalValue, valueForColumn } from "../shared/literal-value.ts";
import { completeRow, completeValue, defaultValue, type Given, isCompleteAsItIs, type Target } from "./complete-row.ts";

/** Values that are bound between two turns of others: some milliseconds. */
const TREES_AT_ONCE = 4096;

/** Some rows, of which the columns are made at once. */
export type RowPiece = ConstantBlock | { readonly kind: "trees"; readonly rows: readonly Row[] };

/** The rows of VALUES in pieces that take some milliseconds each. */
export function rowPieces(rows: ValueRows<Expression>): Iterable<RowPiece> {
  const [only] = rows;
  const isShort = rows.length === 1 && only?.kind === "trees" && only.rows.length <= treesAtOnce(only.rows);
  return isShort ? [only] : cutRows(rows);
}

function treesAtOnce(rows: readonly Row[]): number {
  return Math.max(1, Math.floor(TREES_AT_ONCE / Math.max(1, rows[0]?.length ?? 1)));
}

function* cutRows(rows: ValueRows<Expression>): Iterable<RowPiece> {
  for (const block of rows) {
    if (block.kind === "constants") {
      yield block;
      continue;
    }
    const trees = treesOf(block);
    const step = treesAtOnce(trees);
    if (trees.length <= step) yield { kind: "trees", rows: trees };
    else for (let from = 0; from < trees.length; from += step) yield { kind: "trees", rows: trees.slice(from, from + step) };
  }
}

/** How many rows a piece has. */
export function rowsOfPiece(piece: RowPiece): number {
  return piece.kind === "trees" ? piece.rows.length : piece.rowCount;
}

/** The columns of a piece, in the order of the schema: values and defaults, tags as text. @throws DbError of contract query.md 1.6 */
export async function givenColumns(piece: RowPiece, target: Target, exec: ExecContext): Promise<readonly (readonly Scalar[])[]> {
  try {
    checkWidths(piece, target);
    const columns: (readonly Scalar[])[] = [];
    for (const column of target.schema.columns) {
      const position = target.named.indexOf(column);
      let values: readonly Value[];
      if (position < 0) values = new Array<Value>(rowsOfPiece(piece)).fill(defaultValue(column, false, target));
      else if (piece.kind === "constants") values = constantValues(piece, position, column, target);
      else {
        const found = treeValues(piece.rows, position, column, target, exec);
        values = found instanceof Promise ? await found : found;
      }
      columns.push(completed(values, column, position >= 0));
    }
    return columns;
  } catch (thrown) {
    if (!(thrown instanceof DbError)) throw thrown;
    await rowByRow(piece.kind === "trees" ? piece.rows : treesOf(piece), target, exec);
    throw thrown;
  }
}

/** The rows of a piece as they are completed one after the other: says what the columns are, and throws the first error. */
export async function rowByRow(rows: readonly Row[], target: Target, exec: ExecContext): Promise<readonly (readonly Scalar[])[]> {
  const all: (readonly Scalar[])[] = [];
  for (const row of rows) {
    checkWidth(row.length, target);
    const given: Given[] = [];
    for (const [at, column] of target.named.entries()) {
      const value = givenValue(row[at], column, target, exec);
      given.push(value instanceof Promise ? await value : value);
    }
    all.push(completeRow(given, target));
  }
  return all;
}

function checkWidths(piece: RowPiece, target: Target): void {
  if (piece.kind === "constants") checkWidth(piece.width, target);
  else for (const row of piece.rows) checkWidth(row.length, target);
}

function checkWidth(width: number, { named }: Target): void {
  if (width === named.length) return;
  const why = `column count mismatch, columns: ${named.length}, values: ${width}`;
  throw invalidArguments(`Invalid SQL, error: ${why}`);
}

function completed(values: readonly Value[], column: ColumnSchema, isNamed: boolean): readonly Scalar[] {
  if (isCompleteAsItIs(column)) return values as readonly Scalar[]; // None is an interval in a column of another type.
  return values.map((value) => completeValue(value, column, isNamed));
}

/** The values of one column of some trees: at once, unless one takes long to compute. */
function treeValues(
  rows: readonly Row[],
  position: number,
  column: ColumnSchema,
  target: Target,
  exec: ExecContext,
): readonly Value[] | Promise<readonly Value[]> {
  const values: Value[] = [];
  for (const [i, row] of rows.entries()) {
    const parameter = parameterOf(row[position], target.environment);
    if (parameter !== undefined) {
      values.push(parameterForColumn(parameter, column, target.environment));
      continue;
    }
    const given = givenValue(row[position], column, target, exec);
    if (given instanceof Promise) return behindLongValue(given, values, rows.slice(i + 1), position, column, target, exec);
    values.push(given === "default" ? defaultValue(column, true, target) : given.value);
  }
  return values;
}

async function behindLongValue(
  long: Promise<Given>,
  before: readonly Value[],
  rows: readonly Row[],
  ...[position, column, target, exec]: readonly [number, ColumnSchema, Target, ExecContext]
): Promise<readonly Value[]> {
  const values = [...before];
  const take = (given: Given): void => void values.push(given === "default" ? defaultValue(column, true, target) : given.value);
  take(await long);
  for (const row of rows) {
    const given = givenValue(row[position], column, target, exec);
    take(given instanceof Promise ? await given : given);
  }
  return values;
}

/** A constant as it is; at once, unless it takes long to compute. */
function givenValue(
  expression: Expression | undefined,
  column: ColumnSchema,
  { environment }: Target,
  exec: ExecContext,
): Given | Promise<Given> {
  if (expression === undefined || expression.kind === "default") return "default";
  const parameter = parameterOf(expression, environment);
  if (parameter !== undefined) return { value: parameterForColumn(parameter, column, environment) };
  const { name, type } = column;
  const bound = boundValue(expression, environment);
  if (bound.kind === "literal") return { value: valueForColumn(bound, name, type, environment) };
  if (isVolatile(bound)) return { value: literalValue(expression, name, type, environment) };
  return constantValue(bound, exec).then((value) => ({ value: valueForColumn(literal(bound.type, value), name, type, environment) }));
}

/** What a client has given for an expression that is a placeholder; undefined for every other one. */
function parameterOf(expression: Expression | undefined, { placeholders }: Environment): ParameterValue | undefined {
  if (expression?.kind !== "placeholder") return undefined;
  const given = placeholders?.valueOf(expression.index);
  return given === "open" ? undefined : given;
}

/** A given value for a column, without the way of expressions, which takes 0.14 µs more where it is one of the column's type. */
function parameterForColumn({ type: given, value }: ParameterValue, { name, type }: ColumnSchema, environment: Environment): Value {
  if (value === undefined) return undefined;
  if (given.kind === type.kind) {
    if (type.kind === "string" || (type.kind === "float" && type.bits === 64)) return value;
    if (type.kind === "int" && typeof value === "number" && fits(value, type)) return value;
  }
  return valueForColumn(literal(given, value), name, type, environment);
}

/** The values of one column of a block. */
function constantValues(block: ConstantBlock, position: number, column: ColumnSchema, target: Target): readonly Value[] {
  const { kinds, width } = block;
  const quick = quickValue(column.type);
  const values: Value[] = [];
  for (let at = position; at < kinds.length; at += width) {
    const kind = kinds[at];
    if (kind === Cell.Null) {
      values.push(undefined);
      continue;
    }
    const value = kind === Cell.Default ? defaultValue(column, true, target) : quick(block, at, kind ?? Cell.Null);
    values.push(value !== undefined || kind === Cell.Default ? value : anyValue(block, at, column, target));
  }
  return values;
}

/** A value as it is bound: what the quick ways below are short for. */
function anyValue(block: ConstantBlock, at: number, { name, type }: ColumnSchema, { environment }: Target): Value {
  return valueForColumn(boundValue(cellTree(block, at, block.from), environment), name, type, environment);
}

/** Gives the value of a constant that is plainly one of the column's type; undefined for others. */
type QuickValue = (block: ConstantBlock, at: number, kind: number) => Value;

function quickValue(type: DataType): QuickValue {
  switch (type.kind) {
    case "float":
      return type.bits === 32 ? quickFloat32 : quickFloat;
    case "int": {
      const { min, max } = boundsOf(type);
      return quickInteger(Number(min), Number(max));
    }
    case "timestamp":
      return quickTime;
    case "string":
      return quickText;
    default:
      return () => undefined;
  }
}

function quickFloat(block: ConstantBlock, at: number, kind: number): number | undefined {
  if (kind === Cell.Whole) return wholeOf(block, at);
  if (kind !== Cell.Number) return undefined;
  const value = Number(cellText(block, at));
  // -0 has a sign, but as a whole number none.
  if (value === 0 && block.text.charCodeAt(block.starts[at] as number) === MINUS) return undefined;
  return Number.isFinite(value) ? value : undefined;
}

function quickFloat32(block: ConstantBlock, at: number, kind: number): number | undefined {
  const value = quickFloat(block, at, kind);
  if (value === undefined) return undefined;
  const rounded = Math.fround(value);
  return Number.isFinite(rounded) ? rounded : undefined;
}

const quickInteger =
  (min: number, max: number): QuickValue =>
  (block, at, kind) => {
    if (kind !== Cell.Whole) return undefined;
    const value = wholeOf(block, at);
    return value >= min && value <= max ? value : undefined;
  };

/** Longest number that is below 2^63 whatever its digits. */
const TIME_DIGITS_MAX = 18;

function quickTime(block: ConstantBlock, at: number, kind: number): bigint | undefined {
  if (kind === Cell.Whole) return BigInt(wholeOf(block, at));
  const start = block.starts[at] as number;
  const end = block.ends[at] as number;
  if (kind !== Cell.Number || end - start > TIME_DIGITS_MAX + 1) return undefined;
  for (let i = start; i < end; i++) {
    const code = block.text.charCodeAt(i);
    if (code < ZERO || code > NINE) return undefined;
  }
  const value = BigInt(block.text.slice(start, end));
  return value <= TIME_MAX ? value : undefined;
}

function quickText(block: ConstantBlock, at: number, kind: number): string | undefined {
  return kind === Cell.String || kind === Cell.QuotedString ? cellText(block, at) : undefined;
}

const TIME_MAX = 2n ** 63n - 1n;
const MINUS = 45;
const ZERO = 48;
const NINE = 57;

/** A whole number of at most 15 digits. There is one zero among them. */
function wholeOf({ text, starts, ends }: ConstantBlock, at: number): number {
  const start = starts[at] as number;
  const end = ends[at] as number;
  const isNegative = text.charCodeAt(start) === MINUS;
  let value = 0;
  for (let i = isNegative ? start + 1 : start; i < end; i++) value = value * 10 + (text.charCodeAt(i) - ZERO);
  return isNegative && value !== 0 ? -value : value;
}
