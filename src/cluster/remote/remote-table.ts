/**
 * A table as far as it lies in one shard, whose rows the shard's owner has: scans and changes are asked of it, what is known of its series
 * and sizes is what it told.
 */
import { assert } from "../../base/assert.ts";
import { DbError } from "../../base/error.ts";
import { waitWithin } from "../../base/scheduler/wait-within.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { TableId } from "../../base/units.ts";
import { BatchUnpacker } from "../../query/operator/parallel/plain-batch.ts";
import { addNodeMetrics, newNodeMetrics } from "../../query/operator/contract/node-metrics.ts";
import type { Table, TableFile, TableStatistics } from "../../table/catalog.ts";
import type { MatchingRows, OverwriteWatch, RowKeys, RowRange } from "../../table/delete.ts";
import { isPhysicalTable, physicalDeleteRefusal } from "../../table/metric.ts";
import { tableNotFound } from "../../table/not-found.ts";
import type { ScanBatch, ScanMetrics, ScanRequest, TimeRange } from "../../table/scan.ts";
import { type TableSchema, timeIndexOf } from "../../table/schema.ts";
import type { SeriesView } from "../../table/series-view.ts";
import type { SharedScan, ShareLimits } from "../../table/shared-scan.ts";
import type { ShardClient } from "../wire/shard-client.ts";
import type { FragmentPiece, FragmentRequest } from "../wire/shard-request.ts";
import { errorOfTold } from "../../base/told-error.ts";
import { OwnTests } from "./own-tests.ts";
import type { FactKind, RemoteFacts } from "./remote-facts.ts";
import { askedScan, mayTravel, type PlainEnvironment } from "./remote-request.ts";
import { newRemoteSeries, type RemoteSeries, tagsOf } from "./remote-series.ts";
import type { SeriesKeeper, SeriesMemory } from "./series-memory.ts";
import type { ShardAccess } from "./shard-access.ts";
import { StreamSeries } from "./stream-series.ts";

/** Most bytes that the owner holds for a plain scan between batches: it has no operator that keeps rows. */
const SCAN_BYTES_MAX = 64 * 1024 * 1024;

/** What is run, and how. */
type PlainJob = Pick<FragmentRequest, "plan" | "environment" | "memoryBytesMax" | "wantsMetrics" | "wantsRuns">;

/** A piece of an answer that went well. */
export type AnswerPiece = Exclude<FragmentPiece, { kind: "failed" }>;

/** Of whoever does not end a scan. */
const NEVER: AbortSignal = new AbortController().signal;

/** What all tables of a frontend have in common. */
export interface RemoteParts {
  readonly access: ShardAccess;
  readonly facts: RemoteFacts;
  readonly memory: SeriesMemory;
}

/** The pieces of an answer that goes well. @throws DbError what it failed with */
export async function* piecesOf(answer: AsyncIterable<FragmentPiece>): AsyncGenerator<AnswerPiece> {
  for await (const piece of answer) {
    if (piece.kind === "failed") throw errorOfTold(piece.error);
    yield piece;
  }
}

/** See the file header. */
export class RemoteTable implements Table, SeriesKeeper {
  readonly id: TableId;
  readonly shard: number;
  private readonly schemaOf: () => TableSchema;
  private readonly parts: RemoteParts;
  /** Made when it is asked for: most tables have many shards, and few rows in each. */
  private seriesNow: RemoteSeries | undefined;
  /** Of this and of earlier ones that readers still have, by what they know as `series`. */
  private readonly known: WeakMap<SeriesView, RemoteSeries> = new WeakMap();
  private dropped = false;

  /** @param schema as it is now, whenever it is asked */
  constructor(id: TableId, shard: number, schema: () => TableSchema, parts: RemoteParts) {
    this.id = id;
    this.shard = shard;
    this.schemaOf = schema;
    this.parts = parts;
  }

  get schema(): TableSchema {
    return this.schemaOf();
  }

  get series(): SeriesView {
    return this.current.view;
  }

  /** From now on reads fail. */
  markDropped(): void {
    this.dropped = true;
    this.parts.memory.drop(this);
    this.parts.facts.forget(this.id);
  }

  forget(): void {
    this.seriesNow = undefined;
  }

