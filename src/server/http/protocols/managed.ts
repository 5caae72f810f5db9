/** Answers of endpoints that keep things for clients, pipelines and dashboards: a member for them, then the time it took. */
import type { Exchange } from "../exchange.ts";
import type { HttpServerOptions } from "../options.ts";
import { JSON_TYPE, type Reply } from "../reply.ts";

/** Milliseconds since the request came. */
export function elapsedOf(exchange: Exchange, { clock }: HttpServerOptions): number {
  return Math.floor(clock.monotonicMillis() - exchange.startedMs);
}

/** Headers of such an answer. */
export function managedHeaders(elapsedMillis: number): Readonly<Record<string, string>> {
  return { "content-type": JSON_TYPE, "x-greptime-format": "greptimedb_manage", "x-greptime-execution-time": String(elapsedMillis) };
}

/** `{"pipelines":[…],"execution_time_ms":N}`. */
export function managedReply(exchange: Exchange, options: HttpServerOptions, answer: object): Reply {
  const elapsed = elapsedOf(exchange, options);
  return { status: 200, headers: managedHeaders(elapsed), body: JSON.stringify({ ...answer, execution_time_ms: elapsed }) };
}
