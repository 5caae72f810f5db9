/**
 * The tables of a frontend as queries see them, and what is done to their rows: each is one table over the shards that its owners have.
 *
 *   table ─► JoinedTable ─► RemoteTable (shard 0), RemoteTable (shard 1), …     series and sizes as they were told, rows on demand
 */
import type { ServerMemory } from "../../base/memory/server-memory.ts";
import type { Clock } from "../../base/clock.ts";
import { DbError, invalidArguments } from "../../base/error.ts";
import { DELETE_BATCH_ROWS } from "../../base/limits.ts";
import type { Logger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { TableId } from "../../base/units.ts";
import { JoinedTable } from "../../engine/joined/joined-table.ts";
import type { RowsElsewhere } from "../../engine/elsewhere.ts";
import type { RecordLane } from "../../engine/log/record-lane.ts";
import { timeUnitOf } from "../../engine/time/expiry.ts";
import { convertTimes, splitForUnit } from "../../engine/time/time-conversion.ts";
import type { Table } from "../../table/catalog.ts";
import { isPhysicalTable, physicalDeleteRefusal, physicalTableOf } from "../../table/metric.ts";
import { tableNotFound } from "../../table/not-found.ts";
import { ALL_TIME, type TimeRange } from "../../table/scan.ts";
import { mergeModeOf, type TableSchema } from "../../table/schema.ts";
import type { TagSet } from "../../table/series-dictionary.ts";
import { markOf, placementOf, shardOf, type TablePlacement, tagTextsOf } from "../../table/shards/placement.ts";
import { shardsOf } from "../../table/shards/shards-of.ts";
import { spreadsOf } from "../../table/shards/spread.ts";
import type { WriteBatch, WriteResult } from "../../table/write-batch.ts";
import type { ShardClient } from "../wire/shard-client.ts";
import type { ShardCall, ShardMoment } from "../wire/shard-request.ts";
import { RemoteFacts } from "./remote-facts.ts";
import { remoteLogicalOrder, remotePhysicalOrder } from "./remote-orders.ts";
import { tagsOf } from "./remote-series.ts";
import { type RemoteParts, RemoteTable } from "./remote-table.ts";
import { SeriesMemory } from "./series-memory.ts";
import { type Moments, ShardAccess } from "./shard-access.ts";

/** What remote tables are made of. */
export interface RemoteTablesParts {
  readonly client: ShardClient;
  /** Where rows go, by shard. */
  readonly lanes: readonly RecordLane[];
  /** As `RowsElsewhere.refreshed`. Default: nobody else changes the catalogue. */
  readonly refresh?: () => Promise<void>;
  readonly moments: Moments;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The server's, in which series count. Default: nowhere. */
  readonly memory?: ServerMemory | undefined;
  /** A table's schema by its name, of any kind. */
  readonly schemaOf: (database: string, table: string) => TableSchema | undefined;
}

/** All of one table. */
interface Entry {
  readonly parts: readonly RemoteTable[];
  readonly shown: Table;
}

/** What a change of all of a table's rows is, but for where. */
type Change =
  | { readonly kind: "flush" | "build-indexes" }
  | { readonly kind: "compact"; readonly timeRange: TimeRange | undefined }
  | { readonly kind: "truncate"; readonly ranges: readonly TimeRange[] | undefined };

/** Keys of one table for one shard. */
interface KeysOfShard {
  readonly tags: (string | undefined)[][];
  readonly times: bigint[];
}

/** See the file header. */
export class RemoteTables implements RowsElsewhere {
  readonly lanes: readonly RecordLane[];
  private readonly client: ShardClient;
  private readonly refresh: () => Promise<void>;
  private readonly access: ShardAccess;
  private readonly parts: RemoteParts;
  private readonly schemaOf: RemoteTablesParts["schemaOf"];
  private readonly entries: Map<TableId, Entry> = new Map();
  private readonly placements: WeakMap<TableSchema, TablePlacement> = new WeakMap();

  constructor({ client, lanes, refresh, moments, clock, logger, memory, schemaOf }: RemoteTablesParts) {
    this.lanes = lanes;
    this.refresh = refresh ?? (() => Promise.resolve());
    this.client = client;
    this.access = new ShardAccess(client, moments, clock, logger);
    this.schemaOf = schemaOf;
    const series = new SeriesMemory();
    this.parts = { access: this.access, facts: new RemoteFacts(this.access), memory: series };
    memory?.register("remote_series", series);
  }

  table(id: TableId, schema: () => TableSchema): Table {
    const known = this.entries.get(id);
    if (known !== undefined) return known.shown;
    const entry = this.made(id, schema);
    this.entries.set(id, entry);
    return entry.shown;
  }

  forget(id: TableId): void {
    for (const part of this.entries.get(id)?.parts ?? []) part.markDropped();
    this.entries.delete(id);
  }

  refreshed(): Promise<void> {
    return this.refresh();
  }

  async timeBounds(schema: TableSchema): Promise<TimeRange | undefined> {
    // One that is not there yet is not kept: it would have this schema for ever.
    const table = this.entries.get(schema.id)?.shown ?? this.made(schema.id, () => schema).shown;
    await table.refreshed?.("figures");
    return table.timeBounds();
  }

  async flush(schema: TableSchema): Promise<void> {
    await this.changed(schema, { kind: "flush" }, ALL_TIME);
  }

  async compact(schema: TableSchema, timeRange: TimeRange | undefined): Promise<void> {
    await this.changed(schema, { kind: "compact", timeRange }, timeRange ?? ALL_TIME);
  }

  async buildIndexes(schema: TableSchema): Promise<void> {
    await this.changed(schema, { kind: "build-indexes" }, ALL_TIME);
  }

  async truncate(schema: TableSchema, ranges: readonly TimeRange[] | undefined): Promise<void> {
    await this.changed(schema, { kind: "truncate", ranges }, ALL_TIME);
  }

  async deleteBatch(database: string, { dictionary, tables }: WriteBatch): Promise<WriteResult> {
    let rowCount = 0;
    const work: { readonly schema: TableSchema; readonly keys: ReadonlyMap<number, KeysOfShard> }[] = [];
    // All that is borrowed is copied before the first wait.
    for (const write of tables) {
      const schema = this.schemaOf(database, write.table);
      if (schema === undefined) throw tableNotFound(database, write.table);
      checkDeletes(schema);
      rowCount += write.rowCount;
      const keys = new Map<number, KeysOfShard>();
      const unit = timeUnitOf(schema);
      for (const part of splitForUnit(write, unit)) {
        const { base, offsets } = convertTimes(part.times, part.rowCount, part.timeUnit, unit);
        for (let row = 0; row < part.rowCount; row++) {
          const time = base + BigInt(offsets[row] as number);
          this.addKey(keys, dictionary.tagsOf(part.keys[row] as number), time, schema);
        }
      }
      work.push({ schema, keys });
    }
    await allDone(work.flatMap(({ schema, keys }) => [...keys].map(([shard, own]) => this.deleteKeys(schema.id, shard, own))));
    return { rowCount };
  }

  private made(id: TableId, schema: () => TableSchema): Entry {
    const parts = Array.from({ length: this.client.shards }, (_, shard) => new RemoteTable(id, shard, schema, this.parts));
    return { parts, shown: this.shownOf(parts, schema) };
  }

  /** A table that lies in all shards, or in some. */
  private shownOf(parts: readonly RemoteTable[], schema: () => TableSchema): Table {
    const [only] = parts;
    if (parts.length === 1 && only !== undefined) return only;
    if (isPhysicalTable(schema())) return new JoinedTable(parts, { orderIn: remotePhysicalOrder(parts) });
    if (physicalTableOf(schema()) !== undefined) return new JoinedTable(parts, { orderIn: remoteLogicalOrder(parts) });
    return new JoinedTable(parts, {
      repeats: () => spreadsOf(schema()).length > 1,
      placesOf: ({ tagPredicates, timeRange }) => shardsOf(this.placement(schema()), tagPredicates, timeRange),
    });
  }

  private placement(schema: TableSchema): TablePlacement {
    let placement = this.placements.get(schema);
    if (placement === undefined) {
      placement = placementOf(schema, this.client.shards);
      this.placements.set(schema, placement);
    }
    return placement;
  }

  /** Shards that may have rows of some times. */
  private shardsWith(schema: TableSchema, times: TimeRange): readonly number[] {
    const isOfMetrics = isPhysicalTable(schema) || physicalTableOf(schema) !== undefined;
    return isOfMetrics ? Array.from({ length: this.client.shards }, (_, shard) => shard) : shardsOf(this.placement(schema), [], times);
  }

  private async changed(schema: TableSchema, change: Change, times: TimeRange): Promise<void> {
    await allDone(this.shardsWith(schema, times).map((shard) => this.call(shard, { ...change, tableId: schema.id })));
  }

  private async call(shard: number, call: Change & { readonly tableId: TableId }): Promise<void> {
    await this.client.call({ ...call, shard, ...(await this.access.moment(shard)) } satisfies ShardCall);
  }

  private addKey(keys: Map<number, KeysOfShard>, set: TagSet, time: bigint, schema: TableSchema): void {
    const placement = this.placement(schema);
    const texts = tagTextsOf(set, placement);
    const tags = tagsOf(schema);
    const isLogical = physicalTableOf(schema) !== undefined;
    const mark = isLogical ? 0 : markOf(placement, texts);
    const shards = isLogical
      ? this.shardsWith(schema, ALL_TIME)
      : new Set(placement.spans.map(({ spread }) => shardOf(placement, mark, spread)));
    for (const shard of shards) {
      const own = keys.get(shard) ?? { tags: tags.map((): string[] => []), times: [] };
      keys.set(shard, own);
      for (const [place, { name }] of tags.entries()) own.tags[place]?.push(texts[placement.positions.get(name) as number]);
      own.times.push(time);
    }
  }

  private async deleteKeys(tableId: TableId, shard: number, { tags, times }: KeysOfShard): Promise<void> {
    const moment: ShardMoment = await this.access.moment(shard);
    for (let from = 0; from < times.length; from += DELETE_BATCH_ROWS) {
      const part = <T>(all: readonly T[]): readonly T[] => all.slice(from, from + DELETE_BATCH_ROWS);
      await this.client.call({ kind: "delete-keys", shard, tableId, ...moment, tags: tags.map(part), times: part(times) });
    }
  }
}

/** @throws DbError InvalidArguments, Unsupported */
function checkDeletes(schema: TableSchema): void {
  if (isPhysicalTable(schema)) throw new DbError(StatusCode.Unsupported, physicalDeleteRefusal(schema.name));
  if (mergeModeOf(schema) === "append") {
    throw invalidArguments("Invalid request to region, reason: DELETE is not allowed under append mode");
  }
}

/** Resolves once all have ended. @throws as the first that failed */
async function allDone(made: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(made);
  await Promise.all(made);
}
