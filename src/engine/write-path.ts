/**
 * From a batch to a log record: schema (one commit) ─► series of each key ─► a chunk a table ─► one record.
 *
 * Runs on the thread that owns the catalogue and on ingest threads alike: what it writes to is `WriteTables`, the tables themselves or a
 * thread's mirror of them.
 */
import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { DbError } from "../base/error.ts";
import { failPoint } from "../base/fail-point.ts";
import { StatusCode } from "../base/status-code.ts";
import { FLOAT64, sameType } from "../column/data-type.ts";
import type { ColumnSource } from "../storage/memtable/chunk-builder.ts";
import { encodeWriteRecord, type RecordEntry } from "../storage/memtable/write-record.ts";
import type { PreparedChunk } from "../storage/region/region.ts";
import type { Wal } from "../storage/wal/wal.ts";
import { optionsFromDatabase } from "../table/database-template.ts";
import type { TableDefinition } from "../table/schema.ts";
import type { SeriesDictionary } from "../table/series-dictionary.ts";
import type { TableWrite, WriteBatch, WriteOptions } from "../table/write-batch.ts";
import type { Expiry } from "./expiry.ts";
import { livingRows } from "./living-rows.ts";
import { LabelPlans } from "./metric/label-plans.ts";
import { LabelResolver } from "./metric/label-resolver.ts";
import { metricSteps } from "./metric/metric-evolution.ts";
import { MetricWrites, type RoutedBatch } from "./metric/metric-writes.ts";
import {
  checkMayExtend,
  columnsForNewTable,
  type KnownColumns,
  missingColumns,
  tableMissing,
  tagNamesOf,
  widenedColumns,
  withWidened,
} from "./schema-evolution.ts";
import type { SchemaStep } from "./schema-store.ts";
import type { SequenceCounter } from "./sequence-counter.ts";
import { mapRows, resolveKeys, SeriesMapper, unresolvedKeys } from "./series-mapper.ts";
import { checkSampleKind } from "./metric/sample-kind.ts";
import { convertTimes, splitForUnit } from "./time-conversion.ts";
import { columnSources, type WritePlan } from "./write-rows.ts";
import type { WriteTables, WriteTarget } from "./write-target.ts";

/** What the write path works on. */
export interface WritePathParts {
  readonly wal: Wal;
  readonly clock: Clock;
  readonly tables: WriteTables;
  readonly sequences: SequenceCounter;
  readonly expiry: Expiry;
  /** Called when a record of these tables goes to the log, before it is durable. */
  noteLogged(segment: number, tableId: number, sequence: number): void;
  /** Called with the number of rows that had expired when they came: they are taken and not kept. */
  noteExpired(rows: number): void;
}

/** A batch that is in the log's queue. */
export interface LoggedBatch {
  /** Resolves when the record is durable; undefined for a batch without rows. */
  readonly durable: Promise<void> | undefined;
  /** To be published when it is, or abandoned when it fails. */
  readonly prepared: readonly PreparedChunk[];
  /** The record without its chunks; undefined when no row is worth keeping. */
  readonly record: LoggedRecord | undefined;
  /** Rows taken, expired ones too. */
  readonly rowCount: number;
}

/** What tells a record from others, and what it says of its chunks. */
export interface LoggedRecord {
  readonly sequence: number;
  readonly segment: number;
  /** All of the record that stands before the chunks' memory. */
  readonly head: Uint8Array;
}

/** Times that another thread's change of the catalogue may come between before a write gives up: each of them took a whole change. */
const EVOLVE_ROUNDS_MAX = 100;

/** See the file header. */
export class WritePath {
  private readonly parts: WritePathParts;
  private readonly mapper: SeriesMapper = new SeriesMapper();
  private readonly metrics: MetricWrites;
  private readonly labelPlans: LabelPlans = new LabelPlans();
  private scratch: Uint32Array = new Uint32Array(16_384);

  constructor(parts: WritePathParts) {
    this.parts = parts;
    this.metrics = new MetricWrites(parts.tables, parts.clock);
  }

  /**
   * Appends a batch to the log. Nothing waits before the append: the batch's arrays are only valid until the decoder runs again, and
   * records of a segment rely on earlier ones.
   */
  log(database: string, batch: WriteBatch, options: WriteOptions): LoggedBatch {
    const prepared: PreparedChunk[] = [];
    let rowCount = 0;
    for (const write of batch.tables) rowCount += write.rowCount;
    const given = batch.tables.flatMap((write) => this.living(database, write) ?? []);
    if (given.length === 0) return { durable: undefined, prepared, record: undefined, rowCount };
    const { writes, seriesOfKey } = this.evolve(database, given, batch.dictionary, options);
    const segment = this.parts.wal.beginRecord();
    const sequence = this.parts.sequences.take();
    const entries: RecordEntry[] = [];
    try {
      for (const write of writes) {
        const target = this.targetOf(database, write);
        for (const part of splitForUnit(write, target.plan.timeUnit)) {
          const { chunk, record } = this.prepareChunk(target, part, seriesOfKey, segment, sequence);
          prepared.push(chunk);
          entries.push(record);
        }
      }
    } catch (error) {
      for (const chunk of prepared) chunk.abandon();
      // Series marked for this record were not logged.
      for (const { marks } of this.parts.tables.entries()) marks.forget();
      throw error;
    }
    for (const { tableId } of entries) this.parts.noteLogged(segment, tableId, sequence);
    const record = encodeWriteRecord(entries);
    const head = record[0] as Uint8Array; // A record begins with its head.
    const durable = this.parts.wal.append(sequence, record);
    failPoint("write.appended");
    return { durable, prepared, record: { sequence, segment, head }, rowCount };
  }

