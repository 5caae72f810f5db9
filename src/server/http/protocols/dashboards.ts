/**
 * Dashboards that pages keep on the server (contract http.md 8.1, 8.2): list, save, delete. What a definition means is the page's affair;
 * it is a text, and comes back as it was.
 */
import { utf8Text } from "../../../base/bytes/utf8.ts";
import { invalidArguments } from "../../../base/error.ts";
import { DashboardTable, DEFINITION_BYTES_MAX } from "../../../db/dashboards/dashboard-table.ts";
import type { FailureLog } from "../../common/failure-log.ts";
import { answerBody, answerHooks } from "../answer-stream.ts";
import { readBody } from "../body/body.ts";
import { sessionOf } from "../context.ts";
import type { Exchange } from "../exchange.ts";
import type { HttpMetrics } from "../http-metrics.ts";
import type { HttpServerOptions } from "../options.ts";
import type { Reply } from "../reply.ts";
import type { Route } from "../router.ts";
import { elapsedOf, managedHeaders, managedReply } from "./managed.ts";

/** The routes of this file. */
export function dashboardRoutes(options: HttpServerOptions, metrics: HttpMetrics, failures: FailureLog): readonly Route[] {
  const table = new DashboardTable(options.db, options.clock);
  const list = async (exchange: Exchange): Promise<Reply> => {
    options.db.authorize(sessionOf(exchange), "read");
    exchange.setIdleTimeout(0);
    const body = await answerBody(listJson(exchange, options, table), answerHooks(exchange, failures, metrics), exchange.pace);
    return { status: 200, headers: managedHeaders(elapsedOf(exchange, options)), body };
  };
  const save = async (exchange: Exchange): Promise<Reply> => {
    options.db.authorize(sessionOf(exchange), "write");
    const name = nameOf(exchange);
    const body = await readBody(exchange, { bytesMax: bytesMaxOf(options), decode: true });
    if (!(body instanceof Uint8Array)) return body;
    const definition = utf8Text(body);
    if (definition === undefined) throw invalidArguments("Invalid request parameter: the definition of the dashboard is not UTF-8");
    if (definition.trim() === "") throw invalidArguments("Invalid request parameter: the definition of the dashboard is required in body");
    await table.save({ name, definition }, exchange.signal);
    return managedReply(exchange, options, { dashboards: [{ name }] });
  };
  const remove = async (exchange: Exchange): Promise<Reply> => {
    options.db.authorize(sessionOf(exchange), "write");
    const name = nameOf(exchange);
    const isGone = await table.remove(name, exchange.signal);
    return managedReply(exchange, options, { dashboards: isGone ? [{ name }] : [] });
  };
  return [
    { path: "/v1/dashboards", methods: { GET: list }, errors: "plain" },
    { path: "/v1/dashboards/{name}", methods: { POST: save, DELETE: remove }, errors: "plain" },
  ];
}

function bytesMaxOf({ bodyBytesMax }: HttpServerOptions): number {
  return bodyBytesMax === 0 ? DEFINITION_BYTES_MAX : Math.min(bodyBytesMax, DEFINITION_BYTES_MAX);
}

/** The name in the path, decoded. @throws DbError InvalidArguments */
function nameOf({ path }: Exchange): string {
  try {
    return decodeURIComponent(path.split("/")[3] ?? "");
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw invalidArguments("Invalid request parameter: the name of the dashboard is not percent-encoded UTF-8");
  }
}

async function* listJson(exchange: Exchange, options: HttpServerOptions, table: DashboardTable): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  yield encoder.encode('{"dashboards":[');
  let separator = "";
  for await (const { name, definition } of table.list(exchange.signal)) {
    yield encoder.encode(`${separator}${JSON.stringify({ name, definition })}`);
    separator = ",";
  }
  yield encoder.encode(`],"execution_time_ms":${elapsedOf(exchange, options)}}`);
}
