/**
 * Series of one query of a remote read (contract ingest.md 2.6), encoded. Matchers mean what they mean in SQL: a label that is NULL meets
 * none of them, and expressions match anywhere.
 */
import { Pace } from "../../../../base/scheduler/pace.ts";
import type { Scheduler } from "../../../../base/scheduler/scheduler.ts";
import { DbError } from "../../../../base/error.ts";
import { StatusCode } from "../../../../base/status-code.ts";
import { FLOAT64, sameType } from "../../../../column/data-type.ts";
import type { Db } from "../../../../db/db.ts";
import type { ReadPermit } from "../../../../db/read-permit.ts";
import type { Session } from "../../../../db/session.ts";
import { invalid } from "../../../../ingest/prometheus/failure.ts";
import { READ_BYTES_MAX } from "../../../../ingest/prometheus/limits.ts";
import { matcherRegex } from "../../../../ingest/prometheus/read/matcher-regex.ts";
import type { LabelMatcher, ReadAnswer, ReadQuery } from "../../../../ingest/prometheus/read/read-request.ts";
import { compareTexts, type EncodedSeries, type Label, SeriesWriter } from "../../../../ingest/prometheus/read/read-series.ts";
import type { Table } from "../../../../table/catalog.ts";
import type { ScanBatch, ScanRequest, TagPredicate } from "../../../../table/scan.ts";
import { scanInTurns } from "../../../../table/scan-in-turns.ts";
import { timeIndexOf } from "../../../../table/schema.ts";
import type { SeriesView } from "../../../../table/series-view.ts";

const METRIC = "__name__";
const DATABASE_LABELS: readonly string[] = ["__schema__", "__database__", "x_greptime_database"];
const TIME_MAX = 2n ** 63n;
/** Bytes of a series beside its message: its labels as texts, and what holds them. Nearly. */
const SERIES_BYTES = 400;
/** Memory is taken in steps, since most answers are small. */
const STEP_BYTES: number = 64 * 1024;

/** What one read holds: counted against a limit of its own, and against the memory of all queries. */
export class ReadMemory {
  private readonly permit: ReadPermit;
  private held = 0;
  private reserved = 0;

  constructor(permit: ReadPermit) {
    this.permit = permit;
  }

  /** Counts `bytes` more; `soon` bytes are about to be. @throws DbError InvalidArguments, RuntimeResourcesExhausted */
  hold(bytes: number, soon = 0): void {
    this.held += bytes;
    const wanted = this.held + soon;
    if (wanted > READ_BYTES_MAX) throw tooMuch();
    if (wanted <= this.reserved) return;
    const more = Math.ceil((wanted - this.reserved) / STEP_BYTES) * STEP_BYTES;
    this.permit.reserve(more);
    this.reserved += more;
  }

  /** Lets go of all of it. */
  drop(): void {
    this.permit.release(this.reserved);
    this.held = 0;
    this.reserved = 0;
  }
}

/** Where a query looks, and how it answers. */
export interface ReadPlace {
  readonly db: Db;
  readonly session: Session;
  /** Name of the value column in a table of several fields. */
  readonly valueColumn: string;
  readonly permit: ReadPermit;
  readonly memory: ReadMemory;
  readonly scheduler: Scheduler;
}

/**
 * All series that meet a query, in the order of the table.
 *
 * @throws DbError InvalidArguments, TableNotFound, TableColumnNotFound, DatabaseNotFound, RuntimeResourcesExhausted
 */
export async function seriesOf(query: ReadQuery, form: ReadAnswer, place: ReadPlace): Promise<EncodedSeries[]> {
  const { db, session, permit, memory } = place;
  const { metric, database, matchers } = placeOf(query, session.database);
  const table = tableOf(db, { ...session, database }, metric);
  const value = valueColumnOf(table, place.valueColumn);
  const tags = table.schema.columns.filter(({ semantic }) => semantic === "tag").map(({ name }) => name);
  const time = timeIndexOf(table.schema);
  if (time.type.kind !== "timestamp" || time.type.unit !== "millisecond") {
    throw invalid(`cannot read table ${metric}: its time index counts no milliseconds`);
  }
  const found: EncodedSeries[] = [];
  const tagPredicates = matchers.map((matcher) => predicateOf(matcher, tags, metric));
  if (query.end < query.start) return found;
  const writer = new SeriesWriter(form);
  const numbers = table.series; // Those of the scan, whatever the table does meanwhile.
  let current = -1;
  const close = (): void => {
    const series = writer.finish();
    if (writer.count === 0) return;
    found.push(series);
    memory.hold(series.message.length + SERIES_BYTES);
  };
  const request: ScanRequest = {
    projection: [time.name, value],
    timeRange: { start: query.start, end: query.end + 1n > TIME_MAX ? TIME_MAX : query.end + 1n },
    tagPredicates,
    fieldBounds: [],
    order: "series-time",
    signal: permit.signal,
    numbers,
  };
  const reserve = (bytes: number): void => permit.reserve(bytes);
  const release = (bytes: number): void => permit.release(bytes);
  for await (const batch of scanInTurns(table, request, { pace: new Pace(place.scheduler), reserve, release })) {
    const { starts, series } = batch.runs;
    for (let run = 0; run + 1 < starts.length && (starts[run] as number) < batch.rowCount; run++) {
      if (series[run] !== current) {
        if (current >= 0) close();
        current = series[run] as number;
        writer.begin(labelsOf(numbers, metric, tags, current, form));
      }
      appendRows(writer, batch, starts[run] as number, starts[run + 1] as number);
      memory.hold(0, writer.length);
    }
  }
  if (current >= 0) close();
  return found;
}

