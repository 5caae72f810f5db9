/**
 * Prometheus remote write, versions 1.0 and 2.0 (contract ingest.md 2): `POST /v1/prometheus/write`, on every thread that takes writes.
 *
 * The path of a write: body ─► room for what it unfolds to ─► `Db.admit` ─► unfold, decode, `Db.write` in one turn ─► 204. Statuses are
 * those that make Prometheus and vmagent do the right thing: 400 drops a request for good, 429 and 5xx make them send it again.
 */
import { DbError } from "../../../../base/error.ts";
import { createRemoteWriteDecoder, type RemoteWriteDecoder, type RemoteWriteVersion } from "../../../../ingest/prometheus/decode.ts";
import { samplePipelineRows, withoutNaN } from "../../../../ingest/prometheus/pipeline-rows.ts";
import type { RemoteWriteBatch, RemoteWriteOptions, RemoteWriteResult } from "../../../../ingest/prometheus/types.ts";
import { DEFAULT_PHYSICAL_TABLE } from "../../../../table/metric.ts";
import { databaseNotFound } from "../../../../table/not-found.ts";
import { isName } from "../../../../table/names.ts";
import { PartlyWritten } from "../../../../table/partly-written.ts";
import type { WriteOptions } from "../../../../table/write-batch.ts";
import { databaseExists } from "../../../common/database-name.ts";
import { decodedAndWritten } from "../../../../table/decoded-and-written.ts";
import { plainErrorReply } from "../../errors.ts";
import type { FailureLog } from "../../../common/failure-log.ts";
import type { Exchange } from "../../exchange.ts";
import { type HttpMetrics, UNKNOWN_DATABASE } from "../../http-metrics.ts";
import { KeptDecoders } from "../../../common/kept-decoders.ts";
import type { LogEndpoint } from "../logs/log-endpoint.ts";
import type { IngestServerOptions } from "../../options.ts";
import { headersNeedNoStore, pipelineStepOf } from "../logs/pipeline-step.ts";
import { type SampleTables, writeSamples } from "./pipeline.ts";
import { type Unfold, unfoldable } from "./body.ts";
import { decodedValueOf } from "../../query-string.ts";
import { emptyReply, NO_CONTENT, type Reply, textReply } from "../../reply.ts";
import type { Route } from "../../router.ts";
import type { AcceptedWrite } from "../../../common/accepted-write.ts";
import { writeBody, acceptWrite } from "../accepted-write.ts";
import { writeOptionsOf } from "../../../common/write-options.ts";
import { checkTableName } from "../../../../table/names.ts";

const SEMANTICS: Readonly<Record<string, string>> = {
  "greptime.semantic.metric.metadata_quality": "inferred",
  "greptime.semantic.signal_type": "metric",
  "greptime.semantic.source": "prometheus",
};
const V2_MESSAGE = "io.prometheus.write.v2.Request";
const V1_MESSAGE = "prometheus.WriteRequest";

/** The route of this file, which any thread serves; none when the protocol is off. */
export function prometheusWriteRoutes(logs: LogEndpoint, metrics: HttpMetrics, failures: FailureLog): readonly Route[] {
  if (!logs.options.prometheus.enabled) return [];
  const endpoint = new PrometheusWrite(logs, metrics, failures);
  const methods = { POST: (exchange: Exchange) => endpoint.answer(exchange) };
  return [{ path: "/v1/prometheus/write", methods, errors: "plain", ingest: "prometheus", isServedHere: headersNeedNoStore }];
}

class PrometheusWrite {
  private readonly logs: LogEndpoint;
  private readonly options: IngestServerOptions;
  private readonly metrics: HttpMetrics;
  private readonly failures: FailureLog;
  private readonly decoders: KeptDecoders<RemoteWriteDecoder>;

  constructor(logs: LogEndpoint, metrics: HttpMetrics, failures: FailureLog) {
    const { options } = logs;
    this.logs = logs;
    this.options = options;
    this.metrics = metrics;
    this.failures = failures;
    this.decoders = new KeptDecoders<RemoteWriteDecoder>(
      () => createRemoteWriteDecoder("1.0", this.decoderOptions(DEFAULT_PHYSICAL_TABLE)),
      options.clock,
    );
    options.memory.register("decoders", this.decoders);
  }

