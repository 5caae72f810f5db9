/**
 * Sizes, times and files of tables in shards, as last heard: they are asked for where nobody can wait, so an answer that is old is given
 * and a newer one is asked for meanwhile.
 *
 *   known ─► older than 2 s? ask ─► the next one has it          refreshed ─► ask ─► answer ─► known is right as of the call
 *
 * Questions about many tables of one shard at a time are one about all of them.
 */
import type { TableId } from "../../base/units.ts";
import { errorText } from "../../base/error.ts";
import type { TableFile, TableStatistics } from "../../table/catalog.ts";
import { ALL_TIME } from "../../table/scan.ts";
import type { ShardFacts } from "../wire/shard-request.ts";
import type { ShardAccess } from "./shard-access.ts";

/** Age from which on an answer is asked for again. Reason: it is what people look at, and costs a call a shard. */
const OLD_MILLIS = 2000;
/** Tables from which on a shard is asked about all that it has. */
const ALL_FROM = 8;
/** Tables whose files are kept. */
const FILES_KEPT = 256;

/** What is known of a table in a shard. */
export type KnownFacts = Pick<ShardFacts, "statistics" | "timeBounds">;

/** What is asked for. */
export type FactKind = "figures" | "files";

const NO_ROWS: TableStatistics = { rowCount: 0, memoryBytes: 0, fileBytes: 0, fileCount: 0, seriesCount: 0 };
/** There are no rows. */
const NOTHING: KnownFacts = { statistics: NO_ROWS, timeBounds: undefined };
/** Nobody knows. */
const UNKNOWN: KnownFacts = { statistics: NO_ROWS, timeBounds: ALL_TIME };

interface Answer<T> {
  readonly value: T;
  /** By the monotonic clock, when it was asked for. */
  readonly at: number;
}

/** What one shard said. */
class FactsOfShard {
  readonly figures: Map<TableId, Answer<KnownFacts>> = new Map();
  /** When all tables were asked about; what was not named has no rows. */
  allAt: number | undefined;
  readonly files: Map<TableId, Answer<readonly TableFile[]>> = new Map();
  /** Questions that go out together. */
  next: { readonly tables: Set<TableId>; readonly answered: Promise<void> } | undefined;
  /** Tables that are being asked about without anybody who waits. */
  readonly asking: Set<string> = new Set();

  figuresOf(id: TableId): Answer<KnownFacts> | undefined {
    return this.figures.get(id) ?? (this.allAt === undefined ? undefined : { value: NOTHING, at: this.allAt });
  }
}

/** See the file header. */
export class RemoteFacts {
  private readonly access: ShardAccess;
  private readonly shards: readonly FactsOfShard[];

  constructor(access: ShardAccess) {
    this.access = access;
    this.shards = Array.from({ length: access.client.shards }, () => new FactsOfShard());
  }

  /** As last heard. Before that there are no rows, at any time. */
  figures(shard: number, id: TableId): KnownFacts {
    const answer = this.of(shard).figuresOf(id);
    this.keepUp(shard, id, "figures", answer);
    return answer?.value ?? UNKNOWN;
  }

  /** As last heard; none before that. */
  files(shard: number, id: TableId): readonly TableFile[] {
    const answer = this.of(shard).files.get(id);
    this.keepUp(shard, id, "files", answer);
    return answer?.value ?? [];
  }

  /** Resolves when what is known is as of this call, or later. @throws DbError StorageUnavailable and what the shard threw */
  refreshed(shard: number, id: TableId, kind: FactKind): Promise<void> {
    return kind === "files" ? this.askFiles(shard, id) : this.askFigures(shard, id);
  }

  /** Forgets a table. */
  forget(id: TableId): void {
    for (const { figures, files } of this.shards) {
      figures.delete(id);
      files.delete(id);
    }
  }

  private of(shard: number): FactsOfShard {
    return this.shards[shard] as FactsOfShard;
  }

  private now(): number {
    return this.access.clock.monotonicMillis();
  }

  private keepUp(shard: number, id: TableId, kind: FactKind, answer: Answer<unknown> | undefined): void {
    if (answer !== undefined && this.now() - answer.at < OLD_MILLIS) return;
    const { asking } = this.of(shard);
    const key = `${kind} ${id}`;
    if (asking.has(key)) return;
    asking.add(key);
    const asked = this.refreshed(shard, id, kind).catch((error: unknown) => {
      this.access.logger.warn({ shard, table: id, error: errorText(error) }, `cannot ask for ${kind} of a table`);
    });
    void asked.finally(() => asking.delete(key)); // Who asks next has the answer, or asks again.
  }

  private askFigures(shard: number, id: TableId): Promise<void> {
    const own = this.of(shard);
    if (own.next === undefined) {
      const tables = new Set<TableId>();
      own.next = { tables, answered: Promise.resolve().then(() => this.sendFigures(shard, tables)) };
    }
    own.next.tables.add(id);
    return own.next.answered;
  }

  /** Asks about tables that were gathered since the first was. */
  private async sendFigures(shard: number, tables: ReadonlySet<TableId>): Promise<void> {
    const own = this.of(shard);
    own.next = undefined;
    const asked = [...tables];
    if (asked.length >= ALL_FROM) return this.figuresOfTables(shard, undefined);
    const outcomes = await Promise.allSettled(asked.map((id) => this.figuresOfTables(shard, id)));
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }

  private async figuresOfTables(shard: number, tableId: TableId | undefined): Promise<void> {
    const at = this.now();
    const { client } = this.access;
    const found = await client.call({ kind: "facts", shard, tableId, ...(await this.access.moment(shard)) });
    const own = this.of(shard);
    if (tableId === undefined) {
      own.figures.clear();
      own.allAt = at;
    } else own.figures.set(tableId, { value: NOTHING, at });
    for (const { tableId: id, statistics, timeBounds } of found) own.figures.set(id, { value: { statistics, timeBounds }, at });
  }

  private async askFiles(shard: number, tableId: TableId): Promise<void> {
    const at = this.now();
    const { client } = this.access;
    const value = await client.call({ kind: "files", shard, tableId, ...(await this.access.moment(shard)) });
    const { files } = this.of(shard);
    files.delete(tableId);
    files.set(tableId, { value, at });
    for (const oldest of files.keys()) {
      if (files.size <= FILES_KEPT) break;
      files.delete(oldest);
    }
  }
}
