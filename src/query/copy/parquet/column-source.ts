/** Rows of one column of a file, put together from its leaves. */
import type { RowGroup } from "hyparquet/src/types.js";
import { isNested, type NestedType } from "../../../column/data-type.ts";
import { encodeNested, type NestedPart } from "../../../column/nested.ts";
import type { Scalar } from "../../../column/vector.ts";
import type { OpenFile } from "../../../table/file-access.ts";
import { ChunkReader } from "./chunk-reader.ts";
import { LeafCursor } from "./leaf-cursor.ts";
import { leavesOf, type ParquetLeaf, type ParquetNode } from "./schema-tree.ts";

/** Takes the next value of a part. */
type Assemble = () => NestedPart;

/** Owns the cursors of a column in one row group. */
export class ColumnSource {
  private readonly cursors: readonly LeafCursor[];
  private readonly assemble: Assemble;
  private readonly isPlain: boolean;
  /** Rows put together and not yet taken. */
  private ready: Scalar[] = [];

  /** @param pieceBytes that are read ahead in each leaf @throws DbError; Error for what is damaged */
  constructor(file: OpenFile, node: ParquetNode, group: RowGroup, pieceBytes: number) {
    const cursors = new Map<ParquetLeaf, LeafCursor>();
    for (const leaf of leavesOf(node)) cursors.set(leaf, cursorOf(file, leaf, group, pieceBytes));
    this.cursors = [...cursors.values()];
    this.assemble = assembler(node, cursors);
    this.isPlain = node.kind === "leaf";
  }

  /**
   * Puts rows together until `rows` are ready, or fewer that pages or `bytesMax` allow, but one at least.
   *
   * @returns how many are ready @throws Error where the column ends before
   */
  async fill(rows: number, bytesMax: number): Promise<number> {
    const wanted = rows - this.ready.length;
    if (wanted <= 0) return this.ready.length;
    await Promise.all(this.cursors.map((cursor) => cursor.load(wanted)));
    const whole = Math.min(wanted, ...this.cursors.map(({ rowCount }) => rowCount));
    let bytes = 0;
    for (let row = 0; row < whole && bytes < bytesMax; row++) {
      const value = this.assemble();
      this.ready.push(value as Scalar); // Parts of rows are values, and nested ones bytes; intervals are text.
      if (typeof value === "string" || value instanceof Uint8Array) bytes += value.length;
      if (!this.isPlain && this.cursors.some(({ repetition }) => repetition !== 0)) throw new Error("levels of columns disagree");
    }
    if (this.ready.length === 0) throw new Error(`a column has fewer rows than the ${rows} that are left in its row group`);
    return this.ready.length;
  }

  /** The next rows, of those that are ready. */
  take(count: number): readonly Scalar[] {
    const taken = count === this.ready.length ? this.ready : this.ready.slice(0, count);
    this.ready = count === this.ready.length ? [] : this.ready.slice(count);
    return taken;
  }
}

function cursorOf(file: OpenFile, leaf: ParquetLeaf, group: RowGroup, pieceBytes: number): LeafCursor {
  const path = leaf.path.join("\0");
  const chunk = group.columns.find(({ meta_data: meta }) => meta?.path_in_schema.join("\0") === path);
  if (chunk?.meta_data === undefined || leaf.type === undefined) throw new Error(`a row group lacks column ${leaf.path.join(".")}`);
  if (chunk.file_path !== undefined) throw new Error(`column ${leaf.path.join(".")} lies in another file, ${chunk.file_path}`);
  return new LeafCursor(new ChunkReader(file, leaf, leaf.type, chunk.meta_data, pieceBytes), leaf.definition);
}

function assembler(node: ParquetNode, cursors: ReadonlyMap<ParquetLeaf, LeafCursor>): Assemble {
  const own = leavesOf(node).map((leaf) => cursors.get(leaf));
  const [first] = own;
  if (first === undefined) throw new Error("a group has no columns");
  if (node.kind === "leaf") return () => first.take();
  const { type, definition } = node;
  if (type === undefined || !isNested(type)) throw new Error("a group is of no type");
  const parts = node.parts.map((part) => assembler(part, cursors));
  /** NULL, or empty, is one entry in every leaf. */
  const pass = (): void => {
    for (const cursor of own) cursor?.take();
  };
  if (node.kind === "struct") {
    return () => {
      if (first.definition >= definition) return encodeNested(type, parts.map(taken));
      pass();
      return undefined;
    };
  }
  const { repetition } = node;
  return () => {
    if (first.definition > definition) return encodeNested(type, repeated(first, repetition, parts));
    const isEmpty = first.definition === definition;
    pass();
    return isEmpty ? encodeNested(type as NestedType, []) : undefined;
  };
}

const taken = (assemble: Assemble): NestedPart => assemble();

function repeated(first: LeafCursor, level: number, parts: readonly Assemble[]): NestedPart[] {
  const values: NestedPart[] = [];
  do for (const part of parts) values.push(part());
  while (first.repetition === level);
  // A higher level goes on with a list inside, which has ended.
  if (first.repetition > level) throw new Error("levels of a column disagree");
  return values;
}