  async answer(exchange: Exchange): Promise<Reply> {
    // vmagent asks whether it may send zstd.
    if (decodedValueOf(exchange.rawQuery, "get_vm_proto_version") !== undefined) return textReply(200, "1");
    const contentType = exchange.request.headers.get("content-type");
    const version = versionOf(contentType);
    if (version === undefined) return textReply(415, `unsupported prometheus remote write content type: ${contentType}`);
    const known = databaseExists(exchange.database, this.options.db);
    const stop = this.metrics.prometheusWriteSeconds.startTimer({ db: known ? exchange.database : UNKNOWN_DATABASE, version });
    try {
      if (version === "1.0") return (await this.write(exchange, version)).reply;
      return await this.answerWithCounts(exchange);
    } finally {
      stop();
    }
  }

  /** Version 2 wants to know what was written, of a request that failed, too. */
  private async answerWithCounts(exchange: Exchange): Promise<Reply> {
    const encoding = exchange.request.headers.get("content-encoding")?.toLowerCase() ?? "";
    const isKnown = encoding.includes("snappy") || encoding.includes("zstd");
    let reply: Reply;
    let written: Written = NOTHING;
    if (!isKnown) {
      reply = textReply(415, "unsupported prometheus remote write content encoding: only snappy and zstd are supported");
    } else {
      try {
        ({ reply, written } = await this.write(exchange, "2.0"));
      } catch (thrown) {
        if (exchange.request.signal.aborted) throw thrown;
        const { error, requestId } = this.failures.report(thrown, exchange, () => "?");
        if (requestId !== undefined) this.metrics.errors.inc({ protocol: "http" });
        reply = plainErrorReply(error);
        if (requestId !== undefined) reply = { ...reply, headers: { ...reply.headers, "x-request-id": requestId } };
        written = thrown instanceof WrittenInPart ? thrown.written : NOTHING;
      }
    }
    const counts = {
      "x-prometheus-remote-write-samples-written": String(written.samples),
      "x-prometheus-remote-write-histograms-written": String(written.histograms),
      "x-prometheus-remote-write-exemplars-written": "0",
    };
    return { ...reply, headers: { ...reply.headers, ...counts } };
  }

  private async write(exchange: Exchange, version: RemoteWriteVersion): Promise<{ readonly reply: Reply; readonly written: Written }> {
    const { options, metrics } = this;
    const { db } = options;
    const accepted = acceptWrite(exchange, db);
    const step = version === "1.0" ? await pipelineStepOf(exchange, this.logs, `${options.prometheus.timeColumn};epoch;ms`) : undefined;
    const physicalTable = physicalTableOf(exchange.rawQuery, accepted);
    const body = await writeBody(exchange, options, false);
    if (!(body instanceof Uint8Array)) return { reply: body, written: NOTHING };
    const unfold = await unfoldable(exchange, body, options.bodyBytesMax);
    if (typeof unfold !== "function") return { reply: unfold, written: NOTHING };
    const decoder = this.decoderOf(exchange.database, physicalTable, version);
    if (step !== undefined && !step.isIdentity) {
      const columns = options.prometheus;
      const decode = (): SampleTables => samplePipelineRows(this.decoded(decoder, unfold, version).batches, columns);
      const samples = await writeSamples(exchange, this.logs, accepted, step, decode);
      metrics.prometheusSamples.inc({ db: exchange.database, version }, samples);
      return { reply: NO_CONTENT, written: { samples, histograms: 0 } };
    }
    const written = await decodedAndWritten(async () => {
      await db.admit(exchange.signal);
      const { batches } = this.decoded(decoder, unfold, version);
      // The built-in pipeline changes nothing but that it leaves such samples out.
      return this.written(step === undefined ? batches : withoutNaN(batches), accepted, version);
    });
    decoder.settle?.();
    metrics.prometheusSamples.inc({ db: exchange.database, version }, written.samples);
    if (written.histograms > 0) metrics.prometheusHistograms.inc({ db: exchange.database, version }, written.histograms);
    return { reply: version === "1.0" ? NO_CONTENT : emptyReply(204), written };
  }

  private decoded(decoder: RemoteWriteDecoder, unfold: Unfold, version: RemoteWriteVersion): RemoteWriteResult {
    const stop = this.metrics.prometheusCodecSeconds.startTimer({ type: "decode", version });
    try {
      return decoder.decode(unfold(decoder.room));
    } finally {
      stop();
    }
  }

