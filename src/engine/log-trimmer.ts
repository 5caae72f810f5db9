/**
 * Deletes log segments whose rows are all in files.
 */
import { AssertionError } from "../base/assert.ts";
import type { Troubles } from "../base/troubles.ts";
import type { Region } from "../storage/region/region.ts";
import type { Wal } from "../storage/wal/wal.ts";
import type { LiveTables } from "./live-tables.ts";
import type { LogLedger } from "./log-ledger.ts";

/** See the file header. */
export class LogTrimmer {
  private readonly wal: Wal;
  private readonly ledger: LogLedger;
  private readonly tables: LiveTables;
  private readonly troubles: Troubles;

  constructor(wal: Wal, ledger: LogLedger, tables: LiveTables, troubles: Troubles) {
    this.troubles = troubles;
    this.wal = wal;
    this.ledger = ledger;
    this.tables = tables;
  }

  /** Bytes of all segments. */
  get bytes(): number {
    return this.wal.segments().reduce((sum, segment) => sum + segment.bytes, 0);
  }

  /** Tables that keep the oldest complete segment from being deleted. */
  holders(): Region[] {
    return this.ledger.holders(this.tables, this.head()).flatMap((id) => this.tables.byTableId(id)?.table.region ?? []);
  }

  /** Deletes what no table needs. What cannot be deleted is tried again by the next call: nothing else waits for it. */
  async trim(): Promise<void> {
    try {
      const head = this.head();
      const needed = this.ledger.oldestNeeded(this.tables, head + 1);
      if (needed > head) await this.wal.rotate(); // Nothing in the log is needed: let the newest segment go as well.
      await this.wal.trim(needed);
      this.troubles.works("log_trim");
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      this.troubles.failed("log_trim", error instanceof Error ? error.message : String(error));
    }
  }

  /** The segment being written; those before it may go. */
  private head(): number {
    return this.wal.segments().at(-1)?.id ?? 0;
  }
}
