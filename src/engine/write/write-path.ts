/**
 * From a batch to a log record: schema (one commit) ─► series of each key ─► a chunk a table ─► one record (`batch-log.ts`).
 *
 * Runs on the thread that owns the catalog and on ingest threads alike: what it writes to is `WriteTables`, the tables themselves or a
 * thread's mirror of them.
 */
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import { failPoint } from "../../base/process/fail-point.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { TimeVector } from "../../column/vector.ts";
import type { ColumnSource } from "../../storage/memtable/chunk-builder.ts";
import type { PreparedChunk } from "../../storage/region/prepared-chunk.ts";
import type { SeriesDictionary } from "../../table/series-dictionary.ts";
import type { TableWrite, WriteBatch, WriteOptions } from "../../table/write-batch.ts";
import type { Expiry } from "../time/expiry.ts";
import { livingRows } from "./living-rows.ts";
import { LabelPlans } from "../metric/label-plans.ts";
import { LabelResolver } from "../metric/label-resolver.ts";
import { metricSteps } from "../metric/metric-evolution.ts";
import { MetricWrites, type RoutedBatch } from "../metric/metric-writes.ts";
import { mapRows, resolveKeys, SeriesMapper, unresolvedKeys } from "../series/series-mapper.ts";
import type { Shards } from "../schema/shards.ts";
import type { BatchLog, BuiltChunk, LoggedRecord } from "./batch-log.ts";
import { knownInShards, type PlacedWrite, ShardedKeys } from "./sharded-keys.ts";
import { type PendingWrite, tableSteps } from "./table-steps.ts";
import { convertTimes, splitForUnit, takeWriteRows } from "../time/time-conversion.ts";
import { carrierName, isRefusal, type TableSteps, WriteRefusals } from "../table/write-refusals.ts";
import { columnSources } from "../table/write-rows.ts";
import type { WriteTables, WriteTarget } from "../table/write-target.ts";

/** What the write path works on. */
export interface WritePathParts {
  /** Where chunks go. */
  readonly log: BatchLog;
  readonly clock: Clock;
  readonly tables: WriteTables;
  readonly expiry: Expiry;
  readonly shards: Shards;
  /** Called with the number of rows that had expired when they came: they are taken and not kept. */
  noteExpired(rows: number): void;
}

/** A batch that is in the log's queue. */
export interface LoggedBatch {
  /** Set: nothing is, since tables that it needs are made later. Resolves when it may be decoded again. */
  readonly later: Promise<void> | undefined;
  /** Resolves when the record is durable; undefined for a batch without rows. */
  readonly durable: Promise<void> | undefined;
  /** To be published when it is, or abandoned when it fails. */
  readonly prepared: readonly PreparedChunk[];
  /** The record without its chunks; undefined when no row is worth keeping, and where rows go elsewhere. */
  readonly record: LoggedRecord | undefined;
  /** Rows taken, expired ones too. */
  readonly rowCount: number;
  /** Why rows of some tables, or all, were not taken; to be thrown once the others are durable. */
  readonly refused: DbError | undefined;
  /** Whether all tables that it was written to are there still. */
  isCurrent(): boolean;
}

/** Times that another thread's change of the catalog may come between before a write gives up: each of them took a whole change. */
const EVOLVE_ROUNDS_MAX = 100;

/**
 * Times that what a batch needs is halved to find what of it is refused. What planning can see is refused there; the rest is names of
 * views, and limits. Reason: each is a transaction. Error: what is not found by then is refused together.
 */
const COMMIT_SPLITS_MAX = 256;

/** See the file header. */
export class WritePath {
  private readonly parts: WritePathParts;
  private readonly mapper: SeriesMapper = new SeriesMapper();
  private readonly shards: ShardedKeys;
  private readonly metrics: MetricWrites;
  private readonly labelPlans: LabelPlans = new LabelPlans();
  private scratch: Uint32Array = new Uint32Array(16_384);

