/**
 * From a batch to a log record: schema (one commit) ─► series of each key ─► a chunk a table ─► one record.
 */
import type { Clock } from "../base/clock.ts";
import { failPoint } from "../base/fail-point.ts";
import { sameType } from "../column/data-type.ts";
import { encodeWriteRecord, type RecordEntry } from "../storage/memtable/write-record.ts";
import type { PreparedChunk } from "../storage/region/region.ts";
import type { Wal } from "../storage/wal/wal.ts";
import type { TableDefinition, TableSchema } from "../table/schema.ts";
import type { SeriesDictionary } from "../table/series-dictionary.ts";
import type { TableWrite, WriteBatch, WriteOptions } from "../table/write-batch.ts";
import type { LiveTables, TableEntry } from "./live-tables.ts";
import type { LogLedger } from "./log-ledger.ts";
import { checkMayExtend, columnsForNewTable, type KnownColumns, missingColumns, tableMissing, tagNamesOf } from "./schema-evolution.ts";
import type { SchemaStep, SchemaStore } from "./schema-store.ts";
import type { SequenceCounter } from "./sequence-counter.ts";
import { mapRows, resolveKey, SeriesMapper, unresolvedKeys } from "./series-mapper.ts";
import { convertTimes, splitForUnit } from "./time-conversion.ts";
import { columnSources, type WritePlan } from "./write-rows.ts";

/** What the write path works on. */
export interface WritePathParts {
  readonly wal: Wal;
  readonly clock: Clock;
  readonly tables: LiveTables;
  readonly schemas: SchemaStore;
  readonly ledger: LogLedger;
  readonly sequences: SequenceCounter;
  /** Puts a schema that was just made or changed in force. */
  apply(schema: TableSchema): void;
}

/** A batch that is in the log's queue. */
export interface LoggedBatch {
  /** Resolves when the record is durable; undefined for a batch without rows. */
  readonly durable: Promise<void> | undefined;
  /** To be published when it is, or abandoned when it fails. */
  readonly prepared: readonly PreparedChunk[];
  readonly rowCount: number;
}

/** See the file header. */
export class WritePath {
  private readonly parts: WritePathParts;
  private readonly mapper: SeriesMapper = new SeriesMapper();
  private scratch: Uint32Array = new Uint32Array(16_384);

  constructor(parts: WritePathParts) {
    this.parts = parts;
  }

  /**
   * Appends a batch to the log. Nothing waits before the append: the batch's arrays are only valid until the decoder runs again, and
   * records of a segment rely on earlier ones.
   */
  log(database: string, batch: WriteBatch, options: WriteOptions): LoggedBatch {
    const writes = batch.tables.filter((write) => write.rowCount > 0);
    const prepared: PreparedChunk[] = [];
    if (writes.length === 0) return { durable: undefined, prepared, rowCount: 0 };
    const seriesOfKey = this.mapper.mapOf(batch.dictionary, database, this.parts.tables.dropEpoch);
    this.evolve(database, writes, batch.dictionary, seriesOfKey, options);
    const segment = this.parts.wal.beginRecord();
    const sequence = this.parts.sequences.next;
    const entries: RecordEntry[] = [];
    let rowCount = 0;
    try {
      for (const write of writes) {
        const entry = this.parts.tables.entryOf(database, write.table);
        for (const part of splitForUnit(write, entry.plan.timeUnit)) {
          const { chunk, record } = this.prepareChunk(entry, part, seriesOfKey, segment, sequence);
          prepared.push(chunk);
          entries.push(record);
        }
        rowCount += write.rowCount;
      }
    } catch (error) {
      for (const chunk of prepared) chunk.abandon();
      // Series marked for this record were not logged.
      for (const { marks } of this.parts.tables.entries()) marks.forget();
      throw error;
    }
    this.parts.sequences.take(sequence);
    for (const { tableId } of entries) this.parts.ledger.note(segment, tableId, sequence);
    const durable = this.parts.wal.append(sequence, encodeWriteRecord(entries));
    failPoint("write.appended");
    return { durable, prepared, rowCount };
  }

