/**
 * Which series, labels and metrics there are: `labels`, `series`, `label/{name}/values`, `metadata` (contract ingest.md 3.7–3.10). What
 * is left out because of `limit` is told in a warning.
 */
import type { Labels } from "../../../../../db/promql/promql-db.ts";
import { answerBody, answerHooks } from "../../../answer-stream.ts";
import { sessionOf } from "../../../context.ts";
import type { FailureLog } from "../../../../common/failure-log.ts";
import type { Exchange } from "../../../exchange.ts";
import type { HttpMetrics } from "../../../http-metrics.ts";
import type { HttpServerOptions } from "../../../options.ts";
import { JSON_TYPE, type Reply } from "../../../reply.ts";
import type { Handler, Route } from "../../../router.ts";
import { readErrorReply, successReply } from "../envelope.ts";
import { invalidParameter } from "../../../../common/promql/moments.ts";
import { type Parameters, readParameters } from "./parameters.ts";
import { JsonPieces } from "../../../../common/promql/json-pieces.ts";
import { metricJson } from "../../../../common/promql/value-text.ts";
import { API_PATH } from "../query-text.ts";

const NAMES: ReadonlySet<string> = new Set(["match[]", "start", "end", "limit"]);
const METADATA_NAMES: ReadonlySet<string> = new Set(["metric", "limit", "limit_per_metric"]);
const CUT = ',"warnings":["results truncated due to limit"]';

/** What all of these are answered with. */
interface Server {
  readonly options: HttpServerOptions;
  readonly metrics: HttpMetrics;
  readonly failures: FailureLog;
}

/** The routes of this file; none when the protocol is off. */
export function prometheusLabelRoutes(options: HttpServerOptions, metrics: HttpMetrics, failures: FailureLog): readonly Route[] {
  if (!options.prometheus.enabled) return [];
  const server = { options, metrics, failures };
  const both = (path: string, answer: typeof labels): Route => {
    const handler: Handler = (exchange) => answer(exchange, server);
    return { path: `${API_PATH}/${path}`, methods: { GET: handler, POST: handler }, errors: readErrorReply };
  };
  const ofMetadata: Handler = (exchange) => metadata(exchange, server);
  return [
    both("labels", labels),
    both("series", series),
    both("label/{name}/values", labelValues),
    { path: `${API_PATH}/metadata`, methods: { GET: ofMetadata }, errors: readErrorReply },
  ];
}

async function labels(exchange: Exchange, { options }: Server): Promise<Reply> {
  const parameters = await readParameters(exchange, options, NAMES);
  if ("status" in parameters) return parameters;
  exchange.setIdleTimeout(0);
  return listReply(await options.db.promql.labelNames(askOf(parameters), askerOf(exchange)), parameters.limit());
}

async function labelValues(exchange: Exchange, { options }: Server): Promise<Reply> {
  const parameters = await readParameters(exchange, options, NAMES);
  if ("status" in parameters) return parameters;
  const name = labelOf(exchange.path);
  exchange.setIdleTimeout(0);
  return listReply(await options.db.promql.labelValues(name, askOf(parameters), askerOf(exchange)), parameters.limit());
}

/** Who asks, address included: the list of statements shows it. */
function askerOf(exchange: Exchange): ReturnType<typeof sessionOf> {
  return { ...sessionOf(exchange), client: exchange.client() };
}

/** A label may be written as it is, or as Prometheus escapes names that are no identifiers: `U__a_2e_b`. */
function labelOf(path: string): string {
  const written = path.split("/").at(-2) ?? "";
  let name: string | undefined;
  try {
    name = decodeURIComponent(written);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
  }
  if (name === undefined || name === "") throw invalidParameter("name", `invalid label name: "${written.slice(0, 80)}"`);
  if (!name.startsWith("U__")) return name;
  return name
    .slice(3)
    .replaceAll(/__|_([\da-f]{1,6})_/g, (text, hex: string | undefined) => (hex === undefined ? "_" : characterOf(hex, text)));
}

function characterOf(hex: string, text: string): string {
  const code = Number.parseInt(hex, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : text;
}

async function series(exchange: Exchange, { options, metrics, failures }: Server): Promise<Reply> {
  const parameters = await readParameters(exchange, options, NAMES);
  if ("status" in parameters) return parameters;
  if (parameters.all("match[]").length === 0) throw invalidParameter("match[]", "no match[] parameter provided");
  exchange.setIdleTimeout(0);
  const found = options.db.promql.series(askOf(parameters), askerOf(exchange));
  const pieces = seriesPieces(found, parameters.limit());
  const body = await answerBody(pieces, answerHooks(exchange, failures, metrics), exchange.pace);
  return { status: 200, headers: { "content-type": JSON_TYPE }, body };
}

async function* seriesPieces(found: AsyncIterable<Labels>, limit: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const pieces = new JsonPieces('{"status":"success","data":[');
  let count = 0;
  let isCut = false;
  for await (const each of found) {
    if (limit > 0 && count === limit) {
      isCut = true;
      break;
    }
    pieces.add(`${count++ === 0 ? "" : ","}${metricJson(each)}`);
    if (pieces.isFull) yield pieces.take();
  }
  pieces.add(`]${isCut ? CUT : ""}}`);
  yield pieces.take();
}

async function metadata(exchange: Exchange, { options }: Server): Promise<Reply> {
  const parameters = await readParameters(exchange, options, METADATA_NAMES);
  if ("status" in parameters) return parameters;
  const known = options.db.promql.metadata(parameters.one("metric"), askerOf(exchange));
  const told = parameters.one("limit") === undefined ? known : known.slice(0, parameters.limit());
  const entries = told.map(({ metric, type, unit }) => `${JSON.stringify(metric)}:${JSON.stringify([{ type, unit, help: "" }])}`);
  return successReply(`{${entries.join(",")}}`);
}

function askOf(parameters: Parameters): {
  readonly match: readonly string[];
  readonly firstMillis: number;
  readonly lastMillis: number;
} {
  parameters.limit(); // A limit that is none is refused before anything is read.
  return { match: parameters.all("match[]"), ...parameters.range() };
}

function listReply(texts: readonly string[], limit: number): Reply {
  const isCut = limit > 0 && texts.length > limit;
  return successReply(JSON.stringify(isCut ? texts.slice(0, limit) : texts), isCut ? CUT : "");
}
