/**
 * Stored pipelines, compiled. The text of a version never changes, so what is compiled stays. Whether it is still there, and which is the
 * newest, is asked again from time to time: other servers over the same data store and remove versions, too.
 *
 * | known since                | what is done                                                                                    |
 * |----------------------------|-------------------------------------------------------------------------------------------------|
 * | `KEPT_MS` or less          | it is taken                                                                                     |
 * | up to `KEPT_UNANSWERED_MS` | the table is asked; if it does not answer within `LOOK_MS`, or cannot, what is known is taken   |
 * | longer, or not at all      | the table is asked                                                                              |
 */
import type { Clock } from "../../base/clock.ts";
import { DbError, invalidArguments } from "../../base/error.ts";
import { waitWithin } from "../../base/scheduler/wait-within.ts";
import { StatusCode } from "../../base/status-code.ts";
import { compilePipeline } from "../../ingest/pipeline/decode.ts";
import { type CompiledPipeline, IDENTITY_NAME } from "../../ingest/pipeline/types.ts";
import type { Db } from "../db.ts";
import { COMPILED_MAX, KEPT_MS, KEPT_UNANSWERED_MS, LOOK_MS, PIPELINE_NAME_CHARACTERS_MAX, REACHED_PIPELINES_MAX } from "./limits.ts";
import { PipelineTable } from "./pipeline-table.ts";
import { parseVersion, versionText } from "./version.ts";

/** Names of built-in pipelines begin with it. */
export const BUILT_IN_PREFIX = "greptime_";

/** A version of a pipeline. */
export interface StoredPipeline {
  readonly name: string;
  readonly createdAtNanos: bigint;
  readonly text: string;
  readonly compiled: CompiledPipeline;
}

/** A pipeline with all that its dispatchers name, ready to run. */
export interface ReadyPipeline {
  readonly compiled: CompiledPipeline;
  /** For `PipelineRunOptions.pipelineOf`. */
  pipelineOf(name: string): CompiledPipeline | undefined;
}

/** What the table said last. */
interface Known {
  readonly stored: StoredPipeline;
  readonly sinceMillis: number;
}

/** A look at the table. */
interface Look {
  readonly answer: Promise<StoredPipeline | undefined>;
  readonly sinceMillis: number;
}

/** See the file header. */
export class PipelineStore {
  private readonly table: PipelineTable;
  private readonly clock: Clock;
  /** By version, and by name for the newest; what was used last is the last one. */
  private readonly known: Map<string, Known> = new Map();
  /** Looks at the table that are under way: those who come meanwhile share them. */
  private readonly looks: Map<string, Look> = new Map();

  constructor(db: Db, clock: Clock) {
    this.table = new PipelineTable(db, clock);
    this.clock = clock;
  }

  /**
   * A version, or the newest one.
   *
   * @throws DbError InvalidArguments when there is none, when `version` is no version, or when its text does not compile
   */
  async get(name: string, version: string | undefined): Promise<StoredPipeline> {
    return foundOf(await this.find(name, version), name, version);
  }

  /**
   * As `get`, but of the table as it is now: for those who look at pipelines, which they may have stored or removed through another server.
   *
   * @throws DbError as `get`, or what the table fails with
   */
  async current(name: string, version: string | undefined): Promise<StoredPipeline> {
    const createdAt = version === undefined ? undefined : parseVersion(version);
    if (name.length > PIPELINE_NAME_CHARACTERS_MAX) return foundOf(undefined, name, version);
    const key = keyOf(name, createdAt);
    this.looks.delete(key); // It may have begun before what its asker knows of.
    return foundOf(await this.look(key, name, createdAt).answer, name, version);
  }

  /** As `get`; undefined when there is none. @throws DbError InvalidArguments */
  async find(name: string, version: string | undefined): Promise<StoredPipeline | undefined> {
    const createdAt = version === undefined ? undefined : parseVersion(version);
    if (name.length > PIPELINE_NAME_CHARACTERS_MAX) return undefined;
    const key = keyOf(name, createdAt);
    const known = this.known.get(key);
    const age = known === undefined ? Number.POSITIVE_INFINITY : this.clock.monotonicMillis() - known.sinceMillis;
    if (known !== undefined && age <= KEPT_MS) return this.used(key, known);
    const { answer, sinceMillis } = this.look(key, name, createdAt);
    if (known === undefined || age > KEPT_UNANSWERED_MS) return answer;
    const left = LOOK_MS - (this.clock.monotonicMillis() - sinceMillis);
    try {
      return await waitWithin(answer, { millis: Math.max(0, left), late: noAnswer });
    } catch (error) {
      if (!(error instanceof DbError) || !UNANSWERED.includes(error.code)) throw error;
      return this.used(key, known);
    }
  }

  /** Stores a new version. @throws DbError InvalidArguments when it does not compile */
  async add(name: string, text: string): Promise<StoredPipeline> {
    checkName(name);
    if (text.trim() === "") throw invalidArguments("Invalid request parameter: pipeline is required in body");
    const compiled = compilePipeline(text);
    const createdAtNanos = await this.table.add(name, text);
    const stored: StoredPipeline = { name, createdAtNanos, text, compiled };
    this.learn(keyOf(name, createdAtNanos), stored);
    this.learn(keyOf(name, undefined), stored);
    return stored;
  }

