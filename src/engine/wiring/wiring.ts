/**
 * The parts of an engine, put together: what each is made of, and what it may ask of the others.
 *
 *   ground ◄─ threads ◄─ file work ◄─ table work ◄─ upkeep      each is made of those before it
 *              └─ tells ─►┴──────────►┘                         the one way back: asked for when a thread tells something, not before
 */
import type { FlushExecutor } from "../../storage/sst/write/flush-executor.ts";
import type { RowsElsewhere } from "../elsewhere.ts";
import type { EngineParts } from "../engine-parts.ts";
import type { FlushLimits } from "../flush/flush-scheduler.ts";
import { Upkeep } from "../health/upkeep.ts";
import { probeMetaStore } from "../health/watched-meta-store.ts";
import type { ThreadOwner } from "../threads/thread-host.ts";
import { ThreadHosts } from "../threads/thread-hosts.ts";
import { type FileWork, wireFileWork } from "./file-work.ts";
import { type Ground, layGround } from "./ground.ts";
import { type TableWork, wireTableWork } from "./table-work.ts";

/** All parts of an engine. Nothing runs yet: whoever has them starts and ends them. */
export interface Wiring extends Ground, FileWork, TableWork {
  readonly threads: ThreadHosts;
  readonly upkeep: Upkeep;
  readonly flushExecutor: FlushExecutor;
  readonly limits: FlushLimits;
  readonly elsewhere: RowsElsewhere | undefined;
  /** Has the server's memory forget this engine, which is closed. */
  forget(): void;
}

/** Puts an engine together. */
export function wired(parts: EngineParts): Wiring {
  const ground = layGround(parts);
  const threads: ThreadHosts = new ThreadHosts(
    threadOwner(ground, {
      released: () => threads.released(),
      flushes: () => files.flushes,
      inForce: () => tables.inForce,
    }),
  );
  const files = wireFileWork(parts, ground, threads);
  const tables = wireTableWork(parts, ground, threads, files);
  const uncountMemory = countMemory(ground, files, parts.pageCache !== undefined);
  const forget = (): void => {
    uncountMemory();
    tables.series.close();
  };
  const upkeep = makeUpkeep(ground, tables);
  return {
    ...ground,
    ...files,
    ...tables,
    threads,
    upkeep,
    flushExecutor: parts.flusher,
    limits: parts.limits,
    elsewhere: parts.elsewhere,
    forget,
  };
}

/** What threads tell of, and what is made after them. */
interface ToldOf {
  released(): Promise<void>;
  flushes(): FileWork["flushes"];
  inForce(): TableWork["inForce"];
}

function threadOwner({ shared, feed, meta, sure, live, gate }: Ground, told: ToldOf): ThreadOwner {
  const countMemory = (): void => shared.setKnownBytes(told.flushes().memoryBytes);
  return {
    shared,
    feed,
    sure,
    regionOf: (tableId) => live.byRegionId(tableId)?.table.region,
    evolve: (steps) => told.inForce().evolve(steps),
    written: (bytes) => {
      told.flushes().written(bytes);
      countMemory();
    },
    admit: async () => {
      await told.released();
      gate.check();
      await told.flushes().admit();
      countMemory();
    },
    durable: () => meta.settled(),
  };
}

function makeUpkeep(ground: Ground, { series }: TableWork): Upkeep {
  const { memory, disk, places, damaged, live, trimmer, streams, meta, commits, gate, troubles, shared, leftovers, logger } = ground;
  return new Upkeep({
    disk,
    places,
    onLooked: () => {
      shared.isRefusing = gate.refusal() !== undefined;
    },
    secureMeta: () => meta.secure(),
    memory,
    troubles,
    leftovers,
    logger,
    trimLog: () => trimmer.trim(),
    mayTrimLog: () => streams.failure() !== undefined || streams.wantsTrim,
    keepSeries: () => series.tick(),
    probeMeta: () => probeMetaStore(commits),
    lookAtFiles: async () => {
      const needed = live.fileNames();
      await damaged.lookAgain(({ name }) => needed.has(name));
    },
  });
}

/** @param isCacheShared whoever shares the cache counts it */
function countMemory({ memory, cache, shared, workerMemory }: Ground, { flushes }: FileWork, isCacheShared: boolean): () => void {
  const counted = [
    memory.register("memtables", { bytes: () => flushes.memoryBytes + shared.untoldBytes }),
    memory.register("workers", workerMemory),
  ];
  if (!isCacheShared) {
    counted.push(
      memory.register("page_cache", {
        bytes: () => cache.bytes,
        giveBack: (bytes) => cache.giveBack(bytes),
        mayGrow: () => cache.mayGrow(),
      }),
    );
  }
  return () => {
    for (const forget of counted) forget();
  };
}
