/** A query worker's thread: parts of scans over the files of one data folder and the memory of the thread that asks. */
import { Scheduler } from "./base/scheduler/scheduler.ts";
import { HeapWatch } from "./base/memory/heap-watch.ts";
import { RestingHeap } from "./base/memory/resting-heap.ts";
import { systemClock } from "./base/clock.ts";
import { answerProfile, type ProfileMessage } from "./base/profile/thread-profiles.ts";
import { ServerMemory } from "./base/memory/server-memory.ts";
import { opensJoined } from "./engine/joined/joined-share.ts";
import type { QueryWorkerStart } from "./query-threads.ts";
import type { FromQueryWorker, ToQueryWorker } from "./query/workers/messages.ts";
import { PartServer, type PartStorage } from "./query/workers/serve-parts.ts";
import { PageCache } from "./storage/cache/page-cache.ts";
import { localFileStore } from "./storage/file-store/local-file-store.ts";
import { SnapshotStorage } from "./storage/share/snapshot-storage.ts";

declare const self: Worker;

/** Heap beyond its pages that a resting worker may have: it keeps nothing else between queries. */
const RESTING_HEAP_BYTES_MAX = 64 * 1024 * 1024;

function send(message: FromQueryWorker, buffers: ArrayBuffer[] = []): void {
  self.postMessage(message, buffers);
}

function start({ root, cacheBytes, openFilesMax }: QueryWorkerStart): PartServer {
  const memory = new ServerMemory(Number.POSITIVE_INFINITY); // The server's limit is kept by the thread that asks.
  const scheduler = new Scheduler();
  new HeapWatch(memory, scheduler).start();
  const cache = new PageCache(cacheBytes, () => memory.onGarbage());
  const onWarning = (text: string): void => send({ kind: "warning", text });
  const storage = new SnapshotStorage(localFileStore(root, openFilesMax), cache, onWarning);
  const parts: PartStorage = {
    open: opensJoined((snapshot) => storage.open(snapshot)),
    cacheBytes: () => storage.cacheBytes(),
    giveBack: (bytes) => storage.giveBack(bytes),
    mayGrow: () => storage.mayGrow(),
  };
  const resting = new RestingHeap(RESTING_HEAP_BYTES_MAX);
  return new PartServer(parts, scheduler, send, () => resting.rest(storage.cacheBytes()));
}

let server: PartServer | undefined;
self.onmessage = ({ data }: MessageEvent<QueryWorkerStart | ToQueryWorker | ProfileMessage>) => {
  if (data.kind === "start") server = start(data);
  else if (data.kind === "profile")
    void answerProfile(data, systemClock); // never rejects
  else void server?.take(data); // Answers whatever happens.
};
