/**
 * Bodies of `application/x-www-form-urlencoded`.
 */
import { inTurns, Pace } from "../../../base/scheduler/pace.ts";
import type { HttpServerOptions } from "../options.ts";
import { type UniquePairs, uniquePairsInSteps } from "../query-string.ts";
import { type Reply, textReply } from "../reply.ts";
import { readBody, type BodyExchange } from "./body.ts";

const FORM_TYPE = "application/x-www-form-urlencoded";

/** What reading a form goes by. */
export type FormOptions = Pick<HttpServerOptions, "bodyBytesMax" | "scheduler">;

/** The pairs of a form whose names are known, or the answer to what is none. */
export async function readForm(exchange: BodyExchange, options: FormOptions, known: ReadonlySet<string>): Promise<UniquePairs | Reply> {
  const contentType = exchange.request.headers.get("content-type") ?? "";
  if (contentType.split(";", 1)[0]?.trim().toLowerCase() !== FORM_TYPE) {
    return textReply(415, `Form requests must have \`Content-Type: ${FORM_TYPE}\``);
  }
  const body = await readBody(exchange, { bytesMax: options.bodyBytesMax, decode: false });
  if (!(body instanceof Uint8Array)) return body;
  const pace = new Pace(options.scheduler);
  return inTurns(uniquePairsInSteps(body, known), { signal: exchange.signal, pace });
}
