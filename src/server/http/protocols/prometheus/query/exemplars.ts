/** `query_exemplars`: none are kept, so that a query that is one is answered with an empty list, and refused otherwise. */
import { inTurns, Pace } from "../../../../../base/scheduler/pace.ts";
import { checkedQuery } from "../../../../../db/promql/query-text.ts";
import { sessionOf } from "../../../context.ts";
import type { Exchange } from "../../../exchange.ts";
import type { HttpServerOptions } from "../../../options.ts";
import type { Reply } from "../../../reply.ts";
import type { Handler, Route } from "../../../router.ts";
import { prometheusErrorReply, successReply } from "../envelope.ts";
import { invalidParameter } from "../../../../common/promql/moments.ts";
import { readParameters } from "./parameters.ts";

const PATH = "/v1/prometheus/api/v1/query_exemplars";
const NAMES: ReadonlySet<string> = new Set(["query", "start", "end"]);

/** The route of this file; none when the protocol is off. */
export function prometheusExemplarRoutes(options: HttpServerOptions): readonly Route[] {
  if (!options.prometheus.enabled) return [];
  const handler: Handler = (exchange) => exemplars(exchange, options);
  return [{ path: PATH, methods: { GET: handler, POST: handler }, errors: prometheusErrorReply }];
}

async function exemplars(exchange: Exchange, options: HttpServerOptions): Promise<Reply> {
  const { db, scheduler } = options;
  db.authorize(sessionOf(exchange), "read");
  const parameters = await readParameters(exchange, options, NAMES);
  if ("status" in parameters) return parameters;
  const { firstMillis, lastMillis } = parameters.range();
  if (lastMillis < firstMillis) throw invalidParameter("end", "end timestamp must not be before start timestamp");
  await scheduler.queries.take();
  try {
    await inTurns(checkedQuery(parameters.one("query") ?? ""), { signal: exchange.signal, pace: new Pace(scheduler) });
  } finally {
    scheduler.queries.done();
  }
  return successReply("[]");
}
