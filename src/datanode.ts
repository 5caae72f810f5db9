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
import type { RootLog } from "./base/log.ts";
import { HeapWatch } from "./base/memory/heap-watch.ts";
import { registerMemoryMetrics } from "./base/memory/memory-metrics.ts";
import { MemoryPool } from "./base/memory/server-memory.ts";
import { registerKernelMetrics } from "./base/process/process-metrics.ts";
import { DataNode } from "./cluster/ownership/data-node.ts";
import { registerShardMetrics } from "./cluster/ownership/ownership-metrics.ts";
import { systemTimers } from "./cluster/ownership/timers.ts";
import { RunningRequests } from "./cluster/serve/running-requests.ts";
import { type ShardListener, type ShardListenerOptions, startShardListener } from "./cluster/serve/listener.ts";
import { serveMetrics } from "./cluster/serve/serve-metrics.ts";
import { ShardService } from "./cluster/serve/shard-service.ts";
import { shardOpener } from "./cluster/shard/open-shard.ts";
import { openClusterParts } from "./cluster-parts.ts";
import { advertisedAddressOf } from "./config/cluster-check.ts";
import type { InternalAccess } from "./config/nats-access.ts";
import type { Settings } from "./config/settings.ts";
import { openClusterFiles } from "./data-files.ts";
import { systemFreeBytes } from "./engine/health/disk-watch.ts";
import { layFoundation, toldOfWork } from "./foundation.ts";
import { openQueryThreads } from "./query-threads.ts";
import type { RunningServer } from "./running-server.ts";
import { PageCache } from "./storage/cache/page-cache.ts";
import { lockDataDirectory } from "./storage/data-directory.ts";
import { SpillFolder } from "./storage/spill/spill-folder.ts";
import { VERSION } from "./version.ts";

