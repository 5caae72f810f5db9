/**
 * Rows through a pipeline into tables: what all endpoints of logs share.
 *
 *   admit ─► decode ─► CompiledPipeline.run, a table at a time ─► one write a group, all started in the turn of the decoding
 */
import { type DbError, toDbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { ReadyPipeline } from "../../../db/pipelines/pipeline-store.ts";
import { runDocuments } from "../../../ingest/ndjson/scanned.ts";
import type { DocumentType } from "../../../ingest/ndjson/types.ts";
import type { PipelineGroup, PipelineRunOptions } from "../../../ingest/pipeline/types.ts";
import type { PipelineValue } from "../../../ingest/common/value.ts";
import { PartlyWritten } from "../../../table/partly-written.ts";
import type { WriteBatch, WriteResult } from "../../../table/write-batch.ts";
import { decodedAndWritten } from "../../../table/decoded-and-written.ts";
import type { IngestDb } from "../../../db/db.ts";
import type { LogCounters, LogProtocol } from "./log-counters.ts";
import type { AcceptedWrite } from "../accepted-write.ts";
import { type WriteSettings, writeOptionsOf } from "../write-options.ts";
import { checkTableName } from "../../../table/names.ts";

/** Where rows go, and until when. */
export interface LogAsk {
  readonly database: string;
  /** Fires when the client leaves or the time is up. */
  readonly signal: AbortSignal;
}

/** What writes of rows through pipelines work with. */
export interface LogWriteParts {
  readonly options: WriteSettings & { readonly db: IngestDb; readonly influx: { readonly timeColumn: string } };
  readonly counters: LogCounters;
}

/** Items of one table: rows, or the body that holds them. */
export type TableItems =
  | { readonly table: string; readonly rows: readonly PipelineValue[] }
  | { readonly table: string; readonly body: Uint8Array; readonly type: DocumentType };

/** How items are written. */
export interface LogWrite {
  readonly protocol: LogProtocol;
  readonly accepted: AcceptedWrite;
  readonly pipeline: ReadyPipeline;
  readonly skipError: boolean;
  readonly ignoreErrors: boolean;
  readonly maxNestedLevels: number | undefined;
  readonly nowNanos: bigint;
  readonly semantics: Readonly<Record<string, string>>;
  /** The items, made anew with each call: a pipeline changes them. @throws DbError */
  readonly items: () => readonly TableItems[];
  /** What is written instead of a group's batch. */
  readonly changed?: (batch: WriteBatch) => WriteBatch;
}

/** What became of them. */
export interface LogsWritten {
  /** Rows of each group that was written, in order. */
  readonly affected: readonly number[];
  /** Why a group was not written; others may have been. */
  readonly failure: DbError | undefined;
  /** Rows that failed in the pipeline and were left out. */
  readonly failedCount: number;
}

/** Writes items. @throws DbError when they cannot be decoded or a row fails: then nothing is written */
export async function writeLogs(ask: LogAsk, parts: LogWriteParts, write: LogWrite): Promise<LogsWritten> {
  const { options, counters } = parts;
  // By group, so that a group which was written is not written again with the others.
  const written = new Map<number, WriteResult>();
  /** Tables of groups that refused their rows, while others of the group have theirs. */
  let refused: PartlyWritten | undefined;
  return decodedAndWritten(async () => {
    await options.db.admit(ask.signal);
    const ran = groupsOf(ask, parts, write);
    const { groups, failedCount } = ran;
    const outcomes = await Promise.allSettled(
      groups.map(async (group, index) => written.get(index) ?? writeGroup(group, ask, options, write)),
    );
    let failure: DbError | undefined;
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === "fulfilled") written.set(index, outcome.value);
      else if (outcome.reason instanceof PartlyWritten) {
        refused ??= outcome.reason;
        written.set(index, { rowCount: outcome.reason.rowCount });
      } else failure = worse(failure, outcome.reason);
    }
    if (failure?.code === StatusCode.RegionBusy) throw failure;
    countSkipped(ran, counters, write);
    failure ??= refused;
    const affected = [...written].sort(([a], [b]) => a - b).map(([, { rowCount }]) => rowCount);
    const rowCount = affected.reduce((sum, count) => sum + count, 0);
    counters.wrote(write.protocol, ask.database, rowCount);
    return { affected, failure, failedCount };
  });
}

/** The one to report: a bug before all, a table that changed meanwhile last, since then the whole is tried again. */
function worse(failure: DbError | undefined, reason: unknown): DbError {
  const error = toDbError(reason);
  if (error.code === StatusCode.Internal || error.code === StatusCode.Unknown) throw reason;
  return failure === undefined || failure.code === StatusCode.RegionBusy ? error : failure;
}

function writeGroup(group: PipelineGroup, ask: LogAsk, options: LogWriteParts["options"], write: LogWrite): Promise<WriteResult> {
  const { accepted, semantics, changed } = write;
  const hints = group.hints.size === 0 ? accepted.hints : new Map([...accepted.hints, ...group.hints]);
  const batch = changed === undefined ? group.batch : changed(group.batch);
  return options.db.write(batch, { ...accepted.session, signal: ask.signal }, writeOptionsOf(hints, options, "log", semantics));
}

/** What a pipeline made of items. */
interface Ran {
  readonly groups: readonly PipelineGroup[];
  readonly failedCount: number;
  readonly filteredCount: number;
}

/** Runs the pipeline. @throws DbError InvalidArguments */
function groupsOf(ask: LogAsk, parts: LogWriteParts, write: LogWrite): Ran {
  const stop = parts.counters.transformSeconds.startTimer({ db: ask.database });
  let result = "failure";
  try {
    const ran = ranPipeline(ask, parts, write);
    result = "success";
    return ran;
  } finally {
    stop({ result });
  }
}

function ranPipeline(ask: LogAsk, { options }: LogWriteParts, write: LogWrite): Ran {
  const { pipeline, maxNestedLevels } = write;
  let filtered = 0;
  let failed = 0;
  const groups = write.items().flatMap((items) => {
    const runOptions: PipelineRunOptions = {
      database: ask.database,
      table: items.table,
      skipError: write.skipError,
      ignoreErrors: write.ignoreErrors,
      nowNanos: write.nowNanos,
      timeColumn: options.influx.timeColumn,
      schemas: options.db.schemas,
      pipelineOf: (name) => pipeline.pipelineOf(name),
      ...(maxNestedLevels === undefined ? {} : { maxNestedLevels }),
    };
    const result =
      "rows" in items
        ? pipeline.compiled.run(items.rows, runOptions)
        : runDocuments(items.body, items.type, write.ignoreErrors, pipeline.compiled, runOptions);
    filtered += result.filteredCount;
    failed += result.failedCount;
    return result.groups;
  });
  for (const { batch } of groups) for (const { table } of batch.tables) checkTableName(table);
  return { groups, failedCount: failed, filteredCount: filtered };
}

/** Counts rows that were left out: once, however often the items were run. */
function countSkipped({ failedCount: failed, filteredCount: filtered }: Ran, { skipped }: LogCounters, write: LogWrite): void {
  if (filtered > 0) skipped.inc({ protocol: write.protocol, outcome: "filtered" }, filtered);
  if (failed > 0) skipped.inc({ protocol: write.protocol, outcome: "failed" }, failed);
  if (failed > 0) write.accepted.session.ingest?.failed();
}
