/**
 * What Prometheus tells of itself, as far as this server has it: build, figures of the store, settings. Rules, alerts and targets
 * are asked for by dashboards; there are none here.
 */
import { sessionOf } from "../../../context.ts";
import type { Exchange } from "../../../exchange.ts";
import type { HttpServerOptions } from "../../../options.ts";
import type { Reply } from "../../../reply.ts";
import type { Handler, Route } from "../../../router.ts";
import { formatTimestamp } from "../../../../../value/format-time.ts";
import type { Figure } from "../../../../../db/promql/store-figures.ts";
import { readErrorReply, successReply } from "../envelope.ts";
import { API_PATH } from "../query-text.ts";

/** What is never there. */
const EMPTY: Readonly<Record<string, unknown>> = {
  rules: { groups: [] },
  alerts: { alerts: [] },
  targets: { activeTargets: [], droppedTargets: [], droppedTargetCounts: {} },
  "targets/metadata": [],
  alertmanagers: { activeAlertmanagers: [], droppedAlertmanagers: [] },
};

/** What one endpoint tells. */
type Data = (exchange: Exchange) => unknown;

/** The routes of this file; none when the protocol is off. */
export function prometheusStatusRoutes(options: HttpServerOptions): readonly Route[] {
  if (!options.prometheus.enabled) return [];
  const startTime = rfc3339(options.clock.nowNanos());
  const told: readonly (readonly [string, Data])[] = [
    ...Object.entries(EMPTY).map(([path, data]) => [path, () => data] as const),
    ["status/buildinfo", () => buildInfo(options)],
    ["status/runtimeinfo", () => runtimeInfo(options, startTime)],
    ["status/config", () => ({ yaml: options.configText() })],
    ["status/flags", () => ({ "web.listen-address": `${options.hostname}:${options.port}` })],
    ["status/tsdb", (exchange) => storeInfo(exchange, options)],
  ];
  return told.map(([path, data]) => route(path, data, options));
}

function route(path: string, data: Data, { db }: HttpServerOptions): Route {
  const handler: Handler = async (exchange): Promise<Reply> => {
    db.authorize(sessionOf(exchange), "read");
    return successReply(JSON.stringify(await data(exchange)));
  };
  return { path: `${API_PATH}/${path}`, methods: { GET: handler }, errors: readErrorReply };
}

function buildInfo({ build }: HttpServerOptions): unknown {
  const { version, commit, branch, runtime } = build;
  return { version, revision: commit, branch, goVersion: runtime };
}

/** Members that are of Prometheus' own runtime or storage have no value here and are left out. */
function runtimeInfo({ build, memory, clock }: HttpServerOptions, startTime: string): unknown {
  return {
    startTime,
    hostname: build.hostname,
    serverTime: rfc3339(clock.nowNanos()),
    lastConfigTime: startTime,
    GOMAXPROCS: navigator.hardwareConcurrency,
    GOMEMLIMIT: Number.isFinite(memory.bytesMax) ? memory.bytesMax : undefined,
  };
}

async function storeInfo(exchange: Exchange, { db }: HttpServerOptions): Promise<unknown> {
  exchange.setIdleTimeout(0);
  const figures = await db.promql.figures(sessionOf(exchange));
  const shown = (all: readonly Figure[]): unknown => all.map(({ name, value }) => ({ name, value }));
  return {
    headStats: {
      numSeries: figures.seriesCount,
      numLabelPairs: figures.labelPairCount,
      minTime: figures.minMillis,
      maxTime: figures.maxMillis,
    },
    seriesCountByMetricName: shown(figures.seriesByMetric),
    labelValueCountByLabelName: shown(figures.valuesByLabel),
    memoryInBytesByLabelName: shown(figures.bytesByLabel),
    seriesCountByLabelValuePair: shown(figures.seriesByPair),
  };
}

function rfc3339(nanos: bigint): string {
  return `${formatTimestamp(nanos / 1_000_000n, "millisecond").replace(" ", "T")}Z`;
}
