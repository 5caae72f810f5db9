/**
 * VALUES as a query. A column of constants alone, in blocks of a long text, becomes a vector without a tree or an expression a value; a
 * column with anything else is bound value by value.
 */
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import { BOOLEAN, type DataType, FLOAT64, INT64, NULL, STRING } from "../../column/data-type.ts";
import { bind } from "./bind/bind.ts";
import { unify } from "./bind/coerce.ts";
import { notSupported, planError } from "./bind/plan-error.ts";
import type { Steps } from "./bind/steps.ts";
import type { Planner } from "./common/planner.ts";
import type { TypedExpression } from "../expression/expression.ts";
import { valuesVector } from "../expression/vector-values.ts";
import { chosenType } from "../function/signature/common-type.ts";
import type { Value } from "../function/value/value.ts";
import type { PlanNode } from "../operator/contract/node.ts";
import { ONE_ROW } from "../operator/source/node.ts";
import { concat, type VectorPart } from "../operator/kernels/concat.ts";
import type { Expression, ValuesQuery } from "../sql/syntax/ast.ts";
import { cellTree, treesOf } from "../sql/syntax/row-trees.ts";
import { Cell, cellText, type ConstantBlock, type RowBlock, rowCountOf, type ValueRows } from "../sql/syntax/value-rows.ts";

/** Rows that are bound at once. */
const ROWS_AT_ONCE = 256;
/** Constants that take as much memory as a part of a plan. */
const CONSTANTS_PER_PART = 8;
/** Most rows that are not constants. Reason: each is an operator of its own. Error: Unsupported. */
const COMPUTED_ROWS_MAX = 1000;

/** A column of constants in blocks. */
interface ConstantColumn {
  readonly type: DataType;
  readonly parts: readonly VectorPart[];
}

/** A column of which every value was bound. */
interface BoundColumn {
  readonly type: DataType;
  readonly bound: readonly TypedExpression[];
}

type Column = ConstantColumn | BoundColumn;

/** Rows of VALUES, one batch of them. Its columns are called column1, column2, …. */
export function* planValues({ rows }: ValuesQuery, planner: Planner): Steps<PlanNode> {
  const width = checkedWidth(rows);
  const columns: Column[] = [];
  for (let i = 0; i < width; i++) columns.push((yield* constantColumn(rows, i, planner)) ?? (yield* boundColumn(rows, i, planner)));
  const headers = columns.map(({ type }, i): ColumnHeader => ({ name: `column${i + 1}`, type }));
  if (!columns.every(isConstant)) return yield* computedRows(rows, columns, headers, planner);
  const vectors = columns.map(vectorOfColumn);
  return { kind: "source", name: "values", columns: headers, source: { kind: "values", rowCount: rowCountOf(rows), vectors } };
}

/** How many values each row has. @throws DbError PlanQuery when they have not equally many */
function checkedWidth(rows: ValueRows<Expression>): number {
  let width: number | undefined;
  for (const block of rows) {
    for (const found of block.kind === "constants" ? [block.width] : treesOf(block).map((row) => row.length)) {
      width ??= found;
      if (found !== width) throw planError(`Inconsistent data length across values list: got ${found} values but expected ${width}`);
    }
  }
  return width ?? 0;
}

function isConstant(column: Column): boolean {
  return "parts" in column || column.bound.every(({ kind }) => kind === "literal");
}

function vectorOfColumn(column: Column): Batch["vectors"][number] {
  if ("parts" in column) return concat(column.type, column.parts);
  const values = column.bound.map((each): Value => (each.kind === "literal" ? each.value : undefined));
  return valuesVector(column.type, values);
}

/** Constants of which one type holds all as it holds each alone; undefined for others. */
function* constantColumn(rows: ValueRows<Expression>, i: number, { environment }: Planner): Steps<ConstantColumn | undefined> {
  let kinds = 0;
  for (const block of rows) {
    if (block.kind !== "constants") return undefined;
    for (let at = i; at < block.kinds.length; at += block.width) kinds |= 1 << (block.kinds[at] ?? 0);
  }
  const type = (kinds & (1 << Cell.Number)) !== 0 ? fractionsType(rows, i, kinds) : TYPES.get(kinds & ~(1 << Cell.Null));
  if (type === undefined) return undefined;
  const parts: VectorPart[] = [];
  for (const block of rows as readonly ConstantBlock[]) {
    environment.planSize?.add(Math.ceil(block.rowCount / CONSTANTS_PER_PART));
    const values: Value[] = [];
    for (let at = i; at < block.kinds.length; at += block.width) values.push(constantOf(block, at));
    parts.push({ vector: valuesVector(type, values), rowCount: block.rowCount });
    yield;
  }
  return { type, parts };
}

