/** A pool whose workers are on this thread: messages are cloned as between threads, everything else is the real thing. */
import { Scheduler } from "../../src/base/scheduler/scheduler.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { ShareLimits } from "../../src/table/shared-scan.ts";
import type { FromQueryWorker, ToQueryWorker } from "../../src/query/workers/messages.ts";
import { PartServer, type PartSource, type PartStorage } from "../../src/query/workers/serve-parts.ts";
import { WorkerPool } from "../../src/query/workers/worker-pool.ts";

/** Cut as finely as can be. */
export const FINE: ShareLimits = { rowsMin: 1, partRows: 50, partsMax: 7 };

/** A worker on this thread. */
export class LocalWorker extends EventTarget {
  private readonly server: PartServer;
  private isTerminated = false;

  constructor(storage: PartStorage) {
    super();
    this.server = new PartServer(storage, new Scheduler(), (message, buffers) => this.answer(message, buffers ?? []));
  }

  postMessage(message: ToQueryWorker): void {
    const copy = structuredClone(message);
    setImmediate(() => void this.serve(copy)); // Answers or dies.
  }

  private async serve(message: ToQueryWorker): Promise<void> {
    try {
      await this.server.take(message);
    } catch {
      this.die();
    }
  }

  terminate(): void {
    this.isTerminated = true;
  }

  /** Ends as a worker does that throws. */
  die(): void {
    this.dispatchEvent(new ErrorEvent("error", { message: "it was told to die" }));
  }

  private answer(message: FromQueryWorker, buffers: ArrayBuffer[]): void {
    if (this.isTerminated) return;
    this.dispatchEvent(new MessageEvent("message", { data: structuredClone(message, { transfer: buffers }) }));
  }
}

/** A pool of two such workers. `open` is what a worker makes of a snapshot. */
export function localWorkers(open: (snapshot: object) => PartSource, limits: ShareLimits = FINE, started: LocalWorker[] = []): WorkerPool {
  return pool(open, limits, started, Number.POSITIVE_INFINITY, true);
}

/** The same, one with which all groups are divided by their keys, and one that takes parts beside the query's thread. */
export function localHelpers(open: (snapshot: object) => PartSource): readonly WorkerPool[] {
  return [pool(open, FINE, [], 1, false), pool(open, FINE, [], Number.POSITIVE_INFINITY, false)];
}

function pool(
  open: (snapshot: object) => PartSource,
  limits: ShareLimits,
  started: LocalWorker[],
  groupsMin: number,
  sharesRows: boolean,
): WorkerPool {
  const storage: PartStorage = {
    open,
    cacheBytes: () => 0,
    giveBack: () => undefined,
    mayGrow: () => undefined,
  };
  return new WorkerPool({
    threads: 2,
    groupsMin,
    aloneMs: 0,
    sharesRows,
    limits,
    clock: systemClock,
    startWorker() {
      const worker = new LocalWorker(storage);
      started.push(worker);
      return worker as unknown as Worker; // All of a worker that the pool uses.
    },
    onWarning: () => undefined,
  });
}
