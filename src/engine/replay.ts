/**
 * Puts the records of one log stream back into memtables after a start. Streams are read one after the other: a sequence, which all of
 * them share, decides what is newer (`Region.endRestore`).
 *
 * | table exists | sequence is flushed | what                                                              |
 * |--------------|---------------------|-------------------------------------------------------------------|
 * | no           | –                   | skipped: the table was dropped after the record                   |
 * | yes          | yes                 | its series definitions count, its rows are in files already       |
 * | yes          | no                  | rows go to the memtable under this process's series numbers       |
 *
 * Rows of a series whose definition was lost (recovery mode "skip_corrupt" only) are lost with it, and said to be.
 *
 * Applying a record twice cannot happen: a sequence is either flushed or not, and the log gives each record once.
 */
import type { Logger } from "../base/log.ts";
import { placeChunk } from "../storage/memtable/chunk-codec.ts";
import { type DecodedEntry, decodeWriteRecord } from "../storage/memtable/write-record.ts";
import type { Region } from "../storage/region/region.ts";
import type { WalRecord } from "../storage/wal/wal.ts";
import type { LogLedger } from "./log-ledger.ts";
import { renumber, SeriesTranslator } from "./series-translator.ts";

/** Rows read back between two progress lines. */
const PROGRESS_ROWS = 10_000_000;

/** Rows of a request that can be believed of a damaged record. */
const LOST_ROWS_MAX = 100_000_000;

const LOST = "cannot replay rows: the damaged part of their log segment said what series they are of; they are lost";

/** Takes the records that one log stream has at a start. */
export class Replay {
  private readonly regionOf: (tableId: number) => Region | undefined;
  private readonly ledger: LogLedger;
  private readonly logger: Logger;
  private readonly translator: SeriesTranslator = new SeriesTranslator();
  private rows = 0;
  /** Rows that are known to be lost, and places of the log at which nobody knows how many are. */
  lostRows = 0;
  lostUnknown = 0;
  private reported = 0;

  constructor(regionOf: (tableId: number) => Region | undefined, ledger: LogLedger, logger: Logger) {
    this.regionOf = regionOf;
    this.ledger = ledger;
    this.logger = logger;
  }

  /** Applies one record. Records come in the order in which they were written. */
  apply(record: WalRecord): void {
    this.translator.enterSegment(record.segment);
    for (const entry of decodeWriteRecord(record.sequence, record.payload)) this.applyEntry(entry, record);
    if (this.rows - this.reported < PROGRESS_ROWS) return;
    this.reported = this.rows;
    this.logger.info({ segment: record.segment, rows: this.rows }, "replaying the log");
  }

  /** Counts the rows of a record that is skipped; `payload` is damaged, undefined when it could not be told apart. */
  lose(payload: Uint8Array | undefined): void {
    const rows = payload === undefined ? undefined : rowsOfDamaged(payload);
    if (rows === undefined) this.lostUnknown++;
    else this.lostRows += rows;
  }

  private applyEntry(entry: DecodedEntry, record: WalRecord): void {
    const region = this.regionOf(entry.tableId);
    if (region === undefined) return;
    const map = this.translator.define(entry, region.registry);
    if (record.sequence <= region.flushedSequence) return;
    this.ledger.note(record.segment, entry.tableId, record.sequence);
    const { rowCount } = entry.header;
    region.restore((memtable) => {
      const chunk = renumber(placeChunk(entry.header, entry.bytes, memtable.arena), map);
      if (chunk !== undefined) this.rows += rowCount;
      else {
        this.lostRows += rowCount;
        this.logger.error({ segment: record.segment, sequence: record.sequence, table: region.schemaNow.name, rows: rowCount }, LOST);
      }
      return chunk;
    });
  }
}

/** Rows of a record whose payload is damaged somewhere; undefined when what says so is damaged itself. */
function rowsOfDamaged(payload: Uint8Array): number | undefined {
  try {
    const rows = decodeWriteRecord(0, payload).reduce((sum, { header }) => sum + header.rowCount, 0);
    return rows <= LOST_ROWS_MAX ? rows : undefined;
  } catch (error) {
    if (error instanceof Error) return undefined; // A broken invariant as well: these bytes did not pass their checksum.
    throw error;
  }
}
