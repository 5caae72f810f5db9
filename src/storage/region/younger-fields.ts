/** Fields that are younger than some rows: rows in memory get their values when they are added, rows in files when they are read. */
import type { Clock } from "../../base/clock.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { Scalar } from "../../column/vector.ts";
import type { ColumnSchema, TableSchema } from "../../table/schema.ts";
import type { Chunk, ChunkColumn } from "../memtable/chunk.ts";
import { initialValueOf } from "./default-value.ts";

/** The fields of a schema that rows older than them take a default for. */
export class YoungerFields {
  private readonly clock: Clock;
  private readonly fields: readonly ColumnSchema[];

  constructor(schema: TableSchema, clock: Clock) {
    this.clock = clock;
    this.fields = schema.columns.filter((column) => column.semantic === "field" && (column.initial ?? column.default) !== undefined);
  }

  /** Whether there are none: then every chunk is complete. */
  get isEmpty(): boolean {
    return this.fields.length === 0;
  }

  /**
   * The chunk with values for fields that are younger than it. A write that leaves out a field with a default has its value already, so
   * only rows from before the field was added are without.
   */
  completed(chunk: Chunk): Chunk {
    if (chunk.deletes === true) return chunk;
    const added: ChunkColumn[] = [];
    for (const column of this.fields) {
      const isOf = (columnId: number): boolean => columnId === column.id || column.former?.some(({ id }) => id === columnId) === true;
      if (chunk.columns.some(({ columnId }) => isOf(columnId))) continue;
      const value = initialValueOf(column, this.clock);
      if (value === undefined) continue;
      const vector = vectorOf(column.type, new Array<Scalar>(chunk.rowCount).fill(value));
      if (vector.kind !== "dictionary" && vector.kind !== "coded") added.push({ columnId: column.id, data: vector });
    }
    return added.length === 0 ? chunk : { ...chunk, columns: [...chunk.columns, ...added] };
  }
}