  constructor(parts: WritePathParts) {
    this.parts = parts;
    this.metrics = new MetricWrites(parts.tables, parts.clock);
    this.shards = new ShardedKeys(parts.shards, parts.tables, this.labelPlans);
  }

  /**
   * Appends a batch to the log. Nothing waits before the append: the batch's arrays are only valid until the decoder runs again, and
   * records of a segment rely on earlier ones.
   */
  log(database: string, batch: WriteBatch, options: WriteOptions): LoggedBatch {
    this.shards.begin();
    const given = batch.tables.filter(({ rowCount }) => rowCount > 0);
    const refusals = new WriteRefusals(options.allOrNothing === true);
    const evolved = this.evolve(database, given, batch.dictionary, options, refusals);
    if (evolved instanceof Promise) {
      options.onLater?.();
      return {
        later: evolved,
        durable: undefined,
        prepared: [],
        record: undefined,
        rowCount: 0,
        refused: undefined,
        isCurrent: () => true,
      };
    }
    const { writes, seriesOfKey } = evolved;
    const later = undefined;
    const parts = writes.flatMap((write) => this.partsOf(database, batch.dictionary, write, refusals));
    const refusedRows = refusals.rowCount;
    const rowCount = rowsOf(given) - refusedRows;
    const refused = refusals.error(rowCount, refusedRows);
    if (parts.length === 0) return { later, durable: undefined, prepared: [], record: undefined, rowCount, refused, isCurrent: () => true };
    const { durable, prepared, record } = this.parts.log.append(parts, {
      build: (part, segment, sequence) => this.builtChunk(part, part.seriesOfKey ?? seriesOfKey, segment, sequence),
      forget: () => {
        for (const { marks } of this.parts.tables.entries()) marks.forget();
      },
    });
    return { later, durable, prepared, record, rowCount, refused, isCurrent: this.currency(parts) };
  }

  /** Says from now on whether tables are still there; of logical ones, whether any table has gone. */
  private currency(parts: readonly ChunkPart[]): () => boolean {
    const { tables } = this.parts;
    const epoch = tables.dropEpoch;
    return () => {
      if (tables.dropEpoch === epoch) return true;
      const those = new Set(tables.entries());
      return parts.every(({ target, write }) => write.tablesOfKeys !== true && those.has(target));
    };
  }

  private targetOf(database: string, write: TableWrite): WriteTarget {
    const target = this.parts.tables.find(database, write.table);
    assert(target !== undefined, "the table exists");
    return target;
  }

  /** The rows of a write that are worth keeping; none when there are none. */
  private living(database: string, write: TableWrite): readonly TableWrite[] {
    const entry = this.parts.tables.find(database, write.table);
    const before = entry === undefined ? undefined : this.parts.expiry.before(entry.schema);
    if (entry === undefined || before === undefined) return [write];
    const living = livingRows(write, before, entry.plan.timeUnit);
    return living === undefined ? [] : [living];
  }

  /** A write in pieces as its table takes them; none when its values refuse it. */
  private partsOf(database: string, dictionary: SeriesDictionary, write: TableWrite, refusals: WriteRefusals): readonly ChunkPart[] {
    const target = this.targetOf(database, write);
    try {
      if (target.shards === undefined) return this.partsIn({ target, write });
      return this.shards.placed(database, dictionary, write, target).flatMap((placed) => this.partsIn(placed));
    } catch (error) {
      refusals.refuse(write.table, error, write.rowCount);
      return [];
    }
  }

  private partsIn({ target, write, seriesOfKey }: PlacedWrite): readonly ChunkPart[] {
    const { schema, plan } = target;
    return splitForUnit(write, plan.timeUnit).map((part) => ({
      target,
      seriesOfKey,
      write: part,
      columns: part.tablesOfKeys === true ? valueSource(target, part) : columnSources(schema, plan, part, this.parts.clock),
      times: convertTimes(part.times, part.rowCount, part.timeUnit, plan.timeUnit),
    }));
  }

