/**
 * The put endpoint of OpenTSDB (contract ingest.md 6, README 9): one point or an array of them. It asks nothing of the database but to take
 * writes, so that every ingest thread serves it.
 *
 * Bad points are answered with 400 once the good ones are durable; `summary` and `details` are answered as OpenTSDB does.
 */
import type { Counter, Histogram } from "prom-client";
import { DbError, invalidArguments } from "../../../base/error.ts";
import { httpStatusOf } from "../../../base/status-code.ts";
import { OpenTsdbDecoder, type PointError, PutBodyError, type PutResult } from "../../../ingest/opentsdb/decode.ts";
import { OPENTSDB_SEMANTICS } from "../../../ingest/opentsdb/types.ts";
import { databaseExists } from "../../common/database-name.ts";
import { isName } from "../../../table/names.ts";
import { PartlyWritten } from "../../../table/partly-written.ts";
import { decodedAndWritten } from "../../../table/decoded-and-written.ts";
import { plainErrorReply } from "../errors.ts";
import type { Exchange } from "../exchange.ts";
import { UNKNOWN_DATABASE } from "../http-metrics.ts";
import { KeptDecoders } from "../../common/kept-decoders.ts";
import type { IngestServerOptions } from "../options.ts";
import { jsonReply, NO_CONTENT, type Reply } from "../reply.ts";
import type { Route } from "../router.ts";
import { writeBody, acceptWrite } from "./accepted-write.ts";
import { writeOptionsOf } from "../../common/write-options.ts";

/** Longest point that an answer shows whole, in bytes; of longer ones it shows the beginning as a string. */
const SHOWN_BYTES_MAX = 4096;
const SHOWN_CHARACTERS_MAX = 120;

const text = new TextDecoder();

/** What the endpoint works with. */
interface PutEndpoint {
  readonly options: IngestServerOptions;
  readonly decoders: KeptDecoders<OpenTsdbDecoder>;
  readonly points: Counter<"db">;
  readonly seconds: Histogram<"db">;
}

/** The routes of this file, which any thread serves; none when the protocol is off. */
export function opentsdbRoutes(options: IngestServerOptions): readonly Route[] {
  if (!options.opentsdb.enabled) return [];
  const decoders = new KeptDecoders(() => new OpenTsdbDecoder(), options.clock);
  options.memory.register("decoders", decoders);
  const endpoint: PutEndpoint = {
    options,
    decoders,
    points: options.metrics.counter("greptime_servers_http_opentsdb_points", "data points put over HTTP", "db"),
    seconds: options.metrics.seconds("greptime_servers_http_opentsdb_put_elapsed", "seconds a put takes", "db"),
  };
  const methods = { POST: async (exchange: Exchange) => timedPut(exchange, endpoint) };
  return [{ path: "/v1/opentsdb/api/put", methods, errors: "plain", ingest: "opentsdb" }];
}

async function timedPut(exchange: Exchange, endpoint: PutEndpoint): Promise<Reply> {
  const db = databaseExists(exchange.database, endpoint.options.db) ? exchange.database : UNKNOWN_DATABASE;
  const stop = endpoint.seconds.startTimer({ db });
  try {
    return await put(exchange, endpoint);
  } finally {
    stop();
  }
}

async function put(exchange: Exchange, endpoint: PutEndpoint): Promise<Reply> {
  const { options } = endpoint;
  const { db } = options;
  const { session, hints } = acceptWrite(exchange, db);
  const writeOptions = writeOptionsOf(hints, options, "physical", OPENTSDB_SEMANTICS);
  const body = await writeBody(exchange, options, true);
  if (!(body instanceof Uint8Array)) return body;
  const decode = (): PutResult | PutBodyError => {
    try {
      const { database } = exchange;
      return endpoint.decoders.of(database).decode(body, { database, schemas: db.schemas, acceptsTable: isName });
    } catch (error) {
      if (error instanceof PutBodyError) return error;
      throw error;
    }
  };
  return decodedAndWritten(async () => {
    await db.admit(exchange.signal);
    const result = decode();
    if (result instanceof PutBodyError) return refused(result.message);
    // Read before the write: the result is borrowed, and other requests decode while this one waits for the disk.
    const { rowCount, errorCount, errors } = result;
    const isCounted = hasParameter(exchange.rawQuery, "details") || hasParameter(exchange.rawQuery, "summary");
    const refusal = rowCount > 0 ? await refusedRows(db.write(result.batch, session, writeOptions), rowCount, isCounted) : NONE_REFUSED;
    const kept = rowCount - refusal.count;
    const failed = errorCount + refusal.count;
    endpoint.points.inc({ db: exchange.database }, kept);
    if (isCounted) {
      const counts = { success: kept, failed };
      const all = [...errors.map((error) => shownError(error, body)), ...refusal.reasons.map((error) => ({ error }))];
      return jsonReply(
        failed === 0 ? 200 : 400,
        JSON.stringify(hasParameter(exchange.rawQuery, "details") ? { ...counts, errors: all } : counts),
      );
    }
    return failed === 0 ? NO_CONTENT : refused(refusalText(errors, refusal.reasons, failed, kept));
  });
}

/** Whether the query names a parameter, with or without a value. */
function hasParameter(rawQuery: string, name: string): boolean {
  return rawQuery.split("&").some((part) => part === name || part.startsWith(`${name}=`));
}

/** Points that their tables refused. */
interface RefusedRows {
  readonly count: number;
  readonly reasons: readonly string[];
}

const NONE_REFUSED: RefusedRows = { count: 0, reasons: [] };

/**
 * Points that their tables refuse, once the others are durable.
 *
 * @param isCounted whether the client wants to know of each point, also when none was written
 * @throws DbError
 */
async function refusedRows(writing: Promise<unknown>, rowCount: number, isCounted: boolean): Promise<RefusedRows> {
  try {
    await writing;
    return NONE_REFUSED;
  } catch (error) {
    if (error instanceof PartlyWritten) return { count: error.refusedRows, reasons: [error.message] };
    if (isCounted && error instanceof DbError && httpStatusOf(error.code) === 400) return { count: rowCount, reasons: [error.message] };
    throw error;
  }
}

function refusalText(errors: readonly PointError[], refusals: readonly string[], failed: number, kept: number): string {
  const reasons = errors.map(({ number, reason }) => `data point ${number}: ${reason}`);
  if (refusals.length === 0 && failed > errors.length) reasons.push(`and ${failed - errors.length} more`);
  return `${[...reasons, ...refusals].join("; ")} (${failed} of ${failed + kept} data points are refused, ${kept} were written)`;
}

function shownError({ start, end, reason }: PointError, body: Uint8Array): { readonly datapoint: unknown; readonly error: string } {
  const point = text.decode(body.subarray(start, Math.min(end, start + SHOWN_BYTES_MAX)));
  const datapoint: unknown = end - start > SHOWN_BYTES_MAX ? `${point.slice(0, SHOWN_CHARACTERS_MAX)}…` : JSON.parse(point);
  return { datapoint, error: reason };
}

function refused(why: string): Reply {
  return plainErrorReply(invalidArguments(`Invalid OpenTSDB Json request: ${why}`));
}
