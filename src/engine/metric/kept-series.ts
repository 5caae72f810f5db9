/**
 * The series of a logical table for as long as they are of use. The page cache counts them beside pages and open files and lets those go
 * that were not asked for longest: a server of ten thousand metrics that were each looked at once would otherwise keep them all.
 *
 *   asked for ─► made ─► kept, counted ─► let go by the cache ─► still there while a query has them ─► made again, the same
 *
 * Series come back under the same numbers, since the region lists those of a table in the order in which they came.
 */
import type { PageCache } from "../../storage/cache/page-cache.ts";
import type { LogicalSeries } from "./logical-series.ts";

/** See the file header. */
export class KeptSeries {
  private readonly cache: PageCache;
  private readonly make: () => LogicalSeries;
  private kept: LogicalSeries | undefined;
  private last: WeakRef<LogicalSeries> | undefined;
  private key: number | undefined;

  /** @param make gives the series as they are known now */
  constructor(cache: PageCache, make: () => LogicalSeries) {
    this.cache = cache;
    this.make = make;
  }

  /** The series, if they are there. */
  get known(): LogicalSeries | undefined {
    return this.kept ?? this.last?.deref();
  }

  /** The series, made if they are not there. */
  get current(): LogicalSeries {
    const { known } = this;
    if (known !== undefined) return known;
    const made = this.make();
    this.last = new WeakRef(made);
    return made;
  }

  /** Says that a query has used the series, which may have grown. */
  keep(series: LogicalSeries): void {
    if (series !== this.known) return; // It was dropped, or made again meanwhile.
    this.kept = series;
    this.key ??= this.cache.takeKeys(1);
    this.cache.hold(this.key, series.byteLength, () => {
      this.kept = undefined;
    });
  }

  /** Lets the series go for good. */
  drop(): void {
    if (this.key !== undefined) this.cache.remove(this.key);
    this.kept = undefined;
    this.last = undefined;
  }
}
