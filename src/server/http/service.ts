/**
 * One request from the socket to its answer. Handlers throw `DbError`; every failure becomes an answer here and nowhere else.
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type TraceContext, traceContextOf, traceParentText } from "../../base/trace/trace-context.ts";
import type { Tracer } from "../../base/trace/tracer.ts";
import { IngestMetrics } from "../../db/ingest-counts.ts";
import { Authenticator } from "./access/authenticator.ts";
import { BrowserGuard } from "../common/browser-guard.ts";
import { databaseTextOf } from "./context.ts";
import { databaseExists, databaseOf } from "../common/database-name.ts";
import { contentLengthOf } from "./body/content-length.ts";
import { waitsForBody } from "./body/incoming-body.ts";
import { Cors } from "./access/cors.ts";
import { codedErrorReply, errorReply, type ErrorShape, plainErrorReply } from "./errors.ts";
import { FailureLog } from "../common/failure-log.ts";
import { type Exchange, splitUrl } from "./exchange.ts";
import { HttpMetrics, UNKNOWN_DATABASE } from "./http-metrics.ts";
import { type BodyShare, InFlightBytes } from "./body/in-flight.ts";
import { BODY_PACE, CONNECTION_IDLE_SECONDS, IN_FLIGHT_WAITERS_MAX, type PaceLimits } from "./limits.ts";
import type { IngestServerOptions } from "./options.ts";
import { discardBody, emptyReply, type Reply, textReply } from "./reply.ts";
import { timeoutMsOf } from "./request-timeout.ts";
import { type Route, Router } from "./router.ts";

/** Longest path that a span has where there is no route. */
const PATH_CHARACTERS_MAX = 256;
const NOT_FOUND: Reply = emptyReply(404);

/** What the service uses of the runtime's server. */
export type Listener = Pick<Bun.Server<undefined>, "timeout"> & {
  /** The port is not told of one that another thread passes on. */
  requestIP(request: Request): { readonly address: string; readonly port?: number } | null;
};

/** Answers a request of a path that this thread has no route for. */
export type Forward = (request: Request, listener: Listener, share: BodyShare, pace: PaceLimits, trace?: TraceContext) => Promise<Response>;

/** What a service serves. */
export interface Served {
  routes(metrics: HttpMetrics, failures: FailureLog): readonly Route[];
  /** For paths without a route; without it they are answered with 404. */
  readonly forward?: Forward;
}

/** The steps from a request to its answer, with the state they share. */
export class HttpService {
  private readonly options: IngestServerOptions;
  private readonly forward: Forward | undefined;
  private readonly router: Router;
  private readonly cors: Cors;
  private readonly guard: BrowserGuard;
  private readonly metrics: HttpMetrics;
  private readonly ingest: IngestMetrics;
  private readonly failures: FailureLog;
  private readonly inFlight: InFlightBytes;
  private readonly authenticator: Authenticator;
  private readonly pace: PaceLimits;
  /** Requests without an answer, and where they came in. */
  private readonly underway: Map<Request, Listener> = new Map();
  private stopping = false;

  constructor(options: IngestServerOptions, served: Served) {
    this.options = options;
    this.forward = served.forward;
    this.metrics = new HttpMetrics(options.metrics);
    this.ingest = IngestMetrics.of(options.metrics);
    this.failures = new FailureLog(options.logger, (bug) => options.onBug(bug));
    this.cors = new Cors(options.cors);
    this.pace = options.pace ?? BODY_PACE;
    const origins = options.cors.enabled ? options.cors.origins : [];
    this.guard = new BrowserGuard({ hostname: options.hostname, allowedHosts: options.allowedHosts, origins });
    this.inFlight = new InFlightBytes({
      bytesMax: options.inFlightBytesMax,
      waitMs: options.inFlightWaitMs,
      waitersMax: IN_FLIGHT_WAITERS_MAX,
      onRejected: (reason) => this.metrics.bodiesRejected.inc({ reason }),
    });
    options.memory.register("request_bodies", { bytes: () => this.inFlight.bytes });
    this.metrics.showInFlight(this.inFlight);
    this.authenticator = new Authenticator({ ...options, provider: options.userProvider }, this.metrics.authFailures);
    this.router = new Router(served.routes(this.metrics, this.failures));
  }

  /** From now on answers ask clients to close their connections. */
  startStopping(): void {
    this.stopping = true;
  }

  /** Answers one request; never rejects. */
  async handle(request: Request, listener: Listener): Promise<Response> {
    this.underway.set(request, listener);
    try {
      const { tracer } = this.options;
      return tracer?.isOn === true ? await this.traced(request, listener, tracer) : await this.answered(request, listener, undefined);
    } finally {
      this.underway.delete(request);
    }
  }

