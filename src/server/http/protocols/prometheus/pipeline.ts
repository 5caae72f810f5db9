/** Samples of a remote write through a stored pipeline (contract ingest.md 2.3): one table a metric, as the pipeline makes it. */
import { databaseNotFound } from "../../../../table/not-found.ts";
import type { samplePipelineRows } from "../../../../ingest/prometheus/pipeline-rows.ts";
import { databaseExists } from "../../../common/database-name.ts";
import type { Exchange } from "../../exchange.ts";
import type { LogEndpoint } from "../logs/log-endpoint.ts";
import { writeLogs } from "../../../common/logs/log-write.ts";
import type { PipelineStep } from "../logs/pipeline-step.ts";
import type { AcceptedWrite } from "../../../common/accepted-write.ts";

const SEMANTICS = { "greptime.semantic.signal_type": "metric", "greptime.semantic.source": "prometheus" } as const;

/** Rows by database and metric. */
export type SampleTables = ReturnType<typeof samplePipelineRows>;

/**
 * Writes the samples and returns how many rows they became.
 *
 * @param decode reads the request; called again when a table changed meanwhile, since pipelines change rows
 * @throws DbError when it cannot be read, a row fails, or a write does; other writes of the request may have been done
 */
export async function writeSamples(
  exchange: Exchange,
  logs: LogEndpoint,
  accepted: AcceptedWrite,
  step: PipelineStep,
  decode: () => SampleTables,
): Promise<number> {
  const { options } = logs;
  const nowNanos = options.clock.nowNanos();
  /** Rows that no pipeline has changed yet. */
  const fresh = new Map(decode());
  let rowCount = 0;
  const databases = [...fresh.keys()];
  for (const named of databases) {
    if (named === undefined || databaseExists(named, options.db)) continue;
    throw databaseNotFound(named.slice(0, 200));
  }
  for (const named of databases) {
    const database = named ?? exchange.database;
    const { affected, failure } = await writeLogs({ ...exchange, database }, logs, {
      protocol: "prometheus",
      accepted: { ...accepted, session: { ...accepted.session, database } },
      ...step,
      nowNanos,
      semantics: SEMANTICS,
      items: () => {
        const tables = fresh.get(named) ?? decode().get(named) ?? [];
        fresh.delete(named);
        return tables;
      },
    });
    if (failure !== undefined) throw failure;
    rowCount += affected.reduce((sum, count) => sum + count, 0);
  }
  return rowCount;
}