  private prepareChunk(
    entry: TableEntry,
    write: TableWrite,
    seriesOfKey: Uint32Array,
    segment: number,
    sequence: number,
  ): { readonly chunk: PreparedChunk; readonly record: RecordEntry } {
    const { region } = entry.table;
    const columns = columnSources(region.schemaNow, entry.plan, write, this.parts.clock);
    const times = convertTimes(write.times, write.rowCount, write.timeUnit, entry.plan.timeUnit);
    if (this.scratch.length < write.rowCount) this.scratch = new Uint32Array(write.rowCount * 2);
    const marks = entry.marks.reserve(region.registry.count);
    const newSeries: number[] = [];
    const seriesMax = mapRows(write.keys, write.rowCount, seriesOfKey, marks, segment, this.scratch, newSeries);
    const chunk = region.prepare({
      sequence,
      rowCount: write.rowCount,
      series: this.scratch,
      seriesMax,
      timeBase: times.base,
      timeOffsets: times.offsets,
      columns,
    });
    return { chunk, record: { tableId: region.schemaNow.id, registry: region.registry, newSeries, chunk: chunk.chunk } };
  }

  /** Creates what the batch needs, in one commit, and gives every new key its series. */
  private evolve(
    database: string,
    writes: readonly TableWrite[],
    dictionary: SeriesDictionary,
    seriesOfKey: Uint32Array,
    options: WriteOptions,
  ): void {
    const pending = writes.map((write) => ({ write, keys: unresolvedKeys(write.keys, write.rowCount, seriesOfKey) }));
    const steps = this.schemaSteps(database, pending, dictionary, options);
    if (steps.length > 0) {
      failPoint("evolve.before-commit");
      for (const schema of this.parts.schemas.applyAll(steps)) this.parts.apply(schema);
      failPoint("evolve.after-commit");
    }
    for (const { write, keys } of pending) {
      if (keys.length === 0) continue;
      const { registry } = this.parts.tables.entryOf(database, write.table).table.region;
      for (const key of keys) resolveKey(key, dictionary.tagsOf(key), registry, seriesOfKey);
    }
  }

  private schemaSteps(
    database: string,
    pending: readonly { readonly write: TableWrite; readonly keys: readonly number[] }[],
    dictionary: SeriesDictionary,
    options: WriteOptions,
  ): SchemaStep[] {
    const steps: SchemaStep[] = [];
    const growing = new Map<string, KnownColumns>(); // Tables that earlier steps create or extend, as they will be.
    for (const { write, keys } of pending) {
      const tagNames = keys.length === 0 ? [] : tagNamesOf(dictionary, keys);
      const entry = this.parts.tables.find(database, write.table);
      const schema = growing.get(write.table) ?? entry?.table.schema;
      if (entry !== undefined && tagNames.length === 0 && fieldsMatch(entry.plan, write)) continue;
      if (schema === undefined) {
        const refused = tableMissing(database, write.table, options);
        if (refused !== undefined) throw refused;
        const definition = newTable(database, write, dictionary, tagNames, options);
        growing.set(write.table, definition);
        steps.push({ kind: "create", definition });
        continue;
      }
      const missing = missingColumns(schema, tagNames, write.fields);
      checkMayExtend(schema, missing, options);
      if (missing.length === 0) continue;
      growing.set(write.table, { name: write.table, columns: [...schema.columns, ...missing] });
      steps.push({ kind: "alter", database, table: write.table, change: { kind: "add-columns", columns: missing, ifNotExists: true } });
    }
    return steps;
  }
}

/** Whether all fields exist with their types: the usual case, without building anything. */
function fieldsMatch(plan: WritePlan, write: TableWrite): boolean {
  for (const field of write.fields) {
    const column = plan.columnOf.get(field.name);
    if (column === undefined || column.semantic !== "field") return false;
    if (!sameType(column.type, field.type)) return false;
  }
  return true;
}

function newTable(
  database: string,
  write: TableWrite,
  dictionary: SeriesDictionary,
  tagNames: readonly string[],
  options: WriteOptions,
): TableDefinition {
  const columns = columnsForNewTable(write, dictionary, tagNames);
  return {
    database,
    name: write.table,
    columns,
    primaryKey: columns.filter(({ semantic }) => semantic === "tag").map(({ name }) => name),
    engine: "mito",
    options: options.tableOptions,
  };
}