/** Part of the memory limit that requests of frontends take together. */
const REQUESTS_PART = 1 / 2;
/** What they leave free of it. */
const FREE_PART = 1 / 16;
/** Log bytes, as a multiple of the memtable limit, at which the tables that hold the oldest part of a log are flushed. */
const LOG_BYTES_PER_MEMTABLE_BYTE = 4;
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
  const { storage, query, cluster } = settings;
  const logger = log.logger("main");
  const directory = await lockDataDirectory(storage.dataHome);
  opened.defer(() => directory.unlock());
  const foundation = layFoundation(settings, log, opened);
  const { memory, scheduler, metrics, tracer, pages } = foundation;
  registerKernelMetrics(metrics);
  const heap = new HeapWatch(memory, scheduler);
  heap.start();
  opened.defer(() => heap.close());
  registerMemoryMetrics(metrics, memory, heap);
  const over = Promise.withResolvers<string>();
  const { port, mirror, internal, nodeName } = await openClusterParts(settings, "datanode", log, opened, over.resolve);
  const dataFolder = cluster.sharedDir ?? directory.dataFolder;
  await mkdir(dataFolder, { recursive: true });
  const files = openClusterFiles(settings, dataFolder, { metrics, memory }, log.logger("storage"));
  opened.defer(() => files.flusher.close());
  opened.defer(() => files.merger.close());
  const workers = openQueryThreads({ ...foundation, dataFolder, logger: log.logger("query") });
  opened.defer(() => workers?.close());
  const pageCache = new PageCache(pages.here, () => memory.onGarbage());
  memory.register("page_cache", {
    bytes: () => pageCache.bytes,
    giveBack: (bytes) => pageCache.giveBack(bytes),
    mayGrow: () => pageCache.mayGrow(),
  });
  const shared = cluster.shards; // Each may have a share of the memory for writes.
  const openShard = shardOpener({
    port,
    catalog: mirror,
    files: files.files,
    flusher: files.flusher,
    merger: files.merger,
    scheduler,
    memory,
    pageCache,
    pageCacheBytes: pages.here,
    limits: {
      memtableBytes: storage.memtableBytes,
      writeBufferBytes: Math.max(2 * storage.memtableBytes, Math.floor((4 * storage.writeBufferBytesMax) / shared)),
      logBytesMax: storage.memtableBytes * LOG_BYTES_PER_MEMTABLE_BYTE,
      idleMillis: storage.flushIntervalMs === 0 ? Number.POSITIVE_INFINITY : storage.flushIntervalMs,
      stallMillis: Number.POSITIVE_INFINITY,
    },
    compaction: {
      isAutomatic: storage.compaction,
      triggerFiles: storage.compactionTriggerFiles,
      outputBytesMax: files.outputBytesMax,
    },
    onWork: toldOfWork(tracer, metrics),
    clock: systemClock,
    sleep: (millis) => Bun.sleep(millis),
    logger: log.logger("shard"),
    onBug,
  });
  let node: DataNode | undefined;
  const running = new RunningRequests(systemClock);
  const served = serveMetrics(metrics, running);
  const service = new ShardService({
    hosts: { get: (shard) => node?.host(shard) },
    catalog: mirror,
    running,
    scheduler,
    logger: log.logger("serve"),
    metrics: served,
    pool: new MemoryPool(memory, "queries", memory.bytesMax * REQUESTS_PART, memory.bytesMax * FREE_PART),
    memoryBytesMax: query.memoryBytesMax === 0 ? Number.POSITIVE_INFINITY : query.memoryBytesMax,
    spill: await spillOf(settings),
    workers,
  });
  const listener = startShardListener(listenerOptions(settings, internal), {
    service,
    drain: () => {
      if (node === undefined) return false;
      node.drain().catch((error: unknown) => logger.error({ error: errorText(error) }, "cannot give all shards away"));
      return true;
    },
    registry: metrics,
    metrics: served,
    pool: new MemoryPool(memory, "request_bodies", memory.bytesMax / 8),
    clock: systemClock,
    logger: log.logger("serve"),
  });
  opened.defer(() => listener.stop(STOP_GRACE_MILLIS));
  node = await DataNode.join({
    port,
    facts: { id: nodeName, address: advertisedAddressOf(cluster, listener.port), version: VERSION },
    shards: mirror.shards,
    openShard,
    beforeHandOver: ({ engine }) => engine.flushAhead(),
    timers: systemTimers,
    logger: log.logger("cluster"),
    onOusted: (why) => over.resolve(why.message),
  });
  const member = node;
  registerShardMetrics(metrics, () => member.directory.nodes().find(({ id }) => id === nodeName)?.shards ?? new Map());
  opened.defer(() => member.stop());
  const url = urlOf(listener, settings, internal);
  logger.info({ address: url, node: nodeName, shards: mirror.shards, version: VERSION }, "ready");
  const all = opened.move();
  return {
    url,
    over: over.promise,
    reload: async () => logger.info({}, "nothing to reload: a data node has no accounts"),
    stop: async () => {
      await all.disposeAsync();
      logger.info({}, "stopped");
    },
  };
}

function listenerOptions({ cluster }: Settings, { secret, tlsMode, tls }: InternalAccess): ShardListenerOptions {
  const { host: hostname, port } = cluster.bindAddr;
  const { ca, cert, key } = tls;
  if (tlsMode === "disable" || cert === undefined || key === undefined) return { hostname, port, secret };
  return { hostname, port, secret, tls: { cert, key, ca: tlsMode === "mutual" ? ca : undefined } };
}

function urlOf({ port }: ShardListener, { cluster }: Settings, { tlsMode }: InternalAccess): string {
  return `${tlsMode === "disable" ? "http" : "https"}://${advertisedAddressOf({ ...cluster, advertiseAddr: undefined }, port)}`;
}

/** Where requests put rows that do not fit in memory, unless they may not. @throws DbError StorageUnavailable */
async function spillOf({ query, storage }: Settings): Promise<SpillFolder | undefined> {
  if (query.spillBytesMax === 0) return undefined;
  return SpillFolder.open({
    folder: query.spillDir,
    bytesMax: query.spillBytesMax,
    freeBytesMin: storage.freeBytesMin,
    freeBytesOf: systemFreeBytes,
  });
}