  /** The same with a span, which the answer names. A streamed answer is over for it when its head is there. */
  private async traced(request: Request, listener: Listener, tracer: Tracer): Promise<Response> {
    const parent = traceContextOf(request.headers.get("traceparent"));
    const span = tracer.begin(request.method, parent);
    if (span === undefined) return this.answered(request, listener, undefined);
    const response = await this.answered(request, listener, span.context);
    response.headers.set("traceresponse", traceParentText(span.context));
    const [path] = splitUrl(request.url);
    const { status } = response;
    const attributes = {
      "http.request.method": request.method,
      "http.route": this.router.routeOf(path) ?? path.slice(0, PATH_CHARACTERS_MAX),
      "http.response.status_code": status,
      "http.request.body.size": Number(request.headers.get("content-length") ?? 0),
      "user_agent.original": request.headers.get("user-agent") ?? undefined,
    };
    span.end(attributes, status >= 500 ? `status ${status}` : undefined);
    return response;
  }

  /** Says which connections have a request under way, while somebody wants to know. */
  markUnderway(): void {
    const { marks, clock } = this.options;
    if (marks?.isWanted !== true) return;
    const now = clock.nowMillis();
    for (const [request, listener] of this.underway) {
      if (!waitsForBody(request)) marks.mark(listener.requestIP(request)?.port ?? 0, now);
    }
  }

  private async answered(request: Request, listener: Listener, trace: TraceContext | undefined): Promise<Response> {
    const startedMs = this.options.clock.monotonicMillis();
    const length = contentLengthOf(request.headers);
    if (typeof length === "object") return this.respond(request, flawedLength(length.flaw), {});
    const [path, rawQuery] = splitUrl(request.url);
    const browser = this.guard.judge(request.method, path, request.headers);
    if (typeof browser === "object") {
      this.metrics.browserRefusals.inc();
      const refusal = new DbError(StatusCode.AccessDenied, browser.refused);
      return this.respond(request, codedErrorReply(refusal, 0), this.cors.headersFor(request));
    }
    if (this.forward !== undefined && !this.router.serves(path, rawQuery, request.headers))
      return this.forwarded(await this.passedOn(this.forward, request, listener, trace));
    if (this.options.surface === "api" && !isApiPath(path)) return this.respond(request, NOT_FOUND, {});
    // `/debug` stands outside the layers: no CORS, no timeout, no metrics.
    const debug = path.startsWith("/debug/");
    if (request.method === "OPTIONS" && this.cors.enabled && !debug) {
      return this.respond(request, emptyReply(200), this.cors.preflightHeaders(request));
    }
    const timeoutMs = debug ? 0 : timeoutMsOf(request.headers, this.options.timeoutMs);
    const work = (time: RequestTime): Promise<Reply> =>
      this.guarded(request, listener, path, rawQuery, startedMs, { ...time, trace }, browser);
    const reply =
      timeoutMs === 0
        ? await work({ signal: request.signal, endTimeout: () => undefined })
        : await withTimeout(request, path, timeoutMs, work);
    // The handler may have lifted the connection's timeout; a streamed answer has its own.
    if (!(reply.body instanceof ReadableStream)) listener.timeout(request, CONNECTION_IDLE_SECONDS);
    return this.respond(request, reply, debug ? {} : this.cors.headersFor(request));
  }

  private async passedOn(forward: Forward, request: Request, listener: Listener, trace: TraceContext | undefined): Promise<Response> {
    const share = this.inFlight.share();
    try {
      return await forward(request, listener, share, this.pace, trace);
    } finally {
      share.release();
    }
  }

  private forwarded(response: Response): Response {
    if (this.stopping) response.headers.set("connection", "close");
    return response;
  }

  /** What to answer when answering failed. */
  lastResort(error: unknown): Response {
    const { error: shown } = this.failures.report(error, { method: "?", path: "?" }, () => "?");
    const reply = plainErrorReply(shown);
    return new Response(typeof reply.body === "string" ? reply.body : null, { status: 500, headers: { ...reply.headers } });
  }

  private respond(request: Request, reply: Reply, cors: Readonly<Record<string, string>>): Response {
    const headers: Record<string, string> = { ...cors, ...reply.headers };
    if (this.stopping) headers["connection"] = "close";
    if (request.method === "HEAD" && reply.body instanceof ReadableStream) {
      void discardBody(reply); // only stops the source; there is nobody to tell
      return new Response(null, { status: reply.status, headers });
    }
    return new Response(reply.body ?? null, { status: reply.status, headers });
  }