  /** Removes a version and returns its moment; undefined when there is none. @throws DbError InvalidArguments */
  async remove(name: string, version: string): Promise<bigint | undefined> {
    const createdAtNanos = parseVersion(version);
    if ((await this.table.find(name, createdAtNanos)) === undefined) return undefined;
    await this.table.remove(name, createdAtNanos);
    this.forget(keyOf(name, createdAtNanos));
    this.forget(keyOf(name, undefined));
    return createdAtNanos;
  }

  /** A pipeline ready to run. @throws DbError InvalidArguments when it or one that its dispatchers name is not there */
  async ready(name: string, version: string | undefined): Promise<ReadyPipeline> {
    return this.withTargets((await this.get(name, version)).compiled);
  }

  /** Loads what the dispatchers of a pipeline name. @throws DbError InvalidArguments */
  async withTargets(compiled: CompiledPipeline): Promise<ReadyPipeline> {
    const reached = new Map<string, CompiledPipeline>();
    const waiting = [...compiled.dispatchTargets];
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (name === IDENTITY_NAME || reached.has(name)) continue;
      if (reached.size === REACHED_PIPELINES_MAX) {
        throw invalidArguments(`cannot run a pipeline that leads to more than ${REACHED_PIPELINES_MAX} others`);
      }
      const target = (await this.get(name, undefined)).compiled;
      reached.set(name, target);
      waiting.push(...target.dispatchTargets);
    }
    return { compiled, pipelineOf: (name) => reached.get(name) };
  }

  /** Asks the table, once for all who ask meanwhile. */
  private look(key: string, name: string, createdAt: bigint | undefined): Look {
    const underWay = this.looks.get(key);
    if (underWay !== undefined) return underWay;
    // What is stored or removed here meanwhile is newer than the answer.
    const answer = this.asked(key, name, createdAt, () => this.looks.get(key) === look);
    const look: Look = { answer, sinceMillis: this.clock.monotonicMillis() };
    this.looks.set(key, look);
    const end = (): void => {
      if (this.looks.get(key) === look) this.looks.delete(key);
    };
    answer.then(end, end);
    return look;
  }

  private async asked(
    key: string,
    name: string,
    createdAt: bigint | undefined,
    isNewest: () => boolean,
  ): Promise<StoredPipeline | undefined> {
    const row = await this.table.find(name, createdAt);
    if (row === undefined) {
      if (isNewest()) this.known.delete(key);
      return undefined;
    }
    const { createdAtNanos, text } = row;
    const exact = keyOf(name, createdAtNanos);
    const before = this.known.get(exact)?.stored;
    const stored = before?.text === text ? before : { name, createdAtNanos, text, compiled: compilePipeline(text) };
    if (!isNewest()) return stored;
    this.learn(exact, stored);
    if (key !== exact) this.learn(key, stored);
    return stored;
  }

  private learn(key: string, stored: StoredPipeline): void {
    this.forget(key);
    this.known.set(key, { stored, sinceMillis: this.clock.monotonicMillis() });
    if (this.known.size <= 2 * COMPILED_MAX) return; // Most are there as the newest, too.
    const oldest = this.known.keys().next().value;
    if (oldest !== undefined) this.known.delete(oldest);
  }

  /** Forgets it, also where a look at the table is under way. */
  private forget(key: string): void {
    this.known.delete(key);
    this.looks.delete(key);
  }

  private used(key: string, known: Known): StoredPipeline {
    this.known.delete(key);
    this.known.set(key, known);
    return known.stored;
  }
}

/** How a table fails that may answer later. */
const UNANSWERED: readonly StatusCode[] = [StatusCode.StorageUnavailable, StatusCode.RateLimited, StatusCode.DeadlineExceeded];

function noAnswer(): DbError {
  return new DbError(StatusCode.StorageUnavailable, "cannot look at stored pipelines: no answer in time");
}

/** @throws DbError InvalidArguments where there is none */
function foundOf(found: StoredPipeline | undefined, name: string, version: string | undefined): StoredPipeline {
  if (found !== undefined) return found;
  const shown = version === undefined ? "latest" : versionText(parseVersion(version));
  throw invalidArguments(`Pipeline not found, name: ${name.slice(0, 120)}, version: ${shown}`);
}

/** @param createdAtNanos undefined: the newest */
function keyOf(name: string, createdAtNanos: bigint | undefined): string {
  return `${createdAtNanos ?? "newest"} ${name}`;
}

/** @throws DbError InvalidArguments */
function checkName(name: string): void {
  if (name.startsWith(BUILT_IN_PREFIX)) {
    throw invalidArguments(`Invalid request parameter: pipeline_name cannot start with ${BUILT_IN_PREFIX}`);
  }
  const rule = ruleBroken(name);
  if (rule !== undefined) throw invalidArguments(`Invalid request parameter: pipeline_name ${rule}`);
}

/** Names that paths of the dry run take (README 3). */
const RESERVED: ReadonlySet<string> = new Set(["dryrun", "_dryrun"]);

/** What a name must not be; a name stands in a path, in headers of writes and in log lines. */
function ruleBroken(name: string): string | undefined {
  if (name.length === 0 || name.length > PIPELINE_NAME_CHARACTERS_MAX) return `must have 1 to ${PIPELINE_NAME_CHARACTERS_MAX} characters`;
  if (RESERVED.has(name)) return `cannot be ${name}: paths of the dry run have that name`;
  if (name === "." || name === ".." || name.includes("/") || name.includes("\\")) return "cannot hold / or \\, nor be . or ..";
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(name) || name !== name.trim())
    return "cannot hold control characters, nor begin or end with blanks";
  return undefined;
}
