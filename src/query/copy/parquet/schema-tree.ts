/**
 * The schema of a Parquet file as a tree of columns, lists, structs and maps, with the levels at which each part is there.
 *
 * Groups that are annotated as lists and maps become these, in every form that writers gave them: three levels, two levels, a repeated
 * name without any group. What repeats elsewhere is a list, every other group a struct.
 *
 * Source: Apache Parquet, LogicalTypes.md, "Nested Types" and "Backward-compatibility rules".
 */
import type { FileMetaData, SchemaElement } from "hyparquet";
import type { DataType } from "../../../column/data-type.ts";
import { SCHEMA_DEPTH_MAX } from "../limits.ts";
import { typeOfElement } from "../parquet-types.ts";

/** A column of the file that holds values. */
export interface ParquetLeaf {
  readonly kind: "leaf";
  readonly path: readonly string[];
  readonly element: SchemaElement;
  /** Undefined when it is of no type that the database has. */
  readonly type: DataType | undefined;
  /** Definition level of a value. */
  readonly definition: number;
  readonly repetition: number;
}

/** What repeats: a list, or a map, whose `parts` are key and value. Its entries are there from `definition + 1` on. */
interface ParquetRepeated {
  readonly kind: "list" | "map";
  readonly type: DataType | undefined;
  /** Level from which it is not NULL. */
  readonly definition: number;
  /** Repetition level of every entry but the first. */
  readonly repetition: number;
  readonly parts: readonly ParquetNode[];
}

interface ParquetStruct {
  readonly kind: "struct";
  readonly type: DataType | undefined;
  readonly definition: number;
  readonly parts: readonly ParquetNode[];
}

/** A part of the schema. */
export type ParquetNode = ParquetLeaf | ParquetRepeated | ParquetStruct;

/** Columns right below the root, by name. @throws Error for a schema that is none */
export function schemaTree({ schema }: FileMetaData): ReadonlyMap<string, ParquetNode> {
  const [root] = schema;
  const elements = root === undefined ? [] : childrenOf(schema, 0, 0).children;
  const above: Above = { path: [], definition: 0, repetition: 0 };
  return new Map(elements.map((element) => [element.element.name, nodeOf(element, above)]));
}

/** The leaves of a part, in the order of the schema. */
export function leavesOf(node: ParquetNode): readonly ParquetLeaf[] {
  return node.kind === "leaf" ? [node] : node.parts.flatMap(leavesOf);
}

/** An element with those below it. */
interface Tree {
  readonly element: SchemaElement;
  readonly children: readonly Tree[];
  /** Elements of the schema in it. */
  readonly size: number;
}

/** The schema lists elements in the order of a walk; each says how many follow as its children. */
function childrenOf(schema: readonly SchemaElement[], at: number, depth: number): Tree {
  const element = schema[at];
  if (element === undefined) throw new Error("its schema ends early");
  if (depth > SCHEMA_DEPTH_MAX) throw new Error(`its schema is deeper than ${SCHEMA_DEPTH_MAX} levels`);
  const children: Tree[] = [];
  let size = 1;
  for (let i = 0; i < (element.num_children ?? 0); i++) {
    const child = childrenOf(schema, at + size, depth + 1);
    children.push(child);
    size += child.size;
  }
  return { element, children, size };
}

/** Levels outside a part. */
interface Above {
  readonly path: readonly string[];
  readonly definition: number;
  readonly repetition: number;
}

function nodeOf(tree: Tree, above: Above): ParquetNode {
  if (tree.element.repetition_type === "REPEATED") {
    const inner = { path: above.path, definition: above.definition + 1, repetition: above.repetition + 1 };
    return listNode(present(tree, inner), above.definition, inner.repetition);
  }
  const isOptional = tree.element.repetition_type !== "REQUIRED";
  return present(tree, isOptional ? { ...above, definition: above.definition + 1 } : above);
}

/** A part that is there at `above.definition`. */
function present(tree: Tree, above: Above): ParquetNode {
  const { element, children } = tree;
  const path = [...above.path, element.name];
  const inside: Above = { ...above, path };
  if (element.num_children === undefined || element.num_children === 0) {
    const type = typeOfElement({ ...element, repetition_type: "OPTIONAL" });
    return { kind: "leaf", path, element, type, definition: above.definition, repetition: above.repetition };
  }
  const [only] = children;
  if (children.length === 1 && only?.element.repetition_type === "REPEATED") {
    if (holds(element, "LIST")) return annotatedList(element, only, inside);
    if ((holds(element, "MAP") || element.converted_type === "MAP_KEY_VALUE") && only.children.length === 2) return mapNode(only, inside);
  }
  const parts = children.map((child) => nodeOf(child, inside));
  const fields = parts.map(({ type }, i) => ({ name: children[i]?.element.name ?? "", type }));
  const isKnown = fields.every((field): field is { readonly name: string; readonly type: DataType } => field.type !== undefined);
  return { kind: "struct", type: isKnown ? { kind: "struct", fields } : undefined, definition: above.definition, parts };
}

function holds({ converted_type: converted, logical_type: logical }: SchemaElement, what: "LIST" | "MAP"): boolean {
  return converted === what || logical?.type === what;
}

function entriesOf(repeated: Tree, above: Above): Above {
  return { path: [...above.path, repeated.element.name], definition: above.definition + 1, repetition: above.repetition + 1 };
}

function annotatedList(list: SchemaElement, repeated: Tree, above: Above): ParquetNode {
  const entries = entriesOf(repeated, above);
  const [only] = repeated.children;
  const isWrapped =
    repeated.children.length === 1 &&
    only?.element.repetition_type !== "REPEATED" &&
    repeated.element.name !== "array" &&
    repeated.element.name !== `${list.name}_tuple`;
  const element = isWrapped && only !== undefined ? nodeOf(only, entries) : present(repeated, { ...entries, path: above.path });
  return listNode(element, above.definition, entries.repetition);
}

function listNode(element: ParquetNode, definition: number, repetition: number): ParquetNode {
  const type: DataType | undefined = element.type && { kind: "list", element: element.type };
  return { kind: "list", type, definition, repetition, parts: [element] };
}

function mapNode(repeated: Tree, above: Above): ParquetNode {
  const entries = entriesOf(repeated, above);
  const parts = repeated.children.map((child) => nodeOf(child, entries));
  const [key, value] = parts.map(({ type }) => type);
  const type: DataType | undefined = key === undefined || value === undefined ? undefined : { kind: "map", key, value };
  return { kind: "map", type, definition: above.definition, repetition: entries.repetition, parts };
}
