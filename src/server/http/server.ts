/**
 * The HTTP listener. Each request goes through the same steps (contract http.md 1.2): surface guard, CORS, timeout, in-flight limit,
 * credentials, route. The body limit is kept where bodies are read (body.ts).
 */
import { isLoopback } from "../../base/text/network-address.ts";
import { PipelineStore } from "../../db/pipelines/pipeline-store.ts";
import { adminRoutes } from "./protocols/admin.ts";
import { arrowRoutes } from "./protocols/arrow.ts";
import { dashboardRoutes } from "./protocols/dashboards.ts";
import { listenForForwarded, type ForwardedListener } from "./forwarded-listener.ts";
import { registerFacts } from "./http-metrics.ts";
import { dashboardPageRoutes } from "./protocols/dashboard.ts";
import { influxQueryRoutes } from "./protocols/influx/query.ts";
import { jaegerRoutes } from "./protocols/jaeger.ts";
import { type HttpListener, openListener } from "./listener.ts";
import type { HttpServerOptions } from "./options.ts";
import { logQueryRoutes } from "./protocols/logs/query.ts";
import { pipelineRoutes } from "./protocols/logs/pipelines.ts";
import { HttpService } from "./service.ts";
import { prometheusExemplarRoutes } from "./protocols/prometheus/query/exemplars.ts";
import { prometheusLabelRoutes } from "./protocols/prometheus/query/labels.ts";
import { prometheusQueryRoutes } from "./protocols/prometheus/query/query.ts";
import { promqlRowRoutes } from "./protocols/prometheus/query/rows.ts";
import { prometheusStatusRoutes } from "./protocols/prometheus/query/status.ts";
import { prometheusTextRoutes } from "./protocols/prometheus/query-text.ts";
import { prometheusReadRoutes } from "./protocols/prometheus/read.ts";
import { sqlRoutes } from "./protocols/sql/sql.ts";
import { writeRoutes } from "./protocols/write-routes.ts";

/** A running listener with all routes. */
export interface HttpServer extends HttpListener {
  /** `http://host:port`. */
  readonly url: string;
  /**
   * Takes requests that other threads pass on, over a socket in the file system that only this user can open.
   *
   * @throws DbError StorageUnavailable
   */
  listenForForwarded(path: string): ForwardedListener;
}

/** What answers requests, wherever they come from. */
export function routedService(options: HttpServerOptions): HttpService {
  const pipelines = new PipelineStore(options.db, options.clock);
  return new HttpService(options, {
    routes: (metrics, failures) => [
      ...adminRoutes(options),
      ...dashboardPageRoutes(options.dashboardFolder),
      ...sqlRoutes(options, metrics, failures),
      ...influxQueryRoutes(options),
      ...arrowRoutes(options),
      ...writeRoutes(options, metrics, failures, pipelines),
      ...pipelineRoutes(options, pipelines),
      ...prometheusReadRoutes(options, metrics, failures),
      ...prometheusTextRoutes(options),
      ...prometheusExemplarRoutes(options),
      ...prometheusLabelRoutes(options, metrics, failures),
      ...prometheusQueryRoutes(options, metrics, failures),
      ...prometheusStatusRoutes(options),
      ...promqlRowRoutes(options, metrics, failures),
      ...logQueryRoutes(options, metrics, failures),
      ...dashboardRoutes(options, metrics, failures),
      ...jaegerRoutes(options, metrics, failures),
    ],
  });
}

/** Starts the listener. @throws DbError StorageUnavailable when the address cannot be listened on */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  registerFacts(options);
  const service = routedService(options);
  const listener = openListener(options, service);
  const { port } = listener;
  const host = options.hostname.includes(":") ? `[${options.hostname}]` : options.hostname;
  const address = `${host}:${port}`;
  options.logger.info({ address, surface: options.surface }, "HTTP listens");
  if (!isLoopback(options.hostname) && options.userProvider === undefined)
    options.logger.warn(
      { address },
      "HTTP is open to other machines without user_provider: whoever reaches it may read and drop every table",
    );
  return {
    port,
    url: `http://${host}:${port}`,
    stop: (graceMs) => listener.stop(graceMs),
    listenForForwarded: (path) => listenForForwarded(path, service, options.logger),
  };
}