  /** What is known of series under the numbers that a reader has. */
  seriesOf(numbers: SeriesView | undefined): RemoteSeries {
    if (numbers === undefined) return this.current;
    const series = this.known.get(numbers);
    assert(series !== undefined, "numbers are those of the table's series");
    series.fit(this.schema); // A reader of other tags than there are goes on with those it has.
    return series;
  }

  async *scan(request: ScanRequest, metrics?: ScanMetrics): AsyncGenerator<ScanBatch> {
    this.checkExists();
    const { timeRange, signal } = request;
    if (timeRange.start >= timeRange.end) return;
    const series = this.seriesOf(request.numbers);
    const { plan, environment, ownTests } = askedScan(this, request);
    const tests = ownTests.length === 0 ? undefined : new OwnTests(ownTests, series.view);
    const unpacker = new BatchUnpacker();
    const stream = new StreamSeries(series);
    const { limit = Number.POSITIVE_INFINITY } = request;
    let rows = 0;
    const job = { plan, environment: environment ?? this.ownEnvironment(), memoryBytesMax: SCAN_BYTES_MAX, wantsRuns: true };
    for await (const piece of this.pieces({ ...job, wantsMetrics: metrics !== undefined }, signal ?? NEVER)) {
      if (piece.kind === "series") this.define(piece, stream, series);
      else if (piece.kind === "end") addMetrics(metrics, piece);
      else {
        const { rowCount, vectors, runs } = unpacker.unpack(piece.batch);
        assert(runs !== undefined, "rows of a scan say of which series they are");
        const batch = { rowCount, vectors, runs: stream.renumbered(runs) };
        const passing = tests === undefined ? batch : tests.passing(batch);
        if (passing.rowCount === 0) continue;
        yield passing;
        rows += passing.rowCount;
        if (rows >= limit) return;
      }
    }
  }

  /** Takes series that a stream of this table's rows defines. */
  define({ series: defined }: FragmentPiece & { readonly kind: "series" }, stream: StreamSeries, series: RemoteSeries): void {
    stream.define(defined, tagsOf(this.schema).length);
    if (series === this.seriesNow && !this.dropped) this.parts.memory.note(this, series.byteLength);
  }

  async share(request: ScanRequest, limits: ShareLimits): Promise<SharedScan | undefined> {
    this.checkExists();
    if (request.limit !== undefined || !mayTravel(request.tagPredicates)) return undefined;
    const rowCount = Math.max(1, this.rowsAbout());
    if (rowCount < limits.rowsMin) return undefined;
    const { timeRange, numbers } = request;
    return {
      snapshot: new RemoteSnapshot(this, this.seriesOf(numbers)),
      parts: [{ slots: { start: 0, end: 1 }, timeRange, rowCount }],
      keepsTags: true,
      scanHere: (own, metrics) => this.scan(own, metrics),
      release: async () => undefined,
    };
  }

  rowsAbout(): number {
    return this.statistics().rowCount;
  }

  statistics(): TableStatistics {
    return this.parts.facts.figures(this.shard, this.id).statistics;
  }

  timeBounds(): TimeRange | undefined {
    return this.parts.facts.figures(this.shard, this.id).timeBounds;
  }

  files(): readonly TableFile[] {
    return this.parts.facts.files(this.shard, this.id);
  }

  refreshed(kind: FactKind): Promise<void> {
    return this.parts.facts.refreshed(this.shard, this.id, kind);
  }

  async deleteRows({ rowCount, series, numbers, times }: RowKeys, unless?: OverwriteWatch): Promise<number> {
    this.checkDeletes();
    if (unless !== undefined) throw unwatched(this.schema);
    const { view } = this.seriesOf(numbers);
    const tags = tagsOf(this.schema).map(({ name }) => Array.from(series.subarray(0, rowCount), (number) => view.tagOf(name, number)));
    const offsets = times.offsets.subarray(0, rowCount);
    await this.deleteKeys(
      tags,
      Array.from(offsets, (offset) => times.base + BigInt(offset)),
    );
    return 0;
  }

  /** Deletes rows by tags, by place in the key, and times. @throws DbError as `deleteRows` */
  async deleteKeys(tags: readonly (readonly (string | undefined)[])[], times: readonly bigint[]): Promise<void> {
    const { access } = this.parts;
    await access.client.call({ kind: "delete-keys", ...(await this.place()), tags, times });
  }

