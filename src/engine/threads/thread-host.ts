/**
 * One ingest thread as the owner of the tables sees it: takes what it tells, in order, answers what it asks, and stands for its log stream.
 *
 * Records become visible here. Their series get the numbers of the region, as in replay; their chunks stay on the thread's memory, leased
 * until no memtable reads them.
 */
import type { TableId } from "../../base/units.ts";
import { AssertionError, assert } from "../../base/assert.ts";
import { errorOfTold, type ToldError, toldError } from "../../base/told-error.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { SureSteps } from "../../base/process/sure-steps.ts";
import type { MemoryLease } from "../../storage/memtable/memory-lease.ts";
import { decodeRecordHead, type HeadEntry } from "../../storage/memtable/write-record.ts";
import type { Region } from "../../storage/region/region.ts";
import { LocalWriters } from "../log/local-writers.ts";
import type { LogLedger } from "../log/log-ledger.ts";
import type { LogStream } from "../log/log-stream.ts";
import type { SchemaStep } from "../schema/catalog-plans.ts";
import { renumber, SeriesTranslator } from "../series/series-translator.ts";
import type { CatalogFeed } from "./catalog-feed.ts";
import { type Call, type ChunkPlace, type FromThread, type Reply, type Task } from "./messages.ts";
import type { SharedState } from "./shared-state.ts";
import type { OwnerLink } from "./thread-link.ts";

/** What a thread's messages change. */
export interface ThreadOwner {
  readonly shared: SharedState;
  readonly feed: CatalogFeed;
  readonly sure: SureSteps;
  /** The table of an id, dropped ones apart. */
  regionOf(tableId: TableId): Region | undefined;
  /** Makes what a write needs: now, or when the promise resolves, and then the write has to look again. @throws DbError */
  evolve(steps: readonly SchemaStep[]): Promise<void> | undefined;
  /** Called when rows became visible, with their bytes. */
  written(bytes: number): void;
  /** Resolves when there is memory for another write. @throws DbError RateLimited */
  admit(): Promise<void>;
  /** Resolves when the catalog is durable. @throws DbError */
  durable(): Promise<void>;
}

/** What is known of a stream from its replay. */
interface StreamBefore {
  readonly ledger: LogLedger;
  readonly head: number;
  readonly newest: number | undefined;
}

type Logged = Extract<FromThread, { kind: "logged" }>;

/** See the file header. */
export class ThreadHost implements LogStream {
  readonly id: number;
  readonly ledger: LogLedger;
  private readonly owner: ThreadOwner;
  private readonly link: OwnerLink;
  private readonly writers: LocalWriters = new LocalWriters();
  private readonly translator: SeriesTranslator = new SeriesTranslator();
  private readonly leases: Map<number, ArenaLease> = new Map();
  private readonly tasks: Map<number, PromiseWithResolvers<void>> = new Map();
  /** Renewals of a table's series that the thread has not answered, by table. */
  private readonly renewals: Map<number, number> = new Map();
  private lastTask = 0;
  /** What is made later for writes of the thread, until it asks, by ticket. */
  private readonly later: Map<number, Promise<readonly [PromiseSettledResult<void>]>> = new Map();
  private lastTicket = 0;
  private newestSegment: number;
  private newestSequence: number | undefined;
  /** Messages taken, as an int32 that wraps. */
  private taken = 0;
  /** Records told of. */
  private seen = 0;
  /** `needed` of the last trim that went through, and what was seen then. */
  private trimmed: { readonly needed: number; readonly seen: number } | undefined;
  private logFailure: string | undefined;
  private isClosed = false;
  /** Why the thread answers no more. */
  private gone: DbError | undefined;

  /**
   * @param before what is known of the stream from its replay
   */
  constructor(id: number, owner: ThreadOwner, link: OwnerLink, before: StreamBefore) {
    this.id = id;
    this.owner = owner;
    this.link = link;
    this.ledger = before.ledger;
    this.newestSegment = before.head;
    this.newestSequence = before.newest;
    link.onWaiting(() => {
      if (!owner.sure.hasFailed) this.drain(); // Nobody waits for an answer here, and the process is ending.
    });
  }

  /**
   * Takes the messages that wait, and no later ones. What was acknowledged before the call is visible after it: whoever asks, a message
   * that cannot be taken ends the process, since nothing would ever tell of its rows again.
   */
  drain(): void {
    this.owner.sure.check();
    const posted = this.link.posted();
    if (this.taken === posted) return;
    this.owner.sure.run(`what ingest thread ${this.id} tells is taken`, () => this.takeUpTo(posted));
  }

