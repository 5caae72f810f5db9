/**
 * `greptime.v1.PrometheusGateway` (contract query.md 5.2): a query of PromQL by its header and texts, answered by the JSON of the HTTP API.
 * What is wrong with a query stands in that JSON; a login that is refused is a status of gRPC.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { PrometheusGateway, type PromqlRequest, type PromqlResponseSchema } from "../../../../proto/gen/greptime/v1/prom_pb.js";
import type { Clock } from "../../../base/clock.ts";
import { DbError } from "../../../base/error.ts";
import type { Scheduler } from "../../../base/scheduler/scheduler.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Db } from "../../../db/db.ts";
import type { QueryAsk } from "../../../db/promql/promql-db.ts";
import type { Session } from "../../../db/session.ts";
import { badQuery, endedFailure, failureJson, otherFailure, queryFailure } from "../../common/promql/failures.ts";
import { durationOf, invalidParameter, momentOf } from "../../common/promql/moments.ts";
import { resultPieces } from "../../common/promql/result-json.ts";
import type { Call } from "../call.ts";
import { sessionOf } from "../request-session.ts";
import { type GrpcService, grpcService } from "../service.ts";

/** What the service works with. */
export interface PrometheusGatewayParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** Most bytes of an answer, which goes out in one message. */
  readonly sendBytesMax: number;
}

type Answer = MessageInitShape<typeof PromqlResponseSchema>;

/** The service. */
export function prometheusGateway(parts: PrometheusGatewayParts): GrpcService {
  return grpcService(PrometheusGateway, {
    handle: async (request, call): Promise<Answer> => {
      const session = await sessionOf(request.header, call);
      const started = parts.clock.monotonicMillis();
      const body = await answerTo(request, session, call, parts);
      const db = parts.db.hasDatabase(session.database) ? session.database : "";
      call.metrics.promqlSeconds.observe({ db }, (parts.clock.monotonicMillis() - started) / 1000);
      return { header: { status: { statusCode: StatusCode.Success } }, body };
    },
  });
}

async function answerTo(request: PromqlRequest, session: Session, call: Call, parts: PrometheusGatewayParts): Promise<Uint8Array> {
  const { queries } = parts.scheduler;
  try {
    const ask = askOf(request, parts.clock);
    await queries.take();
    try {
      return await resultOf(ask, session, parts);
    } finally {
      queries.done();
    }
  } catch (thrown) {
    // A call that has ended is told by its own status.
    if (!(thrown instanceof DbError) || call.signal.aborted || thrown.code === StatusCode.Internal) throw thrown;
    if (thrown.code === StatusCode.PermissionDenied) throw thrown;
    const isSyntax = thrown.code === StatusCode.InvalidSyntax;
    const error = isSyntax ? badQuery(thrown) : thrown;
    const told = isSyntax || thrown.code === StatusCode.InvalidArguments ? undefined : queryFailure(error);
    return new TextEncoder().encode(failureJson(told ?? endedFailure(error) ?? otherFailure(error), error));
  }
}

/** The JSON of a query in one piece. @throws DbError RuntimeResourcesExhausted for one that no message can hold */
async function resultOf(ask: QueryAsk, session: Session, { db, sendBytesMax }: PrometheusGatewayParts): Promise<Uint8Array> {
  const answer = await db.promql.query(ask, session);
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of resultPieces(answer, { isInstant: ask.isInstant, limit: 0, stats: undefined })) {
    pieces.push(piece);
    length += piece.length;
    if (length <= sendBytesMax) continue;
    const why = `cannot answer in one message: the result has more than ${sendBytesMax} bytes (grpc.max_send_message_size); ask over HTTP`;
    throw new DbError(StatusCode.RuntimeResourcesExhausted, why);
  }
  return Buffer.concat(pieces);
}

/** @throws DbError InvalidArguments */
function askOf({ promql }: PromqlRequest, clock: Clock): QueryAsk {
  if (promql.case === "instantQuery") {
    const { query, time, lookback } = promql.value;
    const millis = time === "" ? Number(clock.nowNanos() / 1_000_000n) : momentOf(time, "time");
    return { query, startMillis: millis, endMillis: millis, stepMillis: 1, isInstant: true, ...limitsOf(lookback) };
  }
  if (promql.case === undefined) throw new DbError(StatusCode.InvalidArguments, "cannot read PromqlRequest: it has no query");
  const { query, start, end, step, lookback } = promql.value;
  const [startMillis, endMillis, stepMillis] = [momentOf(start, "start"), momentOf(end, "end"), durationOf(step, "step")];
  if (endMillis < startMillis) throw invalidParameter("end", "end timestamp must not be before start time");
  if (stepMillis < 1)
    throw invalidParameter("step", "zero or negative query resolution step widths are not accepted. Try a positive integer");
  return { query, startMillis, endMillis, stepMillis, isInstant: false, ...limitsOf(lookback) };
}

function limitsOf(lookback: string): Pick<QueryAsk, "lookbackMillis" | "timeoutMillis"> {
  const lookbackMillis = lookback === "" ? undefined : durationOf(lookback, "lookback");
  if (lookbackMillis !== undefined && lookbackMillis < 1) throw invalidParameter("lookback", "it must be at least a millisecond");
  return { lookbackMillis, timeoutMillis: undefined };
}
