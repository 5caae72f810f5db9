/**
 * Endpoints for operators (contract http.md 1.3–1.7). They stand outside `/v1`, except `/v1/health`.
 */
import { DbError, restated, invalidArguments } from "../../../base/error.ts";
import { parseLogFilter, printLogFilter } from "../../../base/text/log-filter.ts";
import { utf8Document } from "../../../base/bytes/utf8.ts";
import { readBody } from "../body/body.ts";
import type { Exchange } from "../exchange.ts";
import { exposition } from "../http-metrics.ts";
import { DEBUG_BODY_BYTES_MAX } from "../limits.ts";
import type { BuildInfo, HttpServerOptions, LogControl } from "../options.ts";
import { jsonReply, type Reply, textReply } from "../reply.ts";
import type { Handler, Route } from "../router.ts";
import { mayAdminister } from "./debug/administrators.ts";
import { profileRoutes } from "./debug/profiles.ts";

/** Paths that the index page links to. */
const LINKS: readonly string[] = ["/dashboard", "/health", "/v1/health", "/status", "/metrics", "/config"];

/** The routes of this file. */
export function adminRoutes(options: HttpServerOptions): readonly Route[] {
  const health: Handler = (exchange) => healthReply(options, exchange);
  const page = indexPage(options.build);
  return [
    { path: "/", methods: { GET: () => page }, errors: "plain" },
    { path: "/health", methods: { GET: health, POST: health }, errors: "plain" },
    { path: "/ready", methods: { GET: health, POST: health }, errors: "plain" },
    { path: "/v1/health", methods: { GET: health, POST: health }, errors: "plain" },
    { path: "/status", methods: { GET: (exchange) => jsonReply(200, statusText(options, exchange)) }, errors: "plain" },
    { path: "/metrics", methods: { GET: async () => textReply(200, await exposition(options.metrics)) }, errors: "plain" },
    { path: "/config", methods: { GET: () => textReply(200, options.configText()) }, errors: "plain" },
    { path: "/debug/log_level", methods: { POST: async (exchange) => changeLogLevel(exchange, options.log) }, errors: "plain" },
    {
      path: "/debug/enable_trace",
      methods: { POST: mayAdminister(options, (exchange) => switchTraces(exchange, options)) },
      errors: "plain",
    },
    ...profileRoutes(options),
  ];
}

/**
 * 200 as long as the process answers, also while a disk fails or is full: reads work, writes get 503 with their reason, and all of it
 * heals by itself. A load balancer that took the server away, or a supervisor that restarted it, would only take the reads as well.
 */
function healthReply(options: HttpServerOptions, exchange: Exchange): Reply {
  const { ok } = options.db.health();
  return jsonReply(200, ok ? "{}" : JSON.stringify({ status: "degraded", reason: reasonFor(exchange, options) }));
}

/** What does not work; to strangers without the paths that errors of the system name. */
function reasonFor({ isTrusted }: Exchange, { db }: HttpServerOptions): string {
  const { reason, parts } = db.health();
  if (isTrusted) return reason ?? "";
  return `${parts.join(", ")} (why is told with credentials, and in the log)`;
}

function statusText(options: HttpServerOptions, exchange: Exchange): string {
  const { build, db } = options;
  const { ok } = db.health();
  return JSON.stringify({
    commit: build.commit,
    branch: build.branch,
    rustc_version: build.runtime,
    hostname: build.hostname === "" ? "unknown" : build.hostname,
    version: build.version,
    ...(ok ? {} : { status: "degraded", reason: reasonFor(exchange, options) }),
  });
}

function indexPage(build: BuildInfo): Reply {
  const product = escapeHtml(build.product);
  const items = LINKS.map((path) => `<li><a href="${path}">${path}</a></li>`).join("\n");
  const body = `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>${product}</title></head>
<body>
<h1>${product}</h1>
<p>Version: ${escapeHtml(build.version)}</p>
<ul>
${items}
</ul>
</body>
</html>
`;
  return { status: 200, headers: { "content-type": "text/html; charset=utf-8" }, body };
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

async function changeLogLevel(exchange: Exchange, log: LogControl): Promise<Reply> {
  const body = await readBody(exchange, { bytesMax: DEBUG_BODY_BYTES_MAX, decode: false });
  if (!(body instanceof Uint8Array)) return body;
  const text = utf8Document(body);
  if (text === undefined) throw invalidArguments("Invalid request parameter: the filter is not UTF-8");
  const before = printLogFilter(log.filter);
  log.setFilter(parseFilter(text));
  return textReply(200, `Log Level changed from ${before} to ${printLogFilter(log.filter)}`);
}

/** The body says it exactly: `true` or `false`. */
async function switchTraces(exchange: Exchange, options: HttpServerOptions): Promise<Reply> {
  const body = await readBody(exchange, { bytesMax: DEBUG_BODY_BYTES_MAX, decode: false });
  if (!(body instanceof Uint8Array)) return body;
  const text = utf8Document(body);
  if (text !== "true" && text !== "false") throw invalidArguments('Invalid request parameter: Invalid parameter "enable": ParseBoolError');
  if (options.setTracing === undefined) return textReply(503, "trace reload handle is not initialized");
  options.setTracing(text === "true");
  return textReply(200, text === "true" ? "trace enabled" : "trace disabled");
}

function parseFilter(text: string): LogControl["filter"] {
  try {
    return parseLogFilter(text);
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    throw restated(error, `Invalid request parameter: ${error.message}`);
  }
}
