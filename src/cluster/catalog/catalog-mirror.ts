/**
 * The catalogue of a cluster as this process has it: one order of changes for all, in the list `catalog` of the port.
 *
 *   open    newest snapshot ─► changes behind it ─► followed from there on
 *   commit  planned on version v ─► appended behind the change of v ─► in force here, told to all engines of this process ─► "taken"
 *
 * | append ends with     | changes behind v then            | answer                                                              |
 * |----------------------|----------------------------------|---------------------------------------------------------------------|
 * | its number           | –                                | "taken"                                                             |
 * | refused              | the next one has our id          | "taken": an answer was lost                                         |
 * | refused              | another's                        | "outdated"; ours never comes                                        |
 * | unavailable, unknown | none that was followed meanwhile | appended again behind v for up to 20 s: of all attempts one at most |
 * |                      |                                  | comes to be. Then StorageUnavailable: it may be in force later      |
 * | another failure      | –                                | StorageUnavailable                                                  |
 *
 * Versions count changes; numbers count messages of the list, of which a long change takes several, and an attempt that came to no end
 * leaves some. All who read the list count alike, and each change says its version, so that a hole is found.
 *
 * A mirror that cannot go on says so once (`onLost`) and refuses everything: what it read was let go, is not what it was, or is damaged.
 * Engines cannot take the way back that a fresh start takes, so the process has to restart.
 */