  /**
   * Resolves when every record that the thread had begun is told of, or failed; chunks of the table lie on other memory from then on.
   */
  async barrier(tableId: TableId): Promise<void> {
    if (!this.isClosed) await this.request({ kind: "barrier", tableId });
  }

  /** Resolves when every record that the thread had begun is told of, or failed. */
  async settled(): Promise<void> {
    if (!this.isClosed) await this.request({ kind: "settle" });
  }

  /**
   * Has the thread begin anew with the series of a table, whose registry was renewed: what it said of them before is kept until it has said
   * all again.
   */
  async renew(tableId: TableId): Promise<void> {
    if (this.isClosed) return;
    this.renewals.set(tableId, (this.renewals.get(tableId) ?? 0) + 1);
    await this.request({ kind: "renew", tableId });
    const left = (this.renewals.get(tableId) ?? 1) - 1;
    if (left > 0) {
      this.renewals.set(tableId, left);
      return;
    }
    this.renewals.delete(tableId);
    this.translator.forgetFormer(tableId);
  }

  /** Bytes that are held to know what the thread's series numbers mean. */
  get seriesBytes(): number {
    return this.translator.byteLength;
  }

  bytes(): number {
    return this.owner.shared.logBytes(this.id);
  }

  newestKnown(): number | undefined {
    return this.newestSequence;
  }

  head(): number {
    return this.newestSegment;
  }

  async trim(needed: number): Promise<void> {
    const { seen } = this;
    if (this.isClosed || (this.trimmed?.needed === needed && this.trimmed.seen === seen)) return;
    await this.request({ kind: "trim", needed, head: this.newestSegment, seen });
    this.trimmed = { needed, seen };
  }

  failure(): string | undefined {
    return this.gone?.message ?? this.logFailure;
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    try {
      await this.request({ kind: "close" });
    } finally {
      this.isClosed = true;
      this.link.close();
    }
  }

  /** Says that the thread is gone: what waits for an answer of it fails, and so does what is asked later. */
  died(why: string): void {
    if (this.isClosed || this.gone !== undefined) return;
    const gone = new DbError(StatusCode.StorageUnavailable, `ingest thread ${this.id} is gone: ${why}; its log has what it acknowledged`);
    this.gone = gone;
    for (const task of this.tasks.values()) task.reject(gone);
    this.tasks.clear();
  }

  private request(task: Task): Promise<void> {
    if (this.gone !== undefined) return Promise.reject(this.gone);
    const id = ++this.lastTask;
    const waiting = Promise.withResolvers<void>();
    this.tasks.set(id, waiting);
    this.link.post({ kind: "task", id, task });
    return waiting.promise;
  }

  /** A drain within this one may have taken more. */
  private takeUpTo(posted: number): void {
    while (((posted - this.taken) | 0) > 0) {
      const message = this.link.receive();
      assert(message !== undefined, `a message that was posted is there; got ${this.taken} of ${posted}`);
      this.taken = (this.taken + 1) | 0;
      this.take(message);
    }
  }

  private take(message: FromThread): void {
    switch (message.kind) {
      case "logged":
        this.seen++;
        this.owner.shared.addUntoldBytes(-message.queuedBytes);
        return this.publish(message);
      case "failed":
        this.seen++;
        for (const place of message.chunks) this.owner.regionOf(place.tableId)?.adopt(message.sequence, undefined, ...this.claim(place));
        return;
      case "retired":
        return this.leaseOf(message.arena).retire();
      case "answer":
        return this.answered(message.id, message.error);
      case "ask":
        void this.answer(message); // Answers whatever happens.
        return;
      case "call":
        this.link.reply(this.replyTo(message.call));
        return;
      case "health":
        this.logFailure = message.failure;
    }
  }

