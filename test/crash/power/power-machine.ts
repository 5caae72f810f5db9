/**
 * An engine on a disk that loses power: the real log and the real file store over `PowerDisk`. A process dies between any two calls that
 * change the disk; then the next one starts on all that was written (a kill), or on what a power loss leaves.
 *
 * The meta store is one in memory whose commits last once `commit` returns. That is what SQLite promises with `synchronous = FULL` and its
 * own journal, which no test here takes apart: it syncs journal and folder before a commit returns and finds torn pages by checksum.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../../../bench/macro/random.ts";
import { DbError } from "../../../src/base/error.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLogger } from "../../../src/base/log.ts";
import { StatusCode } from "../../../src/base/status-code.ts";
import { Engine } from "../../../src/engine/engine.ts";
import type { ThreadLog } from "../../../src/engine/log/log-stream.ts";
import { IngestThread } from "../../../src/engine/threads/ingest-thread.ts";
import { SharedState } from "../../../src/engine/threads/shared-state.ts";
import { localFileStore } from "../../../src/storage/file-store/local-file-store.ts";
import { memoryMetaStore } from "../../../src/storage/meta-store/memory-meta-store.ts";
import type { LocalMetaStore, MetaStore } from "../../../src/storage/meta-store/meta-store.ts";
import { openLocalWal } from "../../../src/storage/wal/local-wal.ts";
import { threadLogFolder } from "../../../src/storage/wal/thread-logs.ts";
import type { Wal, WalSync } from "../../../src/storage/wal/wal.ts";
import { plainParts } from "../../engine/plain-parts.ts";
import { type Links, makeLinks } from "../../engine/thread-links.ts";
import { unexpectedBug } from "../../engine/unexpected-bug.ts";
import { TEST_SHARDS } from "../../support/shard-count.ts";
import { type AttachedDisk, PowerDisk } from "../../support/power-disk.ts";

/** Most files that are open for reading: a machine is thrown away without closing them. */
const OPEN_FILES = 4;

/** How the log works on a machine. */
export interface PowerOptions {
  readonly sync: WalSync;
  readonly segmentBytes: number;
  /** Ingest threads with logs of their own beside the engine. The folders of their logs are there from the start, as the log's own. */
  readonly threads: number;
}

/** What a process has once its start has come through. */
interface Process {
  readonly engine: Engine;
  readonly threads: readonly IngestThread[];
  readonly links: readonly Links[];
  readonly logs: readonly Wal[];
}

/** See the file header. Each start is a process. */
export class PowerMachine {
  private readonly folder: string;
  private readonly random: Random;
  private readonly options: PowerOptions;
  private readonly meta: LocalMetaStore = memoryMetaStore();
  private disk: PowerDisk;
  private losses = 0;
  /** Undefined until a start has come through. One that died may still come through when nobody waits for it. */
  private process: Process | undefined;
  attached: AttachedDisk;

  /** A machine with an empty disk in `folder`, which must not exist. */
  constructor(folder: string, random: Random, options: PowerOptions) {
    this.folder = folder;
    this.random = random;
    this.options = options;
    const wal = join(folder, "disk-0", "wal");
    mkdirSync(wal, { recursive: true });
    for (const thread of threadsOf(options)) mkdirSync(threadLogFolder(wal, thread));
    this.disk = new PowerDisk(join(folder, "disk-0"));
    this.attached = this.disk.attach();
  }

  /** Starts a process that dies after so many calls that change the disk. Returns false when it died before it was ready. */
  async start(dieAfter: number): Promise<boolean> {
    const attached = this.disk.attach();
    this.attached = attached;
    attached.dieAfter(dieAfter);
    const opened = await Promise.race([this.open(attached), attached.died]);
    this.process = opened ?? undefined;
    return opened !== undefined;
  }

  /** Undefined until a start has come through. */
  get engine(): Engine | undefined {
    return this.process?.engine;
  }

  /** Whatever takes writes: the engine and its threads; nothing until a start has come through. */
  get writers(): readonly (Engine | IngestThread)[] {
    return this.process === undefined ? [] : [this.process.engine, ...this.process.threads];
  }

