/**
 * Puts the records of one log stream back into memtables after a start. Streams are read one after the other: a sequence, which all of
 * them share, decides what is newer (`Region.endRestore`).
 *
 * | table                            | sequence is flushed | series defined | what                                                     |
 * |----------------------------------|---------------------|----------------|----------------------------------------------------------|
 * | its id was never given out       | –                   | –              | refused: the meta store is older than the log            |
 * | does not exist                   | –                   | –              | skipped: it was dropped after the record                 |
 * | exists, perhaps under a new name | yes                 | –              | its definitions count; its rows are in files, or were    |
 * |                                  |                     |                | truncated after the record                               |
 * | exists, perhaps under a new name | no                  | yes            | rows go to the memtable under this process's numbers     |
 * | exists, perhaps under a new name | no                  | no             | lost, and said to be: the definition was in a damaged    |
 * |                                  |                     |                | part (recovery mode "skip_corrupt" only)                 |
 *
 * Definitions count for their own segment only: each segment says anew what its numbers mean. Ids of tables are given out by a durable
 * commit before a record is written, so no crash leaves a record with an id that was not.
 *
 * Applying a record twice cannot happen: a sequence is either flushed or not, and the log gives each record once.
 */
import type { TableId } from "../../base/units.ts";
import { DbError } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import { placeChunk } from "../../storage/memtable/chunk-codec.ts";
import { type DecodedEntry, decodeWriteRecord } from "../../storage/memtable/write-record.ts";
import type { Region } from "../../storage/region/region.ts";
import type { WalRecord } from "../../storage/wal/wal.ts";
import type { LogLedger } from "../log/log-ledger.ts";
import { renumber, SeriesTranslator } from "../series/series-translator.ts";

/** Rows read back between two progress lines. */
const PROGRESS_ROWS = 10_000_000;

/** Rows of a request that can be believed of a damaged record. */
const LOST_ROWS_MAX = 100_000_000;

const LOST = "cannot replay rows: the damaged part of their log segment said what series they are of; they are lost";

/** What a replay works with. */
export interface ReplayParts {
  readonly regionOf: (tableId: TableId) => Region | undefined;
  /** Ids of tables from this one on were never given out. */
  readonly nextTableId: number;
  readonly ledger: LogLedger;
  readonly logger: Logger;
  /** Is told of every table's part of every record. */
  readonly sawEntry?: (tableId: TableId, sequence: number) => void;
}

/** Takes the records that one log stream has at a start. */
export class Replay {
  private readonly parts: ReplayParts;
  private readonly translator: SeriesTranslator = new SeriesTranslator();
  private rows = 0;
  /** Rows that are known to be lost, and places of the log at which nobody knows how many are. */
  lostRows = 0;
  lostUnknown = 0;
  private reported = 0;

  constructor(parts: ReplayParts) {
    this.parts = parts;
  }

  /**
   * Applies one record. Records come in the order in which they were written.
   *
   * @throws DbError StorageUnavailable when the meta store is older than the log
   */
  apply(record: WalRecord): void {
    this.translator.enterSegment(record.segment);
    for (const entry of decodeWriteRecord(record.sequence, record.payload)) this.applyEntry(entry, record);
    if (this.rows - this.reported < PROGRESS_ROWS) return;
    this.reported = this.rows;
    this.parts.logger.info({ segment: record.segment, rows: this.rows }, "replaying the log");
  }

  /** Counts the rows of a record that is skipped; `payload` is damaged, undefined when it could not be told apart. */
  lose(payload: Uint8Array | undefined): void {
    const rows = payload === undefined ? undefined : rowsOfDamaged(payload);
    if (rows === undefined) this.lostUnknown++;
    else this.lostRows += rows;
  }

  private applyEntry(entry: DecodedEntry, record: WalRecord): void {
    const { regionOf, nextTableId, sawEntry } = this.parts;
    sawEntry?.(entry.tableId, record.sequence);
    const region = regionOf(entry.tableId);
    if (region === undefined) {
      if (entry.tableId >= nextTableId) throw olderThanLog(entry.tableId, nextTableId, record);
      return;
    }
    const { series: map } = this.translator.define(entry, region.registry);
    if (record.sequence <= region.flushedSequence) return;
    this.parts.ledger.note(record.segment, entry.tableId, record.sequence);
    const { rowCount } = entry.header;
    region.restore((memtable) => {
      const chunk = renumber(placeChunk(entry.header, entry.bytes, memtable.arena), map);
      if (chunk !== undefined) this.rows += rowCount;
      else {
        this.lostRows += rowCount;
        this.parts.logger.error({ segment: record.segment, sequence: record.sequence, table: region.schemaNow.name, rows: rowCount }, LOST);
      }
      return chunk;
    });
  }
}

function olderThanLog(tableId: TableId, nextTableId: number, { segment, sequence }: WalRecord): DbError {
  return new DbError(
    StatusCode.StorageUnavailable,
    `cannot replay record ${sequence} of log segment ${segment}: it is of table ${tableId}, and the meta store has given out ids below ` +
      `${nextTableId} only, so it is older than the log; put the meta store back that belongs to this log, or move the log away to go on ` +
      "without its rows",
  );
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
