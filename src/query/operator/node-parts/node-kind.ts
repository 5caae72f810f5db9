/** What every kind of operator tells of itself, in its folder's `node.ts`; `../contract/node.ts` has the table of all. */
import type { ColumnHeader } from "../../../column/batch.ts";
import { header } from "../../expression/expression-shape.ts";
import { type Fields, list, oneOf, type RecordShape, record, type Shape } from "../../plan-format/shape.ts";

/** An operator, whatever it is: what the kinds know of those below them. */
export interface AnyNode {
  readonly kind: string;
  readonly columns: readonly ColumnHeader[];
}

/** See the file header. */
export interface NodeKind<N extends AnyNode> {
  /** Its fields: from them come its inputs, copies with other expressions, and its bytes. */
  readonly shape: RecordShape<object>;
  /** One line of EXPLAIN. */
  explain(node: N): string;
  /** The same of what the query means, where that is another line. */
  means?(node: N): string;
  /** What is wrong with a node whose fields are each well-formed; undefined: nothing. Asked where a plan comes from elsewhere. */
  wrong?(node: N): string | undefined;
}

/** What a kind is made of: `fields` are those beside its kind and columns. */
interface NodeText<N extends AnyNode> extends Omit<NodeKind<N>, "shape"> {
  readonly kind: N["kind"];
  readonly fields: Fields<Omit<N, "kind" | "columns">>;
}

/** An operator below another one. */
export const input: Shape<AnyNode> = {
  write: (node, to) => to.nodes?.write(node, to),
  read: (from) => (from.nodes?.read(from) as AnyNode | undefined) ?? from.fail("no operator may be here"), // It reads operators.
  map: (node, changes) => changes.plan(node) as AnyNode, // Whoever changes operators gives operators.
  plans: (node, into) => void into.push(node),
};

/** A kind of operator. */
export function nodeKind<N extends AnyNode>({ kind, fields, ...tells }: NodeText<N>): NodeKind<N> {
  const all = { kind: oneOf(kind), columns: list(header), ...fields };
  return { ...tells, shape: record<object>(all) };
}

/** Texts as a list after a word; nothing where there are none. */
export function listed(prefix: string, texts: readonly string[]): string {
  return texts.length === 0 ? "" : `${prefix}[${texts.join(" AND ")}]`;
}