  /** The process dies, if it lives. Its promises never settle. */
  kill(): void {
    this.attached.dieAfter(0);
    // Its timers end; of the rest nothing comes through.
    for (const links of this.process?.links ?? []) links.cut();
    void this.process?.engine.close().catch(isOfTheDead);
    for (const log of this.process?.logs ?? []) void log.close().catch(isOfTheDead);
    this.process = undefined;
  }

  /** The process dies, and of what no sync has covered any part is lost. */
  losePower(): void {
    this.kill();
    this.disk = this.disk.losePower(join(this.folder, `disk-${++this.losses}`), this.random);
  }

  /** Names of all files that the disk has in its data folder. */
  get root(): string {
    return this.disk.root;
  }

  /** Names of files in the meta store. */
  fileEntries(): string[] {
    return this.meta.list("file/").map(({ value }) => (value as { readonly name: string }).name);
  }

  private async open(attached: AttachedDisk): Promise<Process> {
    const files = localFileStore(join(this.disk.root, "data"), OPEN_FILES, attached.files);
    const shared = new SharedState(this.options.threads);
    const wal = await this.openLog(attached, 0, false);
    const threadLogs: ThreadLog[] = [];
    for (const id of threadsOf(this.options)) threadLogs.push({ id, wal: await this.openLog(attached, id, false), remove: neverRemoved });
    const { engine } = await Engine.open({
      wal,
      shared,
      threadLogs,
      shards: TEST_SHARDS,
      meta: this.metaFor(attached),
      ...plainParts(files),
    });
    const process = { engine, threads: [] as IngestThread[], links: [] as Links[], logs: [wal] };
    for (const id of threadsOf(this.options)) {
      const links = makeLinks();
      await engine.addThread(id, links.owner);
      const log = await this.openLog(attached, id, true);
      await log.recover(() => undefined);
      const own = { id, shared, link: links.thread, wal: log, news: engine.catalogNews() };
      const rest = { shards: TEST_SHARDS, writeBufferBytes: Number.POSITIVE_INFINITY, pooledBytes: 1 << 20, onBug: unexpectedBug };
      process.threads.push(new IngestThread({ ...own, clock: systemClock, ...rest }));
      process.links.push(links);
      process.logs.push(log);
    }
    return process;
  }

  private openLog(attached: AttachedDisk, thread: number, isRecovered: boolean): Promise<Wal> {
    const { sync, segmentBytes } = this.options;
    const folder = join(this.disk.root, "wal");
    const directory = thread === 0 ? folder : threadLogFolder(folder, thread);
    const options = { syncIntervalMs: 1, recovery: "strict", logger: silentLogger } as const;
    return openLocalWal({ directory, sync, segmentBytes, isRecovered, disk: attached.log, ...options });
  }

  private metaFor(attached: AttachedDisk): MetaStore {
    const { meta } = this;
    const dead = (): DbError => new DbError(StatusCode.StorageUnavailable, "the process is dead");
    return {
      get: (key) => meta.get(key),
      list: (prefix) => meta.list(prefix),
      commit(changes) {
        if (!attached.step()) throw dead();
        meta.commit(changes);
        if (!attached.step()) throw dead(); // It took effect, and nobody heard of it.
      },
      settled: () => (attached.isDead ? new Promise(() => undefined) : meta.settled()),
      secure: () => meta.secure(),
      copyTo: (path) => meta.copyTo(path),
      close: () => undefined,
    };
  }
}

/** Numbers of the ingest threads. */
function threadsOf({ threads }: PowerOptions): number[] {
  return Array.from({ length: threads }, (_, i) => i + 1);
}

/** The thread is there again before its log has lost its last segment. */
async function neverRemoved(): Promise<void> {
  // Its folder stays in any case.
}

/** What calls of a dead process answer. Anything else is a failure of the engine's. */
function isOfTheDead(error: unknown): void {
  if (!(error instanceof DbError)) throw error;
}