  /** Its owner watches, where the delete is. @throws DbError Unsupported */
  watchOverwrites(): OverwriteWatch {
    this.checkDeletes();
    throw unwatched(this.schema);
  }

  async deleteRange({ timeRange, tagPredicates, signal }: RowRange): Promise<number> {
    this.checkDeletes();
    if (timeRange.start >= timeRange.end) return 0;
    const projection = [timeIndexOf(this.schema).name];
    const { plan, environment, ownTests } = askedScan(this, { projection, timeRange, tagPredicates, fieldBounds: [], order: "none" });
    if (ownTests.length > 0) {
      throw new DbError(
        StatusCode.Unsupported,
        `cannot delete from table ${this.schema.name}: a condition on ${ownTests[0]?.column} cannot be tested where the rows are`,
      );
    }
    return this.deleteMatching({ plan, environment: environment ?? this.ownEnvironment(), ...(signal === undefined ? {} : { signal }) });
  }

  async deleteMatching({ plan, environment, signal }: Omit<MatchingRows, "timeRange" | "tagPredicates">): Promise<number> {
    this.checkDeletes();
    const { access } = this.parts;
    const place = await waitWithin(this.place(), { signal });
    return access.client.call({ kind: "delete", ...place, plan, environment }, signal);
  }

  /** The answer to a fragment over its rows. @throws DbError what running it threw, StorageUnavailable, Cancelled */
  async *pieces(job: PlainJob, signal: AbortSignal): AsyncGenerator<AnswerPiece> {
    const request = await this.request(job, signal);
    yield* piecesOf(this.client.fragment(request, signal));
  }

  /** A fragment over its rows, to be asked now. @throws DbError TableNotFound, StorageUnavailable, Cancelled */
  async request({ plan, environment, memoryBytesMax, wantsMetrics, wantsRuns }: PlainJob, signal: AbortSignal): Promise<FragmentRequest> {
    const place = await waitWithin(this.place(), { signal });
    return { ...place, plan, environment, memoryBytesMax, wantsMetrics, wantsRuns };
  }

  /** The way to its rows. */
  get client(): ShardClient {
    return this.parts.access.client;
  }

  /** What a call begins with. @throws DbError TableNotFound, StorageUnavailable */
  private async place(): Promise<{
    readonly shard: number;
    readonly tableId: TableId;
    readonly catalogVersion: number;
    readonly least: number;
  }> {
    this.checkExists();
    const { shard, id: tableId } = this;
    return { shard, tableId, ...(await this.parts.access.moment(shard)) };
  }

  private get current(): RemoteSeries {
    if (this.seriesNow?.fit(this.schema) !== true) this.seriesNow = this.newSeries();
    return this.seriesNow;
  }

  private newSeries(): RemoteSeries {
    const made = newRemoteSeries(this.schema);
    this.known.set(made.view, made);
    return made;
  }

  /** Of a scan whose conditions read none. */
  private ownEnvironment(): PlainEnvironment {
    return { now: this.parts.access.clock.nowNanos(), timeZone: "UTC", database: this.schema.database };
  }

  private checkExists(): void {
    if (this.dropped) throw tableNotFound(this.schema.database, this.schema.name);
  }

  private checkDeletes(): void {
    this.checkExists();
    if (isPhysicalTable(this.schema)) throw new DbError(StatusCode.Unsupported, physicalDeleteRefusal(this.schema.name));
  }
}

/** What a fragment over a table's rows in one shard is run by: no copy of anything, the shard is asked when the fragment begins. */
export class RemoteSnapshot {
  readonly table: RemoteTable;
  readonly series: RemoteSeries;

  constructor(table: RemoteTable, series: RemoteSeries) {
    this.table = table;
    this.series = series;
  }
}

function unwatched({ name }: TableSchema): DbError {
  return new DbError(
    StatusCode.Unsupported,
    `cannot delete from table ${name}: its rows are on other machines, where the condition cannot be tested; name rows by tags and times`,
  );
}

function addMetrics(metrics: ScanMetrics | undefined, { metrics: nodes }: FragmentPiece & { readonly kind: "end" }): void {
  const scan = nodes?.[0]?.scan;
  if (metrics === undefined || scan === undefined) return;
  Object.assign(metrics, addNodeMetrics({ ...newNodeMetrics(), scan: metrics }, { ...newNodeMetrics(), scan }).scan);
}
