/**
 * Deletes log segments whose rows are all in files.
 */
import { errorText } from "../../base/error.ts";
import { AssertionError } from "../../base/assert.ts";
import type { Troubles } from "../../base/process/troubles.ts";
import type { MetaStore } from "../../storage/meta-store/meta-store.ts";
import type { Region } from "../../storage/region/region.ts";
import type { LiveTables } from "../catalog/live-tables.ts";
import type { LogStreams } from "../log/log-streams.ts";

/** See the file header. */
export class LogTrimmer {
  private readonly streams: LogStreams;
  private readonly tables: LiveTables;
  private readonly troubles: Troubles;
  private readonly meta: MetaStore;
  /** Those who want all segments kept. */
  private holds = 0;
  /** Resolves when no trim runs that was begun until now. A broken invariant ends the process, whoever waits here. */
  private trimming: Promise<void> = Promise.resolve();

  constructor(streams: LogStreams, tables: LiveTables, troubles: Troubles, meta: MetaStore) {
    this.streams = streams;
    this.meta = meta;
    this.troubles = troubles;
    this.tables = tables;
  }

  /** Bytes of all segments. */
  get bytes(): number {
    return this.streams.all().reduce((sum, stream) => sum + stream.bytes(), 0);
  }

  /** The same, as `LogStream.weight` counts. */
  get weight(): number {
    return this.streams.all().reduce((sum, stream) => sum + (stream.weight?.() ?? stream.bytes()), 0);
  }

  /** Tables that keep the oldest complete segment of a stream from being deleted; those of the longest stream first. */
  holders(): Region[] {
    const longestFirst = this.streams.all().toSorted((a, b) => b.bytes() - a.bytes());
    return longestFirst.flatMap((stream) =>
      stream.ledger.holders(this.tables, stream.head()).flatMap((id) => this.tables.byRegionId(id)?.table.region ?? []),
    );
  }

  /**
   * Keeps all segments that are there until `release` is called, once. `held` resolves when no trim from before is under way.
   */
  hold(): { readonly held: Promise<void>; readonly release: () => Promise<void> } {
    this.holds++;
    return {
      held: this.trimming,
      release: async () => {
        this.holds--;
        await this.trim();
      },
    };
  }

  /** Deletes what no table needs. What cannot be deleted is tried again by the next call: nothing else waits for it. */
  trim(): Promise<void> {
    if (this.holds > 0) return Promise.resolve(); // Who lets go of it trims.
    const trimmed = this.trimNow();
    this.trimming = Promise.all([this.trimming, trimmed]).then(() => undefined);
    return trimmed;
  }

  private async trimNow(): Promise<void> {
    try {
      this.meta.secure(); // The log is the other copy of what the meta store says is in files.
      for (const stream of this.streams.all()) await stream.trim(stream.ledger.oldestNeeded(this.tables, stream.head() + 1));
      this.streams.forgetGone();
      this.troubles.works("log_trim");
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      this.troubles.failed("log_trim", errorText(error));
    }
  }
}
