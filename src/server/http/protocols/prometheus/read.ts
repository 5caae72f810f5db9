/**
 * Prometheus remote read (contract ingest.md 2.6): `POST /v1/prometheus/read`. Answers samples in one message, or chunks in frames, as the
 * client prefers. Series are held encoded until they are sent, a query of frames at a time, all queries of a message; what is sent is made
 * piece by piece while the client reads, and between pieces others have their turn.
 */
import { throwIfCancelled } from "../../../../base/scheduler/cancel.ts";
import { DbError } from "../../../../base/error.ts";
import { StatusCode } from "../../../../base/status-code.ts";
import { decodeReadRequest, type ReadAnswer, type ReadQuery } from "../../../../ingest/prometheus/read/read-request.ts";
import { byLabelCount, byLabels, frameOf } from "../../../../ingest/prometheus/read/read-series.ts";
import { answerBody, answerHooks } from "../../answer-stream.ts";
import { sessionOf } from "../../context.ts";
import { databaseExists } from "../../../common/database-name.ts";
import type { FailureLog } from "../../../common/failure-log.ts";
import type { Exchange } from "../../exchange.ts";
import { type HttpMetrics, UNKNOWN_DATABASE } from "../../http-metrics.ts";
import { READ_TURN_BYTES } from "../../limits.ts";
import type { HttpServerOptions } from "../../options.ts";
import { unfoldable } from "./body.ts";
import { ReadMemory, type ReadPlace, seriesOf } from "./read-series.ts";
import type { Reply } from "../../reply.ts";
import type { Route } from "../../router.ts";
import { messagePieces, snappyPieces } from "./snappy-pieces.ts";
import { writeBody } from "../accepted-write.ts";

const HEADERS: Readonly<Record<ReadAnswer, Readonly<Record<string, string>>>> = {
  samples: { "content-type": "application/x-protobuf", "content-encoding": "snappy" },
  chunks: { "content-type": "application/x-streamed-protobuf; proto=prometheus.ChunkedReadResponse" },
};

/** The route of this file; none when the protocol is off. */
export function prometheusReadRoutes(options: HttpServerOptions, metrics: HttpMetrics, failures: FailureLog): readonly Route[] {
  if (!options.prometheus.enabled) return [];
  const read = (exchange: Exchange): Promise<Reply> => answer(exchange, options, metrics, failures);
  return [{ path: "/v1/prometheus/read", methods: { POST: read }, errors: "plain" }];
}

async function answer(exchange: Exchange, options: HttpServerOptions, metrics: HttpMetrics, failures: FailureLog): Promise<Reply> {
  const { db } = options;
  const known = databaseExists(exchange.database, db);
  const stop = metrics.prometheusReadSeconds.startTimer({ db: known ? exchange.database : UNKNOWN_DATABASE });
  try {
    const session = sessionOf(exchange);
    db.authorize(session, "read");
    const body = await writeBody(exchange, options, false);
    if (!(body instanceof Uint8Array)) return body;
    const unfold = await unfoldable(exchange, body, options.bodyBytesMax);
    if (typeof unfold !== "function") return unfold;
    const { queries, accepted } = decodeReadRequest(unfold());
    const form = accepted.length === 0 ? "samples" : accepted.find((each) => each !== "unknown");
    if (form === undefined) {
      throw new DbError(StatusCode.Unsupported, "Not supported: none of the response types that the client accepts");
    }
    exchange.setIdleTimeout(0);
    const permit = db.beginRead(session);
    const { prometheus, scheduler } = options;
    const place = { db, session, valueColumn: prometheus.valueColumn, permit, memory: new ReadMemory(permit), scheduler };
    const made = await answerBody(
      ending(form === "samples" ? wholeAnswer(queries, place) : framesOf(queries, place), () => permit.done()),
      answerHooks(exchange, failures, metrics),
      exchange.pace,
    );
    return { status: 200, headers: HEADERS[form], body: made };
  } finally {
    stop();
  }
}

/** Calls `done` once when the pieces end, fail or are no longer wanted. */
async function* ending(pieces: AsyncIterable<Uint8Array<ArrayBuffer>>, done: () => void): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  try {
    yield* pieces;
  } finally {
    done();
  }
}

async function* wholeAnswer(queries: readonly ReadQuery[], place: ReadPlace): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const results: Uint8Array<ArrayBuffer>[][] = [];
  for (const query of queries) {
    results.push((await seriesOf(query, "samples", place)).sort(byLabelCount).map(({ message }) => message));
  }
  yield* paced(snappyPieces(messagePieces(results)), place);
}

async function* framesOf(queries: readonly ReadQuery[], place: ReadPlace): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (const [index, query] of queries.entries()) {
    const found = (await seriesOf(query, "chunks", place)).sort(byLabels);
    yield* paced(
      found.map((series) => frameOf(series, index)),
      place,
    );
    place.memory.drop();
  }
}

/** Lets others have their turn now and then, and stops when nobody waits for the answer any more. */
async function* paced(
  pieces: Iterable<Uint8Array<ArrayBuffer>>,
  { permit, scheduler }: ReadPlace,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  for (const piece of pieces) {
    yield piece;
    bytes += piece.length;
    if (bytes < READ_TURN_BYTES) continue;
    bytes = 0;
    await scheduler.nextRound();
    throwIfCancelled(permit.signal);
  }
}
