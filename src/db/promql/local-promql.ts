/** PromQL's questions over the tables of this process: who asks may read, then on to the query layer. */
import { type Deadline, throwIfCancelled } from "../../base/scheduler/cancel.ts";
import { Pace, type PacedWork } from "../../base/scheduler/pace.ts";
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import { textsInOrder } from "../../base/scheduler/sorted-in-turns.ts";
import type { PromqlPlan, PromqlRequest } from "../../query/promql-engine.ts";
import { RowEngine } from "../../query/promql/rows/row-engine.ts";
import type { StatementResult } from "../../query/statement-result.ts";
import { metricSelector } from "../../query/promql/syntax/metric-selector.ts";
import type { LabelMatcher } from "../../query/promql/syntax/ast.ts";
import { METRIC_NAME } from "../../query/promql/tables/metric-columns.ts";
import {
  type IndexWork,
  labelNamesOf,
  labelValuesMeeting,
  labelValuesOf,
  mayRepeatLabels,
  metricsMeeting,
  metricTables,
  seriesMeeting,
} from "../../query/promql/tables/series-index.ts";
import { FIELD_LABEL, selectTables } from "../../query/promql/tables/table-selection.ts";
import type { Catalog } from "../../table/catalog.ts";
import { databaseNotFound } from "../../table/not-found.ts";
import { authorize } from "../authorize.ts";
import type { QueryPermit, ReadAsk } from "../read-permit.ts";
import type { Session } from "../session.ts";
import { KnownQueries } from "./known-queries.ts";
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
interface Reading extends IndexWork {
  readonly permit: QueryPermit;
}

/** Kinds of questions, as metrics name them. */
const KIND = { query: "promql", series: "promql_series", labels: "promql_labels" } as const;

/** See the file header. */
export class LocalPromql implements PromqlDb {
  private readonly catalog: Catalog;
  private readonly scheduler: Scheduler;
  /** What TQL is run by. */
  readonly rowEngine: RowEngine;
  private readonly limits: PromqlLimits;
  private readonly queries: KnownQueries = new KnownQueries();
  private readonly open: (ask: ReadAsk, session: Session) => QueryPermit;

  /** @param open puts a question on the list of statements */
  constructor(catalog: Catalog, scheduler: Scheduler, open: LocalPromql["open"], limits: PromqlLimits = PROMQL_LIMITS) {
    this.limits = limits;
    this.rowEngine = new RowEngine(scheduler, limits);
    this.catalog = catalog;
    this.scheduler = scheduler;
    this.open = open;
  }

  async *series(ask: SeriesAsk, session: Session): AsyncGenerator<Labels> {
    const reading = this.begin({ kind: KIND.series, text: `series: ${ask.match.join(", ")}` }, session);
    const { permit } = reading;
    try {
      yield* permit.over(this.seriesOf(ask, session, reading), () => 1);
    } finally {
      permit.done();
    }
  }

  labelNames(ask: SeriesAsk, session: Session): Promise<readonly string[]> {
    return this.texts(asText("labels", ask), session, async (reading) => {
      const selectors = this.selectorsOf(ask, session);
      if (ask.match.length === 0) return labelNamesOf(this.catalog, session.database);
      const names = new Set<string>();
      for (const matchers of selectors) {
        for await (const labels of seriesMeeting({ ...ask, matchers }, this.catalog, session.database, reading)) {
          for (const [name] of labels) names.add(name);
        }
      }
      return [...names].sort();
    });
  }

  labelValues(label: string, ask: SeriesAsk, session: Session): Promise<readonly string[]> {
    return this.texts(asText(`values of ${label}`, ask), session, async (reading) => {
      const selectors = this.selectorsOf(ask, session);
      const values = new HeldTexts(reading.permit);
      for (const source of this.valuesOf(label, ask, selectors, session, reading)) {
        for await (const some of source) values.addAll(some);
        values.endSource();
      }
      return await values.sorted(reading);
    });
  }

  async query(ask: QueryAsk, session: Session): Promise<QueryAnswer> {
    const { catalog, limits, queries } = this;
    const { database } = session;
    const { query: text, startMillis, endMillis, stepMillis } = ask;
    const times = { startMillis, endMillis, stepMillis };
    const permit = this.open({ kind: KIND.query, text, times, deadline: deadlineOf(ask, limits) }, session);
    const mayRead = (): void => authorize(session, "read");
    return answerQuery(ask, { catalog, database, limits, permit, mayRead, paceOf: (signal) => this.paceOf(signal), queries });
  }

