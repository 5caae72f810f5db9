/**
 * Deletes: rows by their keys, or whole ranges of series. What is to go becomes chunks of ranges
 * (`storage/memtable/delete-chunk.ts`) that are logged, published and flushed as writes are. Where this engine writes no log, a delete is
 * flushed before it is answered: the manifest's commit makes it durable, and refuses it where the shard has another owner.
 *
 *   keys     ─► at most DELETE_BATCH_ROWS at a time, of all shards ─► one log record ─► durable ─► visible
 *   range    ─► scan of the times ─► first and last row of each series and 64-day group ─► the same
 *   tag sets ─► series that exist ─► the same
 *
 * A delete takes its sequence from the counter that all threads share, after it has seen what they had acknowledged. It hides what is
 * older by sequence, also rows that a thread had begun before and tells of later.
 *
 * Keys that a condition on values found are another matter: a newer version that does not match must stay. They are deleted at a moment
 * when no thread has a record that it has numbered and not told of, without those that were written since the condition's scan began.
 */
import type { TableId } from "../../base/units.ts";
import { assert } from "../../base/assert.ts";
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import { DbError, invalidArguments } from "../../base/error.ts";
import { failPoint } from "../../base/process/fail-point.ts";
import { DELETE_BATCH_ROWS, DELETES_IN_MEMORY_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { SureSteps } from "../../base/process/sure-steps.ts";
import type { SeriesRuns } from "../../column/batch.ts";
import { encodeWriteRecord, type RecordEntry } from "../../storage/memtable/write-record.ts";
import { abandonAll, type PreparedChunk, publishAll } from "../../storage/region/prepared-chunk.ts";
import type { Region } from "../../storage/region/region.ts";
import type { DeleteSource } from "../../storage/memtable/delete-chunk.ts";
import type { SeriesRegistry } from "../../storage/series/series-registry.ts";
import type { Wal } from "../../storage/wal/wal.ts";
import type { OverwriteWatch, RowRange } from "../../table/delete.ts";
import { tableNotFound } from "../../table/not-found.ts";
import { physicalDeleteRefusal } from "../../table/metric.ts";
import { mergeModeOf, type TableSchema, timeIndexOf } from "../../table/schema.ts";
import type { TagSet } from "../../table/series-dictionary.ts";
import type { WriteBatch, WriteResult } from "../../table/write-batch.ts";
import { groupStartOf } from "../../storage/sst/time-window.ts";
import type { EngineTable, KeyDelete, RangeDelete, RowDeleter, ScannedRows } from "../table/engine-table.ts";
import { timeUnitOf } from "../time/expiry.ts";
import type { LiveTables, TableEntry } from "../catalog/live-tables.ts";
import type { LogWriter } from "../log/log-writer.ts";
import type { SequenceCounter } from "../log/sequence-counter.ts";
import { seriesOfTags } from "../series/series-mapper.ts";
import { RangeCollector } from "./range-collector.ts";
import { convertTimes, splitForUnit } from "../time/time-conversion.ts";

/** Where a delete is before it is answered. */
export type DeleteDurability = DeleteLog | DeleteFiles;

/** In the log of this thread; files come later. */
export interface DeleteLog {
  readonly kind: "log";
  readonly wal: Wal;
  /** Numbers what goes to that log, writes too. */
  readonly writer: LogWriter;
  /** Called when a record of these tables goes to the log, before it is durable. */
  noteLogged(segment: number, tableId: TableId, sequence: number): void;
  /** Called when the log did not take a record. */
  logFailed(): void;
}

/** In files: nothing is logged. */
export interface DeleteFiles {
  readonly kind: "files";
  /** Whether the next sequence lies behind all rows that came until now, and before all that come. */
  hasRoom(): boolean;
  /** Sees to it that it may again. @throws DbError StorageUnavailable */
  makeRoom(): Promise<void>;
}

/** What deletes work on. */
export interface DeleterParts {
  readonly durable: DeleteDurability;
  readonly tables: LiveTables;
  readonly sequences: SequenceCounter;
  readonly sure: SureSteps;
  /** Makes rows and series visible that other threads have acknowledged. */
  catchUp(): void;
  /** Does a step when no thread has a record of the tables that was numbered and not told of. */
  whileQuiet<T>(tableIds: readonly TableId[], step: () => T): Promise<T>;
  /** @param bytes what the delete takes in the log and in files. @throws DbError StorageUnavailable when it would fail */
  refuse(bytes: number): void;
  /** Resolves when there is memory for more. @throws DbError RateLimited */
  admit(): Promise<void>;
  /** Counts memory that came into use. */
  written(bytes: number): void;
  /** Writes what a table has in memory to files. @throws DbError StorageUnavailable */
  flush(region: Region): Promise<void>;
}

/** What a range takes at most, in the log and in a file together: two times, a series number and a row count in each. */
const STRETCH_BYTES = 64;

/** Ranges of one table, without their place in the log. */
type Ranges = Omit<DeleteSource, "sequence" | "seriesMax">;

/** What is to be deleted of one table. */
interface Work {
  readonly table: EngineTable;
  readonly ranges: Ranges;
  /** Whose numbers the series have; those of now when it is logged. */
  readonly registry: SeriesRegistry;
}

/** Rows of one table that go unless they were written since. */
interface KeyWork {
  readonly work: Work;
  readonly unless: OverwriteWatch | undefined;
}

/** A delete that is in memory, and not visible yet. */
interface LoggedDelete {
  /** Resolves when the log has it; undefined: no log gets it. */
  readonly durable: Promise<void> | undefined;
  readonly prepared: readonly PreparedChunk[];
}

/** Where rows of a table are in a shard. */
interface DeleteTarget {
  /** What has the rows. */
  readonly table: EngineTable;
  /** The region's number of a tag set, or -1 when the series known so far have none such. */
  readonly seriesOf: (tags: TagSet) => number;
  /** Whether rows of a tag set may lie there. @throws DbError as `TableEntry.partsOf` */
  readonly mayHave: (tags: TagSet) => boolean;
}

/** Rows of a table as a client names them. */
interface NamedRows extends DeleteTarget {
  /** Tags of each row. */
  readonly tags: readonly TagSet[];
  readonly base: bigint;
  readonly offsets: Float64Array;
}

/** What is to be deleted of a region, under the numbers that its series have now. */
interface Target {
  readonly entry: TableEntry;
  readonly ranges: Ranges;
}

/** See the file header. */
export class Deleter implements RowDeleter {
  private readonly parts: DeleterParts;

  constructor(parts: DeleterParts) {
    this.parts = parts;
  }

  async deleteRows(deletes: readonly KeyDelete[]): Promise<number> {
    const keys: KeyWork[] = [];
    for (const { table, keys: own, unless } of deletes) {
      checkMode(table.schema);
      const registry = table.registryOf(own.numbers);
      // Copied before the first wait: the keys are borrowed.
      const firsts = own.times.offsets.slice(0, own.rowCount);
      const series = own.series.slice(0, own.rowCount);
      for (let from = 0; from < own.rowCount; from += DELETE_BATCH_ROWS) {
        const to = Math.min(own.rowCount, from + DELETE_BATCH_ROWS);
        const ranges = {
          count: to - from,
          series: series.subarray(from, to),
          timeBase: own.times.base,
          firsts: firsts.subarray(from, to),
          lengths: undefined,
          rows: undefined,
        };
        keys.push({ work: { table, ranges, registry }, unless });
      }
    }
    let leftOut = 0;
    for (const group of inRecords(keys, ({ work }) => work.ranges.count)) {
      leftOut += group.reduce((sum, { work }) => sum + work.ranges.count, 0) - (await this.deleteKeys(group));
    }
    return leftOut;
  }

  /** Returns how many keys were deleted: all but those that watches leave out. */
  private async deleteKeys(keys: readonly KeyWork[]): Promise<number> {
    const count = keys.reduce((sum, { work }) => sum + work.ranges.count, 0);
    if (keys.every(({ unless }) => unless === undefined)) {
      await this.applyAll(keys.map(({ work }) => work));
      return count;
    }
    await this.admitted(count);
    const tables = [...new Set(keys.map(({ work }) => work.table))];
    const done = await this.parts.whileQuiet(
      tables.map(({ schema }) => schema.id),
      () => {
        const left = keys.flatMap(({ work, unless }) => (unless === undefined ? work : (unwritten(work, unless) ?? [])));
        if (left.length === 0) return undefined;
        return { count: left.reduce((sum, { ranges }) => sum + ranges.count, 0), logged: this.put(left) };
      },
    );
    if (done === undefined) return 0;
    await this.settle(done.logged, tables);
    return done.count;
  }

  async deleteRange(deletes: readonly RangeDelete[], { timeRange, tagPredicates, signal }: RowRange): Promise<number> {
    for (const { table } of deletes) checkMode(table.schema);
    const request = { timeRange, tagPredicates, fieldBounds: [], order: "none" as const, ...(signal === undefined ? {} : { signal }) };
    let rowCount = 0;
    let found: Work[] = [];
    const apply = async (): Promise<void> => {
      throwIfCancelled(signal);
      if (found.length > 0) await this.applyAll(found);
      found = [];
    };
    const add = async (table: EngineTable, group: RangeCollector, registry: SeriesRegistry): Promise<void> => {
      for (const ranges of group.parts(DELETE_BATCH_ROWS)) {
        const count = found.reduce((sum, work) => sum + work.ranges.count, 0);
        if (count + ranges.count > DELETE_BATCH_ROWS) await apply();
        found.push({ table, ranges, registry });
      }
    };
    for (const { table, rows } of deletes) {
      const unit = timeUnitOf(table.schema);
      const projection = [timeIndexOf(table.schema).name];
      let group: RangeCollector | undefined;
      for await (const batch of rows.scan({ ...request, projection })) {
        const [times] = batch.vectors;
        assert(times?.kind === "time", `times come as a time vector; got ${times?.kind}`);
        if (group !== undefined && group.base !== times.base) {
          await add(table, group, rows.registry);
          group = undefined;
        }
        assert(times.base === groupStartOf(times.base, unit), `times count from the start of their 64 days; got ${times.base}`);
        group ??= new RangeCollector(times.base);
        group.add(regionRuns(batch.runs, rows.regionSeriesOf), times.offsets);
        rowCount += batch.rowCount;
      }
      if (group !== undefined) await add(table, group, rows.registry);
    }
    await apply();
    return rowCount;
  }

  /**
   * Deletes rows by tag sets and times, as a write names them; tags that are left out are NULL. The count is that of the keys sent.
   *
   * @throws DbError TableNotFound, TableColumnNotFound for a tag that the table has not, InvalidArguments, StorageUnavailable
   */
  async deleteBatch(database: string, batch: WriteBatch): Promise<WriteResult> {
    this.parts.catchUp(); // What a client was told of is there to be deleted, whichever thread told it.
    let rowCount = 0;
    const named: NamedRows[] = [];
    // All that is borrowed is copied before the first wait.
    for (const write of batch.tables) {
      assert(write.fields.length === 0, `keys have no fields; got ${write.fields.length}`);
      const targets = this.targetsOf(database, write.table);
      const { schema } = (targets[0] as NamedRows).table;
      checkMode(schema);
      rowCount += write.rowCount;
      const unit = timeUnitOf(schema);
      for (const part of splitForUnit(write, unit)) {
        const { base, offsets } = convertTimes(part.times, part.rowCount, part.timeUnit, unit);
        const tags = Array.from(part.keys.subarray(0, part.rowCount), (key) => batch.dictionary.tagsOf(key));
        const own = offsets.slice(0, part.rowCount);
        for (const target of targets) named.push(...rowsIn(target, tags, base, own));
      }
    }
    const work: Work[] = [];
    const opened = new Map<EngineTable, SeriesRegistry>();
    for (const rows of named) work.push(...(await workOf(rows, opened)));
    if (work.length > 0) await this.applyAll(work);
    return { rowCount };
  }

  /** Where rows of a table may be. In a shard that has no such series there is no such row. */
  private targetsOf(database: string, name: string): readonly DeleteTarget[] {
    const { tables } = this.parts;
    const parts = tables.logicalParts(database, name);
    if (parts.length > 0) {
      return parts.map((part) => ({
        table: part.physical.storage,
        seriesOf: (tags) => part.regionSeriesOfTags(tags),
        mayHave: () => true,
      }));
    }
    const entry = tables.find(database, name);
    if (entry === undefined) throw tableNotFound(database, name);
    if (entry.physical !== undefined) throw new DbError(StatusCode.Unsupported, physicalDeleteRefusal(name));
    return entry.all.map((shard) => ({
      table: shard.table,
      seriesOf: (tags) => seriesOfTags(tags, shard.table.region.registry),
      mayHave: (tags) => entry.partsOf(tags).includes(shard),
    }));
  }

  /** One log record, then all of it visible at once. */
  private async applyAll(work: readonly Work[]): Promise<void> {
    await this.admitted(work.reduce((sum, { ranges }) => sum + ranges.count, 0));
    await this.settle(
      this.put(work),
      work.map(({ table }) => table),
    );
  }

  /** Resolves when there is room for this many ranges. @throws DbError */
  private async admitted(count: number): Promise<void> {
    await this.parts.admit();
    const { durable } = this.parts;
    while (durable.kind === "files" && !durable.hasRoom()) await durable.makeRoom();
    this.parts.refuse(count * STRETCH_BYTES);
  }

  private async settle({ durable, prepared }: LoggedDelete, tables: readonly EngineTable[]): Promise<void> {
    const { parts } = this;
    const bytes = prepared.reduce((sum, { chunk }) => sum + chunk.payload.length, 0);
    parts.sure.run("a delete's memory is counted", () => parts.written(bytes)); // Now: the disk may hang.
    try {
      if (durable !== undefined) await durable; // Else it becomes visible now: rows of the log that come next are newer.
    } catch (error) {
      if (parts.durable.kind === "log") parts.durable.logFailed();
      parts.sure.run("what a failed delete took is given back", () => abandonAll(prepared));
      throw error;
    }
    parts.sure.run("the rows of a delete are hidden", () => {
      failPoint("delete.durable");
      publishAll(prepared);
    });
    failPoint("delete.published");
    for (const { region } of new Set(tables)) {
      if (durable === undefined || region.activeDeletes >= DELETES_IN_MEMORY_MAX) await parts.flush(region);
    }
    parts.sure.check();
  }

  /** Nothing waits in here. */
  private put(work: readonly Work[]): LoggedDelete {
    const { durable } = this.parts;
    const targets = work.map((one) => ({ entry: this.entryOf(one.table), ranges: currentRanges(one) }));
    return durable.kind === "log" ? this.log(targets, durable) : this.hold(targets, durable);
  }

  private hold(targets: readonly Target[], durable: DeleteFiles): LoggedDelete {
    if (!durable.hasRoom()) throw new DbError(StatusCode.RateLimited, "cannot delete: too many deletes come at once; send it again");
    const sequence = this.parts.sequences.take();
    const prepared: PreparedChunk[] = [];
    try {
      for (const { entry, ranges } of targets) {
        let seriesMax = 0;
        for (let i = 0; i < ranges.count; i++) seriesMax = Math.max(seriesMax, ranges.series[i] as number);
        prepared.push(entry.table.region.prepareDelete({ ...ranges, sequence, seriesMax }));
      }
    } catch (error) {
      abandonAll(prepared);
      throw error;
    }
    return { durable: undefined, prepared };
  }

  /** Records of a segment rely on earlier ones. */
  private log(targets: readonly Target[], place: DeleteLog): LoggedDelete {
    const { wal, writer } = place;
    const { sequences, tables } = this.parts;
    const segment = wal.beginRecord();
    const origin = writer.next(segment);
    const sequence = sequences.take();
    const prepared: PreparedChunk[] = [];
    const entries: RecordEntry[] = [];
    let record: readonly Uint8Array[];
    try {
      for (const { entry, ranges } of targets) {
        const { region } = entry.table;
        const marks = entry.marks.reserve(region.registry.count);
        const { newSeries, seriesMax } = freshSeries(ranges, marks, segment);
        const chunk = region.prepareDelete({ ...ranges, sequence, seriesMax });
        prepared.push(chunk);
        const { registry } = region;
        entries.push({ tableId: region.schemaNow.id, registry, newSeries, tagMarks: entry.marks.tags, chunk: chunk.chunk });
      }
      record = encodeWriteRecord(origin, entries);
    } catch (error) {
      abandonAll(prepared);
      for (const { marks } of tables.entries()) marks.forget(); // Series marked for this record were not logged.
      throw error;
    }
    const durable = this.parts.sure.run("a delete is appended to the log", () => {
      for (const { tableId } of entries) place.noteLogged(segment, tableId, sequence);
      writer.appended(origin);
      const appended = wal.append(sequence, record);
      failPoint("delete.appended");
      return appended;
    });
    return { durable, prepared };
  }

  /** The table may have been dropped while a delete of it waited. */
  private entryOf(table: EngineTable): TableEntry {
    const { schema } = table;
    const entry = this.parts.tables.byRegionId(schema.id);
    if (entry?.table !== table) throw tableNotFound(schema.database, schema.name);
    return entry;
  }
}

/** What goes together in a record, in its order: as much as one may have, at least one. */
function inRecords<T>(all: readonly T[], countOf: (one: T) => number): readonly T[][] {
  const groups: T[][] = [];
  let room = 0;
  for (const one of all) {
    const count = countOf(one);
    const last = groups.at(-1);
    if (last !== undefined && count <= room) last.push(one);
    else {
      groups.push([one]);
      room = DELETE_BATCH_ROWS;
    }
    room -= count;
  }
  return groups;
}

/** The work without the rows that were written since `unless` began; undefined when none is left. */
function unwritten(work: Work, unless: OverwriteWatch): Work | undefined {
  const { count, series, timeBase: base, firsts: offsets, ...rest } = currentRanges(work);
  const left = unless.unwritten({ count, series, base, offsets });
  if (left === 0) return undefined;
  const { table } = work;
  return { table, ranges: { ...rest, count: left, series, timeBase: base, firsts: offsets }, registry: table.region.registry };
}

/** The ranges under the numbers that series have now. */
function currentRanges({ table, ranges, registry }: Work): Ranges {
  const { region } = table;
  if (registry === region.registry) return ranges;
  return { ...ranges, series: ranges.series.map((series) => region.currentNumber(series, registry)) };
}

/** The rows that a shard may have. */
function rowsIn(target: DeleteTarget, tags: readonly TagSet[], base: bigint, offsets: Float64Array): readonly NamedRows[] {
  const known = new Map<TagSet, boolean>();
  for (const set of tags) if (!known.has(set)) known.set(set, target.mayHave(set));
  const isHere = (row: number): boolean => known.get(tags[row] as TagSet) === true;
  const own = tags.filter((_, row) => isHere(row));
  return own.length === 0 ? [] : [{ ...target, tags: own, base, offsets: offsets.filter((_, row) => isHere(row)) }];
}

/** The rows whose series exist. @param opened registries of tables that know the series of all files */
async function workOf(
  { table, seriesOf, tags, base, offsets }: NamedRows,
  opened: Map<EngineTable, SeriesRegistry>,
): Promise<readonly Work[]> {
  const sets = new Set(tags);
  const known = new Map<TagSet, number>();
  const find = (): boolean => {
    for (const set of sets) known.set(set, seriesOf(set));
    return ![...known.values()].includes(-1);
  };
  // Series of files that nobody has read yet are not known, nor after the registry was renewed.
  while (!find() && opened.get(table) !== table.region.registry) opened.set(table, await table.openFiles());
  const { registry } = table.region;
  const series: number[] = [];
  const firsts: number[] = [];
  for (let row = 0; row < tags.length; row++) {
    const number = known.get(tags[row] as TagSet) ?? -1;
    if (number < 0) continue; // There is no such series, so there is no such row.
    series.push(number);
    firsts.push(offsets[row] as number);
  }
  if (series.length === 0) return [];
  const arrays = { series: Uint32Array.from(series), firsts: Float64Array.from(firsts), lengths: undefined, rows: undefined };
  return [{ table, registry, ranges: { count: series.length, timeBase: base, ...arrays } }];
}

/** Runs under the region's numbers. */
function regionRuns(runs: SeriesRuns, regionSeriesOf: ScannedRows["regionSeriesOf"]): SeriesRuns {
  return regionSeriesOf === undefined ? runs : { ...runs, series: runs.series.map((series) => regionSeriesOf(series)) };
}

/** Series of the ranges that the segment has not defined yet, each once, and the largest number of all. */
function freshSeries(
  { series, count }: Ranges,
  marks: Uint32Array,
  segment: number,
): { readonly newSeries: readonly number[]; readonly seriesMax: number } {
  const newSeries: number[] = [];
  let seriesMax = 0;
  for (let i = 0; i < count; i++) {
    const number = series[i] as number;
    if (number > seriesMax) seriesMax = number;
    if (marks[number] === segment) continue;
    marks[number] = segment;
    newSeries.push(number);
  }
  return { newSeries, seriesMax };
}

function checkMode(schema: TableSchema): void {
  if (mergeModeOf(schema) !== "append") return;
  throw invalidArguments("Invalid request to region, reason: DELETE is not allowed under append mode");
}