  private builtChunk(
    { target, write, columns, times }: ChunkPart,
    seriesOfKey: Uint32Array,
    segment: number,
    sequence: number,
  ): BuiltChunk {
    const { schema, registry } = target;
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
    return { chunk, entry: { tableId: schema.id, registry, newSeries, tagMarks: target.marks.tags, chunk: chunk.chunk } };
  }

  /**
   * Creates what the batch needs, in one commit, and gives every new key its series. Rows of refused tables are left out. A promise: it is
   * created later.
   */
  private evolve(
    database: string,
    given: readonly TableWrite[],
    dictionary: SeriesDictionary,
    options: WriteOptions,
    refusals: WriteRefusals,
  ): EvolvedBatch | Promise<void> {
    const { tables } = this.parts;
    let refusedFirst: ReadonlySet<string> = new Set();
    for (let round = 0; round < EVOLVE_ROUNDS_MAX; round++) {
      refusals.clear();
      const seriesOfKey = this.mapper.mapOf(dictionary, database, tables.dropEpoch, tables.seriesRenewals);
      const strays = this.mapper.straysOf(dictionary);
      const batch = { database, dictionary, options, seriesOfKey, strays, plans: this.labelPlans, refusals };
      const { pending, steps, expiredRows } = this.planned(given, batch);
      if (round === 0) refusedFirst = new Set(refusals.tables.keys());
      for (const [table, error] of refusals.tables) {
        // A contradiction to tables that changed after the batch was decoded is no fault of the batch.
        if (round > 0 && !refusedFirst.has(table) && error.code === StatusCode.InvalidArguments) throw changedMeanwhile(database, error);
      }
      const outcome = steps.length > 0 ? this.commit(steps, refusals) : "applied";
      if (outcome instanceof Promise) return outcome;
      if (outcome === "refreshed") continue;
      const writes = this.resolved(withoutRefused(pending, batch), batch);
      if (expiredRows > 0) this.parts.noteExpired(expiredRows);
      return { writes, seriesOfKey };
    }
    throw changedMeanwhile(database);
  }

  /** Makes all, or all but what is refused: halves are tried alone until it is found. */
  private commit(made: readonly TableSteps[], refusals: WriteRefusals, splits = { left: COMMIT_SPLITS_MAX }): Evolution {
    try {
      failPoint("evolve.before-commit");
      const outcome = this.parts.tables.evolve(made.flatMap(({ steps }) => steps));
      failPoint("evolve.after-commit");
      return outcome;
    } catch (error) {
      if (refusals.isWhole || !isRefusal(error)) throw error;
      if (made.length === 1 || splits.left-- <= 0) {
        for (const { table } of made) refusals.refuse(table, error);
        return "applied";
      }
      const middle = made.length >> 1;
      const first = this.commit(made.slice(0, middle), refusals, splits);
      if (first === "refreshed") return first;
      const second = this.commit(made.slice(middle), refusals, splits);
      if (!(first instanceof Promise)) return second;
      return second instanceof Promise ? bothOf(first, second) : first; // What was refused is refused again.
    }
  }

