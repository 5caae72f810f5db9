/** Where the rows of computed tables come from when a plan runs: one line a source (`operator/source/node.ts`). */
import type { Batch } from "../../column/batch.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Catalog, Table } from "../../table/catalog.ts";
import { tableNotFound } from "../../table/not-found.ts";
import type { Environment } from "../function/signature/environment.ts";
import type { RowSources, SourceRun } from "../operator/contract/row-sources.ts";
import type { ServerSource } from "../operator/source/node.ts";
import type { TableIdentity } from "../plan-format/plan-reader.ts";
import { NO_FACTS } from "../system-facts.ts";
import type { PlannerSources } from "./common/planner.ts";
import { externalRows } from "./from/external-source.ts";
import { tqlRows } from "./tql.ts";
import { informationRows } from "./virtual/information-schema.ts";
import { numberRows } from "./virtual/numbers.ts";
import { numberSeries, timeSeries } from "./virtual/table-functions.ts";

type Open<S> = { open(source: S, run: SourceRun, from: SourceContext): Iterable<Batch> | AsyncIterable<Batch> }["open"];

interface SourceContext extends PlannerSources {
  readonly environment: Environment;
}

const SOURCES: { readonly [K in ServerSource["kind"]]: Open<Extract<ServerSource, { kind: K }>> } = {
  numbers: (_, { rowsWanted }) => numberRows(rowsWanted),
  "information-schema": ({ table }, _, { catalog, system = NO_FACTS, environment: { now } }) =>
    informationRows(table, { catalog, system, now }),
  series: numberSeries,
  "time-series": timeSeries,
  "external-table": ({ database, table, id }, { pace }, { catalog, files }) =>
    externalRows(tableOf(catalog, { database, name: table, id }).schema, files, pace),
  tql: (source, run, { promql, catalog, environment }) => tqlRows(source, promql, { catalog, environment }, run),
};

/** The sources of a statement. */
export function rowSources({ catalog, system, files, promql }: PlannerSources, environment: Environment): RowSources {
  return {
    open: (source, run) => {
      const open: Open<ServerSource> = SOURCES[source.kind];
      return open(source, run, { catalog, system, files, promql, environment });
    },
  };
}

/** The table that a plan names. @throws DbError TableNotFound, RequestOutdated when another one has its name now */
export function tableOf(catalog: Pick<Catalog, "table">, { database, name, id }: TableIdentity): Table {
  const table = catalog.table(database, name);
  if (table?.schema.id === id) return table;
  if (table === undefined) throw tableNotFound(database, name);
  throw new DbError(StatusCode.RequestOutdated, `cannot read table ${name}: it was made anew since the statement began; run it again`);
}
