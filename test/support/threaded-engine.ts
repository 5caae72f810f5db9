/** An engine over files on disk, and query workers on threads of their own that read them, as a server has both. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import type { QueryWorkerStart } from "../../src/query-threads.ts";
import type { ExecOptions } from "../../src/query/execute.ts";
import { WorkerPool } from "../../src/query/workers/worker-pool.ts";
import { localFileStore } from "../../src/storage/file-store/local-file-store.ts";
import type { ShareLimits } from "../../src/table/shared-scan.ts";
import type { MachineOptions } from "../engine/machine.ts";
import { EngineFixture } from "./engine-fixture.ts";
import { type Answer, sameAnswers } from "./query-fixture.ts";

/** Parts so small that few rows make several. */
const TINY: ShareLimits = { rowsMin: 1, partRows: 5, partsMax: 7 };

const REAL = new URL("../../src/query-worker.ts", import.meta.url);
const CACHE_BYTES = 4 * 1024 * 1024;
const OPEN_FILES_MAX = 16;

/** How a pool differs from the plain one. */
export interface ThreadOptions {
  readonly threads?: number;
  readonly groupsMin?: number;
  readonly sharesRows?: boolean;
  readonly limits?: ShareLimits;
  /** Address of the program of its workers. */
  readonly script?: URL;
  readonly endMillisMax?: number;
  readonly onWarning?: (text: string) => void;
}

/** A pool of workers on threads of their own, over the data files in `folder`. */
function threadPool(folder: string, options: ThreadOptions = {}): WorkerPool {
  const {
    threads = 2,
    groupsMin = Number.POSITIVE_INFINITY,
    sharesRows,
    limits = TINY,
    script = REAL,
    endMillisMax,
    onWarning = unexpected,
  } = options;
  const start: QueryWorkerStart = { kind: "start", root: folder, cacheBytes: CACHE_BYTES, openFilesMax: OPEN_FILES_MAX };
  return new WorkerPool({
    threads,
    aloneMs: 0,
    groupsMin,
    ...(sharesRows === undefined ? {} : { sharesRows }),
    limits,
    clock: systemClock,
    ...(endMillisMax === undefined ? {} : { endMillisMax }),
    startWorker(name) {
      const worker = new Worker(script.href, { name });
      worker.postMessage(start);
      return worker;
    },
    onWarning,
  });
}

function unexpected(text: string): void {
  throw new Error(`a worker warns: ${text}`);
}

/** See the file header. To be closed. */
export class ThreadedEngine {
  readonly engine: EngineFixture;
  readonly pool: WorkerPool;
  /** One worker, with which groups are divided by their keys, however few. */
  readonly byKeys: WorkerPool;
  /** One that takes parts beside the query's thread. */
  readonly besides: WorkerPool;
  /** Of the data files. */
  readonly folder: string;

  private constructor(folder: string, engine: EngineFixture, pool: WorkerPool) {
    this.folder = folder;
    this.engine = engine;
    this.pool = pool;
    this.byKeys = threadPool(folder, { threads: 1, sharesRows: false, groupsMin: 1 });
    this.besides = threadPool(folder, { threads: 1, sharesRows: false });
  }

  /** @param machine its `wrapFiles` is given the files in the folder */
  static async start(threads: ThreadOptions = {}, machine: MachineOptions = {}): Promise<ThreadedEngine> {
    const folder = await mkdtemp(join(tmpdir(), "varve-test-"));
    const { wrapFiles = (files) => files } = machine;
    const engine = await EngineFixture.start({ ...machine, wrapFiles: () => wrapFiles(localFileStore(folder)) });
    return new ThreadedEngine(folder, engine, threadPool(folder, threads));
  }

  async close(): Promise<void> {
    for (const pool of [this.pool, this.byKeys, this.besides]) pool.close();
    await this.engine.machine.engine.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Runs all statements of a text, large scans on the workers, and gives the last answer. */
  sql(text: string, options: ExecOptions = {}, signal?: AbortSignal): Promise<Answer> {
    return this.engine.sql(text, { workers: this.pool, ...options }, signal);
  }

  /** Runs a query with the workers and without, insists on the same rows, order left aside, and gives how often workers answered. */
  async pullsOf(text: string): Promise<number> {
    const before = this.pool.counts.pulls;
    const got = await this.sql(text);
    const pulls = this.pool.counts.pulls - before;
    sameAnswers(text, ["with workers", got], ["without", await this.engine.sql(text)]);
    return pulls;
  }

  /** Waits until nothing runs on the workers. @throws Error when that takes too long */
  async settled(): Promise<void> {
    for (let i = 0; i < 500; i++) {
      const counts = [this.pool.counts, this.byKeys.counts, this.besides.counts];
      if (counts.every(({ running, waiting, open }) => running === 0 && waiting === 0 && open === 0)) return;
      await Bun.sleep(10);
    }
    throw new Error(`the workers do not come to rest: ${JSON.stringify([this.pool.counts, this.byKeys.counts, this.besides.counts])}`);
  }
}
