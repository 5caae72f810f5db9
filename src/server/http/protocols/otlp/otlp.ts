/**
 * The endpoints of OTLP/HTTP (contract ingest.md 4; contract README 4: protobuf and JSON, partial success as the standard says). They ask
 * nothing of the database but to take writes, so that every ingest thread serves them.
 *
 *   body ─► JSON becomes protobuf ─► decoder of the database ─► `Db.write` ─► an Export…ServiceResponse in the form of the request
 */
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { Counter, Histogram } from "prom-client";
import { protobufOfJson } from "../../../../ingest/otlp/json.ts";
import { databaseExists } from "../../../common/database-name.ts";
import { otlpLogs } from "../../../common/otlp/logs.ts";
import { otlpMetrics } from "../../../common/otlp/metrics.ts";
import { receiveOtlp } from "../../../common/otlp/receive.ts";
import type { OtlpAsk, OtlpSignal } from "../../../common/otlp/signal.ts";
import { otlpTraces } from "../../../common/otlp/traces.ts";
import { otlpRows } from "../../../common/shared-counters.ts";
import type { Exchange } from "../../exchange.ts";
import { needsNoPipelineStore } from "../../../common/otlp/log-pipeline.ts";
import type { LogEndpoint } from "../logs/log-endpoint.ts";
import { UNKNOWN_DATABASE } from "../../http-metrics.ts";
import type { IngestServerOptions } from "../../options.ts";
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
  return [otlpMetrics(options), otlpTraces(options), otlpLogs(options, endpoint)].map((signal): Route => {
    const { name } = signal;
    const metrics: SignalMetrics = {
      rows: otlpRows(options.metrics, name),
      seconds: options.metrics.seconds(`greptime_servers_http_otlp_${name}_elapsed`, `seconds a request of OTLP ${name} takes`, "db"),
    };
    const take = async (exchange: Exchange): Promise<Reply> => timed(exchange, options, signal, metrics);
    return {
      path: `/v1/otlp/v1/${name}`,
      methods: { POST: take },
      errors: "plain",
      ingest: `otlp_${name}`,
      ...(name === "logs" ? { isServedHere: needsNoPipelineStore } : {}),
    };
  });
}

function askOf({ request, database, rawQuery: query, signal }: Exchange): OtlpAsk {
  return { headers: request.headers, database, query, signal };
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
  const ask = askOf(exchange);
  const path = await signal.open(ask, accepted);
  const isJson = isJsonType(ask.headers.get("content-type"));
  const sent = await writeBody(exchange, options, true);
  if (!(sent instanceof Uint8Array)) return sent;
  const request = isJson ? () => protobufOfJson(sent, signal.request) : sent;
  const target = { db, scheduler: options.scheduler, rows: metrics.rows };
  const { rejectedCount, message, isAllRefused } = await receiveOtlp({ ask, path, accepted, target }, request, signal.form);
  if (rejectedCount > 0 && !isAllRefused) exchange.ingest?.failed();
  return isAllRefused ? allRejected(message, isJson) : success(rejectedCount, message, isJson, signal);
}

function isJsonType(type: string | null): boolean {
  return type !== null && /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type.trim());
}

/** `Export…ServiceResponse`; empty when everything was kept. */
function success(rejected: number, message: string, isJson: boolean, { rejectedName }: Pick<OtlpSignal, "rejectedName">): Reply {
  const headers = { "content-type": isJson ? JSON_TYPE : PROTOBUF_TYPE };
  if (rejected === 0) return { status: 200, headers, body: isJson ? "{}" : new Uint8Array(0) };
  if (isJson) {
    const body = JSON.stringify({ partialSuccess: { [rejectedName]: String(rejected), errorMessage: message } });
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