function appendRows(writer: SeriesWriter, { vectors }: ScanBatch, start: number, end: number): void {
  const [times, values] = vectors;
  if (times?.kind !== "time" || values?.kind !== "number" || !(values.values instanceof Float64Array)) {
    throw invalid("cannot read the table: a time or a value is no number that Prometheus has");
  }
  const base = Number(times.base);
  const doubles = values.values;
  const words = new Int32Array(doubles.buffer, doubles.byteOffset, doubles.length * 2);
  for (let row = start; row < end; row++) {
    if (values.validity !== undefined && values.validity[row] === 0) continue;
    writer.sample(base + (times.offsets[row] as number), words[2 * row] as number, words[2 * row + 1] as number);
  }
}

/** The metric's name first, then labels in the order of the schema; in the order of their names where chunks are merged by it. */
function labelsOf(series: SeriesView, metric: string, tags: readonly string[], number: number, form: ReadAnswer): Label[] {
  const labels: Label[] = [[METRIC, metric]];
  for (const tag of tags) {
    const text = series.dictionaryOf(tag)[series.codesOf(tag)[number] as number];
    if (text !== undefined) labels.push([tag, text]);
  }
  return form === "samples" ? labels : labels.sort(([a], [b]) => compareTexts(a, b));
}

/** @throws DbError InvalidArguments unless exactly one metric is named */
function placeOf(
  { matchers }: ReadQuery,
  fallback: string,
): { readonly metric: string; readonly database: string; readonly matchers: readonly LabelMatcher[] } {
  const names = matchers.filter(({ name }) => name === METRIC);
  const [named] = names;
  if (names.length !== 1 || named?.kind !== "=" || named.value === "") {
    throw invalid("a query needs one matcher of __name__, by =, with a name that is not empty");
  }
  let database = fallback;
  const rest: LabelMatcher[] = [];
  for (const matcher of matchers) {
    if (matcher.kind === "=" && DATABASE_LABELS.includes(matcher.name)) database = matcher.value;
    else if (matcher.name !== METRIC) rest.push(matcher);
  }
  return { metric: named.value, database, matchers: rest };
}

/** @throws DbError DatabaseNotFound, TableNotFound */
function tableOf(db: Db, session: Session, name: string): Table {
  const table = db.table(name, session);
  if (table !== undefined) return table;
  throw new DbError(StatusCode.TableNotFound, `Table not found: ${session.database}.${name.slice(0, 200)}`);
}

function valueColumnOf({ schema }: Table, usual: string): string {
  const fields = schema.columns.filter(({ semantic }) => semantic === "field");
  const column = fields.length === 1 ? fields[0] : fields.find(({ name }) => name === usual);
  if (column === undefined) throw invalid(`cannot read table ${schema.name}: which of its fields is the value is ambiguous`);
  if (sameType(column.type, FLOAT64)) return column.name;
  throw invalid(`cannot read table ${schema.name}: its field ${column.name} is no DOUBLE`);
}

/** @throws DbError InvalidArguments for a label that the table does not have, or a broken expression */
function predicateOf({ kind, name, value }: LabelMatcher, tags: readonly string[], metric: string): TagPredicate {
  if (!tags.includes(name)) throw new DbError(StatusCode.TableColumnNotFound, `Column not found: ${name} in table ${metric}`);
  if (kind === "=") return { kind: "in", column: name, values: [value] };
  if (kind === "!=") return { kind: "test", column: name, test: (text) => text !== undefined && text !== value };
  const matches = matcherRegex(value);
  const wanted = kind === "=~";
  return { kind: "test", column: name, test: (text) => text !== undefined && matches(text) === wanted };
}

function tooMuch(): DbError {
  const why = `its answer takes more than ${READ_BYTES_MAX} bytes of memory; ask for a shorter time or fewer series`;
  return new DbError(StatusCode.InvalidArguments, `cannot answer the remote read: ${why}`);
}
