/** Syntax trees with the rows of VALUES as trees, so that trees can be compared however their text was read. */
import { treeRows } from "../../src/query/sql/syntax/row-trees.ts";
import type { Expression } from "../../src/query/sql/syntax/ast.ts";
import type { RowBlock } from "../../src/query/sql/syntax/value-rows.ts";

const KINDS: ReadonlySet<unknown> = new Set(["constants", "trees", "unread"] satisfies RowBlock<Expression>["kind"][]);

/** A copy of a tree whose rows of VALUES are trees without their places: rows that are read again do not know them. */
export function withTrees(tree: unknown): unknown {
  if (Array.isArray(tree)) {
    const isBlocks = tree.length > 0 && tree.every((each: unknown) => KINDS.has((each as { kind?: unknown } | undefined)?.kind));
    return isBlocks ? Array.from(treeRows(tree as RowBlock<Expression>[]), withoutSpans) : tree.map(withTrees);
  }
  return isPlain(tree) ? Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, withTrees(value)])) : tree;
}

function withoutSpans(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(withoutSpans);
  if (!isPlain(tree)) return tree;
  return Object.fromEntries(Object.entries(tree).flatMap(([key, value]) => (key === "span" ? [] : [[key, withoutSpans(value)]])));
}

function isPlain(tree: unknown): tree is Record<string, unknown> {
  return typeof tree === "object" && tree !== null && Object.getPrototypeOf(tree) === Object.prototype;
}
