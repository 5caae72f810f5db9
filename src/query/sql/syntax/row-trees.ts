/** Blocks of VALUES as trees: for printing, and where a value is no plain one of its column. */
import type { Expression, Span } from "./ast.ts";
import { Cell, cellText, type ConstantBlock, type RowBlock, type ValueRows } from "./value-rows.ts";

/** Trees of one row. */
export type Row = readonly Expression[];

/** All rows, some at a time. */
export function* treeRows(rows: ValueRows<Expression>): Iterable<Row> {
  for (const block of rows) yield* treesOf(block);
}

/** The rows of a block. */
export function treesOf(block: RowBlock<Expression>): readonly Row[] {
  switch (block.kind) {
    case "trees":
      return block.rows;
    case "unread":
      return block.read();
    case "constants":
      return constantTrees(block);
  }
}

/** The tree of one value. @param span where it begins */
export function cellTree(block: ConstantBlock, at: number, span: Span): Expression {
  switch (block.kinds[at]) {
    case Cell.Null:
      return { kind: "null", span };
    case Cell.Whole:
    case Cell.Number:
      return numberTree(cellText(block, at), span);
    case Cell.True:
    case Cell.False:
      return { kind: "boolean", value: block.kinds[at] === Cell.True, span };
    case Cell.Default:
      return { kind: "default", span };
    default:
      return { kind: "string", value: cellText(block, at), span };
  }
}

function numberTree(text: string, span: Span): Expression {
  if (!text.startsWith("-")) return { kind: "number", text, span };
  const operand: Expression = { kind: "number", text: text.slice(1), span: { line: span.line, column: span.column + 1 } };
  return { kind: "unary", operator: "-", operand, span };
}

function constantTrees(block: ConstantBlock): readonly Row[] {
  const { text, rowCount, width, starts, from } = block;
  const rows: Row[] = [];
  let { offset, line, column } = from;
  for (let row = 0; row < rowCount; row++) {
    const trees: Expression[] = [];
    for (let at = row * width; at < (row + 1) * width; at++) {
      for (const start = starts[at] as number; offset < start; offset++) {
        const code = text.charCodeAt(offset);
        column++;
        if (code === LF || (code === CR && text.charCodeAt(offset + 1) !== LF)) {
          line++;
          column = 1;
        }
      }
      trees.push(cellTree(block, at, { line, column }));
    }
    rows.push(trees);
  }
  return rows;
}

const LF = 10;
const CR = 13;
