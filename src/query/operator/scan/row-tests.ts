/**
 * A condition right above a scan as tests of rows, so that storage reads the other columns of rows that pass alone.
 *
 *   counter = 62 AND referer LIKE '%x%' AND url <> ''  ─►  counter = 62  ─►  url <> ''  ─►  referer LIKE '%x%'
 *
 * Comparisons of columns with constants go first, numbers before texts, then patterns: they are quick, and never fail where a later one
 * would.
 */
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import type { RowTest } from "../../../table/scan.ts";
import { FilterEvaluator } from "../../expression/evaluator.ts";
import {
  columnsOf,
  comparisonOf,
  conjunction,
  conjunctsOf,
  isVolatile,
  mapColumns,
  type TypedExpression,
} from "../../expression/expression.ts";
import type { ExecContext } from "../contract/exec-context.ts";
import { isLongExpression, shortPieces } from "../rows/short-pieces.ts";

/** The tests that rows pass where `predicate` is true; undefined where it gives another value each time. Expressions are over `columns`. */
export function rowTestsOf(
  predicate: TypedExpression,
  columns: readonly ColumnHeader[],
  context: ExecContext,
): readonly CostedTest[] | undefined {
  if (isVolatile(predicate)) return undefined;
  const byCost: TypedExpression[][] = [[], []];
  const patterns: TypedExpression[] = [];
  const others: TypedExpression[] = [];
  for (const conjunct of conjunctsOf(predicate)) {
    if (isPattern(conjunct)) patterns.push(conjunct);
    else (byCost[costOf(conjunct)] ?? others).push(conjunct);
  }
  // Those that leave few rows go first.
  patterns.sort((a, b) => Number(isNegated(a)) - Number(isNegated(b)));
  const groups = [...byCost, ...patterns.map((pattern) => [pattern]), others];
  return groups.flatMap((conjuncts, place) => {
    const condition = conjunction(conjuncts);
    return condition === undefined ? [] : [{ ...testOf(condition, columns, context), cost: Math.min(place, 2) }];
  });
}

/** A text of the table and a pattern: a test of its own, since reading the text is most of the work. 5M rows with two: 340 -> 180 ms. */
function isPattern(condition: TypedExpression): boolean {
  return condition.kind === "like" && condition.operand.kind === "column" && condition.pattern.kind === "literal";
}

function isNegated(condition: TypedExpression): boolean {
  return condition.kind === "like" && condition.negated;
}

/** A test, and what it is of: 0 a number and constants; 1 a text and constants; 2 anything else. They come in this order. */
export interface CostedTest extends RowTest {
  readonly cost: number;
}

function costOf(condition: TypedExpression): 0 | 1 | 2 {
  const comparison = comparisonOf(condition);
  const subject = condition.kind === "in-set" || condition.kind === "is" ? condition.operand : comparison?.subject;
  if (subject?.kind !== "column") return 2;
  switch (subject.type.kind) {
    case "int":
    case "float":
    case "boolean":
    case "date":
    case "time":
    case "timestamp":
      return 0;
    case "string":
      return 1;
    default:
      return 2;
  }
}

function testOf(condition: TypedExpression, headers: readonly ColumnHeader[], context: ExecContext): RowTest {
  const columns = [...columnsOf(condition)];
  const own = columns.map((place) => headers[place] as ColumnHeader);
  const evaluator = new FilterEvaluator(
    mapColumns(condition, (index) => columns.indexOf(index)),
    own,
    context,
  );
  const isLong = isLongExpression(condition);
  return {
    columns,
    async select(batch) {
      if (isLong) return await selectInPieces(evaluator, batch, context);
      const { selection, count } = await evaluator.selectInTurns(batch);
      return count === batch.rowCount ? undefined : selection.subarray(0, count);
    },
  };
}

/** As `selectInTurns`, of few rows at a time, since one may take long. */
async function selectInPieces(evaluator: FilterEvaluator, batch: Batch, context: ExecContext): Promise<Uint32Array | undefined> {
  const selected = new Uint32Array(batch.rowCount);
  let count = 0;
  let from = 0;
  for await (const piece of shortPieces(only(batch), context)) {
    const found = await evaluator.selectInTurns(piece);
    for (let i = 0; i < found.count; i++) selected[count++] = from + (found.selection[i] as number);
    from += piece.rowCount;
  }
  return count === batch.rowCount ? undefined : selected.subarray(0, count);
}

async function* only(batch: Batch): AsyncGenerator<Batch> {
  yield batch;
}
