/**
 * Chunks of a partition on disk, and the frames of their rows: positions in the partition, which fall neither within a chunk nor from one
 * chunk to the next. Edges of rows are computed, those of groups read, and those by value found by a cursor that goes through the keys
 * once.
 */
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import { columnsOf, type TypedExpression } from "../../expression/expression.ts";
import type { FrameBound, WindowFrame } from "./node.ts";
import type { SortItem } from "../node-parts/sort-item.ts";
import { VectorEvaluator } from "../../expression/evaluator.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { compareItem } from "../rows/row-accumulator.ts";
import type { Frames } from "./frames.ts";
import type { LargePartition } from "./large-partition.ts";
import { valueAt } from "../../expression/vector-values.ts";

/** Rows `[from, to)` of a partition. */
export interface Chunk {
  readonly from: number;
  readonly to: number;
  readonly batch: ExecBatch;
  /** The group of each row. */
  readonly groups: Uint32Array;
}

/** All chunks in order. */
export async function* chunksOf(partition: LargePartition): AsyncGenerator<Chunk> {
  const { rowCount, groupCount, chunkRows } = partition;
  let group = 0;
  for (let from = 0; from < rowCount; from += chunkRows) {
    const to = Math.min(rowCount, from + chunkRows);
    // The group of the row before, and as many behind it as there can be.
    const near = Uint32Array.from({ length: Math.min(groupCount - group, to - from + 2) }, (_, i) => group + i);
    const starts = await partition.startsOf(near);
    const groups = new Uint32Array(to - from);
    let at = 0;
    for (let row = from; row < to; row++) {
      while ((starts[at + 1] ?? rowCount) <= row) at++;
      groups[row - from] = group + at;
    }
    group += at;
    yield { from, to, batch: await partition.read(from, to), groups };
  }
}

/** The frames of one call, chunk by chunk. */
export class LargeFrames {
  private readonly start: Edge;
  private readonly end: Edge;

  constructor({ unit, start, end }: WindowFrame, item: SortItem | undefined, partition: LargePartition, context: ExecContext) {
    const edge = (bound: FrameBound, isStart: boolean): Edge =>
      bound.kind === "value" && item !== undefined
        ? new ValueEdge(bound, item, isStart, partition, context)
        : new PlaceEdge(bound, unit, isStart, partition);
    this.start = edge(start, true);
    this.end = edge(end, false);
  }

  /** Frames of the rows of the next chunk. */
  async of(chunk: Chunk): Promise<Frames> {
    const starts = await this.start.of(chunk);
    const ends = await this.end.of(chunk);
    for (let i = 0; i < ends.length; i++) if ((ends[i] ?? 0) < (starts[i] ?? 0)) ends[i] = starts[i] ?? 0;
    return { starts, ends };
  }
}

/** One end of all frames. */
interface Edge {
  of(chunk: Chunk): Promise<Uint32Array>;
}

/** An edge that places alone decide. */
class PlaceEdge implements Edge {
  private readonly bound: FrameBound;
  private readonly unit: WindowFrame["unit"];
  private readonly isStart: boolean;
  private readonly partition: LargePartition;

  constructor(bound: FrameBound, unit: WindowFrame["unit"], isStart: boolean, partition: LargePartition) {
    this.bound = bound;
    this.unit = unit;
    this.isStart = isStart;
    this.partition = partition;
  }

  async of({ from, to, groups }: Chunk): Promise<Uint32Array> {
    const { bound, isStart, partition } = this;
    const { rowCount, groupCount } = partition;
    if (bound.kind === "unbounded") return new Uint32Array(to - from).fill(isStart ? 0 : rowCount);
    const shift = (bound.kind === "steps" ? bound.steps : 0) + (isStart ? 0 : 1);
    const shifted = (at: number, most: number): number => Math.min(Math.max(at + shift, 0), most);
    if (this.unit === "rows") return Uint32Array.from({ length: to - from }, (_, i) => shifted(from + i, rowCount));
    return partition.startsOf(groups.map((group) => shifted(group, groupCount)));
  }
}

/** An edge by value: of NULL the edge of its group. */
class ValueEdge implements Edge {
  private readonly groups: PlaceEdge;
  private readonly item: SortItem;
  private readonly isStart: boolean;
  private readonly type: DataType;
  private readonly values: VectorEvaluator;
  private readonly keys: KeyCursor;

  constructor(
    bound: Extract<FrameBound, { kind: "value" }>,
    item: SortItem,
    isStart: boolean,
    partition: LargePartition,
    context: ExecContext,
  ) {
    this.groups = new PlaceEdge({ kind: "current" }, "range", isStart, partition);
    this.item = item;
    this.isStart = isStart;
    this.type = bound.key.type;
    this.values = new VectorEvaluator(bound.value, partition.columns, context);
    this.keys = new KeyCursor(bound.key, partition, context);
  }

  async of(chunk: Chunk): Promise<Uint32Array> {
    const { item, keys, type } = this;
    const edges = await this.groups.of(chunk);
    const values = this.values.vector(chunk.batch);
    const isBefore = this.isStart ? (order: number) => order < 0 : (order: number) => order <= 0;
    for (let i = 0; i < edges.length; i++) {
      const value = valueAt(values, type, i);
      if (value === undefined) continue;
      while (keys.hasKey || (await keys.readOn())) {
        if (!isBefore(compareItem(item, keys.key, value))) break;
        keys.at++;
      }
      edges[i] = keys.at;
    }
    return edges;
  }
}

/** Goes through the keys of a partition from the first to the last. */
class KeyCursor {
  at = 0;
  private from = 0;
  private to = 0;
  private vector: Vector | undefined;
  private readonly type: DataType;
  private readonly partition: LargePartition;
  private readonly evaluator: VectorEvaluator;
  private readonly needed: ReadonlySet<number>;

  constructor(key: TypedExpression, partition: LargePartition, context: ExecContext) {
    this.type = key.type;
    this.partition = partition;
    this.evaluator = new VectorEvaluator(key, partition.columns, context);
    this.needed = columnsOf(key);
  }

  /** Whether the key at hand is in memory. */
  get hasKey(): boolean {
    return this.at < this.to;
  }

  /** The key at hand. */
  get key(): ReturnType<typeof valueAt> {
    return this.vector === undefined ? undefined : valueAt(this.vector, this.type, this.at - this.from);
  }

  /** Reads the keys from the one at hand on; false at the end. */
  async readOn(): Promise<boolean> {
    const { rowCount, chunkRows } = this.partition;
    if (this.at >= rowCount) return false;
    this.from = this.at;
    this.to = Math.min(rowCount, this.at + chunkRows);
    this.vector = this.evaluator.vector(await this.partition.read(this.from, this.to, this.needed));
    return true;
  }
}
