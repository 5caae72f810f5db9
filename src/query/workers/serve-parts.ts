/**
 * A worker's side: runs pulls one after another. What it keeps between queries is pages and open files, in its own cache.
 *
 * A fragment that is over is seen at the next batch, or where a scan yields though it has found none: the flag lies on memory that it
 * shares with the thread of the query.
 *
 * An error of the world fails the pull. So does a bug, with its stack; but a broken invariant is thrown, which ends the worker: what it
 * holds can no longer be trusted, and it holds nothing that others miss.
 */
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import { assert, AssertionError } from "../../base/assert.ts";
import { toldError } from "../../base/told-error.ts";
import type { ScannedTable } from "../../table/catalog.ts";
import type { ScanPart } from "../../table/shared-scan.ts";
import { Pace } from "../../base/scheduler/pace.ts";
import { type PartAccount, PartRunner } from "./part-runner.ts";
import type { FragmentJob } from "../operator/contract/query-workers.ts";
import { CONTROL_WORDS, type FromQueryWorker, type ToQueryWorker } from "./messages.ts";

const KIB = 1024;
/** What parts hold is told in steps of so many bytes. */
const TOLD_BYTES = 64 * KIB;
/** How often the flag of a fragment that runs is looked at beside its batches. */
const LOOK_MILLIS = 20;

/** A snapshot that parts of a fragment read. */
export interface PartSource {
  /** The table as a part of the scan sees it, or as several do, of a shard each. */
  part(part: readonly ScanPart[]): ScannedTable;
  /** No part reads it any more. */
  close(): void;
}

/** What a worker reads tables with. */
export interface PartStorage {
  /** A snapshot of a table, as another thread made it. */
  open(snapshot: object): PartSource;
  /** Bytes of pages kept. */
  cacheBytes(): number;
  giveBack(bytes: number): void;
  mayGrow(): void;
}

interface Served {
  readonly job: FragmentJob;
  readonly source: PartSource;
  readonly control: Int32Array;
  readonly canceller: AbortController;
  readonly runners: Map<number, PartRunner>;
}

type Send = (message: FromQueryWorker, buffers?: ArrayBuffer[]) => void;

/** Takes messages, in the order in which they come; answers by `send`. */
export class PartServer {
  private readonly storage: PartStorage;
  private readonly send: Send;
  private readonly onRest: () => void;
  private readonly scheduler: Scheduler;
  private readonly served: Map<number, Served> = new Map();
  private last: Promise<void> = Promise.resolve();

  /** @param onRest no fragment is left, and that is told: the worker keeps nothing but pages */
  constructor(storage: PartStorage, scheduler: Scheduler, send: Send, onRest: () => void = () => undefined) {
    this.storage = storage;
    this.scheduler = scheduler;
    this.send = send;
    this.onRest = onRest;
  }

  /** Takes a message. Resolves when it and all before it are answered; rejects for good when it met a bug: the worker should end. */
  take(message: ToQueryWorker): Promise<void> {
    this.last = this.last.then(() => this.answer(message));
    return this.last;
  }

  private async answer(message: ToQueryWorker): Promise<void> {
    switch (message.kind) {
      case "open": {
        const { job, control } = message;
        const source = this.storage.open(job.snapshot);
        this.served.set(message.fragment, { job, source, control, canceller: new AbortController(), runners: new Map() });
        return;
      }
      case "pull":
        return this.pull(message);
      case "close":
        return this.close(message.fragment);
      case "cache":
        if (message.giveBack === undefined) this.storage.mayGrow();
        else this.storage.giveBack(message.giveBack);
        return;
    }
  }

  private async pull({ fragment, index, part, bytesMax }: Extract<ToQueryWorker, { kind: "pull" }>): Promise<void> {
    const served = this.served.get(fragment);
    assert(served !== undefined, `a fragment that was opened; got ${fragment}`);
    const { storage } = this;
    const buffers: ArrayBuffer[] = [];
    const timer = setInterval(() => look(served), LOOK_MILLIS);
    try {
      look(served);
      const runner = served.runners.get(index) ?? newRunner(served, part, this.scheduler);
      served.runners.set(index, runner);
      const pulled = await runner.pull(bytesMax, buffers);
      if (pulled.isDone) served.runners.delete(index);
      this.send({ kind: "pulled", fragment, pulled, cacheBytes: storage.cacheBytes() }, buffers);
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      this.send({ kind: "failed", fragment, error: toldError(error), cacheBytes: storage.cacheBytes() });
    } finally {
      clearInterval(timer);
    }
  }

  private async close(fragment: number): Promise<void> {
    const served = this.served.get(fragment);
    this.served.delete(fragment);
    for (const runner of served?.runners.values() ?? []) await runner.close();
    served?.source.close();
    this.send({ kind: "closed", fragment, cacheBytes: this.storage.cacheBytes() });
    if (this.served.size === 0) this.onRest();
  }
}

/** Cancels what runs of a fragment that is over. */
function look({ control, canceller }: Served): void {
  if (Atomics.load(control, CONTROL_WORDS.isOver) === 1) canceller.abort();
}

function newRunner(served: Served, part: readonly ScanPart[], scheduler: Scheduler): PartRunner {
  const { job, source, control, canceller } = served;
  const pace = new Pace(scheduler, () => look(served));
  return new PartRunner(job, source.part(part), {
    signal: canceller.signal,
    clock: scheduler.clock,
    pace,
    account: sharedAccount(control),
  });
}

/** Counts into the memory that the query's thread looks at. */
function sharedAccount(control: Int32Array): PartAccount {
  let held = 0;
  let toldKib = 0;
  const tell = (stepBytes: number): void => {
    const kib = Math.ceil(held / KIB);
    if (Math.abs(kib - toldKib) * KIB < stepBytes) return;
    Atomics.add(control, CONTROL_WORDS.heldKib, kib - toldKib);
    toldKib = kib;
  };
  return {
    take(bytes) {
      held += bytes;
      tell(TOLD_BYTES);
      return true;
    },
    give(bytes) {
      held -= bytes;
      tell(TOLD_BYTES);
    },
    hasRoom: () => true, // The thread of the query looks after that.
    room: Number.POSITIVE_INFINITY,
    bytesMax: Number.POSITIVE_INFINITY,
    close() {
      held = 0;
      tell(0);
    },
  };
}
