/**
 * Prometheus remote read (contract ingest.md 2.6): `POST /v1/prometheus/read`. Answers samples in one message, or chunks in frames, as the
 * client prefers. Matchers mean what they mean in SQL: a label that is NULL meets none of them, and expressions match anywhere.
 */
import { compress } from "snappyjs";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { FLOAT64, sameType } from "../../column/data-type.ts";
import type { Db } from "../../db/db.ts";
import type { Session } from "../../db/session.ts";
import { ByteSink } from "../../ingest/prometheus/byte-sink.ts";
import { invalid } from "../../ingest/prometheus/failure.ts";
import { READ_BYTES_MAX } from "../../ingest/prometheus/limits.ts";
import { decodeReadRequest, type LabelMatcher, type ReadAnswer, type ReadQuery } from "../../ingest/prometheus/read-request.ts";
import {
  byLabelCount,
  byLabels,
  compareTexts,
  type EncodedSeries,
  frameOf,
  type Label,
  SeriesWriter,
} from "../../ingest/prometheus/read-series.ts";
import { regexOf } from "../../query/function/like.ts";
import type { Table } from "../../table/catalog.ts";
import type { ScanBatch, TagPredicate } from "../../table/scan.ts";
import { timeIndexOf } from "../../table/schema.ts";
import { databaseExists, sessionOf } from "./context.ts";
import type { Exchange } from "./exchange.ts";
import { type HttpMetrics, UNKNOWN_DATABASE } from "./http-metrics.ts";
import type { HttpServerOptions } from "./options.ts";
import { unfoldable } from "./prometheus-body.ts";
import type { Reply } from "./reply.ts";
import type { Route } from "./router.ts";
import { doorBody } from "./write-door.ts";

const METRIC = "__name__";
const DATABASE_LABELS: readonly string[] = ["__schema__", "__database__", "x_greptime_database"];
const TIME_MAX = 2n ** 63n;

/** The route of this file; none when the protocol is off. */
export function prometheusReadRoutes(options: HttpServerOptions, metrics: HttpMetrics): readonly Route[] {
  if (!options.prometheus.enabled) return [];
  const read = (exchange: Exchange): Promise<Reply> => answer(exchange, options, metrics);
  return [{ path: "/v1/prometheus/read", methods: { POST: read }, errors: "plain" }];
}

async function answer(exchange: Exchange, options: HttpServerOptions, metrics: HttpMetrics): Promise<Reply> {
  const { db } = options;
  const known = databaseExists(exchange.database, db);
  const stop = metrics.prometheusReadSeconds.startTimer({ db: known ? exchange.database : UNKNOWN_DATABASE });
  try {
    const session = sessionOf(exchange);
    db.authorize(session, "read");
    const body = await doorBody(exchange, options, false);
    if (!(body instanceof Uint8Array)) return body;
    const unfold = await unfoldable(exchange, body, options.bodyBytesMax);
    if (typeof unfold !== "function") return unfold;
    const { queries, accepted } = decodeReadRequest(unfold());
    const form = accepted.length === 0 ? "samples" : accepted.find((each) => each !== "unknown");
    if (form === undefined) {
      throw new DbError(StatusCode.Unsupported, "Not supported: none of the response types that the client accepts");
    }
    return form === "samples" ? await wholeAnswer(queries, session, options) : await framedAnswer(queries, session, options);
  } finally {
    stop();
  }
}

async function wholeAnswer(queries: readonly ReadQuery[], session: Session, options: HttpServerOptions): Promise<Reply> {
  const sink = new ByteSink();
  for (const query of queries) {
    const result = new ByteSink();
    for (const { message } of (await seriesOf(query, "samples", session, options)).sort(byLabelCount)) result.field(1, message);
    sink.field(1, result.bytes.subarray(0, result.length));
    if (sink.length > READ_BYTES_MAX) throw tooMuch();
  }
  const bytes = Uint8Array.from(compress(sink.take()));
  return { status: 200, headers: { "content-type": "application/x-protobuf", "content-encoding": "snappy" }, body: bytes };
}

/** The first frame is made before the answer begins, so that what is wrong with the first query is an error and not a broken stream. */
async function framedAnswer(queries: readonly ReadQuery[], session: Session, options: HttpServerOptions): Promise<Reply> {
  const frames = framesOf(queries, session, options);
  let next = await frames.next();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      if (next.done === true) return controller.close();
      controller.enqueue(next.value);
      next = await frames.next();
    },
    async cancel() {
      await frames.return(undefined);
    },
  });
  return { status: 200, headers: { "content-type": "application/x-streamed-protobuf; proto=prometheus.ChunkedReadResponse" }, body };
}

async function* framesOf(
  queries: readonly ReadQuery[],
  session: Session,
  options: HttpServerOptions,
): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
  for (const [index, query] of queries.entries()) {
    for (const series of (await seriesOf(query, "chunks", session, options)).sort(byLabels)) yield frameOf(series, index);
  }
}

async function seriesOf(query: ReadQuery, form: ReadAnswer, session: Session, options: HttpServerOptions): Promise<EncodedSeries[]> {
  const { metric, database, matchers } = placeOf(query, session.database);
  const table = tableOf(options.db, { ...session, database }, metric);
  const value = valueColumnOf(table, options.prometheus.valueColumn);
  const tags = table.schema.columns.filter(({ semantic }) => semantic === "tag").map(({ name }) => name);
  const time = timeIndexOf(table.schema);
  if (time.type.kind !== "timestamp" || time.type.unit !== "millisecond") {
    throw invalid(`cannot read table ${metric}: its time index counts no milliseconds`);
  }
  const found: EncodedSeries[] = [];
  if (query.end < query.start) return found;
  const writer = new SeriesWriter(form);
  let current = -1;
  let bytes = 0;
  const close = (): void => {
    const series = writer.finish();
    if (writer.count === 0) return;
    found.push(series);
    bytes += series.message.length;
  };
  const batches = table.scan({
    projection: [time.name, value],
    timeRange: { start: query.start, end: query.end + 1n > TIME_MAX ? TIME_MAX : query.end + 1n },
    tagPredicates: matchers.map((matcher) => predicateOf(matcher, tags, metric)),
    fieldBounds: [],
    order: "series-time",
    signal: session.signal,
  });
  for await (const batch of batches) {
    const { starts, series } = batch.runs;
    for (let run = 0; run + 1 < starts.length && (starts[run] as number) < batch.rowCount; run++) {
      if (series[run] !== current) {
        if (current >= 0) close();
        current = series[run] as number;
        writer.begin(labelsOf(table, metric, tags, current, form));
      }
      appendRows(writer, batch, starts[run] as number, starts[run + 1] as number);
      if (bytes + writer.length > READ_BYTES_MAX) throw tooMuch();
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
function labelsOf({ series }: Table, metric: string, tags: readonly string[], number: number, form: ReadAnswer): Label[] {
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
  const expression = expressionOf(value);
  const wanted = kind === "=~";
  return { kind: "test", column: name, test: (text) => text !== undefined && expression.test(text) === wanted };
}

/** @throws DbError InvalidArguments: the client's fault, so that it does not ask again */
function expressionOf(text: string): RegExp {
  try {
    return regexOf(text, "su");
  } catch (error) {
    throw error instanceof DbError ? invalid(error.message) : error;
  }
}

function tooMuch(): DbError {
  const why = `its answer takes more than ${READ_BYTES_MAX} bytes of memory; ask for a shorter time or fewer series`;
  return new DbError(StatusCode.InvalidArguments, `cannot answer the remote read: ${why}`);
}
