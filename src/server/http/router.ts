/**
 * Paths to handlers. Paths match exactly: a trailing slash is another path. A segment `{name}` in a route's path matches any one segment.
 */
import type { IngestProtocol } from "../../db/ingest-counts.ts";
import type { ErrorPrinter, ErrorShape } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import { emptyReply, type Reply } from "./reply.ts";

/** Answers one request; throws `DbError` for what goes wrong. */
export type Handler = (exchange: Exchange) => Promise<Reply> | Reply;

/** One path and what its methods do. */
export interface Route {
  /** Template, also the `path` label of metrics: `/v1/pipelines/{pipeline_name}`. */
  readonly path: string;
  /** By method; HEAD follows GET on its own. */
  readonly methods: Readonly<Partial<Record<"GET" | "POST" | "PUT" | "DELETE", Handler>>>;
  /** How errors of its handlers look. */
  readonly errors: ErrorShape;
  /** How a request without good credentials is answered; absent: 401 in the coded shape. */
  readonly unauthorized?: ErrorPrinter;
  /** Whose rows its bodies bring; every answer from 400 on is then a failure of writing. Absent: it takes none. */
  readonly ingest?: IngestProtocol;
  /** Whether an ingest thread serves a request by itself; absent: always. Asked before its body is read. */
  readonly isServedHere?: (rawQuery: string, headers: Headers) => boolean;
}

/** What the router found: a handler, or the answer for there being none. */
export type Found =
  | { readonly kind: "handler"; readonly route: Route; readonly handler: Handler }
  | { readonly kind: "refused"; readonly route: Route | undefined; readonly reply: Reply };

const NOT_FOUND: Found = { kind: "refused", route: undefined, reply: emptyReply(404) };

export class Router {
  private readonly exact: ReadonlyMap<string, Route>;
  private readonly templates: readonly { readonly segments: readonly string[]; readonly route: Route }[];

  constructor(routes: readonly Route[]) {
    this.exact = new Map(routes.map((route) => [route.path, route]));
    this.templates = routes.filter(({ path }) => path.includes("{")).map((route) => ({ segments: route.path.split("/"), route }));
  }

  /** Whether a request has a route that serves it on this thread. */
  serves(path: string, rawQuery: string, headers: Headers): boolean {
    const route = this.exact.get(path) ?? this.byTemplate(path);
    return route !== undefined && (route.isServedHere === undefined || route.isServedHere(rawQuery, headers));
  }

  /** The template of a path's route; undefined when there is none. */
  routeOf(path: string): string | undefined {
    return (this.exact.get(path) ?? this.byTemplate(path))?.path;
  }

  /** The handler of a method and path. */
  find(method: string, path: string): Found {
    const route = this.exact.get(path) ?? this.byTemplate(path);
    if (route === undefined) return NOT_FOUND;
    const handler = handlerOf(route, method);
    if (handler !== undefined) return { kind: "handler", route, handler };
    return { kind: "refused", route, reply: emptyReply(405, { allow: allowOf(route) }) };
  }

  private byTemplate(path: string): Route | undefined {
    if (this.templates.length === 0) return undefined;
    const parts = path.split("/");
    return this.templates.find(({ segments }) => matches(segments, parts))?.route;
  }
}

function matches(segments: readonly string[], parts: readonly string[]): boolean {
  if (segments.length !== parts.length) return false;
  return segments.every((segment, index) => segment === parts[index] || (segment.startsWith("{") && parts[index] !== ""));
}

function handlerOf(route: Route, method: string): Handler | undefined {
  switch (method) {
    case "HEAD":
      return route.methods.GET;
    case "GET":
    case "POST":
    case "PUT":
    case "DELETE":
      return route.methods[method];
    default:
      return undefined;
  }
}

function allowOf(route: Route): string {
  return Object.keys(route.methods)
    .flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
    .join(",");
}
