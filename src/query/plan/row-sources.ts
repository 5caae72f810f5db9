/** Where the rows of computed tables come from when a plan runs: one line a source (`operator/source/node.ts`). */
import { type Pace, paced } from "../../base/scheduler/pace.ts";
import type { Batch } from "../../column/batch.ts";
import { type DataType, STRING } from "../../column/data-type.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Catalog, Table } from "../../table/catalog.ts";
import { tableNotFound } from "../../table/not-found.ts";
import type { ViewInfo } from "../../table/view.ts";
import type { Environment } from "../function/signature/environment.ts";
import type { RowSources, SourceRun } from "../operator/contract/row-sources.ts";
import type { ServerSource } from "../operator/source/node.ts";
import type { TableIdentity } from "../plan-format/plan-reader.ts";
import { NO_FACTS } from "../system-facts.ts";
import type { Planner, PlannerSources } from "./common/planner.ts";
import { externalRows } from "./from/external-source.ts";
import { planView } from "./from/view.ts";
import { newPlanner } from "./plan-query.ts";
import { tqlRows } from "./tql.ts";
import { allTables, type InformationSources } from "./virtual/information-table.ts";
import { asked } from "./virtual/asked-tables.ts";
import { informationRows } from "./virtual/information-schema.ts";
import { numberRows } from "./virtual/numbers.ts";
import { numberSeries, timeSeries } from "./virtual/table-functions.ts";

type Open<S> = { open(source: S, run: SourceRun, from: SourceContext): Iterable<Batch> | AsyncIterable<Batch> }["open"];

interface SourceContext extends PlannerSources {
  readonly environment: Environment;
}

const SOURCES: { readonly [K in ServerSource["kind"]]: Open<Extract<ServerSource, { kind: K }>> } = {
  numbers: (_, { rowsWanted }) => numberRows(rowsWanted),
  "information-schema": ({ table }, { pace, signal }, from) => {
    const { catalog, system = NO_FACTS, environment } = from;
    const sources = { catalog, system, now: environment.now, connectionId: environment.client?.id };
    if (table === "pg_catalog.pg_attribute") return attributeRows(table, sources, from, pace);
    if (table === "process_list") return processRows(table, sources);
    const told = TOLD_OF_ROWS.get(table);
    return told === undefined ? informationRows(table, sources) : askedRows(table, told, sources, signal);
  },
  series: numberSeries,
  "time-series": timeSeries,
  "external-table": ({ database, table, id }, { pace }, { catalog, files }) =>
    externalRows(tableOf(catalog, { database, name: table, id }).schema, files, pace),
  tql: (source, run, { promql, catalog, environment }) => tqlRows(source, promql, { catalog, environment }, run),
};

/** What computed tables show of tables' rows. "every file": a row each, so that what is not known cannot be NULL. */
const TOLD_OF_ROWS: ReadonlyMap<string, "figures" | "files" | "every file"> = new Map([
  ["tables", "figures"],
  ["region_statistics", "figures"],
  ["pg_catalog.pg_class", "figures"],
  ["region_info", "files"],
  ["ssts_manifest", "every file"],
  ["ssts_storage", "every file"],
]);

/** Tables whose rows are elsewhere are asked first. @throws DbError StorageUnavailable where each file is a row and a shard is silent */
function askedRows(
  table: string,
  told: "figures" | "files" | "every file",
  sources: InformationSources,
  signal: AbortSignal,
): Iterable<Batch> | AsyncIterable<Batch> {
  const answers = asked(allTables(sources.catalog), told === "figures" ? "figures" : "files", signal);
  if (answers === undefined) return informationRows(table, sources);
  return (async function* () {
    const unanswered = await answers;
    if (told === "every file" && unanswered.size > 0) throw silent(table, unanswered.size);
    yield* informationRows(table, { ...sources, unanswered });
  })();
}

function silent(table: string, count: number): DbError {
  const why = `a shard of ${count} ${count === 1 ? "table" : "tables"} does not answer; region_peers says which have no owner`;
  return new DbError(StatusCode.StorageUnavailable, `cannot list files in ${table}: ${why}`, { retryAfterSeconds: 1 });
}

/** Statements that run; in a cluster other frontends are asked for theirs. */
function processRows(table: string, sources: InformationSources): Iterable<Batch> | AsyncIterable<Batch> {
  const told = sources.system.statements();
  if (!(told instanceof Promise)) return informationRows(table, { ...sources, statements: told });
  return (async function* () {
    yield* informationRows(table, { ...sources, statements: await told });
  })();
}

/** Rows of columns, those of views among them, whose types are known once their queries are planned. */
async function* attributeRows(table: string, sources: InformationSources, from: SourceContext, pace: Pace): AsyncIterable<Batch> {
  const { catalog } = from;
  const types = new Map<ViewInfo, readonly DataType[]>();
  for (const { name } of catalog.databases()) {
    for (const view of catalog.views(name)) {
      const planned = await viewTypes(view, newPlanner(from, from.environment, true), pace);
      if (planned !== undefined) types.set(view, planned);
    }
  }
  yield* informationRows(table, { ...sources, viewTypes: (view) => types.get(view) });
}

/** Types of a view's columns; undefined for one that cannot be read, whose tables are gone for instance. */
async function viewTypes(view: ViewInfo, planner: Planner, pace: Pace): Promise<readonly DataType[] | undefined> {
  try {
    const { node, positions } = await paced(planView(view, planner), pace);
    return positions.map((at) => node.columns[at]?.type ?? STRING);
  } catch (thrown) {
    if (thrown instanceof DbError) return undefined;
    throw thrown;
  }
}

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
