/**
 * DoPut of the native interface (contract query.md 5.5): batches of a table's own columns go into it as they are, and each is acknowledged
 * once it is in the log.
 *
 *   messages ─► db.admit ─► PutStream ─► ColumnWrites ─► db.write ─┬─► the next message, while fewer than `WRITES_MAX` are on their way
 *                                                                  └─► acknowledgement, in the order of the batches
 *
 * A batch is one record of the log, whole or not at all, unless it has more than `WRITE_ROWS_MAX` rows: then its parts are, and it is
 * acknowledged after the last one.
 */
import { copiedAndWritten } from "../../../table/decoded-and-written.ts";
import type { Clock } from "../../../base/clock.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { type DataType, displayName, sameType } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import { slice } from "../../../column/slice.ts";
import type { Scalar, Vector } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import type { Db } from "../../../db/db.ts";
import type { Session } from "../../../db/session.ts";
import { ColumnWrites, type WrittenColumn } from "../../../table/rows/column-writes.ts";
import type { WriteOptions } from "../../../table/write-batch.ts";
import type { ArrowColumn } from "../../../format/arrow/reading/arrow-reader.ts";
import { castValue } from "../../../value/cast.ts";
import type { Hints } from "../../common/hints.ts";
import { writeOptionsOf, type WriteSettings } from "../../common/write-options.ts";
import type { PutResultInit } from "./flight-sql-door.ts";
import type { FlightMessage } from "./flight-data.ts";
import type { PutBatch, PutStream } from "./put-stream.ts";

/** Rows of one write. Reason: the thread puts its record together at once, in some 20 ms. */
const WRITE_ROWS_MAX = 65_536;

/** Writes that wait for the log. Reason: each holds its rows a second time; more do not make the disk faster. */
const WRITES_MAX = 4;

const encoder = new TextEncoder();

/** What inserts work with. */
export interface BulkParts extends WriteSettings {
  readonly db: Db;
  readonly clock: Clock;
  /** Hears how long each batch took. */
  readonly onBatch?: (seconds: number) => void;
}

/** A write on its way. It never rejects, so that none fails unheard. */
interface Pending {
  readonly done: Promise<{ readonly failure: unknown } | undefined>;
  /** What to tell the client then; absent: parts of the batch follow. */
  readonly acknowledged: { readonly requestId: number; readonly rowCount: number; readonly started: number } | undefined;
}

/**
 * Writes a stream into a table.
 *
 * @param table that exists, or that hints allow to be made
 * @throws DbError of the table, of its columns and of a value; those of writes
 */
export async function* bulkInsert(
  stream: PutStream,
  table: string,
  parts: BulkParts,
  session: Session,
  hints: Hints,
): AsyncGenerator<PutResultInit> {
  const { db, clock } = parts;
  const headers = stream.headers ?? [];
  db.authorize(session, "write");
  if (hints.has("physical_table")) {
    throw new DbError(StatusCode.InvalidArguments, "cannot use the hint physical_table: bulk inserts go to tables of their own");
  }
  const hinted = writeOptionsOf(hints, parts, "physical", {});
  const isNew = db.schemas.rolesOf?.(session.database, table) === undefined;
  if (isNew && !(hinted.autoCreate && hints.has("auto_create_table"))) {
    throw new DbError(StatusCode.TableNotFound, `Table not found: ${session.database}.${table}`);
  }
  const options: WriteOptions = { ...hinted, autoCreate: isNew };
  const columns = isNew ? newColumns(headers, table) : writtenColumns(headers, table, db, session);
  const casts = headers.map(({ type }, i) => (sameType(type, columns[i]?.type ?? type) ? undefined : type));
  const writes = new ColumnWrites(table, columns, isNew);
  const pending: Pending[] = [];
  const begin = beginsOf(stream, isNew, options);
  try {
    yield acknowledgement(0, 0, 0);
    let next: Promise<FlightMessage | undefined> | undefined = stream.nextMessage();
    while (next !== undefined || pending.length > 0) {
      const first = pending[0];
      const wanted: Promise<"message" | "written">[] = [];
      if (next !== undefined && pending.length < WRITES_MAX) wanted.push(next.then(() => "message"));
      if (first !== undefined) wanted.push(first.done.then(() => "written"));
      if ((await Promise.race(wanted)) === "written") {
        pending.shift();
        const failed = await first?.done;
        if (failed !== undefined) throw failed.failure;
        const told = first?.acknowledged;
        if (told === undefined) continue;
        const seconds = (clock.monotonicMillis() - told.started) / 1000;
        parts.onBatch?.(seconds);
        yield acknowledgement(told.requestId, told.rowCount, seconds);
        continue;
      }
      const message: FlightMessage | undefined = await next;
      next = undefined;
      if (message === undefined) continue;
      const started = clock.monotonicMillis();
      await db.admit(session.signal);
      const put = stream.read(message);
      for (const part of put === undefined ? [] : partsOf(put, started)) {
        const vectors = part.vectors.map((vector, i) => cast(vector, casts[i], columns[i]?.type, part.rowCount, session.timeZone));
        const lent = writes.batch(vectors, part.rowCount);
        const writing = await begin((asked) => db.write(lent, session, asked));
        const done = writing.done.then(
          () => undefined,
          (failure: unknown) => ({ failure }),
        );
        pending.push({ done, acknowledged: part.acknowledged });
        if (part.acknowledged !== undefined) continue;
        await done;
        await db.admit(session.signal);
      }
      next = stream.nextMessage();
    }
  } finally {
    // What is on its way is waited for, whatever happens: its rows are being copied no more, but nobody else hears how it ended.
    await Promise.all(pending.map(({ done }) => done));
  }
}

