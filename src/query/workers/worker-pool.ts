/**
 * Threads for parts of large scans.
 *
 *   fragments, in turn ─► pulls that wait ─► a free worker (the one that had this part of the table last, if it is free) ─► answer
 *
 * A worker runs one pull at a time and has one more waiting, and free workers go to the fragments in turn, so a query never has more than
 * its share for longer than two parts take.
 *
 * A worker that dies fails the parts that it had, and the next pull starts another; where several die without an answer, queries stay on
 * their own thread for a while. One that does not end a part of a query that is over is ended, whatever it is in.
 *
 * A message there and back takes about 60 µs, a worker's start 30 ms; it is started by the first pull that needs it.
 */
import { assert } from "../../base/assert.ts";
import { errorOfTold } from "../../base/told-error.ts";
import type { Clock } from "../../base/clock.ts";
import { DbError, errorText } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { ScanPart, ShareLimits } from "../../table/shared-scan.ts";
import type { FragmentBudget, FragmentJob, OpenFragment, Pulled, QueryWorkers } from "../operator/contract/query-workers.ts";
import { CONTROL_WORDS, type FromQueryWorker, type ToQueryWorker } from "./messages.ts";
import { closing } from "./call-threads.ts";

/** Fragments that may be open at a time. Reason: each holds a snapshot and waits for its turn. Beyond, queries run on their own thread. */
const FRAGMENTS_MAX = 64;
/** How often the memory of running parts is looked at, in milliseconds. */
const LOOK_MILLIS = 50;
const KIB = 1024;
/** Pulls that a worker has at a time: one runs, and the next is there when that ends, though this thread may be busy. */
const SENT_MAX = 2;
/** Workers that may die one after another, without an answer from any, before queries stay on their own thread, and for how long. */
const DEATHS_MAX = 3;
const REST_MILLIS = 30_000;
/** How long a worker may stay in a part of a query that is over: it looks at each batch, so more is a loop or a runaway text match. */
const END_MILLIS_MAX = 10_000;

/** What the pool needs. */
export interface WorkerPoolParts {
  readonly threads: number;
  readonly limits: ShareLimits;
  readonly clock: Clock;
  /** As `QueryWorkers.sharesRows`; absent: it does. */
  readonly sharesRows?: boolean;
  /** As `QueryWorkers.aloneMs` and `QueryWorkers.groupsMin`. */
  readonly aloneMs: number;
  readonly groupsMin: number;
  /** As `END_MILLIS_MAX`, for tests. */
  readonly endMillisMax?: number;
  /** Starts a thread that speaks `messages.ts`. */
  startWorker(name: string): Worker;
  /** Takes what a worker found wrong and could do without. */
  onWarning(text: string): void;
}

/** What the pool did, for metrics. */
export interface PoolCounts {
  readonly running: number;
  readonly waiting: number;
  /** Fragments that are not closed. */
  readonly open: number;
  readonly pulls: number;
  readonly busySeconds: number;
  readonly deaths: number;
}

interface Pull {
  readonly fragment: PooledFragment;
  readonly index: number;
  readonly part: readonly ScanPart[];
  readonly bytesMax: number;
  readonly resolve: (pulled: Pulled) => void;
  readonly reject: (error: Error) => void;
}

/** A place for a worker. Invariant: `sent` and what is in `opened` are with `worker`. */
interface Slot {
  readonly name: string;
  worker: Worker | undefined;
  /** In the order in which the worker answers. */
  sent: Pull[];
  /** Fragments that the worker was told of, with who waits for them to be closed there. */
  readonly opened: Map<PooledFragment, (() => void) | undefined>;
  cacheBytes: number;
}

/** See the file header. */
export class WorkerPool implements QueryWorkers {
  readonly limits: ShareLimits;
  readonly threads: number;
  readonly sharesRows: boolean;
  readonly aloneMs: number;
  readonly groupsMin: number;
  private readonly parts: WorkerPoolParts;
  private readonly slots: readonly Slot[];
  /** Those with pulls that wait come in turn. */
  private fragments: PooledFragment[] = [];
  private open = 0;
  private lastId = 0;
  private pulls = 0;
  private busyMillis = 0;
  private deaths = 0;
  /** Of workers, since one last answered. */
  private deathsInRow = 0;
  private restUntil = Number.NEGATIVE_INFINITY;
  private isClosed = false;