import { assert } from "../../base/assert.ts";
import { DbError, errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { waitWithin } from "../../base/scheduler/wait-within.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { CatalogAnswer, CatalogueElsewhere } from "../../engine/schema/catalog-port.ts";
import { type MetaChange, SHARDS_KEY } from "../../storage/meta-store/meta-store.ts";
import { type GatheredEntry, Gathering } from "../meta-log/gathered-entries.ts";
import { type ListsPort, MetaLog } from "../meta-log/meta-log.ts";
import type { StreamMessage } from "../port/message.ts";
import { PortError, portFailureOf } from "../port/port-error.ts";
import { type CatalogEntry, type CatalogSnapshot, decodeEntry, encodeEntry } from "./catalog-entry.ts";
import { CatalogSnapshots } from "./catalog-snapshots.ts";
import { EnginePort } from "./engine-port.ts";
import { AGAIN_MILLIS, insist, type Patience, WAIT_MILLIS } from "../port/insist.ts";
import { catalogueUnavailable } from "./catalogue-unavailable.ts";
import { MirroredEntries } from "./mirrored-entries.ts";
import { SharedQuestion } from "./shared-question.ts";
import { VersionWaiters } from "./version-waiters.ts";

/** The list of changes. */
const CHANGES = "catalog";

/** Times that a start may find that others have trimmed what it was about to read: each takes them 1,000 changes. */
const OPEN_ROUNDS = 5;

/** What a mirror is opened with. */
export interface CatalogMirrorOptions extends Patience {
  /** Shards of the cluster: of one that is made now, and what one that is there must have. Absent: as many as it has. */
  readonly shards?: number | undefined;
  readonly logger: Logger;
  /** Changes between two snapshots: the same in all processes. Default: `CHANGES_BETWEEN`. */
  readonly changesBetween?: number;
  /** Called once when the mirror cannot go on: the process has to restart. */
  onLost(why: Error): void;
}

/** A change that this process tries to make. */
interface Attempt {
  isTaken: boolean;
}

/** Where a mirror begins. */
interface Beginning {
  readonly entries: MirroredEntries;
  readonly version: number;
  readonly number: number;
}

/** See the file header. Invariant: `entries` are those of `version`, and every engine was told of all changes up to there. */
export class CatalogMirror {
  private readonly port: ListsPort;
  private readonly options: CatalogMirrorOptions;
  private readonly changes: MetaLog;
  private readonly snapshots: CatalogSnapshots;
  private readonly gathering: Gathering = new Gathering(CHANGES);
  private readonly entries: MirroredEntries;
  private followed: number;
  /** Of the last message of the change of `version`. */
  private number: number;
  /** Of the last message that was looked at. */
  private seen: number;
  private readonly engines: Set<EnginePort> = new Set();
  private readonly attempts: Map<string, Attempt> = new Map();
  private readonly waiters: VersionWaiters = new VersionWaiters();
  private readonly question: SharedQuestion<void> = new SharedQuestion(() => this.ask());
  private readonly ending: AbortController = new AbortController();
  private following: Promise<void> = Promise.resolve();
  private ended: DbError | undefined;

  private constructor(
    port: ListsPort,
    options: CatalogMirrorOptions,
    snapshots: CatalogSnapshots,
    { entries, version, number }: Beginning,
  ) {
    this.port = port;
    this.options = options;
    this.snapshots = snapshots;
    // Each call once: `commit` tries again itself.
    this.changes = new MetaLog(port, CHANGES, { sleep: (millis) => options.sleep(millis), waitMillis: 0 });
    this.entries = entries;
    this.followed = version;
    this.number = number;
    this.seen = number;
  }

  /**
   * Reads the catalogue and follows it from now on. The first one of a cluster makes it.
   *
   * @throws DbError StorageUnavailable; InvalidArguments: the cluster has another number of shards, or is not made and nobody says it
   */
  static async open(port: ListsPort, options: CatalogMirrorOptions): Promise<CatalogMirror> {
    const mirror = await CatalogMirror.read(port, options);
    mirror.following = mirror.follow();
    try {
      await mirror.agreeOnShards(options.shards);
    } catch (error) {
      await mirror.close();
      throw error;
    }
    return mirror;
  }

  private static async read(port: ListsPort, options: CatalogMirrorOptions): Promise<CatalogMirror> {
    const snapshots = new CatalogSnapshots(port, options);
    for (let round = 0; round < OPEN_ROUNDS; round++) {
      const snapshot = await snapshots.newest();
      const { number = 0, catalogVersion: version = 0, entries = [] } = snapshot ?? {};
      const messages = await messagesBehind(port, number, options);
      if (messages === "trimmed") continue; // Two snapshots were written since.
      const mirror = new CatalogMirror(port, options, snapshots, { entries: new MirroredEntries(entries), version, number });
      for (const message of messages) mirror.look(message);
      return mirror;
    }
    throw catalogueUnavailable("read", "no snapshot reaches up to the changes that its list keeps");
  }

  /** Changes that are in force here. */
  get version(): number {
    return this.followed;
  }

  /** Shards of the cluster. */
  get shards(): number {
    return shardsIn(this.entries) as number;
  }

  /** Why it does not go on; undefined while it does. */
  get failure(): DbError | undefined {
    return this.ended;
  }

  /** All of it as it is now. */
  snapshot(): CatalogSnapshot {
    return { catalogVersion: this.followed, number: this.number, entries: this.entries.all() };
  }

  /** The catalogue for one engine of this process, which closes its port. */
  catalogue(): CatalogueElsewhere {
    const version = (): number => this.followed;
    const port = new EnginePort({
      commit: (changes, planned) => this.commit(changes, planned),
      begun: (engine) => this.engines.add(engine),
      ended: (engine) => this.engines.delete(engine),
    });
    return {
      entries: this.entries,
      port,
      get version() {
        return version();
      },
    };
  }

  /**
   * Resolves when all changes up to a version are in force here. Bounded by the signal alone.
   *
   * @throws DbError Cancelled when the signal fires; StorageUnavailable when the mirror ends
   */
  async reach(version: number, signal?: AbortSignal): Promise<void> {
    if (this.followed >= version) return;
    this.check();
    // The follower may be between two connections. Where there is no answer, who waits goes on waiting, or hears why the mirror ended.
    this.question.answer().catch((error: unknown) => this.options.logger.debug({ version, error: errorText(error) }, "no answer"));
    await this.waiters.wait(version, signal);
  }

  /**
   * Brings into force what any process was told to be taken before this call. Calls that wait share one question to the servers.
   *
   * @returns the version
   * @throws DbError StorageUnavailable; Cancelled when the signal fires
   */
  async refresh(signal?: AbortSignal): Promise<number> {
    this.check();
    await waitWithin(this.question.answer(), { signal });
    this.check();
    return this.followed;
  }

  /** Ends it: engines are told of nothing any more, and whoever waits hears StorageUnavailable. Close it before the port. */
  async close(): Promise<void> {
    this.end(catalogueUnavailable("use", "it is closed"));
    await this.following;
  }

  /** Makes a change on a version: see the file header. @throws DbError StorageUnavailable */
  private async commit(changes: readonly MetaChange[], version: number): Promise<CatalogAnswer> {
    this.check();
    assert(version <= this.followed, `nobody is ahead of the mirror; got ${version} of ${this.followed}`);
    if (version < this.followed) return "outdated";
    const attempt: Attempt = { isTaken: false };
    const entry: CatalogEntry = { version: version + 1, id: crypto.randomUUID(), changes };
    this.attempts.set(entry.id, attempt);
    try {
      await this.insistOn(entry);
    } finally {
      this.attempts.delete(entry.id);
    }
    return attempt.isTaken ? "taken" : "outdated";
  }

  /** Resolves when a change of the entry's version is in force, this one or another's. @throws DbError StorageUnavailable */
  private async insistOn(entry: CatalogEntry): Promise<void> {
    const { clock } = this.options;
    const end = clock.monotonicMillis() + WAIT_MILLIS;
    const { number } = this;
    const text = encodeEntry(entry);
    for (;;) {
      let why: unknown;
      try {
        const appended = await this.changes.append(text, number);
        if (appended === "refused") await this.question.answer();
        else if (this.followed < entry.version) this.made(text, appended);
      } catch (error) {
        why = portErrorOf(error);
        if (!isPassing(why)) throw error;
      }
      if (this.followed >= entry.version) return;
      this.check();
      if (clock.monotonicMillis() >= end) throw catalogueUnavailable("change", `no answer came within ${WAIT_MILLIS / 1000} s`, why);
      await this.options.sleep(AGAIN_MILLIS);
    }
  }

  /** Brings into force what was appended before the follower has it. Between the change before and this one there is no other. */
  private made(text: string, number: number): void {
    this.seen = Math.max(this.seen, number);
    try {
      this.take({ number, text });
    } catch (error) {
      throw this.lost(error);
    }
  }

  /** Takes the next message, unless it was taken before. @throws DbError StorageUnavailable */
  private look(message: StreamMessage): void {
    const { number } = message;
    if (number <= this.seen) return;
    if (number > this.seen + 1) throw catalogueUnavailable("follow", `its list has ${number} behind ${this.seen}`);
    this.seen = number;
    const entry = this.gathering.add(message);
    if (entry !== undefined) this.take(entry);
  }

  private take(gathered: Pick<GatheredEntry, "number" | "text">): void {
    const { version, id, changes } = decodeEntry(CHANGES, gathered);
    if (version !== this.followed + 1) {
      throw catalogueUnavailable("follow", `its entry ${gathered.number} is version ${version}, behind version ${this.followed}`);
    }
    this.entries.apply(changes);
    this.followed = version;
    this.number = gathered.number;
    const attempt = this.attempts.get(id);
    if (attempt !== undefined) attempt.isTaken = true;
    this.tell(changes);
    this.waiters.reached(version);
    if (attempt === undefined) return;
    this.snapshots.made(version, () => this.snapshot());
  }

  /** Tells all engines in one turn. @throws what the first of them throws that cannot follow: it has not ended the process, as it should */
  private tell(changes: readonly MetaChange[]): void {
    const failures: unknown[] = [];
    for (const engine of this.engines) {
      try {
        engine.tell(changes);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Takes what is there. @throws DbError StorageUnavailable */
  private async ask(): Promise<void> {
    let messages: readonly StreamMessage[];
    const { signal } = this.ending;
    try {
      messages = await insist(() => this.port.ordered.read(CHANGES, this.seen, { signal }), this.options);
    } catch (error) {
      if (portFailureOf(error) === "unavailable") throw catalogueUnavailable("read", errorText(error), error);
      throw this.lost(error);
    }
    try {
      for (const message of messages) if (this.ended === undefined) this.look(message);
    } catch (error) {
      throw this.lost(error);
    }
  }

  private async follow(): Promise<void> {
    try {
      for await (const messages of this.port.ordered.follow(CHANGES, this.seen, { signal: this.ending.signal })) {
        for (const message of messages) if (this.ended === undefined) this.look(message);
      }
    } catch (error) {
      this.lost(error);
      return;
    }
    if (this.ended === undefined) this.lost(new Error("its follower ended"));
  }

  /** The first of a cluster says how many shards it has; all others must have the same. */
  private async agreeOnShards(wanted: number | undefined): Promise<void> {
    if (this.followed === 0) {
      if (wanted === undefined) {
        const why = "nobody has made the cluster; start a node that says cluster.shards";
        throw new DbError(StatusCode.InvalidArguments, `cannot open the catalogue: ${why}`);
      }
      await this.commit([{ key: SHARDS_KEY, value: wanted }], 0); // Outdated: another was first, and said it.
    }
    const made = shardsIn(this.entries);
    if (made === undefined) throw catalogueUnavailable("open", "it does not say how many shards the cluster has");
    if (wanted === undefined || wanted === made) return;
    const why = `cluster.shards = ${wanted}, and the cluster was made with ${made}; the number never changes`;
    throw new DbError(StatusCode.InvalidArguments, `cannot open the catalogue: ${why}`);
  }

  /** @throws DbError StorageUnavailable once it has ended */
  private check(): void {
    if (this.ended !== undefined) throw this.ended;
  }

  /** Ends it loudly, once. */
  private lost(error: unknown): DbError {
    if (this.ended !== undefined) return this.ended;
    const why = catalogueUnavailable("follow", errorText(error), error);
    this.end(why);
    this.options.logger.error({ version: this.followed, error: errorText(error) }, "the catalogue is lost; the process has to restart");
    this.options.onLost(why);
    return why;
  }

  private end(why: DbError): void {
    if (this.ended !== undefined) return;
    this.ended = why;
    this.ending.abort();
    this.waiters.end(why);
    for (const engine of this.engines) engine.end(why);
  }
}

/** Messages that the list has behind a number; "trimmed": not all of them. @throws DbError StorageUnavailable */
async function messagesBehind(port: ListsPort, number: number, patience: Patience): Promise<readonly StreamMessage[] | "trimmed"> {
  try {
    const messages = await insist(() => port.ordered.read(CHANGES, number), patience);
    return (messages[0]?.number ?? number + 1) > number + 1 ? "trimmed" : messages;
  } catch (error) {
    if (portFailureOf(error) === "trimmed") return "trimmed";
    throw catalogueUnavailable("read", errorText(error), error);
  }
}

function shardsIn(entries: MirroredEntries): number | undefined {
  const value = entries.get(SHARDS_KEY);
  return typeof value === "number" ? value : undefined;
}

/** The failure of the port under an error of `MetaLog`. */
function portErrorOf(error: unknown): unknown {
  return error instanceof DbError && !(error instanceof PortError) ? error.cause : error;
}

/** Whether the same call may succeed later. */
function isPassing(error: unknown): boolean {
  const failure = portFailureOf(error);
  return failure === "unavailable" || failure === "unknown";
}