  /** Begins all writes in this turn, since the batches are borrowed, and waits for all of them. @throws WrittenInPart, DbError */
  private async written(
    batches: readonly RemoteWriteBatch[],
    { session, hints }: AcceptedWrite,
    version: RemoteWriteVersion,
  ): Promise<Written> {
    const { options } = this;
    const { db } = options;
    for (const { database } of batches) {
      if (database === undefined || databaseExists(database, db)) continue;
      throw databaseNotFound(database.slice(0, 200));
    }
    const isLogical = options.prometheus.metricEngine;
    const writes = batches.map(async ({ database, physicalTable, batch, declared }) => {
      const semantics = { ...SEMANTICS, "greptime.semantic.source_version": version, ...declared };
      const made = writeOptionsOf(hints, options, isLogical ? "logical" : "physical", semantics);
      const writeOptions: WriteOptions = isLogical ? { ...made, physicalTable } : made;
      return db.write(batch, database === undefined ? session : { ...session, database }, writeOptions);
    });
    const results = await Promise.allSettled(writes);
    const written = { samples: 0, histograms: 0 };
    for (const [i, result] of results.entries()) {
      const kind = batches[i]?.kind ?? "samples";
      if (result.status === "fulfilled") written[kind] += result.value.rowCount;
      else if (result.reason instanceof PartlyWritten) written[kind] += result.reason.rowCount;
    }
    const isSome = written.samples + written.histograms > 0;
    for (const result of results) {
      if (result.status === "fulfilled") continue;
      throw isSome && result.reason instanceof DbError ? new WrittenInPart(result.reason, written) : result.reason;
    }
    return written;
  }

  /** Keys mean series of one database and physical table, and each version has its own bytes for them. */
  private decoderOf(database: string, physicalTable: string, version: RemoteWriteVersion): RemoteWriteDecoder {
    const create = (): RemoteWriteDecoder => createRemoteWriteDecoder(version, this.decoderOptions(physicalTable));
    return this.decoders.of(`${version}\n${database}\n${physicalTable}`, create);
  }

  private decoderOptions(physicalTable: string): RemoteWriteOptions {
    const { metricEngine, validation, timeColumn, valueColumn, histogramColumn } = this.options.prometheus;
    const options = { metricEngine, validation, timeColumn, valueColumn, physicalTable, acceptsTable: isName };
    return histogramColumn === undefined ? options : { ...options, histogramColumn };
  }
}

/** Rows of a request that were stored, by what they are. */
interface Written {
  readonly samples: number;
  readonly histograms: number;
}

const NOTHING: Written = { samples: 0, histograms: 0 };

/** A failure after some writes of the request succeeded; sending all of it again is harmless. */
class WrittenInPart extends DbError {
  readonly written: Written;

  constructor(cause: DbError, written: Written) {
    const { retryAfterSeconds } = cause;
    super(cause.code, cause.message, retryAfterSeconds === undefined ? { cause } : { cause, retryAfterSeconds });
    this.written = written;
  }
}

/** The version that a content type names; undefined for one that is no remote write. */
function versionOf(contentType: string | null): RemoteWriteVersion | undefined {
  if (contentType === null) return "1.0";
  const [type = "", ...parameters] = contentType.split(";");
  if (type.trim().toLowerCase() !== "application/x-protobuf") return undefined;
  for (const parameter of parameters) {
    const equals = parameter.indexOf("=");
    if (parameter.slice(0, equals).trim().toLowerCase() !== "proto") continue;
    const message = parameter
      .slice(equals + 1)
      .trim()
      .replace(/^"(.*)"$/, "$1");
    return message === V1_MESSAGE ? "1.0" : message === V2_MESSAGE ? "2.0" : undefined;
  }
  return "1.0";
}

/** @throws DbError InvalidArguments for a name that no table may have */
function physicalTableOf(rawQuery: string, { hints }: AcceptedWrite): string {
  const named = decodedValueOf(rawQuery, "physical_table") ?? hints.get("physical_table") ?? "";
  const table = named === "" ? DEFAULT_PHYSICAL_TABLE : named;
  checkTableName(table);
  return table;
}