  private targetOf(database: string, write: TableWrite): WriteTarget {
    const target = this.parts.tables.find(database, write.table);
    assert(target !== undefined, "the table exists");
    return target;
  }

  /** The rows of a write that are worth keeping; undefined when there are none. */
  private living(database: string, write: TableWrite): TableWrite | undefined {
    if (write.rowCount === 0) return undefined;
    const entry = this.parts.tables.find(database, write.table);
    const before = entry === undefined ? undefined : this.parts.expiry.before(entry.schema);
    if (entry === undefined || before === undefined) return write;
    const living = livingRows(write, before, entry.plan.timeUnit);
    this.parts.noteExpired(write.rowCount - (living?.rowCount ?? 0));
    return living;
  }

  private prepareChunk(
    target: WriteTarget,
    write: TableWrite,
    seriesOfKey: Uint32Array,
    segment: number,
    sequence: number,
  ): { readonly chunk: PreparedChunk; readonly record: RecordEntry } {
    const { schema, plan, registry } = target;
    const columns = write.tablesOfKeys === true ? valueSource(target, write) : columnSources(schema, plan, write, this.parts.clock);
    const times = convertTimes(write.times, write.rowCount, write.timeUnit, plan.timeUnit);
    if (this.scratch.length < write.rowCount) this.scratch = new Uint32Array(write.rowCount * 2);
    const marks = target.marks.reserve(registry.count);
    const newSeries: number[] = [];
    const seriesMax = mapRows(write.keys, write.rowCount, seriesOfKey, marks, segment, this.scratch, newSeries);
    const chunk = target.prepare({
      sequence,
      rowCount: write.rowCount,
      series: this.scratch,
      seriesMax,
      timeBase: times.base,
      timeOffsets: times.offsets,
      columns,
    });
    return { chunk, record: { tableId: schema.id, registry, newSeries, segment, tagMarks: target.marks.tags, chunk: chunk.chunk } };
  }

  /** Creates what the batch needs, in one commit, and gives every new key its series. */
  private evolve(database: string, given: readonly TableWrite[], dictionary: SeriesDictionary, options: WriteOptions): EvolvedBatch {
    const { tables } = this.parts;
    for (let round = 0; round < EVOLVE_ROUNDS_MAX; round++) {
      const seriesOfKey = this.mapper.mapOf(dictionary, database, tables.dropEpoch);
      const batch = { database, dictionary, options, seriesOfKey, strays: this.mapper.straysOf(dictionary), plans: this.labelPlans };
      const { writes, pending, steps } = this.planned(given, batch, round > 0);
      if (steps.length > 0 && this.commit(steps) === "refreshed") continue;
      this.resolve(pending, batch);
      return { writes, seriesOfKey };
    }
    throw changedMeanwhile(database);
  }

  private commit(steps: readonly SchemaStep[]): ReturnType<WriteTables["evolve"]> {
    failPoint("evolve.before-commit");
    const outcome = this.parts.tables.evolve(steps);
    failPoint("evolve.after-commit");
    return outcome;
  }

  /** What to write where, and what lacks. A contradiction to tables that changed after the batch was decoded is no fault of the batch. */
  private planned(given: readonly TableWrite[], batch: RoutedBatch, isRefreshed: boolean): PlannedBatch {
    const { database, dictionary, options, seriesOfKey } = batch;
    try {
      const writes = this.metrics.route(given, batch);
      const pending = writes.map((write) => ({ write, keys: unresolvedKeys(write.keys, write.rowCount, seriesOfKey) }));
      const metrics = pending.filter(isMetric);
      const plain = metrics.length === 0 ? pending : pending.filter((each) => !isMetric(each));
      const steps = [
        ...this.schemaSteps(database, plain, dictionary, options),
        ...metricSteps(database, this.unplanned(metrics, batch), dictionary, options, this.parts.tables),
      ];
      return { writes, pending, steps };
    } catch (error) {
      if (isRefreshed && error instanceof DbError && error.code === StatusCode.InvalidArguments) throw changedMeanwhile(database, error);
      throw error;
    }
  }

  /** The writes with those of their keys whose tables and labels may not be there yet. */
  private unplanned(pending: readonly PendingWrite[], { database, dictionary, plans }: RoutedBatch): readonly PendingWrite[] {
    const { tables } = this.parts;
    return pending.map(({ write, keys }) => {
      const registry = tables.find(database, write.table)?.registry;
      const isPlanned = (key: number): boolean => {
        const shape = dictionary.sharedShapeOf(key);
        return shape !== undefined && plans.find(shape, registry, tables.dropEpoch) !== undefined;
      };
      return { write, keys: keys.filter((key) => !isPlanned(key)) };
    });
  }

