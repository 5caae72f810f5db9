/**
 * What pipelines take and give. Compile once with `compilePipeline(yaml)` or `identityPipeline(options)` (decode.ts), run for each request.
 *
 *   body ─► rows (`jsonValue`, or objects of your own) ─► CompiledPipeline.run ─► PipelineGroup[] ─► Db.write, one call a group
 */
import type { ColumnDefinition } from "../../table/schema.ts";
import type { SchemaLookup, WriteBatch } from "../../table/write-batch.ts";
import type { PipelineValue } from "../common/value.ts";

/** How to run one request. */
export interface PipelineRunOptions {
  readonly database: string;
  /** Table of the request; suffixes are added to it. */
  readonly table: string;
  /** Rows that fail are left out; else the first one fails the run. */
  readonly skipError: boolean;
  /** Time of rows without one, in nanoseconds since 1970. */
  readonly nowNanos: bigint;
  /** Name of the time index where the pipeline names none, e.g. `greptime_timestamp`. */
  readonly timeColumn: string;
  readonly schemas: SchemaLookup;
  /** Pipelines that dispatchers name, newest version; load `dispatchTargets` first, since a run does not wait. */
  readonly pipelineOf?: (name: string) => CompiledPipeline | undefined;
  /** Only identity: a bad custom time becomes now instead of an error. */
  readonly ignoreErrors?: boolean;
  /** Only identity, from `x-greptime-pipeline-params`; else that of `identityPipeline`. At least 1. */
  readonly maxNestedLevels?: number;
}

/** Rows that share one set of hints, to be written in one call; more `TableWrite`s may name one table. */
export interface PipelineGroup {
  /** Names without `greptime_`: `ttl`, `skip_wal`, `append_mode`, `auto_create_table`, …; they win over those of the request. */
  readonly hints: ReadonlyMap<string, string>;
  /** Each write has a `shape` that lists all its columns, the time index among them, in order. Owned by the caller. */
  readonly batch: WriteBatch;
  readonly rowCount: number;
}

/** A row that was left out. */
export interface PipelineRowError {
  /** Index of the input item, from 0. */
  readonly index: number;
  readonly reason: string;
}

/** What became of a request's rows. */
export interface PipelineResult {
  /** In the order of their first rows; none when no row remains. */
  readonly groups: readonly PipelineGroup[];
  readonly rowCount: number;
  readonly filteredCount: number;
  readonly failedCount: number;
  /** The first `ERROR_LINES_MAX` rows left out because of `skipError`. */
  readonly errors: readonly PipelineRowError[];
}

/** Rows of one body of JSON, kept without being made objects where that can be. After an error nothing of it may be used. */
export interface DocumentScan {
  /** Keeps the object that begins at `start` of the body and gives the place behind it; -1: nothing is kept, `add` must take its value. */
  take(start: number): number;
  /** Keeps a row that was parsed. @throws DbError as `run`, also with `skipError` */
  add(row: PipelineValue): void;
  result(): PipelineResult;
}

/** A pipeline, ready to run. Holds no state between runs. */
export interface CompiledPipeline {
  /** Pipelines that its dispatcher names. `greptime_identity` is built in and not among them. */
  readonly dispatchTargets: readonly string[];
  /** What `/ddl` shows, with index clauses; undefined without a transform. `timeColumn` names a time index that it does not declare. */
  columns(timeColumn: string): readonly ColumnDefinition[] | undefined;
  /** Whether it has a dispatcher or a table suffix, so that tables are not fixed. */
  readonly hasVariableTable: boolean;
  /**
   * Runs rows through the pipeline. The rows are changed and must not be used again.
   *
   * @throws DbError InvalidArguments (a row fails and `skipError` is off), IllegalState (an item is no object)
   */
  run(rows: Iterable<PipelineValue>, options: PipelineRunOptions): PipelineResult;
  /** Where rows need not be objects: takes them from a body of UTF-8, which is borrowed until `result`. Undefined for other pipelines. */
  scan(body: Uint8Array, options: PipelineRunOptions): DocumentScan | undefined;
}

/** The built-in pipeline that makes a column of every field. */
export const IDENTITY_NAME = "greptime_identity";

/** Of `greptime_identity`. */
export interface IdentityOptions {
  /** `<field>;epoch;<s|ms|us|ns>` or `<field>;datestr;<format>`. */
  readonly customTimeIndex?: string;
  /** Deeper objects become JSON text. Default 10, at least 1. */
  readonly maxNestedLevels?: number;
}
