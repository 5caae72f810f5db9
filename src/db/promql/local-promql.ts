/** PromQL's questions over the tables of this process: who asks may read, then on to the query layer. */
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { Pace, type PacedWork } from "../../base/scheduler/pace.ts";
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import { textsInOrder } from "../../base/scheduler/sorted-in-turns.ts";
import type { PromqlRequest } from "../../query/promql-engine.ts";
import { RowEngine } from "../../query/promql/rows/row-engine.ts";
import type { StatementResult } from "../../query/statement-result.ts";
import { metricSelector } from "../../query/promql/syntax/metric-selector.ts";
import type { LabelMatcher } from "../../query/promql/syntax/ast.ts";
import { METRIC_NAME } from "../../query/promql/tables/metric-columns.ts";
import { labelNamesOf, labelValuesOf, metricsMeeting, metricTables, seriesMeeting } from "../../query/promql/tables/series-index.ts";
import { FIELD_LABEL, selectTables } from "../../query/promql/tables/table-selection.ts";
import type { Catalog } from "../../table/catalog.ts";
import { authorize } from "../auth/authorize.ts";
import type { ReadPermit } from "../read-permit.ts";
import type { Session } from "../session.ts";
import { metadataOf } from "./metric-metadata.ts";
import type { Labels, MetricMetadata, PromqlDb, QueryAnswer, QueryAsk, SeriesAsk } from "./promql-db.ts";
import { answerQuery, type PromqlLimits } from "./promql-query.ts";
import { figuresOf, type StoreFigures } from "./store-figures.ts";

/** Labels that choose a database. */
const DATABASE_LABELS: readonly string[] = ["__schema__", "__database__", "x_greptime_database"];
/** Bytes of a text that a set holds, beside its characters, nearly. */
const TEXT_BYTES = 64;
/** Most figures of each kind. */
const FIGURES_MAX = 10;

/** Limits of tools and tests. */
const PROMQL_LIMITS: PromqlLimits = { samplesMax: 50_000_000, seriesMax: 0, pointsMax: 11_000, timeoutMillis: 0, lookbackMillis: 300_000 };

/** What a question runs with. */
interface Reading extends PacedWork {
  readonly permit: ReadPermit;
}

/** See the file header. */
export class LocalPromql implements PromqlDb {
  private readonly catalog: Catalog;
  private readonly scheduler: Scheduler;
  /** What TQL is run by. */
  readonly rowEngine: RowEngine;
  private readonly limits: PromqlLimits;
  private readonly beginRead: (session: Session) => ReadPermit;

  constructor(catalog: Catalog, scheduler: Scheduler, beginRead: (session: Session) => ReadPermit, limits: PromqlLimits = PROMQL_LIMITS) {
    this.limits = limits;
    this.rowEngine = new RowEngine(scheduler, limits);
    this.catalog = catalog;
    this.scheduler = scheduler;
    this.beginRead = beginRead;
  }

  async *series(ask: SeriesAsk, session: Session): AsyncGenerator<Labels> {
    const selectors = this.selectorsOf(ask, session);
    const reading = this.begin(session);
    // One selector gives no series twice.
    const seen = selectors.length > 1 ? new HeldTexts(reading.permit) : undefined;
    try {
      for (const matchers of selectors) {
        for await (const labels of seriesMeeting({ ...ask, matchers }, this.catalog, session.database, reading)) {
          if (seen?.add(JSON.stringify(labels)) !== false) yield labels;
        }
      }
    } finally {
      reading.permit.done();
    }
  }

  async labelNames(ask: SeriesAsk, session: Session): Promise<readonly string[]> {
    const selectors = this.selectorsOf(ask, session);
    if (ask.match.length === 0) return labelNamesOf(this.catalog, session.database);
    const names = new Set<string>();
    const reading = this.begin(session);
    try {
      for (const matchers of selectors) {
        for await (const labels of seriesMeeting({ ...ask, matchers }, this.catalog, session.database, reading)) {
          for (const [name] of labels) names.add(name);
        }
      }
    } finally {
      reading.permit.done();
    }
    return [...names].sort();
  }

  async labelValues(label: string, ask: SeriesAsk, session: Session): Promise<readonly string[]> {
    const selectors = this.selectorsOf(ask, session);
    const reading = this.begin(session);
    const values = new HeldTexts(reading.permit);
    try {
      for await (const value of this.valuesOf(label, ask, selectors, session, reading)) values.add(value);
      return await values.sorted(reading);
    } finally {
      reading.permit.done();
    }
  }

