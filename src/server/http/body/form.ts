/**
 * Bodies of `application/x-www-form-urlencoded`.
 */
import { inTurns, Pace } from "../../../base/scheduler/pace.ts";
import type { HttpServerOptions } from "../options.ts";
import { type RepeatedPairs, repeatedPairsInSteps, type UniquePairs, uniquePairsInSteps } from "../query-string.ts";
import { type Reply, textReply } from "../reply.ts";
import type { BodyExchange } from "./body-exchange.ts";
import { readBody } from "./body.ts";

const FORM_TYPE = "application/x-www-form-urlencoded";

/** What reading a form goes by. */
export type FormOptions = Pick<HttpServerOptions, "bodyBytesMax" | "scheduler">;

/** The pairs of a form whose names are known, or the answer to what is none. */
export function readForm(exchange: BodyExchange, options: FormOptions, known: ReadonlySet<string>): Promise<UniquePairs | Reply> {
  return readPairs(exchange, options, (body) => uniquePairsInSteps(body, known));
}

/** The same where names may come several times. */
export function readRepeatedForm(exchange: BodyExchange, options: FormOptions, known: ReadonlySet<string>): Promise<RepeatedPairs | Reply> {
  return readPairs(exchange, options, (body) => repeatedPairsInSteps(body, known));
}

/** Whether a body says that it is a form. */
export function isForm(headers: Headers): boolean {
  return (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() === FORM_TYPE;
}

async function readPairs<T>(
  exchange: BodyExchange,
  options: FormOptions,
  pairsOf: (body: Uint8Array) => Generator<undefined, T>,
): Promise<T | Reply> {
  if (!isForm(exchange.request.headers)) {
    return textReply(415, `Form requests must have \`Content-Type: ${FORM_TYPE}\``);
  }
  const body = await readBody(exchange, { bytesMax: options.bodyBytesMax, decode: false });
  if (!(body instanceof Uint8Array)) return body;
  const pace = new Pace(options.scheduler);
  return inTurns(pairsOf(body), { signal: exchange.signal, pace });
}
