/**
 * What tables know of series, counted, and begun anew where most of it is of no use: under churn every pod, build and request id is a
 * series for ever, also when its rows have expired.
 *
 *   registry ─► half or more came since it was new, and rows have gone since ─► a new one with the series of rows in memory
 *            ─► files bring theirs when they are opened next ─► decoders, labels, log marks and threads begin anew (an epoch)
 *
 * As with a collector that copies what lives, nobody has to know which series are dead: at most half of a registry may be, and a series is
 * carried over at most once for every one that came. When series hold as much memory as they may, registries are renewed whatever has gone;
 * when that does not help, new series are refused (429) and known ones go on.
 *
 * Where rows are elsewhere nobody knows when they go, and no series has to be known here: registries are renewed as often as they take too
 * much memory, or half of the series that a table may have.
 */
import { SERIES_PER_TABLE_MAX } from "../../base/limits.ts";
import type { TableId } from "../../base/units.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import type { ServerMemory } from "../../base/memory/server-memory.ts";
import type { SureSteps } from "../../base/process/sure-steps.ts";
import type { LiveTables, TableEntry } from "./live-tables.ts";
import type { SharedState } from "../threads/shared-state.ts";

/** Part of the memory limit that series may hold. `SharedState.refusal` tells clients of it. */
const SERIES_PART = 1 / 2;
/** Bytes from which the registries of a table are worth renewing when memory is short. */
const URGENT_BYTES_MIN = 1024 * 1024;
/** A table whose registry was renewed in a hurry and that has come back to so much of it has what it needs. */
const NEEDED_PART = 3 / 4;

/** Series of a table in a shard from which its registry is renewed where rows are elsewhere: one takes `SERIES_PER_TABLE_MAX`. */
const ROWLESS_SERIES_MAX: number = SERIES_PER_TABLE_MAX / 2;

/** Tables that are looked at in one stretch of the thread: 4 ms at most. */
const TABLES_A_STRETCH = 8192;

/** When registries are renewed. */
export interface SeriesRenewalLimits {
  /** Series below which a registry is not worth it: about 100 KB. */
  readonly seriesMin: number;
  /** Least time between two rounds: each has all decoders look up their keys again. */
  readonly restMillis: number;
  /** Every registry is renewed in every round, whether it is worth it or not: for tests. */
  readonly isForced?: boolean;
}

const LIMITS: SeriesRenewalLimits = { seriesMin: 1024, restMillis: 10_000 };

/** What is renewed, and who is told. */
export interface SeriesRenewalParts {
  readonly live: LiveTables;
  readonly shared: SharedState;
  readonly memory: ServerMemory;
  readonly sure: SureSteps;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** Has the next records define series anew, by the numbers that they then have. */
  readonly endSegments: () => void;
  readonly logger: Logger;
  readonly limits?: SeriesRenewalLimits | undefined;
  /** Whether rows are elsewhere. */
  readonly isRowless: boolean;
  /** Bytes of what is known of the threads' series here. */
  threadSeriesBytes(): number;
  /** Has the threads begin anew with a table. */
  renewOnThreads(tableId: TableId): Promise<void>;
}

/** See the file header. */
export class SeriesRenewal {
  /** Registries renewed since the start. */
  renewals = 0;
  private readonly parts: SeriesRenewalParts;
  private readonly limits: SeriesRenewalLimits;
  private counted = 0;
  private readonly uncount: () => void;
  private countedSeries = 0;
  private restUntil = 0;
  private round: Promise<void> | undefined;
  /** Bytes of registries before they were renewed in a hurry. */
  private readonly hurried: WeakMap<TableEntry, number> = new WeakMap();

  constructor(parts: SeriesRenewalParts) {
    this.parts = parts;
    this.limits = parts.limits ?? LIMITS;
    this.uncount = parts.memory.register("series", { bytes: () => this.counted });
  }

  /**
   * Series that registries hold, dead ones among them, as of the last round. Counted there, since whoever asks waits for nothing: a scrape
   * of 65,536 tables took 27 ms more when it went through them.
   */
  get seriesCount(): number {
    return this.countedSeries;
  }

