/** What every kind of operator tells of itself, in its folder's `node.ts`; `../contract/node.ts` has the table of all. */
import type { ColumnHeader } from "../../../column/batch.ts";
import { columnsOf, type TypedExpression } from "../../expression/expression.ts";
import { header } from "../../expression/expression-shape.ts";
import { type Fields, list, oneOf, type RecordShape, record, type Shape } from "../../plan-format/shape.ts";

/** An operator, whatever it is: what the kinds know of those below them. */
export interface AnyNode {
  readonly kind: string;
  readonly columns: readonly ColumnHeader[];
}

/** See the file header. */
export interface NodeKind<N extends AnyNode> {
  /** Its fields: from them come copies with other inputs and expressions, and its bytes. */
  readonly shape: RecordShape<AnyNode>;
  /** The operators right below. */
  inputs(node: N): readonly AnyNode[];
  /** One line of EXPLAIN. */
  explain(node: N): string;
  /** The same of what the query means, where that is another line. */
  means?(node: N): string;
  /** What is wrong with a node whose fields are each well-formed; undefined: nothing. Asked where a plan comes from elsewhere. */
  wrong(node: N): string | undefined;
}

/** What a kind is made of: `fields` are those beside its kind and columns. */
interface NodeText<N extends AnyNode> extends Omit<NodeKind<N>, "shape" | "inputs" | "wrong"> {
  readonly kind: N["kind"];
  readonly fields: Fields<Omit<N, "kind" | "columns">>;
  /** The operators right below; absent: those that are fields. */
  inputs?(node: N): readonly AnyNode[];
  /** How many columns its expressions may read; absent: those of the operators right below. */
  readable?(node: N): number;
  /** What else is wrong with a node. */
  wrong?(node: N): string | undefined;
}

/** An operator below another one. */
export const input: Shape<AnyNode> = {
  write: (node, to) => to.nodes?.write(node, to),
  read: (from) => (from.nodes?.read(from) as AnyNode | undefined) ?? from.fail("no operator may be here"), // It reads operators.
  map: (node, changes) => changes.plan(node) as AnyNode, // Whoever changes operators gives operators.
};

/** A kind of operator. */
export function nodeKind<N extends AnyNode>(told: NodeText<N>): NodeKind<N> {
  const fields = { kind: oneOf(told.kind), columns: list(header), ...told.fields };
  const shape = record<object>(fields) as RecordShape<AnyNode>; // It has these two.
  const below = Object.entries<unknown>(told.fields).flatMap(([name, field]) => (field === input ? [name as keyof N] : []));
  const inputs = (node: N): readonly AnyNode[] => told.inputs?.(node) ?? below.map((name) => node[name] as AnyNode); // By their shape.
  const wrong = (node: N): string | undefined => {
    let read = -1;
    shape.visit?.(node, (given) => void (read = Math.max(read, ...columnsOf(given as TypedExpression)))); // It holds such.
    const width = told.readable?.(node) ?? inputs(node).reduce((sum, { columns }) => sum + columns.length, 0);
    return read < width ? told.wrong?.(node) : `column ${read} is read, and there are ${width}`;
  };
  return { explain: (node) => told.explain(node), ...(told.means !== undefined && { means: told.means }), inputs, wrong, shape };
}

/** Texts as a list after a word; nothing where there are none. */
export function listed(prefix: string, texts: readonly string[]): string {
  return texts.length === 0 ? "" : `${prefix}[${texts.join(" AND ")}]`;
}
