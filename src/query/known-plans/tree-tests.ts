/** What is looked for in the trees of statements, wherever it stands. */
import { functionNamed } from "../function/registry.ts";

/** A node of a syntax tree, of any kind, and what holds nodes. */
type Tree = unknown;

/** Whether a node is a query within the statement. */
export function isQuery(node: Readonly<Record<string, Tree>>): boolean {
  const { kind } = node;
  return kind === "sub-query" || kind === "exists" || kind === "in-query" || kind === "quantified" || kind === "derived";
}

/** Whether a call gives the same within one statement only, and was folded into the plan. Some are written as names: `current_date`. */
export function hangsOnMoment({ kind, name }: Readonly<Record<string, Tree>>): boolean {
  const called = kind === "call" ? name : kind === "column" && Array.isArray(name) ? name.at(-1) : undefined;
  return typeof called === "string" && functionNamed(called.toLowerCase())?.volatility === "stable";
}

/** Numbers of the placeholders in a tree. */
export function placeholdersIn(tree: Tree): ReadonlySet<number> {
  const found = new Set<number>();
  someNode(tree, ({ kind, index }) => {
    if (kind === "placeholder" && typeof index === "number") found.add(index);
    return false;
  });
  return found;
}

/** Whether a node of a tree meets a test, wherever it stands: trees are plain data. */
export function someNode(tree: Tree, test: (node: Readonly<Record<string, Tree>>) => boolean): boolean {
  if (typeof tree !== "object" || tree === null || tree instanceof Uint8Array) return false;
  if (Array.isArray(tree)) return tree.some((each) => someNode(each, test));
  const node = tree as Readonly<Record<string, Tree>>; // An object that is no array.
  return test(node) || Object.values(node).some((each) => someNode(each, test));
}