  /** Has the server's memory forget these series: the engine is closed. */
  close(): void {
    this.uncount();
  }

  /** Counts, renews what is worth it, and refuses new series while they hold too much. To be called once a second. */
  tick(): Promise<void> {
    this.round ??= this.oneRound().finally(() => {
      this.round = undefined;
    });
    return this.round;
  }

  private async oneRound(): Promise<void> {
    const { shared, clock, memory } = this.parts;
    const bytesMax = memory.bytesMax * SERIES_PART;
    await this.count();
    const isShort = this.counted > bytesMax;
    if (clock.monotonicMillis() >= this.restUntil) {
      const due: TableEntry[] = [];
      await this.eachTable((entries) => {
        const isUrgent = isShort && bytesOf(entries) >= URGENT_BYTES_MIN;
        for (const entry of entries) if (this.isDue(entry, isUrgent)) due.push(entry);
      });
      for (const entry of due) await this.renew(entry, isShort);
      if (due.length > 0) {
        await this.count();
        this.restUntil = clock.monotonicMillis() + this.limits.restMillis;
      }
    }
    shared.isRefusingSeries = this.counted > bytesMax;
  }

  /** @param isUrgent memory is short, and the table's registries hold much of it */
  private isDue(entry: TableEntry, isUrgent: boolean): boolean {
    const { region } = entry.table;
    if (this.limits.isForced === true || region.mayRenew(this.limits.seriesMin)) return true;
    if (this.parts.isRowless) return isUrgent || region.registry.count > ROWLESS_SERIES_MAX;
    return isUrgent && region.registry.count > 0 && region.registry.byteLength * NEEDED_PART > (this.hurried.get(entry) ?? 0);
  }

  private async renew(entry: TableEntry, isShort: boolean): Promise<void> {
    const { live, logger, clock, scheduler, sure, endSegments } = this.parts;
    const { region } = entry.table;
    const { id, name: table } = entry.schema;
    const before = region.registry;
    const began = clock.monotonicMillis();
    let renewed = false;
    await region.renewSeries(
      () => scheduler.nextRound(),
      (swap) => {
        sure.run("series begin anew", () => {
          swap();
          if (live.byRegionId(id) !== entry) return; // Dropped meanwhile.
          live.renewed(entry);
          endSegments(); // Were the record lost that defines a number anew, later rows would be taken for those of its former series.
          renewed = true;
        });
      },
    );
    if (!renewed) return;
    this.renewals++;
    if (isShort) this.hurried.set(entry, before.byteLength);
    void this.parts.renewOnThreads(id); // Never rejects; writes do not wait for it.
    const millis = Math.round(clock.monotonicMillis() - began);
    logger.info(
      { table, series: before.count, kept: region.registry.count, bytes: before.byteLength, millis },
      "renewed the series of a table",
    );
  }

  private async count(): Promise<void> {
    const { shared } = this.parts;
    let bytes = this.parts.threadSeriesBytes();
    let series = 0;
    for (let thread = 1; thread <= shared.threads; thread++) bytes += shared.seriesBytes(thread);
    await this.eachTable((entries) => {
      for (const { registry, marks, physical } of entries) {
        bytes += registry.byteLength + marks.byteLength + (physical?.seriesBytes ?? 0);
        series += registry.count;
      }
    });
    this.counted = bytes;
    this.countedSeries = series;
  }

  /** Calls `visit` with what each table has in each shard; other work comes between when there is much. */
  private async eachTable(visit: (entries: readonly TableEntry[]) => void): Promise<void> {
    let seen = 0;
    for (const entries of this.parts.live.tables()) {
      seen += entries.length;
      if (seen >= TABLES_A_STRETCH) {
        await this.parts.scheduler.nextRound();
        seen = 0;
      }
      visit(entries);
    }
  }
}

/** Bytes of registries. */
function bytesOf(entries: readonly TableEntry[]): number {
  let bytes = 0;
  for (const { registry } of entries) bytes += registry.byteLength;
  return bytes;
}