  async *rows(request: PromqlRequest, session: Session): AsyncGenerator<StatementResult> {
    const { promql: text, startMillis, endMillis, stepMillis } = request;
    const permit = this.open({ kind: KIND.query, text, times: { startMillis, endMillis, stepMillis } }, session);
    try {
      const plan = this.planned(request, session);
      yield { kind: "rows", headers: plan.columns, batches: permit.over(plan.run(permit), ({ rowCount }) => rowCount) };
    } catch (error) {
      permit.failed(error);
      throw error;
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
    const reading = this.begin({ kind: KIND.labels, text: "figures of the store" }, session);
    try {
      return await figuresOf(this.catalog, session.database, FIGURES_MAX, reading);
    } catch (error) {
      reading.permit.failed(error);
      throw error;
    } finally {
      reading.permit.done();
    }
  }

  /** Series that meet one of the selectors, each once. */
  private async *seriesOf(ask: SeriesAsk, session: Session, reading: Reading): AsyncGenerator<Labels> {
    const selectors = this.selectorsOf(ask, session);
    const { database } = session;
    // One selector gives no series twice, but where NULL and "" are the same.
    const mayRepeat = selectors.length > 1 || selectors.some((matchers) => mayRepeatLabels(matchers, this.catalog, database));
    const seen = mayRepeat ? new HeldTexts(reading.permit) : undefined;
    for (const matchers of selectors) {
      for await (const labels of seriesMeeting({ ...ask, matchers }, this.catalog, session.database, reading)) {
        if (seen?.add(JSON.stringify(labels)) !== false) yield labels;
      }
    }
  }

  /** An answer that is made at once. */
  private async texts(text: string, session: Session, make: (reading: Reading) => Promise<readonly string[]>): Promise<readonly string[]> {
    const reading = this.begin({ kind: KIND.labels, text }, session);
    const { permit } = reading;
    try {
      const texts = await make(reading);
      permit.gave(texts.length);
      return texts;
    } catch (error) {
      permit.failed(error);
      throw error;
    } finally {
      permit.done();
    }
  }

  private planned(request: PromqlRequest, session: Session): PromqlPlan {
    authorize(session, "read");
    const { database } = session;
    if (this.catalog.database(database) === undefined) throw databaseNotFound(database);
    return this.rowEngine.plan(request, { catalog: this.catalog, environment: { database } });
  }

  /** Values of a label by where they come from. */
  private *valuesOf(
    label: string,
    ask: SeriesAsk,
    selectors: readonly (readonly LabelMatcher[])[],
    { database }: Session,
    reading: Reading,
  ): Generator<ValueSource> {
    const { catalog } = this;
    const isAll = ask.match.length === 0;
    if (DATABASE_LABELS.includes(label)) {
      const names = catalog.databases().map(({ name }) => name);
      yield [names.filter((name) => isAll || selectors.some((matchers) => selectTables(matchers, catalog, name).length > 0))];
    } else if (isAll && label === METRIC_NAME) {
      yield [metricTables(catalog, database).map(({ schema }) => schema.name)];
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

  private begin(ask: ReadAsk, session: Session): Reading {
    const permit = this.open(ask, session);
    const reserve = (bytes: number): void => permit.reserve(bytes);
    const release = (bytes: number): void => permit.release(bytes);
    return { permit, signal: permit.signal, pace: this.paceOf(permit.signal), reserve, release };
  }

  private paceOf(signal: AbortSignal): Pace {
    return new Pace(this.scheduler, () => throwIfCancelled(signal));
  }
}

/** What ends a query: what it asks for, up to what all have. */
function deadlineOf({ timeoutMillis: asked }: QueryAsk, { timeoutMillis: most }: PromqlLimits): Deadline {
  const millis = asked === undefined || (most > 0 && most < asked) ? most : asked;
  return { millis, key: "query.promql.timeout" };
}

/** What was asked, for people. */
function asText(what: string, { match }: SeriesAsk): string {
  return match.length === 0 ? what : `${what}: ${match.join(", ")}`;
}

/** Values of a label, some at a time; none comes twice. */
type ValueSource = AsyncIterable<readonly string[]> | Iterable<readonly string[]>;

function* valuesMeeting(
  label: string,
  read: Parameters<typeof seriesMeeting>[0],
  catalog: Catalog,
  database: string,
  reading: Reading,
): Generator<ValueSource> {
  if (label === METRIC_NAME) return yield* metricsMeeting(read, catalog, database, reading);
  if (label === FIELD_LABEL) {
    const everyField: LabelMatcher = { name: FIELD_LABEL, operator: "!=", value: "", takesEmpty: false };
    for (const { columns } of selectTables([...read.matchers, everyField], catalog, database)) yield [columns.map(({ name }) => name)];
    return;
  }
  yield* labelValuesMeeting(label, read, catalog, database, reading);
}

/** Distinct texts, counted as memory of the read. */
class HeldTexts {
  /** Those of the first source; none once there are `texts`. */
  private list: string[] = [];
  /** All of them; undefined while there is one source alone. */
  private texts: Set<string> | undefined;
  private isFirst = true;
  private readonly permit: QueryPermit;

  constructor(permit: QueryPermit) {
    this.permit = permit;
  }

  /** Whether it is a new one. @throws DbError RuntimeResourcesExhausted */
  add(text: string): boolean {
    this.texts ??= new Set(this.list.splice(0));
    if (this.texts.has(text)) return false;
    this.permit.reserve(TEXT_BYTES + 2 * text.length);
    this.texts.add(text);
    return true;
  }

  /** Adds texts that no other of the same source is equal to. @throws DbError RuntimeResourcesExhausted */
  addAll(texts: readonly string[]): void {
    if (!this.isFirst) {
      for (const text of texts) this.add(text);
      return;
    }
    let bytes = 0;
    for (const text of texts) bytes += TEXT_BYTES + 2 * text.length;
    this.permit.reserve(bytes);
    for (const text of texts) this.list.push(text);
  }

  /** What comes now is of another source. */
  endSource(): void {
    this.isFirst = this.list.length === 0 && this.texts === undefined;
  }

  /** By code unit. */
  sorted(work: PacedWork): Promise<readonly string[]> {
    const texts = this.texts === undefined ? this.list : [...this.texts];
    this.permit.reserve(TEXT_BYTES * texts.length);
    return textsInOrder(texts, work.pace);
  }
}