  /** The steps behind the timeout. */
  private async guarded(
    request: Request,
    listener: Listener,
    path: string,
    rawQuery: string,
    startedMs: number,
    given: RequestTime & Pick<Exchange, "trace">,
    browser: "served" | "reads only",
  ): Promise<Reply> {
    const found = this.router.find(request.method, path);
    const route = found.route;
    const share = this.inFlight.share();
    try {
      const verdict = await this.authenticator.authenticate(path, rawQuery, request.headers, () => clientOf(listener, request));
      if (verdict.kind === "refused") return route?.unauthorized?.(verdict.error, 0) ?? codedErrorReply(verdict.error, 0, 401);
      if (found.kind === "refused") return found.reply;
      const exchange: Exchange = {
        request,
        method: request.method,
        path,
        rawQuery,
        // Credentials are sent by whoever knows them: then no foreign page is behind it.
        user: browser === "served" || this.options.userProvider !== undefined ? verdict.user : { ...verdict.user, mode: "ro" },
        isTrusted: verdict.isTrusted,
        client: () => clientOf(listener, request),
        ...given,
        startedMs,
        share,
        pace: this.pace,
        ingest: route?.ingest === undefined ? undefined : this.ingest.of(route.ingest),
        database: await this.databaseOf(databaseTextOf(path, rawQuery, request.headers), request.signal),
        setIdleTimeout: (seconds) => listener.timeout(request, seconds),
      };
      const reply = await this.answer(exchange, found.route, found.handler, listener);
      this.count(exchange, found.route, reply.status);
      return reply;
    } catch (error) {
      return this.failed(error, route?.errors ?? "coded", request, path, startedMs, listener);
    } finally {
      share.release();
    }
  }

  private async answer(exchange: Exchange, route: Route, handler: Route["methods"]["GET"] & {}, listener: Listener): Promise<Reply> {
    try {
      const reply = await handler(exchange);
      exchange.share.freeBody();
      return reply;
    } catch (error) {
      return this.failed(error, route.errors, exchange.request, exchange.path, exchange.startedMs, listener);
    }
  }

  private failed(thrown: unknown, shape: ErrorShape, request: Request, path: string, startedMs: number, listener: Listener): Reply {
    const client = (): string => clientOf(listener, request);
    const failure = request.signal.aborted
      ? { error: new DbError(StatusCode.Cancelled, "the client left", { cause: thrown }) }
      : this.failures.report(thrown, { method: request.method, path }, client);
    if (failure.requestId !== undefined) this.metrics.errors.inc({ protocol: "http" });
    const elapsed = Math.floor(this.options.clock.monotonicMillis() - startedMs);
    const reply = errorReply(failure.error, shape, elapsed);
    if (failure.requestId === undefined) return reply;
    return { ...reply, headers: { ...reply.headers, "x-request-id": failure.requestId } };
  }

  /** The database that a request names, which another process may have made just now. */
  private async databaseOf(text: string, signal: AbortSignal): Promise<string> {
    const { db } = this.options;
    const known = databaseOf(text, db);
    if (db.refresh === undefined || databaseExists(known, db)) return known;
    await db.refresh(signal);
    return databaseOf(text, db);
  }

  private count(exchange: Exchange, route: Route, status: number): void {
    if (route.path.startsWith("/debug/")) return;
    if (status >= 400) exchange.ingest?.failed();
    const seconds = (this.options.clock.monotonicMillis() - exchange.startedMs) / 1000;
    const database = databaseExists(exchange.database, this.options.db) ? exchange.database : UNKNOWN_DATABASE;
    this.metrics.answered(exchange.method, route.path, status, database, seconds);
  }
}

/** The answer to a request whose body has no end that both sides know; what follows on the connection may be anything. */
function flawedLength(why: string): Reply {
  const reply = textReply(400, `cannot read the request: Content-Length: ${why}`);
  return { ...reply, headers: { ...reply.headers, connection: "close" } };
}

/** Address of the client of a request. */
function clientOf(listener: Listener, request: Request): string {
  return listener.requestIP(request)?.address ?? "gone";
}

/** Paths that the second listener serves. */
function isApiPath(path: string): boolean {
  return path === "/v1" || path.startsWith("/v1/") || path === "/dashboard" || path.startsWith("/dashboard/");
}

/** How long a request may take. */
type RequestTime = Pick<Exchange, "signal" | "endTimeout">;

/** Runs `work` under a timeout. On expiry its signal fires, and what it still answers is dropped. */
async function withTimeout(request: Request, path: string, timeoutMs: number, work: (time: RequestTime) => Promise<Reply>): Promise<Reply> {
  const expiry = new AbortController();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => {
    expiry.abort(new DbError(StatusCode.DeadlineExceeded, `cannot finish the request: it took longer than ${timeoutMs} ms`));
    resolve(undefined);
  }, timeoutMs);
  const endTimeout = (): void => clearTimeout(timer);
  const working = work({ signal: AbortSignal.any([request.signal, expiry.signal]), endTimeout });
  const reply = await Promise.race([working, promise]);
  // A streamed answer is still being made when its head is ready, so its timer runs on until it is over.
  if (reply !== undefined) {
    if (!(reply.body instanceof ReadableStream)) endTimeout();
    return reply;
  }
  void working.then(discardBody); // `work` never rejects
  // Prometheus retries on 504 only.
  return emptyReply(path === "/v1/prometheus/write" ? 504 : 408);
}