  private publish({ sequence, segment, head, chunks }: Logged): void {
    this.newestSegment = Math.max(this.newestSegment, segment);
    this.newestSequence = sequence;
    const { origin, entries } = decodeRecordHead(sequence, head);
    assert(origin !== undefined, "a record that is written now says where it comes from");
    const verdict = this.writers.take(origin);
    assert(verdict.kind === "rows", `records are told of once and in order; got record ${origin.number} of segment ${origin.segment}`);
    if (verdict.begins) this.translator.beginSegment();
    assert(entries.length === chunks.length, `a place a chunk; got ${chunks.length} for ${entries.length}`);
    let bytes = 0;
    for (const [i, entry] of entries.entries()) {
      const place = chunks[i] as ChunkPlace;
      const [lease, taken] = this.claim(place);
      const region = this.owner.regionOf(entry.tableId);
      if (region === undefined) continue; // Dropped: its rows go with it.
      this.adopt(sequence, segment, entry, place, region, lease, taken);
      bytes += entry.header.payloadBytes;
    }
    this.owner.written(bytes);
  }

  private adopt(
    sequence: number,
    segment: number,
    entry: HeadEntry,
    place: ChunkPlace,
    region: Region,
    lease: MemoryLease,
    takenBytes: number,
  ): void {
    const wasFull = region.registry.isFull;
    const known = this.translator.define(entry, region.registry);
    if (!wasFull && region.registry.isFull) this.owner.feed.push({ kind: "full", tableId: entry.tableId });
    this.ledger.note(segment, entry.tableId, sequence);
    const told = entry.header.place(place.buffer, place.offset);
    known.complete(told);
    const chunk = renumber(told, known.series);
    assert(
      chunk !== undefined,
      `a record or one before it in its segment defines each series; got record ${sequence} of thread ${this.id}`,
    );
    region.adopt(sequence, chunk, lease, takenBytes);
  }

  /** The lease on a chunk's memory, and the bytes that are known from now on. */
  private claim(place: ChunkPlace): [lease: MemoryLease, bytes: number] {
    this.owner.shared.addUntoldBytes(-place.takenBytes);
    return [this.leaseOf(place.arena), place.takenBytes];
  }

  private leaseOf(arena: number): ArenaLease {
    let lease = this.leases.get(arena);
    if (lease === undefined) {
      lease = new ArenaLease(() => {
        this.leases.delete(arena);
        if (!this.isClosed) this.link.post({ kind: "release", arena });
      });
      this.leases.set(arena, lease);
    }
    return lease;
  }

  private answered(id: number, error: ToldError | undefined): void {
    const waiting = this.tasks.get(id);
    this.tasks.delete(id);
    if (error === undefined) waiting?.resolve();
    else waiting?.reject(errorOfTold(error));
  }

  private async answer(ask: Extract<FromThread, { kind: "ask" }>): Promise<void> {
    const { id } = ask;
    let error: ToldError | undefined;
    try {
      if (ask.what === "made") await this.takeLater(ask.ticket);
      else if (ask.what === "admit") await this.owner.admit();
      else await this.owner.durable();
    } catch (thrown) {
      if (thrown instanceof AssertionError) throw thrown;
      error = toldError(thrown);
    }
    if (!this.isClosed) this.link.post({ kind: "told", id, error });
  }

  private async takeLater(ticket: number): Promise<void> {
    const later = this.later.get(ticket);
    this.later.delete(ticket);
    assert(later !== undefined, `a ticket is asked for once; got ${ticket}`);
    const [outcome] = await later;
    if (outcome.status === "rejected") throw outcome.reason;
  }

  private replyTo(call: Call): Reply {
    const { feed, shared } = this.owner;
    const isBehind = call.since !== shared.version;
    try {
      const later = call.kind === "evolve" && !isBehind ? this.owner.evolve(call.steps) : undefined;
      if (later !== undefined) {
        this.later.set(++this.lastTicket, Promise.allSettled([later])); // The thread hears of a failure when it asks.
        return { kind: "later", ticket: this.lastTicket };
      }
    } catch (thrown) {
      if (!(thrown instanceof DbError)) throw thrown;
      return { kind: "refused", error: toldError(thrown) };
    }
    return { kind: "news", news: feed.since(call.since), isApplied: !isBehind };
  }
}

/** A thread's arena. It goes back when the thread has retired it and no memtable reads it. */
class ArenaLease implements MemoryLease {
  private readonly end: () => void;
  private users = 0;
  private isRetired = false;

  constructor(end: () => void) {
    this.end = end;
  }

  retain(): void {
    this.users++;
  }

  release(): void {
    this.users--;
    assert(this.users >= 0, `users of an arena; got ${this.users}`);
    this.endIfUnused();
  }

  retire(): void {
    this.isRetired = true;
    this.endIfUnused();
  }

  private endIfUnused(): void {
    if (this.isRetired && this.users === 0) this.end();
  }
}