  private resolve(pending: readonly PendingWrite[], { database, dictionary, seriesOfKey }: RoutedBatch): void {
    for (const { write, keys } of pending) {
      if (keys.length === 0) continue;
      const target = this.targetOf(database, write);
      if (write.tablesOfKeys === true) {
        const labels = new LabelResolver(database, target, this.parts.tables, this.labelPlans);
        for (const key of keys) seriesOfKey[key] = labels.seriesOf(key, dictionary);
      } else resolveKeys(keys, dictionary, target.registry, seriesOfKey);
    }
  }

  private schemaSteps(
    database: string,
    pending: readonly PendingWrite[],
    dictionary: SeriesDictionary,
    options: WriteOptions,
  ): SchemaStep[] {
    const steps: SchemaStep[] = [];
    const growing = new Map<string, KnownColumns>(); // Tables that earlier steps create or extend, as they will be.
    for (const { write, keys } of pending) {
      const tagNames = keys.length === 0 ? [] : tagNamesOf(dictionary, keys);
      const entry = this.parts.tables.find(database, write.table);
      let schema: KnownColumns | undefined = growing.get(write.table) ?? entry?.schema;
      if (entry !== undefined && tagNames.length === 0 && fieldsMatch(entry.plan, write)) continue;
      if (schema === undefined) {
        const refused = tableMissing(database, write.table, options);
        if (refused !== undefined) throw refused;
        const template = this.parts.tables.databaseOptions(database);
        const own = { ...options.tableOptions, ...options.optionsOfTables?.get(write.table) };
        const definition = newTable(database, write, dictionary, tagNames, templated(own, template));
        growing.set(write.table, definition);
        steps.push({ kind: "create", definition });
        continue;
      }
      const widened = widenedColumns(schema, write.fields, options);
      if (widened.length > 0) {
        schema = withWidened(schema, widened);
        growing.set(write.table, schema);
        steps.push(...widened.map((column) => wideningOf(database, write.table, column)));
      }
      const missing = missingColumns(schema, tagNames, write.fields, write.shape);
      checkMayExtend(schema, missing, options);
      if (missing.length === 0) continue;
      checkSampleKind(write.table, [...schema.columns, ...missing]);
      growing.set(write.table, { name: write.table, columns: [...schema.columns, ...missing] });
      steps.push({ kind: "alter", database, table: write.table, change: { kind: "add-columns", columns: missing, ifNotExists: true } });
    }
    return steps;
  }
}

/** The values of a "tables of keys" write, as values of the physical table's field. */
function valueSource({ physical }: WriteTarget, { table, fields }: TableWrite): ColumnSource[] {
  const [field] = fields;
  assert(physical !== undefined && field !== undefined, `a physical table and one field; got ${table}`);
  const { id, type } = physical.fieldFor(field.type);
  return [{ columnId: id, type, vector: field.vector }];
}

/** A table write, and its keys that have no series yet. */
interface PendingWrite {
  readonly write: TableWrite;
  readonly keys: readonly number[];
}

/** What a batch writes, and what has to be there before. */
interface PlannedBatch {
  readonly writes: readonly TableWrite[];
  readonly pending: readonly PendingWrite[];
  readonly steps: readonly SchemaStep[];
}

/** A batch whose tables and series exist. */
interface EvolvedBatch {
  readonly writes: readonly TableWrite[];
  readonly seriesOfKey: Uint32Array;
}

function isMetric({ write }: PendingWrite): boolean {
  return write.tablesOfKeys === true;
}

/** Whoever decoded the batch can do so again. */
function changedMeanwhile(database: string, cause?: DbError): DbError {
  return new DbError(
    StatusCode.RegionBusy,
    `cannot write to database ${database}: its tables changed while the request was being read; send it again`,
    { cause, retryAfterSeconds: 1 },
  );
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

function wideningOf(database: string, table: string, column: string): SchemaStep {
  return { kind: "alter", database, table, change: { kind: "change-type", column, type: FLOAT64 } };
}

function newTable(
  database: string,
  write: TableWrite,
  dictionary: SeriesDictionary,
  tagNames: readonly string[],
  options: Readonly<Record<string, string>>,
): TableDefinition {
  const columns = columnsForNewTable(write, dictionary, tagNames);
  return {
    database,
    name: write.table,
    columns,
    primaryKey: columns.filter(({ semantic }) => semantic === "tag").map(({ name }) => name),
    engine: "mito",
    options,
  };
}

/** Options of a new table. One that keeps all rows, as its database says, has no merge mode, whatever a protocol's default is. */
function templated(own: Readonly<Record<string, string>>, database: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { merge_mode: mergeMode, ...rest } = optionsFromDatabase(own, database);
  return mergeMode === undefined || rest["append_mode"] === "true" ? rest : { ...rest, merge_mode: mergeMode };
}
