/**
 * Says in time that a limit comes near: one warning a thing and hour from 80 % on, and how full the fullest thing of each kind is, for
 * `/metrics`. Things are looked at once a minute, in turns with other work, not when they grow, so that growing costs nothing. A scrape
 * looks by itself where tables are few; at 20,000 it took a third of a second.
 */
import { Gauge } from "prom-client";
import type { Clock } from "../../base/clock.ts";
import { atOnce, Pace, paced } from "../../base/scheduler/pace.ts";
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import { DATABASES_MAX, SERIES_PER_TABLE_MAX, TABLE_COLUMNS_MAX, TABLES_PER_DATABASE_MAX } from "../../base/limits.ts";
import type { Logger } from "../../base/log.ts";
import type { MetricRegistry } from "../../base/metrics.ts";
import type { Catalog } from "../../table/catalog.ts";

/** Part of a limit from which on is warned. */
const WARN_RATIO = 0.8;
const WARN_AGAIN_MILLIS = 3_600_000;
const LOOK_MILLIS = 60_000;
/** Things that were warned of and are remembered. Reason: memory; forgetting one costs a line more. */
const REMEMBERED_MAX = 10_000;
/** Warnings of one look. Reason: ten thousand tables may come near together. */
const LINES_PER_LOOK_MAX = 20;

/** Most tables that a scrape looks at by itself. */
const SCRAPED_TABLES_MAX = 1000;
/** Tables that are looked at at once: 1 ms where each is of the metric engine. */
const STEP_TABLES = 64;

/** The kinds of limits that are watched. */
export interface WatchedLimits {
  readonly databases: number;
  readonly tablesPerDatabase: number;
  readonly columnsPerTable: number;
  readonly seriesPerTable: number;
}

const LIMITS: WatchedLimits = {
  databases: DATABASES_MAX,
  tablesPerDatabase: TABLES_PER_DATABASE_MAX,
  columnsPerTable: TABLE_COLUMNS_MAX,
  seriesPerTable: SERIES_PER_TABLE_MAX,
};

/** Name of a limit in log lines and as a label. */
export type LimitName = "databases" | "tables_per_database" | "columns_per_table" | "series_per_table";

const ADVICE: Readonly<Record<LimitName, string>> = {
  databases: "drop databases that nobody needs",
  tables_per_database: "drop tables that nobody needs, or tell them apart by a tag",
  columns_per_table: "use fewer distinct field and tag names, or several tables",
  series_per_table: "use fewer distinct tag values: ids of requests or users belong into fields",
};

/** What is looked at. */
export interface WatchedCatalog extends Pick<Catalog, "databases" | "tables"> {
  /** How many tables each database has, which costs nothing to ask. */
  readonly tableCounts: ReadonlyMap<string, number>;
}

/** See the file header. */
export class LimitWatch {
  private readonly catalog: WatchedCatalog;
  private readonly clock: Clock;
  private readonly logger: Logger;
  private readonly limits: WatchedLimits;
  /** When a thing was warned of last, monotonic milliseconds; oldest first. */
  private readonly warned: Map<string, number> = new Map();
  private fullest: Map<LimitName, number> = new Map();
  private timer: ReturnType<typeof setInterval> | undefined;
  private linesLeft = 0;

  constructor(catalog: WatchedCatalog, clock: Clock, logger: Logger, limits: WatchedLimits = LIMITS) {
    this.catalog = catalog;
    this.clock = clock;
    this.logger = logger;
    this.limits = limits;
  }

  /** Begins to look, and shows the fullest things at `/metrics`. Call once a registry. */
  start(metrics: MetricRegistry, scheduler: Scheduler): void {
    const lookInTurns = async (): Promise<void> => {
      this.fullest = await paced(this.steps(), new Pace(scheduler));
    };
    this.timer = setInterval(() => void lookInTurns(), LOOK_MILLIS); // what it rejects with is a bug, and is heard
    this.timer.unref();
    void lookInTurns();
    const tableCount = (): number => this.catalog.tableCounts.values().reduce((sum, count) => sum + count, 0);
    const look = (): ReadonlyMap<LimitName, number> => (tableCount() > SCRAPED_TABLES_MAX ? this.fullest : this.look());
    new Gauge({
      name: "varve_limit_usage_ratio",
      help: "how much of each limit the fullest thing uses; 1 = no more fits",
      labelNames: ["limit"],
      registers: [metrics.registry],
      collect() {
        for (const [limit, ratio] of look()) this.set({ limit }, ratio);
      },
    });
  }

  /** Looks no more. */
  close(): void {
    clearInterval(this.timer);
  }

  /** Looks at everything now; answers how full the fullest thing of each kind is. */
  look(): ReadonlyMap<LimitName, number> {
    this.fullest = atOnce(this.steps());
    return this.fullest;
  }

  /** The same; yields where others may have a turn. */
  private *steps(): Generator<undefined, Map<LimitName, number>> {
    const { catalog, limits } = this;
    const fullest = new Map<LimitName, number>();
    const note = (limit: LimitName, thing: string, used: number, max: number): void => this.note(fullest, limit, thing, used, max);
    this.linesLeft = LINES_PER_LOOK_MAX;
    const databases = catalog.databases();
    note("databases", "the server", databases.length, limits.databases);
    let looked = 0;
    for (const { name } of databases) {
      const tables = catalog.tables(name);
      note("tables_per_database", `database ${name}`, tables.length, limits.tablesPerDatabase);
      for (const { schema, series } of tables) {
        const table = `table ${name}.${schema.name}`;
        note("columns_per_table", table, schema.columns.length, limits.columnsPerTable);
        note("series_per_table", table, series.count, limits.seriesPerTable);
        if (++looked % STEP_TABLES === 0) yield;
      }
    }
    return fullest;
  }

  private note(fullest: Map<LimitName, number>, limit: LimitName, thing: string, used: number, max: number): void {
    const ratio = used / max;
    fullest.set(limit, Math.max(ratio, fullest.get(limit) ?? 0));
    if (ratio < WARN_RATIO || this.linesLeft === 0) return;
    const key = `${limit} ${thing}`;
    const now = this.clock.monotonicMillis();
    if ((this.warned.get(key) ?? Number.NEGATIVE_INFINITY) + WARN_AGAIN_MILLIS > now) return;
    this.linesLeft--;
    this.warned.delete(key);
    this.warned.set(key, now);
    if (this.warned.size > REMEMBERED_MAX) this.forgetOldest();
    this.logger.warn({ limit, thing, used, max, advice: ADVICE[limit] }, "a limit comes near");
  }

  private forgetOldest(): void {
    for (const oldest of this.warned.keys()) {
      this.warned.delete(oldest);
      return;
    }
  }
}
