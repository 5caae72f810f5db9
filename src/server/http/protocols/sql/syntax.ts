/** `/v1/sql/parse` and `/v1/sql/format` (contract http.md 2.8): the trees of a text, and the text printed anew. Nothing runs. */
import { DbError, invalidArguments } from "../../../../base/error.ts";
import { StatusCode } from "../../../../base/status-code.ts";
import { formattedSql, parsedJson } from "../../../../db/syntax/syntax-tools.ts";
import type { FailureLog } from "../../../common/failure-log.ts";
import { answerBody, answerHooks } from "../../answer-stream.ts";
import type { Exchange } from "../../exchange.ts";
import type { HttpMetrics } from "../../http-metrics.ts";
import type { HttpServerOptions } from "../../options.ts";
import { JSON_TYPE, jsonReply, type Reply } from "../../reply.ts";
import type { Route } from "../../router.ts";
import { readSqlParameters } from "./sql-parameters.ts";

/** The routes of this file. */
export function syntaxRoutes(options: HttpServerOptions, metrics: HttpMetrics, failures: FailureLog): readonly Route[] {
  const { scheduler } = options;
  const parse = async (exchange: Exchange): Promise<Reply> => {
    const parameters = await readSqlParameters(exchange, options);
    if ("status" in parameters) return parameters;
    if (parameters.sql === undefined) throw new DbError(StatusCode.InvalidArguments, "Invalid query: sql parameter is required.");
    exchange.setIdleTimeout(0);
    const pieces = encoded(parsedJson(parameters.sql, { scheduler, signal: exchange.signal }));
    const body = await answerBody(pieces, answerHooks(exchange, failures, metrics), exchange.pace);
    return { status: 200, headers: { "content-type": JSON_TYPE }, body };
  };
  const format = async (exchange: Exchange): Promise<Reply> => {
    const parameters = await readSqlParameters(exchange, options);
    if ("status" in parameters) return parameters;
    if (parameters.sql === undefined) throw invalidArguments("sql parameter is required.");
    const formatted = await formattedSql(parameters.sql, { scheduler, signal: exchange.signal });
    return jsonReply(200, JSON.stringify({ formatted }));
  };
  return [
    { path: "/v1/sql/parse", methods: { GET: parse, POST: parse }, errors: "plain" },
    { path: "/v1/sql/format", methods: { GET: format, POST: format }, errors: "coded" },
  ];
}

async function* encoded(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  for await (const piece of pieces) yield encoder.encode(piece);
}
