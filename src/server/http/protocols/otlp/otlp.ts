/**
 * The endpoints of OTLP/HTTP (contract ingest.md 4; contract README 4: protobuf and JSON, partial success as the standard says). They ask
 * nothing of the database but to take writes, so that every ingest thread serves them.
 *
 *   body ─► JSON becomes protobuf ─► decoder of the database ─► `Db.write` ─► an Export…ServiceResponse in the form of the request
 */
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { Counter, Histogram } from "prom-client";
import { invalidArguments } from "../../../../base/error.ts";
import { ProtoError } from "../../../../format/proto/reader.ts";
import { OtlpJsonError, protobufOfJson } from "../../../../ingest/otlp/json.ts";
import { refusedPart } from "../../../../table/partly-written.ts";
import { databaseExists } from "../../../common/database-name.ts";
import { decodedAndWritten } from "../../../common/decoded-and-written.ts";
import type { Exchange } from "../../exchange.ts";
import type { LogEndpoint } from "../logs/log-endpoint.ts";
import { UNKNOWN_DATABASE } from "../../http-metrics.ts";
import type { IngestServerOptions } from "../../options.ts";
import { otlpLogs } from "./logs.ts";
import { otlpMetrics } from "./metrics.ts";
import type { OtlpSignal } from "./signal.ts";
import { otlpTraces } from "./traces.ts";
import { JSON_TYPE, type Reply } from "../../reply.ts";
import type { Route } from "../../router.ts";
import { writeBody, acceptWrite } from "../accepted-write.ts";

const PROTOBUF_TYPE = "application/x-protobuf";

interface SignalMetrics {
  readonly rows: Counter<"db">;
  readonly seconds: Histogram<"db">;
}

/** The routes of this file, which any thread serves. */
export function otlpRoutes(endpoint: LogEndpoint): readonly Route[] {
  const { options } = endpoint;
  return [otlpMetrics(options), otlpTraces(options), otlpLogs(endpoint)].map((signal): Route => {
    const { name } = signal;
    const metrics: SignalMetrics = {
      rows: options.metrics.counter(`greptime_frontend_otlp_${name}_rows`, `rows of OTLP ${name}`, "db"),
      seconds: options.metrics.seconds(`greptime_servers_http_otlp_${name}_elapsed`, `seconds a request of OTLP ${name} takes`, "db"),
    };
    const take = async (exchange: Exchange): Promise<Reply> => timed(exchange, options, signal, metrics);
    return { path: `/v1/otlp/v1/${name}`, methods: { POST: take }, errors: "plain", ...servedHere(signal) };
  });
}

function servedHere({ isServedHere }: OtlpSignal): Pick<Route, "isServedHere"> {
  return isServedHere === undefined ? {} : { isServedHere };
}

async function timed(exchange: Exchange, options: IngestServerOptions, signal: OtlpSignal, metrics: SignalMetrics): Promise<Reply> {
  const stop = metrics.seconds.startTimer({ db: databaseExists(exchange.database, options.db) ? exchange.database : UNKNOWN_DATABASE });
  try {
    return await take(exchange, options, signal, metrics);
  } finally {
    stop();
  }
}

async function take(exchange: Exchange, options: IngestServerOptions, signal: OtlpSignal, metrics: SignalMetrics): Promise<Reply> {
  const { db } = options;
  const accepted = acceptWrite(exchange, db);
  const path = await signal.open(exchange, accepted);
  const isJson = isJsonType(exchange.request.headers.get("content-type"));
  const sent = await writeBody(exchange, options, true);
  if (!(sent instanceof Uint8Array)) return sent;
  if (path.kind === "whole") {
    const outcome = await path.write((read) => decoded(() => read(isJson ? protobufOfJson(sent, signal.request) : sent)));
    metrics.rows.inc({ db: exchange.database }, outcome.rowCount);
    return success(outcome.rejectedCount, outcome.message, isJson, signal);
  }
  return decodedAndWritten(async () => {
    await db.admit(exchange.signal);
    const write = decoded(() => path.decode(isJson ? protobufOfJson(sent, signal.request) : sent));
    // Read before the write: the result is borrowed, and other requests decode while this one waits for the disk.
    const { rowCount, rejected } = write.result;
    const refused = rowCount > 0 ? await refusedPart(db.write(write.result.batch, accepted.session, write.options)) : undefined;
    if (write.after !== undefined && write.after.batch.tables.length > 0)
      await db.write(write.after.batch, accepted.session, write.after.options);
    metrics.rows.inc({ db: exchange.database }, rowCount - (refused?.refusedRows ?? 0));
    if (refused !== undefined) rejected.add(refused.message, refused.refusedRows);
    const message = refused === undefined ? (write.message ?? rejected.message) : rejected.message;
    if (rowCount === 0 && rejected.count > 0 && write.refusesAllRejected === true) return allRejected(message, isJson);
    return success(rejected.count, message, isJson, signal);
  });
}

function isJsonType(type: string | null): boolean {
  return type !== null && /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type.trim());
}

/** Runs a decoder. @throws DbError InvalidArguments when the body is no request */
function decoded<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof ProtoError || error instanceof OtlpJsonError)) throw error;
    throw invalidArguments(`Failed to decode OTLP request: ${error.message}`, error);
  }
}

/** `Export…ServiceResponse`; empty when everything was kept. */
function success(rejected: number, message: string, isJson: boolean, signal: OtlpSignal): Reply {
  const headers = { "content-type": isJson ? JSON_TYPE : PROTOBUF_TYPE };
  if (rejected === 0) return { status: 200, headers, body: isJson ? "{}" : new Uint8Array(0) };
  if (isJson) {
    const body = JSON.stringify({ partialSuccess: { [signal.rejectedName]: String(rejected), errorMessage: message } });
    return { status: 200, headers, body };
  }
  const partial = new BinaryWriter().tag(1, 0).int64(rejected).tag(2, 2).string(message.toWellFormed()).finish();
  return { status: 200, headers, body: new Uint8Array(new BinaryWriter().tag(1, 2).bytes(partial).finish()) };
}

/** `google.rpc.Status` with the message only, as the protocol has failures. */
function allRejected(message: string, isJson: boolean): Reply {
  if (isJson) return { status: 400, headers: { "content-type": JSON_TYPE }, body: JSON.stringify({ code: 0, message }) };
  const body = new Uint8Array(new BinaryWriter().tag(2, 2).string(message.toWellFormed()).finish());
  return { status: 400, headers: { "content-type": PROTOBUF_TYPE }, body };
}