/** Types of columns by the kinds of values that are in them, a bit each, NULL left out. */
const TYPES: ReadonlyMap<number, DataType> = new Map<number, DataType>([
  [0, NULL],
  [1 << Cell.Whole, INT64],
  [1 << Cell.String, STRING],
  [1 << Cell.QuotedString, STRING],
  [(1 << Cell.String) | (1 << Cell.QuotedString), STRING],
  [1 << Cell.True, BOOLEAN],
  [1 << Cell.False, BOOLEAN],
  [(1 << Cell.True) | (1 << Cell.False), BOOLEAN],
]);

/** Float64 for numbers of which one has a fraction or an exponent, unless some are whole and may be too large for a float to be exact. */
function fractionsType(rows: ValueRows<Expression>, i: number, kinds: number): DataType | undefined {
  if ((kinds & ~((1 << Cell.Null) | (1 << Cell.Whole) | (1 << Cell.Number))) !== 0) return undefined;
  for (const block of rows as readonly ConstantBlock[]) {
    for (let at = i; at < block.kinds.length; at += block.width) {
      if (block.kinds[at] === Cell.Number && /^-?\d+$/.test(cellText(block, at))) return undefined;
    }
  }
  return FLOAT64;
}

function constantOf(block: ConstantBlock, at: number): Value {
  switch (block.kinds[at]) {
    case Cell.Null:
      return undefined;
    case Cell.Whole:
      return Number(cellText(block, at)) + 0; // -0 + 0 is 0: whole numbers have one zero.
    case Cell.Number:
      return Number(cellText(block, at));
    case Cell.True:
      return true;
    case Cell.False:
      return false;
    default:
      return cellText(block, at);
  }
}

function* boundColumn(rows: ValueRows<Expression>, i: number, planner: Planner): Steps<BoundColumn> {
  const binder = { scope: [], environment: planner.environment, outer: planner.outer };
  const found: TypedExpression[] = [];
  for (const block of rows) {
    for (const tree of valuesOf(block, i)) {
      found.push(bind(tree, binder));
      if (found.length % ROWS_AT_ONCE === 0) yield;
    }
  }
  const bound = unify(found, "VALUES", planner.environment, chosenType);
  yield;
  return { type: bound[0]?.type ?? NULL, bound };
}

/** The trees of one column of a block. */
function* valuesOf(block: RowBlock<Expression>, i: number): Iterable<Expression> {
  if (block.kind === "constants") {
    for (let at = i; at < block.kinds.length; at += block.width) yield cellTree(block, at, block.from);
    return;
  }
  for (const row of treesOf(block)) yield row[i] ?? missing();
}

function missing(): Expression {
  throw planError("a row of VALUES is too short");
}

/** Rows whose values are not all known when they are planned: a projection of one row each. */
function* computedRows(
  rows: ValueRows<Expression>,
  columns: readonly Column[],
  headers: readonly ColumnHeader[],
  planner: Planner,
): Steps<PlanNode> {
  const count = rowCountOf(rows);
  if (count > COMPUTED_ROWS_MAX) throw notSupported(`more than ${COMPUTED_ROWS_MAX} rows of VALUES that are not constants`);
  const bound: (readonly TypedExpression[])[] = [];
  for (const [i, column] of columns.entries()) bound.push("bound" in column ? column.bound : (yield* boundColumn(rows, i, planner)).bound);
  const inputs = Array.from({ length: count }, (_, row): PlanNode => {
    const expressions = bound.flatMap((values) => values[row] ?? []);
    return { kind: "project", input: ONE_ROW, columns: headers, expressions };
  });
  return { kind: "union", inputs, columns: headers };
}