  constructor(parts: WorkerPoolParts) {
    assert(parts.threads >= 1, `a pool has threads; got ${parts.threads}`);
    this.parts = parts;
    this.limits = parts.limits;
    this.threads = parts.threads;
    this.sharesRows = parts.sharesRows ?? true;
    this.aloneMs = parts.aloneMs;
    this.groupsMin = parts.groupsMin;
    this.slots = Array.from({ length: parts.threads }, (_, i) => ({
      name: `query-${i + 1}`,
      worker: undefined,
      sent: [],
      opened: new Map(),
      cacheBytes: 0,
    }));
  }

  get counts(): PoolCounts {
    let waiting = 0;
    for (const fragment of this.fragments) waiting += fragment.waiting.length;
    const running = this.slots.filter(({ sent }) => sent.length > 0).length;
    return { running, waiting, open: this.open, pulls: this.pulls, busySeconds: this.busyMillis / 1000, deaths: this.deaths };
  }

  get hasRoom(): boolean {
    // Where no core is left for workers, queries that run beside each other have the cores among them.
    const most = this.sharesRows ? FRAGMENTS_MAX : this.threads;
    return this.open < most && !this.isClosed && this.parts.clock.monotonicMillis() >= this.restUntil;
  }

  /** Bytes of pages that the workers keep, as they said last. */
  get cacheBytes(): number {
    let bytes = 0;
    for (const slot of this.slots) bytes += slot.cacheBytes;
    return bytes;
  }

  /** Lets the workers drop pages; counted at once, since they answer later. */
  giveBack(bytes: number): void {
    const all = this.cacheBytes;
    if (all === 0) return;
    for (const slot of this.slots) {
      const part = Math.min(slot.cacheBytes, Math.ceil((bytes * slot.cacheBytes) / all));
      if (part === 0) continue;
      slot.cacheBytes -= part;
      this.tell(slot, { kind: "cache", giveBack: part });
    }
  }

  /** Lets the workers keep some more pages again. */
  mayGrow(): void {
    for (const slot of this.slots) this.tell(slot, { kind: "cache", giveBack: undefined });
  }

  /** @param budget counts what the fragment's parts hold while they run */
  openFragment(job: FragmentJob, budget: FragmentBudget): OpenFragment {
    this.open++;
    const fragment = new PooledFragment(++this.lastId, job, budget, {
      slots: this.threads,
      wake: () => this.dispatch(),
      end: (ended) => this.end(ended),
    });
    this.fragments.push(fragment);
    return fragment;
  }

  /** Ends all workers; what runs or waits fails. */
  close(): void {
    this.isClosed = true;
    for (const fragment of this.fragments) fragment.fail(closing());
    for (const slot of this.slots) if (slot.worker !== undefined) this.fail(slot, slot.worker, "the server is closing");
  }

  /** Gives free workers something to do. */
  private dispatch(): void {
    for (let depth = 0; depth < SENT_MAX; depth++) {
      for (const [at, slot] of this.slots.entries()) if (slot.sent.length === depth) this.feed(slot, at);
    }
  }

  private feed(slot: Slot, at: number): void {
    for (let turn = 0; turn < this.fragments.length; turn++) {
      const fragment = this.fragments[turn];
      const pull = fragment?.take(at, (owner) => this.slots[owner]?.sent.some((other) => other.fragment !== fragment) === true);
      if (fragment === undefined || pull === undefined) continue;
      this.fragments.splice(turn, 1);
      this.fragments.push(fragment);
      this.send(slot, at, pull);
      return;
    }
  }

  private send(slot: Slot, at: number, pull: Pull): void {
    const { fragment, index, part, bytesMax } = pull;
    if (this.isClosed) {
      pull.reject(closing());
      return;
    }
    if (slot.worker === undefined && !this.start(slot)) {
      pull.reject(stopped());
      return;
    }
    try {
      if (!slot.opened.has(fragment)) {
        this.tell(slot, { kind: "open", fragment: fragment.id, job: fragment.job, control: fragment.control });
        slot.opened.set(fragment, undefined);
      }
      this.tell(slot, { kind: "pull", fragment: fragment.id, index, part, bytesMax });
    } catch (error) {
      // Something of the plan cannot be cloned: nothing was sent.
      pull.reject(error instanceof Error ? error : new Error(errorText(error)));
      return;
    }
    slot.sent.push(pull);
    fragment.owners.set(index, at);
  }

