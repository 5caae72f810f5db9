/** Records of rows as a frontend makes them, with numbers of series of its own. */
import { type TableId, type WriterId } from "../../../src/base/units.ts";
import { INT64 } from "../../../src/column/data-type.ts";
import { newWriterId } from "../../../src/engine/log/log-writer.ts";
import type { Shards } from "../../../src/engine/schema/shards.ts";
import { Arena, SlabPool } from "../../../src/storage/memtable/arena.ts";
import { TagMarks } from "../../../src/storage/memtable/series-definitions.ts";
import { encodeWriteRecord, type RecordEntry } from "../../../src/storage/memtable/write-record.ts";
import { SeriesRegistry } from "../../../src/storage/series/series-registry.ts";
import { type TableSchema, timeIndexOf } from "../../../src/table/schema.ts";
import { chunkOf } from "../storage/rows.ts";

/** A row of a table with one tag, a time and one integer field. */
export interface WrittenRow {
  readonly tag: string;
  readonly time: number;
  readonly value: number;
}

/** Rows of a table. */
export type TableRows = readonly [schema: TableSchema, rows: readonly WrittenRow[]];

interface Known {
  readonly registry: SeriesRegistry;
  readonly marks: number[];
  readonly tagMarks: TagMarks;
}

/** See the file header. */
export class RecordMaker {
  readonly writer: WriterId = newWriterId();
  segment = 1;
  /** What records say of the catalogue. */
  catalogVersion = 0;
  private readonly shard: number;
  private readonly shards: Shards;
  private readonly arena: Arena = new Arena(new SlabPool(0));
  private readonly known: Map<TableId, Known> = new Map();

  constructor(shard: number, shards: Shards) {
    this.shard = shard;
    this.shards = shards;
  }

  /** A record of the segment. */
  record(number: number, entries: readonly TableRows[]): Uint8Array[] {
    const origin = { writer: this.writer, number, segment: this.segment, catalogVersion: this.catalogVersion };
    return encodeWriteRecord(
      origin,
      entries.map(([schema, rows]) => this.entry(schema, rows)),
    );
  }

  private entry(schema: TableSchema, rows: readonly WrittenRow[]): RecordEntry {
    const id = this.shards.regionOf(schema.id, this.shard);
    const { registry, marks, tagMarks } = this.knownOf(id, schema);
    const newSeries: number[] = [];
    const numbered = rows.map(({ tag, time, value }) => {
      const series = registry.register([tag]);
      if (marks[series] !== this.segment) newSeries.push(series);
      marks[series] = this.segment;
      return { series, time: BigInt(time), values: [value] };
    });
    const field = schema.columns.find(({ semantic }) => semantic === "field");
    if (field === undefined || timeIndexOf(schema).type.kind !== "timestamp") throw new Error("a field and a time");
    const chunk = chunkOf(1, { rows: numbered, columnIds: [field.id] }, [{ id: field.id, type: INT64 }], this.arena);
    return { tableId: id, registry, newSeries, tagMarks, chunk };
  }

  private knownOf(id: TableId, schema: TableSchema): Known {
    let known = this.known.get(id);
    if (known === undefined) {
      const registry = new SeriesRegistry(schema.name);
      registry.setColumns(
        schema.columns.filter(({ semantic }) => semantic === "tag").map((column) => ({ id: column.id, name: column.name })),
      );
      known = { registry, marks: [], tagMarks: new TagMarks() };
      this.known.set(id, known);
    }
    return known;
  }
}