type Begin = (write: (options: WriteOptions) => Promise<unknown>) => Promise<{ readonly done: Promise<unknown> }>;

/**
 * Begins writes of a stream's rows: when it returns, they are copied.
 *
 * They lie on borrowed memory: from a message to its write, which copies before it waits, nothing else runs. But where the table is made
 * first, that may take its time: so the first rows do not. Should it be dropped later, rows are refused as changed meanwhile where making
 * it again takes its time.
 */
function beginsOf(stream: PutStream, isNew: boolean, options: WriteOptions): Begin {
  let isBorrowed = !isNew;
  if (isBorrowed) stream.borrowMemory(WRITE_ROWS_MAX);
  return async (write) => {
    if (isBorrowed) return { done: write(options) };
    const begun = await copiedAndWritten(options, write);
    isBorrowed = true;
    stream.borrowMemory(WRITE_ROWS_MAX);
    return begun;
  };
}

/** A batch in parts, the last of which is acknowledged. */
function* partsOf(
  { batch, metadata }: PutBatch,
  started: number,
): Generator<{
  readonly vectors: readonly Vector[];
  readonly rowCount: number;
  readonly acknowledged: Pending["acknowledged"];
}> {
  const { rowCount, vectors } = batch;
  const acknowledged = { requestId: requestIdOf(metadata), rowCount, started };
  if (rowCount <= WRITE_ROWS_MAX) {
    yield { vectors, rowCount, acknowledged };
    return;
  }
  for (let from = 0; from < rowCount; from += WRITE_ROWS_MAX) {
    const to = Math.min(rowCount, from + WRITE_ROWS_MAX);
    yield {
      vectors: vectors.map((vector) => slice(vector, from, to)),
      rowCount: to - from,
      acknowledged: to === rowCount ? acknowledged : undefined,
    };
  }
}

/** The columns of a table that a schema names. @throws DbError InvalidArguments, TableColumnNotFound, PermissionDenied, TableNotFound */
function writtenColumns(headers: readonly ArrowColumn[], table: string, db: Db, session: Session): readonly WrittenColumn[] {
  const columns = headers.map(({ name, type }): WrittenColumn => {
    const column = db.schemas.columnOf(session.database, table, name);
    if (column === undefined) throw new DbError(StatusCode.TableColumnNotFound, `Column ${name} not found in table ${table}`);
    if (!takes(column.type, type)) {
      const [want, got] = [displayName(column.type), displayName(type)];
      throw new DbError(
        StatusCode.InvalidArguments,
        `Column datatype mismatch. For column: ${name}, expected datatype: ${want}, actual datatype: ${got}`,
      );
    }
    return { name, type: column.type, semantic: column.semantic };
  });
  checkColumns(headers, columns, table);
  return columns;
}