  private tell(slot: Slot, message: ToQueryWorker): void {
    slot.worker?.postMessage(message);
  }

  /** False when there can be no thread now. */
  private start(slot: Slot): boolean {
    let worker: Worker;
    try {
      worker = this.parts.startWorker(slot.name);
    } catch (error) {
      this.countDeath(slot, errorText(error));
      return false;
    }
    slot.worker = worker;
    worker.addEventListener("message", ({ data }: MessageEvent<FromQueryWorker>) => this.take(slot, worker, data));
    worker.addEventListener("error", ({ message }: ErrorEvent) => this.fail(slot, worker, message));
    worker.addEventListener("messageerror", () => this.fail(slot, worker, "its answer could not be read"));
    worker.addEventListener("close", () => this.fail(slot, worker, "it exited"));
    return true;
  }

  private take(slot: Slot, worker: Worker, message: FromQueryWorker): void {
    if (slot.worker !== worker) return; // It was ended; what it had is answered.
    if (message.kind === "warning") {
      this.parts.onWarning(message.text);
      return;
    }
    slot.cacheBytes = message.cacheBytes;
    if (message.kind === "closed") {
      const closed = [...slot.opened].find(([{ id }]) => id === message.fragment);
      if (closed === undefined) return;
      slot.opened.delete(closed[0]);
      closed[1]?.();
      return;
    }
    this.deathsInRow = 0;
    const [pull] = slot.sent;
    if (pull?.fragment.id !== message.fragment) {
      this.fail(slot, worker, "it answered what it was not asked");
      return;
    }
    slot.sent.shift();
    this.pulls++;
    const { fragment } = pull;
    fragment.ran(); // First: that it holds too much is told before what comes of it.
    if (message.kind === "failed") pull.reject(fragment.reason ?? errorOfTold(message.error));
    else {
      this.busyMillis += message.pulled.workMs;
      if (message.pulled.isDone) fragment.owners.delete(pull.index);
      pull.resolve(message.pulled);
    }
    this.dispatch();
  }

  private fail(slot: Slot, worker: Worker, why: string): void {
    if (slot.worker !== worker) return; // An earlier one, that failed already.
    slot.worker = undefined;
    worker.terminate();
    if (!this.isClosed) this.countDeath(slot, why);
    const error = this.isClosed ? closing() : stopped();
    const { sent } = slot;
    slot.sent = [];
    slot.cacheBytes = 0;
    const opened = [...slot.opened];
    slot.opened.clear();
    for (const { reject, fragment } of sent) {
      reject(error);
      fragment.ran();
    }
    for (const [fragment, closed] of opened) {
      fragment.lose(this.slots.indexOf(slot), error);
      closed?.();
    }
    if (!this.isClosed) this.dispatch();
  }

  private countDeath(slot: Slot, why: string): void {
    this.deaths++;
    this.deathsInRow++;
    this.parts.onWarning(`${slot.name} stopped: ${why.trimEnd()}`);
    if (this.deathsInRow < DEATHS_MAX) return;
    this.deathsInRow = 0;
    this.restUntil = this.parts.clock.monotonicMillis() + REST_MILLIS;
    this.parts.onWarning(`${DEATHS_MAX} query workers stopped one after another: none is used for ${REST_MILLIS / 1000} s`);
  }

  /** Resolves when no worker reads the fragment's snapshot any more. */
  private async end(fragment: PooledFragment): Promise<void> {
    this.fragments = this.fragments.filter((other) => other !== fragment);
    const waits: Promise<void>[] = [];
    for (const slot of this.slots) {
      if (!slot.opened.has(fragment)) continue;
      const { promise, resolve } = Promise.withResolvers<void>();
      slot.opened.set(fragment, resolve);
      this.tell(slot, { kind: "close", fragment: fragment.id });
      this.watch(slot, fragment);
      waits.push(promise);
    }
    await Promise.all(waits);
    this.open--;
  }

