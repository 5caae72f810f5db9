/** How servers of OTLP take metrics (contract ingest.md 4.2). */
import { invalidArguments } from "../../../base/error.ts";
import { MetricDecoder } from "../../../ingest/otlp/decode.ts";
import { decodeLegacy } from "../../../ingest/otlp/metrics/legacy.ts";
import { COMPAT_OPTION, MetricWay } from "../../../ingest/otlp/metrics/legacy-mode.ts";
import { STRATEGIES, type Strategy } from "../../../ingest/otlp/metrics/names.ts";
import { DEFAULT_PHYSICAL_TABLE } from "../../../table/metric.ts";
import { isName } from "../../../table/names.ts";
import { KeptDecoders } from "../kept-decoders.ts";
import type { OtlpBody, OtlpOptions, OtlpSignal, OtlpWrite } from "./signal.ts";
import { writeOptionsOf } from "../write-options.ts";
import { checkTableName } from "../../../table/names.ts";

const SEMANTICS = {
  [COMPAT_OPTION]: "prom",
  "greptime.semantic.signal_type": "metric",
  "greptime.semantic.source": "opentelemetry",
  "greptime.semantic.metric.metadata_quality": "declared",
} as const;
/** Of tables that the older way makes beside those that are there, such as that of a histogram's sum. */
const LEGACY_OPTIONS = { comment: "Created on insertion" } as const;
const PREFIX = "x-greptime-otlp-metric-";

/** The metrics of one thread. */
export function otlpMetrics(options: OtlpOptions): OtlpSignal {
  const decoders = new KeptDecoders(() => new MetricDecoder(), options.clock);
  options.memory.register("decoders", decoders);
  return {
    name: "metrics",
    form: "metrics",
    request: "MetricsRequest",
    rejectedName: "rejectedDataPoints",
    open: ({ headers, database }, { hints }) => {
      const labels = {
        strategy: strategyOf(headers.get(`${PREFIX}translation-strategy`)),
        promoteAll: isTruthy(headers.get(`${PREFIX}promote-all-resource-attrs`)),
        ignored: listOf(headers.get(`${PREFIX}ignore-resource-attrs`)),
        promoted: listOf(headers.get(`${PREFIX}promote-resource-attrs`)),
        promoteScope: isTruthy(headers.get(`${PREFIX}promote-scope-attrs`)),
      };
      const isLogical = options.prometheus.metricEngine;
      const physicalTable = hints.get("physical_table") || DEFAULT_PHYSICAL_TABLE;
      checkTableName(physicalTable);
      const writeOptions = writeOptionsOf(hints, options, isLogical ? "logical" : "physical", SEMANTICS);
      const { schemas } = options.db;
      const newer = (body: Uint8Array): OtlpWrite => {
        const result = decoders.of(database).decode(body, {
          ...labels,
          database,
          physicalTable: isLogical ? physicalTable : undefined,
          schemas,
          acceptsTable: isName,
        });
        return { result, options: { ...writeOptions, ...(isLogical ? { physicalTable } : {}), optionsOfTables: result.tableOptions } };
      };
      const older = (body: Uint8Array): OtlpWrite => ({
        result: decodeLegacy(body, { acceptsTable: isName }),
        options: { ...writeOptions, tableOptions: LEGACY_OPTIONS },
      });
      return { kind: "decoded", begin: () => bodyOf(new MetricWay(database, schemas), older, newer) };
    },
  };
}

function bodyOf(way: MetricWay, older: OtlpBody["decode"], newer: OtlpBody["decode"]): OtlpBody {
  return {
    look: (body) => {
      way.look(body);
      newer(body); // Which refuses what is no request, as the older way would.
    },
    decode: (body) => {
      if (!way.hasLooked) way.look(body);
      return way.isOlder ? older(body) : newer(body);
    },
  };
}

function strategyOf(text: string | null): Strategy {
  if (text === null) return "UnderscoreEscapingWithSuffixes";
  const strategy = STRATEGIES.find((name) => name === text);
  if (strategy !== undefined) return strategy;
  throw invalidArguments(`cannot use translation strategy ${text}: it must be one of ${STRATEGIES.join(", ")}`);
}

function isTruthy(text: string | null): boolean {
  return text !== null && ["true", "1", "yes", "on", "t"].includes(text.toLowerCase());
}

function listOf(text: string | null): ReadonlySet<string> {
  return new Set(
    (text ?? "")
      .split(";")
      .map((key) => key.trim())
      .filter((key) => key !== ""),
  );
}