  async query(ask: QueryAsk, session: Session): Promise<QueryAnswer> {
    authorize(session, "read");
    const { catalog, limits } = this;
    const { database } = session;
    const beginRead = (): ReadPermit => this.beginRead(session);
    return answerQuery(ask, { catalog, database, limits, beginRead, paceOf: (signal) => this.paceOf(signal) });
  }

  async *rows(request: PromqlRequest, session: Session): AsyncGenerator<StatementResult> {
    authorize(session, "read");
    if (this.catalog.database(session.database) === undefined)
      throw new DbError(StatusCode.DatabaseNotFound, `Database not found: ${session.database}`);
    const environment = { database: session.database };
    const plan = this.rowEngine.plan(request, { catalog: this.catalog, environment });
    const permit = this.beginRead(session);
    try {
      yield { kind: "rows", headers: plan.columns, batches: plan.run(permit) };
    } finally {
      permit.done();
    }
  }

  metadata(metric: string | undefined, session: Session): readonly MetricMetadata[] {
    authorize(session, "read");
    const tables = metricTables(this.catalog, session.database).filter(({ schema }) => metric === undefined || schema.name === metric);
    return tables.map(({ schema }) => metadataOf(schema)).sort((a, b) => (a.metric < b.metric ? -1 : 1));
  }

  async figures(session: Session): Promise<StoreFigures> {
    authorize(session, "read");
    const reading = this.begin(session);
    try {
      return await figuresOf(this.catalog, session.database, FIGURES_MAX, reading);
    } finally {
      reading.permit.done();
    }
  }

  /** Values of a label; one may come several times. */
  private async *valuesOf(
    label: string,
    ask: SeriesAsk,
    selectors: readonly (readonly LabelMatcher[])[],
    { database }: Session,
    reading: Reading,
  ): AsyncGenerator<string> {
    const { catalog } = this;
    const isAll = ask.match.length === 0;
    if (DATABASE_LABELS.includes(label)) {
      for (const { name } of catalog.databases()) {
        if (isAll || selectors.some((matchers) => selectTables(matchers, catalog, name).length > 0)) yield name;
      }
    } else if (isAll && label === METRIC_NAME) {
      for (const { schema } of metricTables(catalog, database)) yield schema.name;
    } else if (isAll && label !== FIELD_LABEL) {
      yield* labelValuesOf(label, ask, catalog, database, reading);
    } else {
      for (const matchers of selectors) yield* valuesMeeting(label, { ...ask, matchers }, catalog, database, reading);
    }
  }

  /** @throws DbError PermissionDenied, InvalidSyntax */
  private selectorsOf({ match }: SeriesAsk, session: Session): readonly (readonly LabelMatcher[])[] {
    authorize(session, "read");
    return match.length === 0 ? [[]] : match.map(metricSelector);
  }

  private begin(session: Session): Reading {
    const permit = this.beginRead(session);
    return { permit, signal: permit.signal, pace: this.paceOf(permit.signal) };
  }

  private paceOf(signal: AbortSignal): Pace {
    return new Pace(this.scheduler, () => throwIfCancelled(signal));
  }
}

async function* valuesMeeting(
  label: string,
  read: Parameters<typeof seriesMeeting>[0],
  catalog: Catalog,
  database: string,
  reading: Reading,
): AsyncGenerator<string> {
  if (label === METRIC_NAME) return yield* metricsMeeting(read, catalog, database, reading);
  if (label === FIELD_LABEL) {
    const everyField: LabelMatcher = { name: FIELD_LABEL, operator: "!=", value: "", takesEmpty: false };
    for (const { columns } of selectTables([...read.matchers, everyField], catalog, database)) for (const { name } of columns) yield name;
    return;
  }
  for await (const labels of seriesMeeting(read, catalog, database, reading)) {
    const value = labels.find(([name]) => name === label)?.[1];
    if (value !== undefined) yield value;
  }
}

/** Distinct texts, counted as memory of the read. */
class HeldTexts {
  private readonly texts: Set<string> = new Set();
  private readonly permit: ReadPermit;

  constructor(permit: ReadPermit) {
    this.permit = permit;
  }

  /** Whether it is a new one. @throws DbError RuntimeResourcesExhausted */
  add(text: string): boolean {
    if (this.texts.has(text)) return false;
    this.permit.reserve(TEXT_BYTES + 2 * text.length);
    this.texts.add(text);
    return true;
  }

  /** By code unit. */
  sorted(work: PacedWork): Promise<readonly string[]> {
    this.permit.reserve(TEXT_BYTES * this.texts.size);
    return textsInOrder([...this.texts], work.pace);
  }
}