/**
 * The columns of a table that a schema makes: roles by `greptime:semantic_type` (absent: a field), JSON by `greptime:type`.
 *
 * @throws DbError InvalidArguments
 */
function newColumns(headers: readonly ArrowColumn[], table: string): readonly WrittenColumn[] {
  const wrong = (why: string): DbError => new DbError(StatusCode.InvalidArguments, `cannot make table ${table}: ${why}`);
  const columns = headers.map(({ name, type, marks }): WrittenColumn => {
    const semantic = marks?.get("semantic_type")?.toLowerCase() ?? "field";
    if (semantic !== "timestamp" && semantic !== "tag" && semantic !== "field") {
      throw wrong(`column ${name} has greptime:semantic_type=${semantic}; it must be timestamp, tag or field`);
    }
    if (semantic === "timestamp" && type.kind !== "timestamp") throw wrong(`its time index ${name} is ${displayName(type)}, no timestamp`);
    if (!HELD.has(type.kind)) throw wrong(`column ${name} is ${displayName(type)}, which tables cannot hold`);
    const isJson = marks?.get("type")?.toLowerCase() === "json";
    if (isJson && (semantic !== "field" || type.kind !== "string")) throw wrong(`column ${name} is JSON; it must be a field of texts`);
    return { name, type: isJson ? { kind: "json" } : type, semantic };
  });
  const times = columns.filter(({ semantic }) => semantic === "timestamp").length;
  if (times !== 1) throw wrong(`${times} columns have greptime:semantic_type=timestamp; exactly one must`);
  checkColumns(headers, columns, table);
  return columns;
}

/** Kinds of columns that streams may make. */
const HELD: ReadonlySet<DataType["kind"]> = new Set(["boolean", "int", "float", "decimal", "string", "binary", "date", "timestamp"]);

/** @throws DbError InvalidArguments for a column that comes twice, or no time index */
function checkColumns(headers: readonly ArrowColumn[], columns: readonly WrittenColumn[], table: string): void {
  const seen = new Set<string>();
  const twice = headers.find(({ name }) => seen.size === seen.add(name).size);
  if (twice !== undefined) throw new DbError(StatusCode.InvalidArguments, `cannot write to ${table}: column ${twice.name} comes twice`);
  if (!columns.some(({ semantic }) => semantic === "timestamp")) {
    throw new DbError(StatusCode.InvalidArguments, `cannot write to ${table}: the schema has no column for its time index`);
  }
}

/** Whether a column takes values of a type: its own, and of JSON and vectors those that Arrow has for them. */
function takes(column: DataType, type: DataType): boolean {
  if (column.kind === "json") return column.structured !== true && type.kind === "string";
  if (column.kind === "vector") return type.kind === "binary";
  return sameType(column, type);
}

/** Values of a column that Arrow has no type for, checked one by one; others are as they are. */
function cast(vector: Vector, from: DataType | undefined, to: DataType | undefined, rowCount: number, timeZone: string): Vector {
  if (from === undefined || to === undefined) return vector;
  const values = Array.from({ length: rowCount }, (_, row) => castValue(scalarAt(vector, from, row), from, to, { timeZone }) as Scalar);
  return vectorOf(to, values); // No column holds intervals.
}

/** The number that the client gave a batch; 0: none. @throws DbError InvalidArguments */
function requestIdOf(metadata: Uint8Array): number {
  if (metadata.length === 0) return 0;
  let id: unknown;
  try {
    id = (JSON.parse(new TextDecoder().decode(metadata)) as { readonly request_id?: unknown } | null)?.request_id;
  } catch (thrown) {
    throw new DbError(StatusCode.InvalidArguments, "cannot read the app_metadata of a batch: it is no JSON", { cause: thrown });
  }
  if (typeof id === "number" && Number.isSafeInteger(id)) return id;
  throw new DbError(StatusCode.InvalidArguments, "cannot read the app_metadata of a batch: request_id is no whole number");
}

function acknowledgement(requestId: number, rowCount: number, seconds: number): PutResultInit {
  return { appMetadata: encoder.encode(JSON.stringify({ request_id: requestId, affected_rows: rowCount, elapsed_secs: seconds })) };
}
