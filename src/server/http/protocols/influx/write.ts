/**
 * The InfluxDB endpoints (contract ingest.md 1, README 7): `write`, `api/v2/write`, `ping`, `health`; `query` is in query.ts.
 * They ask nothing of the database but to take writes, so that every ingest thread serves them.
 *
 * The path of a write: bytes → `Db.admit` → decoder of the database → `Db.write` → 204. The decoder's result is borrowed, so the write
 * is started in the same turn. Bad lines are answered only when the good ones are durable.
 */
import type { DecodeResult } from "../../../../ingest/influx/types.ts";
import { isName } from "../../../../table/names.ts";
import { refusedPart } from "../../../../table/partly-written.ts";
import { decodedAndWritten } from "../../../../table/decoded-and-written.ts";
import { databaseExists } from "../../../common/database-name.ts";
import { headerText } from "../../errors.ts";
import type { Exchange } from "../../exchange.ts";
import { type HttpMetrics, UNKNOWN_DATABASE } from "../../http-metrics.ts";
import { KeptDecoders } from "../../../common/kept-decoders.ts";
import type { LineDecoder, IngestServerOptions } from "../../options.ts";
import { decodedValueOf } from "../../query-string.ts";
import { emptyReply, JSON_TYPE, NO_CONTENT, type Reply } from "../../reply.ts";
import type { Handler, Route } from "../../router.ts";
import { writeBody, acceptWrite } from "../accepted-write.ts";
import { dryRunLines } from "./dry-run.ts";
import { precisionOf } from "./precision.ts";
import { writeOptionsOf } from "../../../common/write-options.ts";

const SEMANTICS = { "greptime.semantic.signal_type": "metric", "greptime.semantic.source": "influxdb" } as const;

/** The routes of this file, which any thread serves; none when the protocol is off. */
export function influxRoutes(options: IngestServerOptions, metrics: HttpMetrics): readonly Route[] {
  if (!options.influx.enabled) return [];
  const decoders = new KeptDecoders(() => options.influx.createDecoder(), options.clock);
  options.memory.register("decoders", decoders);
  const write: Handler = async (exchange) => writeLines(exchange, options, metrics, decoders);
  return [
    { path: "/v1/influxdb/write", methods: { POST: write }, errors: "plain", ingest: "influxdb_v1" },
    { path: "/v1/influxdb/api/v2/write", methods: { POST: write }, errors: "plain", ingest: "influxdb_v2" },
    { path: "/v1/influxdb/_dryrun", methods: { POST: (exchange) => dryRunLines(exchange, options) }, errors: "plain" },
    { path: "/v1/influxdb/ping", methods: { GET: () => NO_CONTENT }, errors: "plain" },
    { path: "/v1/influxdb/health", methods: { GET: () => emptyReply(200) }, errors: "plain" },
  ];
}

async function writeLines(
  exchange: Exchange,
  options: IngestServerOptions,
  metrics: HttpMetrics,
  decoders: KeptDecoders<LineDecoder>,
): Promise<Reply> {
  const { db } = options;
  const known = databaseExists(exchange.database, db);
  const stop = metrics.influxWriteSeconds.startTimer({ db: known ? exchange.database : UNKNOWN_DATABASE });
  try {
    const precision = precisionOf(exchange.rawQuery);
    const { session, hints } = acceptWrite(exchange, db);
    const allOrNothing = decodedValueOf(exchange.rawQuery, "accept_partial") === "false";
    const made = writeOptionsOf(hints, options, "last_non_null", SEMANTICS);
    const writeOptions = allOrNothing ? { ...made, allOrNothing } : made;
    const body = await writeBody(exchange, options, true);
    if (!(body instanceof Uint8Array)) return body;
    const decode = (): DecodeResult =>
      decoders.of(exchange.database).decode(body, {
        database: exchange.database,
        precision,
        defaultTimeNanos: options.clock.nowNanos(),
        schemas: db.schemas,
        timeColumn: options.influx.timeColumn,
        acceptsTable: isName,
      });
    const refusal = await decodedAndWritten(async () => {
      await db.admit(exchange.signal);
      const result = decode();
      // Read before the write: the result is borrowed, and other requests decode while this one waits for the disk.
      const { rowCount, errorCount } = result;
      const text = errorCount === 0 ? undefined : refusalText(result, allOrNothing ? 0 : rowCount);
      const write = rowCount > 0 && !(allOrNothing && errorCount > 0);
      const refused = write ? await refusedPart(db.write(result.batch, session, writeOptions)) : undefined;
      return refused === undefined ? text : [`partial write: ${refused.message}`, ...(text === undefined ? [] : [text])].join("; ");
    });
    return refusal === undefined ? NO_CONTENT : badLinesReply(refusal);
  } finally {
    stop();
  }
}

/**
 * One sentence that names each bad line. It begins as the reference's does; "partial write" and "unable to parse" are the words by which
 * clients of InfluxDB know that sending the batch again is of no use.
 */
function refusalText(result: DecodeResult, kept: number): string {
  const lines = result.errors.map(({ line, reason, text }) => `${reason} at line ${line}: '${text}'`);
  const rest = result.errorCount - lines.length;
  if (rest > 0) lines.push(`and ${rest} more`);
  const refused = `unable to parse ${result.errorCount} of ${result.lineCount} lines`;
  const outcome = kept > 0 ? `partial write: ${kept} rows were written, ${refused}` : `${refused}, nothing was written`;
  return `Failed to parse InfluxDB line protocol: ${lines.join("; ")} (${outcome})`;
}

function badLinesReply(text: string): Reply {
  const headers = { "content-type": JSON_TYPE, "x-influx-error": headerText(text) };
  return { status: 400, headers, body: JSON.stringify({ error: text }) };
}
