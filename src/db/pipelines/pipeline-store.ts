/**
 * Stored pipelines, compiled. A version never changes, so what is compiled stays; which version is the newest is asked again from time to
 * time.
 */
import type { Clock } from "../../base/clock.ts";
import { invalidArguments } from "../../base/error.ts";
import { compilePipeline } from "../../ingest/pipeline/decode.ts";
import { type CompiledPipeline, IDENTITY_NAME } from "../../ingest/pipeline/types.ts";
import type { Db } from "../db.ts";
import { COMPILED_MAX, NEWEST_KEPT_MS, PIPELINE_NAME_CHARACTERS_MAX, REACHED_PIPELINES_MAX } from "./limits.ts";
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

/** See the file header. */
export class PipelineStore {
  private readonly table: PipelineTable;
  private readonly clock: Clock;
  private readonly compiled = new Map<string, StoredPipeline>();
  private readonly newest = new Map<string, { readonly createdAtNanos: bigint; readonly untilMillis: number }>();

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
    const found = await this.find(name, version);
    if (found !== undefined) return found;
    const shown = version === undefined ? "latest" : versionText(parseVersion(version));
    throw invalidArguments(`Pipeline not found, name: ${name.slice(0, 120)}, version: ${shown}`);
  }

  /** As `get`; undefined when there is none. @throws DbError InvalidArguments */
  async find(name: string, version: string | undefined): Promise<StoredPipeline | undefined> {
    const createdAt = version === undefined ? this.knownNewest(name) : parseVersion(version);
    const kept = createdAt === undefined ? undefined : this.kept(keyOf(name, createdAt));
    if (kept !== undefined) return kept;
    if (name.length > PIPELINE_NAME_CHARACTERS_MAX) return undefined;
    const row = await this.table.find(name, version === undefined ? undefined : createdAt);
    if (row === undefined) return undefined;
    const { createdAtNanos, text } = row;
    const stored = this.kept(keyOf(name, createdAtNanos)) ?? { name, createdAtNanos, text, compiled: compilePipeline(text) };
    this.keep(stored);
    if (version === undefined) this.keepNewest(name, createdAtNanos);
    return stored;
  }

  /** Stores a new version. @throws DbError InvalidArguments when it does not compile */
  async add(name: string, text: string): Promise<StoredPipeline> {
    checkName(name);
    if (text.trim() === "") throw invalidArguments("Invalid request parameter: pipeline is required in body");
    const compiled = compilePipeline(text);
    const createdAtNanos = await this.table.add(name, text);
    const stored: StoredPipeline = { name, createdAtNanos, text, compiled };
    this.keep(stored);
    this.keepNewest(name, createdAtNanos);
    return stored;
  }

  /** Removes a version and returns its moment; undefined when there is none. @throws DbError InvalidArguments */
  async remove(name: string, version: string): Promise<bigint | undefined> {
    const createdAtNanos = parseVersion(version);
    if ((await this.table.find(name, createdAtNanos)) === undefined) return undefined;
    await this.table.remove(name, createdAtNanos);
    this.compiled.delete(keyOf(name, createdAtNanos));
    this.newest.delete(name);
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

  private knownNewest(name: string): bigint | undefined {
    const newest = this.newest.get(name);
    return newest === undefined || newest.untilMillis < this.clock.monotonicMillis() ? undefined : newest.createdAtNanos;
  }

  private keepNewest(name: string, createdAtNanos: bigint): void {
    this.newest.delete(name);
    this.newest.set(name, { createdAtNanos, untilMillis: this.clock.monotonicMillis() + NEWEST_KEPT_MS });
    dropOldest(this.newest);
  }

  private kept(key: string): StoredPipeline | undefined {
    const stored = this.compiled.get(key);
    if (stored !== undefined) this.keep(stored);
    return stored;
  }

  private keep(stored: StoredPipeline): void {
    const key = keyOf(stored.name, stored.createdAtNanos);
    this.compiled.delete(key);
    this.compiled.set(key, stored);
    dropOldest(this.compiled);
  }
}

function dropOldest(map: Map<string, unknown>): void {
  if (map.size <= COMPILED_MAX) return;
  const oldest = map.keys().next().value;
  if (oldest !== undefined) map.delete(oldest);
}

function keyOf(name: string, createdAtNanos: bigint): string {
  return `${createdAtNanos} ${name}`;
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
