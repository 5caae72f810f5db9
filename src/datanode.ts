/**
 * A data node of a cluster, wired from its settings: shards that it owns, and a listener for frontends.
 *
 *   NATS ─► catalogue ─► data files ─► listener ─► member ─► shards, one after the other
 *
 * `stop` goes the other way: shards go to others first.
 */
import { mkdir } from "node:fs/promises";
import { systemClock } from "./base/clock.ts";
import { errorText } from "./base/error.ts";
import type { Logger, RootLog } from "./base/log.ts";
import { HeapWatch } from "./base/memory/heap-watch.ts";
import { registerMemoryMetrics } from "./base/memory/memory-metrics.ts";
import { MemoryPool } from "./base/memory/server-memory.ts";
import { Reloads } from "./base/process/reloads.ts";
import { registerKernelMetrics } from "./base/process/process-metrics.ts";
import { DataNode } from "./cluster/ownership/data-node.ts";
import { registerShardMetrics } from "./cluster/ownership/ownership-metrics.ts";
import { systemTimers } from "./cluster/ownership/timers.ts";
import { RunningRequests } from "./cluster/serve/running-requests.ts";
import { startShardListener } from "./cluster/serve/listener.ts";
import type { PartListener } from "./cluster/serve/internal-listener.ts";
import { serveMetrics } from "./cluster/serve/serve-metrics.ts";
import { ShardService } from "./cluster/serve/shard-service.ts";
import { shardOpener } from "./cluster/shard/open-shard.ts";
import type { OpenShard } from "./cluster/shard/shard-host.ts";
import { type ClusterParts, internalListenerOf, openClusterParts, renewWith } from "./cluster-parts.ts";
import { advertisedAddressOf } from "./config/cluster-check.ts";
import type { InternalAccess } from "./config/nats-access.ts";
import type { Settings } from "./config/settings.ts";
import { openClusterFiles } from "./data-files.ts";
import { type Foundation, layFoundation, openSpillFolder, toldOfWork } from "./foundation.ts";
import { openQueryThreads } from "./query-threads.ts";
import type { RunningServer } from "./running-server.ts";
import { PageCache } from "./storage/cache/page-cache.ts";
import { lockDataDirectory } from "./storage/data-directory.ts";
import { VERSION } from "./version.ts";

/** Part of the memory limit that requests of frontends take together. */
const REQUESTS_PART = 1 / 2;
/** Part of it that bodies of requests take. */
const BODIES_PART = 1 / 8;
/** What they leave free of it. */
const FREE_PART = 1 / 16;
/** Log bytes, as a multiple of the memtable limit, at which the tables that hold the oldest part of a log are flushed. */
const LOG_BYTES_PER_MEMTABLE_BYTE = 4;
/** The same as a part of the room of a log: a full one refuses writes, and flushes take their time. */
const LOG_PART = 1 / 4;
/** Least memory of a table's rows in a shard before it is flushed, where many shards share what there is for writes. */
const MEMTABLE_BYTES_MIN: number = 4 * 1024 * 1024;
/** How long requests in flight may take at shutdown. */
const STOP_GRACE_MILLIS = 10_000;

/**
 * Starts a data node and resolves when it is a member: shards are opened then, one after the other.
 *
 * @param onBug called when a broken invariant was met: the process should end
 * @throws DbError with one line for the operator
 */
export async function startDatanode(settings: Settings, log: RootLog, onBug: (error: Error) => void): Promise<RunningServer> {
  await using opened = new AsyncDisposableStack();
  const { storage, cluster } = settings;
  const logger = log.logger("main");
  const directory = await lockDataDirectory(storage.dataHome);
  opened.defer(() => directory.unlock());
  const foundation = layFoundation(settings, log, opened);
  const { metrics } = foundation;
  watchProcess(foundation, opened);
  const over = Promise.withResolvers<string>();
  const parts = await openClusterParts(settings, "datanode", log, opened, over.resolve);
  const { port, mirror, nodeName } = parts;
  const dataFolder = cluster.sharedDir ?? directory.dataFolder;
  await mkdir(dataFolder, { recursive: true });
  const own: OwnShards = { node: undefined };
  const process = { settings, log, foundation, parts, dataFolder, onBug };
  const openShard = openerOf(process, opened);
  const listener = await serveFrontends(process, own, opened);
  const node = await DataNode.join({
    port,
    facts: { id: nodeName, address: advertisedAddressOf(cluster, listener.port), version: VERSION },
    shards: mirror.shards,
    openShard,
    beforeHandOver: ({ engine }) => engine.flushAhead(),
    timers: systemTimers,
    logger: log.logger("cluster"),
    onOusted: (why) => over.resolve(why.message),
  });
  own.node = node;
  registerShardMetrics(metrics, () => node.directory.nodes().find(({ id }) => id === nodeName)?.shards ?? new Map());
  opened.defer(() => node.stop()); // Before its listener: it serves while it hands over.
  const url = urlOf(listener, settings, parts.internal);
  logger.info({ address: url, node: nodeName, shards: mirror.shards, version: VERSION }, "ready");
  const all = opened.move();
  return {
    url,
    over: over.promise,
    reload: reloaderOf(parts, logger),
    stop: async () => {
      await all.disposeAsync();
      logger.info({}, "stopped");
    },
  };
}