  /** Ends the worker of a slot when it stays in one pull of a fragment that is over. */
  private watch(slot: Slot, fragment: PooledFragment): void {
    const { worker } = slot;
    const [first] = slot.sent;
    const millis = this.parts.endMillisMax ?? END_MILLIS_MAX;
    const timer = setTimeout(() => {
      if (worker === undefined || slot.worker !== worker || !slot.opened.has(fragment)) return;
      if (first?.fragment === fragment && slot.sent[0] === first)
        this.fail(slot, worker, `it did not end a cancelled part in ${millis} ms`);
      else this.watch(slot, fragment); // It has work for others first.
    }, millis);
    timer.unref();
  }
}

/** What queries are told whose worker died; why is in the log. */
function stopped(): DbError {
  return new DbError(StatusCode.External, "cannot run query: the worker that ran a part of it stopped; run it again");
}

interface FragmentHost {
  readonly slots: number;
  wake(): void;
  end(fragment: PooledFragment): Promise<void>;
}

/** A fragment's pulls, from when they are asked for until they are answered. */
class PooledFragment implements OpenFragment {
  readonly id: number;
  readonly job: FragmentJob;
  readonly control: Int32Array = new Int32Array(new SharedArrayBuffer(8));
  waiting: Pull[] = [];
  /** Which slot has a part that was begun and has not ended. */
  readonly owners: Map<number, number> = new Map();
  private readonly budget: FragmentBudget;
  private readonly host: FragmentHost;
  private readonly timer: ReturnType<typeof setInterval>;
  private held = 0;
  private failure: Error | undefined;
  private closing: Promise<void> | undefined;

  constructor(id: number, job: FragmentJob, budget: FragmentBudget, host: FragmentHost) {
    this.id = id;
    this.job = job;
    this.budget = budget;
    this.host = host;
    this.timer = setInterval(() => this.count(), LOOK_MILLIS);
    this.timer.unref();
  }

  pull(index: number, part: readonly ScanPart[], bytesMax: number): Promise<Pulled> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    const { promise, resolve, reject } = Promise.withResolvers<Pulled>();
    this.waiting.push({ fragment: this, index, part, bytesMax, resolve, reject });
    this.host.wake();
    return promise;
  }

  /**
   * A pull for a slot: of a part that it has begun, or that is its own, since it has the pages; else one whose slot is busy with other
   * fragments.
   */
  take(slot: number, isBusy: (index: number) => boolean): Pull | undefined {
    const isOwn = (index: number): boolean =>
      this.owners.get(index) === slot || (!this.owners.has(index) && index % this.host.slots === slot);
    let at = this.waiting.findIndex(({ index }) => isOwn(index));
    if (at < 0) at = this.waiting.findIndex(({ index }) => !this.owners.has(index) && isBusy(index % this.host.slots));
    return at < 0 ? undefined : this.waiting.splice(at, 1)[0];
  }

  /** To be called when a pull has run. */
  ran(): void {
    this.count();
  }

  /** Why it is over; undefined while it is not. */
  get reason(): Error | undefined {
    return this.failure;
  }

  /** A slot lost its worker. Parts that it had begun cannot go on. */
  lose(slot: number, error: Error): void {
    if ([...this.owners.values()].includes(slot)) this.fail(error);
  }

  close(): Promise<void> {
    this.fail(new DbError(StatusCode.Cancelled, "Query has been cancelled"));
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    await this.host.end(this);
    clearInterval(this.timer);
    this.budget.release(this.held);
    this.held = 0;
  }

  /** From now on it is over, for the first reason that is given. */
  fail(error: Error): void {
    if (this.failure !== undefined) return;
    this.failure = error;
    Atomics.store(this.control, CONTROL_WORDS.isOver, 1);
    const { waiting } = this;
    this.waiting = [];
    for (const { reject } of waiting) reject(error);
  }

  /** Counts what the parts hold now into the query's memory. */
  private count(): void {
    const held = Atomics.load(this.control, CONTROL_WORDS.heldKib) * KIB;
    const more = held - this.held;
    this.held = held;
    if (more < 0) this.budget.release(-more);
    else if (more > 0 && this.failure === undefined) {
      try {
        this.budget.reserve(more);
      } catch (error) {
        this.held -= more;
        this.fail(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }
}