  /** What to write where, and what lacks. */
  private planned(given: readonly TableWrite[], batch: RoutedBatch): PlannedBatch {
    const { database, dictionary, options, seriesOfKey, refusals } = batch;
    const routed = this.metrics.route(given, batch);
    const writes = routed.flatMap((write) => this.living(database, write));
    const pending = writes.map((write) => ({ write, keys: unresolvedKeys(write.keys, write.rowCount, seriesOfKey) }));
    const metrics = pending.filter(isMetric);
    const plain = metrics.length === 0 ? pending : pending.filter((each) => !isMetric(each));
    const steps = [
      ...tableSteps(database, plain, dictionary, options, this.parts.tables, refusals),
      ...metricSteps(database, this.unplanned(metrics, batch), dictionary, options, this.parts.tables, refusals),
    ];
    return { pending, steps: steps.filter(({ table }) => !refusals.tables.has(table)), expiredRows: rowsOf(routed) - rowsOf(writes) };
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

  /** Gives keys their series; the writes whose keys could have one. */
  private resolved(pending: readonly PendingWrite[], { database, dictionary, seriesOfKey, refusals }: RoutedBatch): TableWrite[] {
    const writes: TableWrite[] = [];
    for (const { write, keys } of pending) {
      try {
        if (keys.length > 0) this.resolve(write, keys, database, dictionary, seriesOfKey);
        writes.push(write);
      } catch (error) {
        refusals.refuse(write.table, error, write.rowCount);
      }
    }
    return writes;
  }

  private resolve(
    write: TableWrite,
    keys: readonly number[],
    database: string,
    dictionary: SeriesDictionary,
    seriesOfKey: Uint32Array,
  ): void {
    const target = this.targetOf(database, write);
    if (target.shards !== undefined) knownInShards(keys, seriesOfKey);
    else if (write.tablesOfKeys === true) {
      const labels = new LabelResolver(database, target.physical, target.registry, this.parts.tables, this.labelPlans);
      for (const key of keys) seriesOfKey[key] = labels.seriesOf(key, dictionary);
    } else resolveKeys(keys, dictionary, target.registry, seriesOfKey);
  }
}

/** What became of steps. */
type Evolution = ReturnType<WriteTables["evolve"]>;

/** Resolves when both have. @throws what one of them fails with, once both have ended */
async function bothOf(first: Promise<void>, second: Promise<void>): Promise<void> {
  for (const outcome of await Promise.allSettled([first, second])) if (outcome.status === "rejected") throw outcome.reason;
}

/** The writes without rows of tables that were refused. */
function withoutRefused(pending: readonly PendingWrite[], { dictionary, refusals }: RoutedBatch): readonly PendingWrite[] {
  const { tables } = refusals;
  if (tables.size === 0) return pending;
  return pending.flatMap(({ write, keys }) => {
    const isKeyed = write.tablesOfKeys === true;
    const isRefused = tables.has(isKeyed ? carrierName(write.table) : write.table);
    const gone = new Set(isKeyed ? keys.filter((key) => tables.has(dictionary.shapeOf(key).table)) : []);
    if (gone.size === 0 && !isRefused) return [{ write, keys }];
    const rows: number[] = [];
    if (!isRefused) for (let row = 0; row < write.rowCount; row++) if (!gone.has(write.keys[row] as number)) rows.push(row);
    refusals.leaveOut(write.rowCount - rows.length);
    if (rows.length === 0) return [];
    return [{ write: takeWriteRows(write, Uint32Array.from(rows)), keys: keys.filter((key) => !gone.has(key)) }];
  });
}

function rowsOf(writes: readonly TableWrite[]): number {
  let count = 0;
  for (const { rowCount } of writes) count += rowCount;
  return count;
}

/** The values of a "tables of keys" write, as values of the physical table's field. */
function valueSource({ physical }: WriteTarget, { table, fields }: TableWrite): ColumnSource[] {
  const [field] = fields;
  assert(physical !== undefined && field !== undefined, `a physical table and one field; got ${table}`);
  const { id, type } = physical.fieldFor(field.type);
  return [{ columnId: id, type, vector: field.vector }];
}

/** What a batch writes, and what has to be there before. */
interface PlannedBatch {
  readonly pending: readonly PendingWrite[];
  readonly steps: readonly TableSteps[];
  /** Rows that had expired when they came. */
  readonly expiredRows: number;
}

/** Rows that become one chunk, as their table takes them. */
interface ChunkPart extends PlacedWrite {
  readonly columns: readonly ColumnSource[];
  readonly times: TimeVector;
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
export function changedMeanwhile(database: string, cause?: DbError): DbError {
  return new DbError(
    StatusCode.RegionBusy,
    `cannot write to database ${database}: its tables changed while the request was being read; send it again`,
    { cause, retryAfterSeconds: 1 },
  );
}
