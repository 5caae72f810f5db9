/**
 * Traces of Jaeger's query API, made of the rows of a table of spans. An answer is held until it is whole, span by span as text that is
 * counted as a query's memory: what is newest comes first, and the processes of a trace stand behind its spans.
 */
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import { Pace } from "../../base/scheduler/pace.ts";
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { StatementResult } from "../../query/statement-result.ts";
import type { Db } from "../db.ts";
import type { ReadPermit } from "../read-permit.ts";
import type { Session } from "../session.ts";
import { SPANS_MAX } from "./limits.ts";
import { searchSql, spansSql, type TraceSearch } from "./search.ts";
import { spanOf, type TraceSpan } from "./span.ts";
import type { TraceTable } from "./trace-table.ts";

/** Bytes of an object beside its text. */
const SPAN_BYTES = 200;

/** What reads run on. */
export interface TraceReader {
  readonly db: Db;
  readonly session: Session;
  readonly permit: ReadPermit;
  readonly scheduler: Scheduler;
}

/** Traces that were read, the order that was asked for first. */
export interface Traces {
  readonly traces: readonly Trace[];
  /** Whether spans are missing that the answer had no room for. */
  readonly isCut: boolean;
}

interface Trace {
  readonly id: string;
  readonly spans: readonly TraceSpan[];
}

/** The newest traces that match. @throws DbError of the search */
export async function searchTraces(table: TraceTable, search: TraceSearch, reader: TraceReader): Promise<Traces> {
  const ids: string[] = [];
  for await (const [id] of textRows(searchSql(table, search), reader)) if (id !== undefined) ids.push(id);
  return tracesById(table, ids, reader);
}

/** The traces of these ids, in their order, without those that are not there. @throws DbError */
export async function tracesById(table: TraceTable, ids: readonly string[], reader: TraceReader): Promise<Traces> {
  if (ids.length === 0) return { traces: [], isCut: false };
  const found = new Map<string, TraceSpan[]>(ids.map((id) => [id, []]));
  let count = 0;
  const pace = paceOf(reader);
  for await (const result of reader.db.sql(spansSql(table, ids), withSignal(reader))) {
    if (result.kind !== "rows") continue;
    for await (const batch of result.batches) {
      for (let row = 0; row < batch.rowCount && count <= SPANS_MAX; row++) {
        if (++count > SPANS_MAX) break;
        const span = spanOf(table, result.headers, batch, row);
        reader.permit.reserve(SPAN_BYTES + 2 * (span.head.length + span.process.length));
        found.get(span.traceId)?.push(span);
        if (pace.isDue()) await pace.turn();
      }
    }
  }
  const traces = [...found].map(([id, spans]) => ({ id, spans })).filter(({ spans }) => spans.length > 0);
  return { traces, isCut: count > SPANS_MAX };
}

/** The traces as a JSON list, piece by piece. */
export function* tracesJson({ traces, isCut }: Traces): Generator<string> {
  yield "[";
  let separator = "";
  for (const trace of traces) {
    yield separator;
    yield* traceJson(trace, isCut);
    separator = ",";
  }
  yield "]";
}

function* traceJson({ id, spans }: Trace, isCut: boolean): Generator<string> {
  const processes = new Map<string, string>();
  yield `{"traceID":${JSON.stringify(id)},"spans":[`;
  for (const [index, { head, tail, process }] of spans.entries()) {
    let name = processes.get(process);
    if (name === undefined) processes.set(process, (name = `p${processes.size + 1}`));
    yield `${index === 0 ? "" : ","}${head}${name}${tail}`;
  }
  yield '],"processes":{';
  let separator = "";
  for (const [process, name] of processes) {
    yield `${separator}"${name}":${process}`;
    separator = ",";
  }
  const warnings = isCut
    ? JSON.stringify([`the answer has the first ${SPANS_MAX} spans only; spans of this trace may be missing`])
    : "null";
  yield `},"warnings":${warnings}}`;
}

/** The rows of a query as texts. */
export async function* textRows(sql: string, reader: TraceReader): AsyncGenerator<readonly (string | undefined)[]> {
  const pace = paceOf(reader);
  for await (const result of reader.db.sql(sql, withSignal(reader))) yield* rowsOf(result, pace);
}

async function* rowsOf(result: StatementResult, pace: Pace): AsyncGenerator<readonly (string | undefined)[]> {
  if (result.kind !== "rows") return;
  for await (const { rowCount, vectors } of result.batches) {
    for (let row = 0; row < rowCount; row++) {
      yield result.headers.map(({ type }, index) => {
        const vector = vectors[index];
        const value = vector === undefined ? undefined : scalarAt(vector, type, row);
        return value === undefined ? undefined : String(value);
      });
      if (pace.isDue()) await pace.turn();
    }
  }
}

function withSignal({ session, permit }: TraceReader): Session {
  return { ...session, signal: permit.signal };
}

function paceOf({ scheduler, permit }: TraceReader): Pace {
  return new Pace(scheduler, () => throwIfCancelled(permit.signal));
}
