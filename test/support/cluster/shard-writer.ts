/**
 * A writer to the log of a shard, by the rules of `src/engine/log/writers.ts`: one record after the other, each acknowledged before the
 * next is appended; after an append without an answer a new segment, and the same record again.
 */
import { type TableId, type WriterId, tableId } from "../../../src/base/units.ts";
import { encodeRecordParts, encodeRecords, RECORDS_OVERHEAD_BYTES, recordBytes } from "../../../src/cluster/log-message/log-message.ts";
import type { ClusterPort } from "../../../src/cluster/port/cluster-port.ts";
import { portFailureOf } from "../../../src/cluster/port/port-error.ts";
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

interface Known {
  readonly registry: SeriesRegistry;
  readonly marks: number[];
  readonly tagMarks: TagMarks;
}

/** See the file header. */
export class ShardWriter {
  readonly writer: WriterId = newWriterId();
  segment = 1;
  number = 0;
  /** Number of the message of the last record that was acknowledged. */
  acknowledged = 0;
  /** What records say of the catalogue. */
  catalogVersion = 0;
  private readonly port: ClusterPort;
  private readonly shard: number;
  private readonly shards: Shards;
  private readonly arena: Arena = new Arena(new SlabPool(0));
  private readonly known: Map<TableId, Known> = new Map();
  private readonly sleep: (millis: number) => Promise<void>;

  constructor(port: ClusterPort, shard: number, shards: Shards, sleep: (millis: number) => Promise<void>) {
    this.port = port;
    this.shard = shard;
    this.shards = shards;
    this.sleep = sleep;
  }

  /** Writes rows of tables as one record; resolves when it is acknowledged. */
  async write(...entries: readonly (readonly [schema: TableSchema, rows: readonly WrittenRow[]])[]): Promise<void> {
    const number = ++this.number;
    for (;;) {
      try {
        await this.append(this.record(number, entries));
        return;
      } catch (error) {
        const failure = portFailureOf(error);
        if (failure !== "unknown" && failure !== "unavailable" && failure !== "full") throw error;
      }
      this.segment++;
      await this.sleep(100);
    }
  }

  /** The bytes of a record: of the next, or of one that nobody acknowledged. */
  record(number: number, entries: readonly (readonly [schema: TableSchema, rows: readonly WrittenRow[]])[]): Uint8Array[] {
    const origin = { writer: this.writer, number, segment: this.segment, catalogVersion: this.catalogVersion };
    return encodeWriteRecord(
      origin,
      entries.map(([schema, rows]) => this.entry(schema, rows)),
    );
  }

  async append(record: readonly Uint8Array[]): Promise<void> {
    const { messageBytesMax } = this.port;
    if (recordBytes(record) + RECORDS_OVERHEAD_BYTES + 4 <= messageBytesMax) {
      this.acknowledged = await this.port.log.append(this.shard, encodeRecords([record]));
      return;
    }
    for (const part of encodeRecordParts(record, messageBytesMax - 64)) this.acknowledged = await this.port.log.append(this.shard, part);
  }

  private entry(schema: TableSchema, rows: readonly WrittenRow[]): RecordEntry {
    const id = tableId(this.shards.regionOf(schema.id, this.shard));
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
