/**
 * A prepared INSERT that runs with many rows of values, as one INSERT of as many rows: bound column by column, and one write.
 *
 *   INSERT INTO t VALUES (?, 'x')   with 1, with 2, with 3   →   INSERT INTO t VALUES (?, 'x'), (?, 'x'), (?, 'x')   with 1, 2, 3
 *
 * Only where the rows are those of the runs one after the other. Two INSERTs have each a moment of their own, so that a statement which
 * asks for it, or leaves it to a column's default, is not one of these: its rows would all be of one time, and one row in the end.
 */
import { resolveName } from "../../plan/from/source.ts";
import { hangsOnMoment, isQuery, placeholdersIn, someNode } from "../../known-plans/tree-tests.ts";
import type { PreparedQuery, RepeatedQuery } from "../../prepared-query.ts";
import type { QueryContext } from "../../query-context.ts";
import type { Expression } from "../../sql/syntax/ast.ts";
import type { Row } from "../../sql/syntax/row-trees.ts";
import type { Insert } from "../../sql/syntax/statement-ast.ts";
import type { ColumnSchema, TableSchema } from "../../../table/schema.ts";

/** Gives the statement for any number of rows of values; undefined where it has to run once a row. */
export function repeatedInsert(query: PreparedQuery, context: QueryContext): RepeatedQuery | undefined {
  const { statement, parameters } = query;
  if (parameters.length === 0 || statement.kind !== "insert" || statement.source.kind !== "values") return undefined;
  const [block, ...others] = statement.source.rows;
  if (block?.kind !== "trees" || others.length > 0) return undefined;
  const { database, table } = resolveName(statement.table, context.variables.database);
  const schema = context.catalog.table(database, table)?.schema;
  if (schema === undefined || asksForMoment(statement, block.rows, schema)) return undefined;
  return repeated(query, statement, block.rows);
}

function asksForMoment({ columns }: Insert, rows: readonly Row[], schema: TableSchema): boolean {
  const isMoment = ({ default: left }: ColumnSchema): boolean => left?.kind === "now";
  const isNamed = ({ name }: ColumnSchema): boolean => columns === undefined || columns.includes(name);
  if (schema.columns.some((column) => isMoment(column) && !isNamed(column))) return true;
  if (schema.columns.some(isMoment) && someNode(rows, ({ kind }) => kind === "default")) return true;
  return someNode(rows, (node) => hangsOnMoment(node) || isQuery(node));
}

function repeated(query: PreparedQuery, statement: Insert, rows: readonly Row[]): RepeatedQuery {
  const { parameters } = query;
  const hasPlaceholder = rows.map((row) => row.map((cell) => placeholdersIn(cell).size > 0));
  // Made as far as they were wanted: the next part has as many.
  const trees: Row[] = [...rows];
  const types = [...parameters];
  return (times) => {
    for (let time = types.length / parameters.length; time < times; time++) {
      const by = time * parameters.length;
      for (const [r, row] of rows.entries()) trees.push(row.map((cell, c) => (hasPlaceholder[r]?.[c] === true ? moved(cell, by) : cell)));
      types.push(...parameters);
    }
    const block = { kind: "trees", rows: trees.slice(0, rows.length * times) } as const;
    const longer: Insert = { ...statement, source: { kind: "values", rows: [block] } };
    return { ...query, statement: longer, parameters: types.slice(0, times * parameters.length) };
  };
}

/** A tree whose placeholders are others. */
function moved(tree: Expression, by: number): Expression {
  if (tree.kind === "placeholder") return { kind: "placeholder", index: tree.index + by, span: tree.span };
  return movedNode(tree, by) as Expression; // Only numbers have changed.
}

function movedNode(node: unknown, by: number): unknown {
  if (typeof node !== "object" || node === null || node instanceof Uint8Array) return node;
  if (Array.isArray(node)) return node.map((each) => movedNode(each, by));
  const isPlaceholder = "kind" in node && node.kind === "placeholder";
  const parts = Object.entries(node).map(([key, value]: readonly [string, unknown]) => {
    const isIndex = isPlaceholder && key === "index" && typeof value === "number";
    return [key, isIndex ? value + by : movedNode(value, by)] as const;
  });
  return Object.fromEntries(parts);
}