/** What SIGHUP does. */
function reloaderOf({ certificates }: ClusterParts, logger: Logger): () => Promise<void> {
  if (certificates === undefined)
    return async () => logger.info({}, "nothing to reload: a data node has no accounts, and this one no certificate");
  const reloads = new Reloads(logger);
  reloads.add("certificate of the cluster", () => certificates.reload());
  return () => reloads.run();
}

/** What the parts of a data node are made of. */
interface NodeProcess {
  readonly settings: Settings;
  readonly log: RootLog;
  readonly foundation: Foundation;
  readonly parts: ClusterParts;
  readonly dataFolder: string;
  readonly onBug: (error: Error) => void;
}

/** The shards that it has, once it is a member. */
interface OwnShards {
  node: DataNode | undefined;
}

/** Looks after the memory of the process, and shows it. */
function watchProcess({ memory, scheduler, metrics }: Foundation, opened: AsyncDisposableStack): void {
  registerKernelMetrics(metrics);
  const heap = new HeapWatch(memory, scheduler);
  heap.start();
  opened.defer(() => heap.close());
  registerMemoryMetrics(metrics, memory, heap);
}

/** What opens shards: all of them share files, threads, pages and memory. */
function openerOf({ settings, log, foundation, parts, dataFolder, onBug }: NodeProcess, opened: AsyncDisposableStack): OpenShard {
  const { storage, cluster } = settings;
  const { memory, scheduler, metrics, tracer, pages } = foundation;
  const { files, flusher, merger, outputBytesMax } = openClusterFiles(settings, dataFolder, { metrics, memory }, log.logger("storage"));
  opened.defer(() => flusher.close());
  opened.defer(() => merger.close());
  const pageCache = new PageCache(pages.here, () => memory.onGarbage());
  memory.register("page_cache", {
    bytes: () => pageCache.bytes,
    giveBack: (bytes) => pageCache.giveBack(bytes),
    mayGrow: () => pageCache.mayGrow(),
  });
  const memtableBytes = Math.min(storage.memtableBytes, Math.max(MEMTABLE_BYTES_MIN, storage.writeBufferBytesMax / parts.mirror.shards));
  return shardOpener({
    port: parts.port,
    catalog: parts.mirror,
    files,
    flusher,
    merger,
    scheduler,
    memory,
    pageCache,
    pageCacheBytes: pages.here,
    limits: {
      memtableBytes,
      writeBufferBytes: 2 * memtableBytes,
      logBytesMax: Math.min(storage.memtableBytes * LOG_BYTES_PER_MEMTABLE_BYTE, cluster.logBytesMax * LOG_PART),
      idleMillis: storage.flushIntervalMs === 0 ? Number.POSITIVE_INFINITY : storage.flushIntervalMs,
      stallMillis: Number.POSITIVE_INFINITY,
    },
    compaction: { isAutomatic: storage.compaction, triggerFiles: storage.compactionTriggerFiles, outputBytesMax },
    onWork: toldOfWork(tracer, metrics),
    clock: systemClock,
    sleep: (millis) => Bun.sleep(millis),
    logger: log.logger("shard"),
    onBug,
  });
}

/** Listens to frontends. @throws DbError StorageUnavailable */
async function serveFrontends(
  { settings, log, foundation, parts, dataFolder }: NodeProcess,
  own: OwnShards,
  opened: AsyncDisposableStack,
): Promise<PartListener> {
  const { query } = settings;
  const { memory, scheduler, metrics } = foundation;
  const logger = log.logger("serve");
  const workers = openQueryThreads({ ...foundation, dataFolder, logger: log.logger("query") });
  opened.defer(() => workers?.close());
  const running = new RunningRequests(systemClock);
  const served = serveMetrics(metrics, running);
  const service = new ShardService({
    hosts: { get: (shard) => own.node?.host(shard) },
    catalog: parts.mirror,
    running,
    scheduler,
    logger,
    metrics: served,
    pool: new MemoryPool(memory, "queries", memory.bytesMax * REQUESTS_PART, memory.bytesMax * FREE_PART),
    memoryBytesMax: query.memoryBytesMax === 0 ? Number.POSITIVE_INFINITY : query.memoryBytesMax,
    spill: await openSpillFolder(settings),
    workers,
  });
  const drain = (): boolean => {
    own.node?.drain().catch((error: unknown) => logger.error({ error: errorText(error) }, "cannot give all shards away"));
    return own.node !== undefined;
  };
  const bodies = new MemoryPool(memory, "request_bodies", memory.bytesMax * BODIES_PART);
  const known = { registry: metrics, metrics: served, pool: bodies, clock: systemClock, logger };
  const listener = startShardListener(internalListenerOf(settings.cluster, parts.internal), { service, drain, ...known });
  opened.defer(() => listener.stop(STOP_GRACE_MILLIS));
  renewWith(parts, listener);
  return listener;
}

function urlOf({ port }: PartListener, { cluster }: Settings, { tlsMode }: InternalAccess): string {
  return `${tlsMode === "disable" ? "http" : "https"}://${advertisedAddressOf({ ...cluster, advertiseAddr: undefined }, port)}`;
}
