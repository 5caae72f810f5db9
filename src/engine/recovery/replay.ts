/**
 * Puts the records of one log stream back into memtables after a start. Streams are read one after the other: a sequence, which all of
 * them share, decides what is newer (`Region.endRestore`).
 *
 * Which records count, and what of them, the rule of `../log/local-writers.ts` says. What does, by table:
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
 * Applying a record twice cannot happen: a sequence is either flushed or not, the log gives each record once, and its number says so too.
 */
import { type TableId, type WriterId, writerId } from "../../base/units.ts";
import { DbError } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import { placeChunk } from "../../storage/memtable/chunk-codec.ts";
import type { RecordOrigin } from "../../storage/memtable/record-origin.ts";
import { type DecodedEntry, decodeWriteRecord, type HeadEntry } from "../../storage/memtable/write-record.ts";
import type { Region } from "../../storage/region/region.ts";
import type { WalRecord } from "../../storage/wal/wal.ts";
import { LocalWriters } from "../log/local-writers.ts";
import type { LogLedger } from "../log/log-ledger.ts";
import { renumber, SeriesTranslator } from "../series/series-translator.ts";

/** Rows read back between two progress lines. */
const PROGRESS_ROWS = 10_000_000;

/** Rows of a request that can be believed of a damaged record. */
const LOST_ROWS_MAX = 100_000_000;

/** Whose the records of versions 1 to 4 are, which do not say it. Ids that are drawn are larger. */
const UNSAID: WriterId = writerId(1);

const SKIPPED =
  "rows of the log are skipped: by its numbers their record is there twice, or behind a segment that its writer had begun later";

const LOST = "cannot replay rows: the damaged part of their log segment said what series they are of; they are lost";

/** What a replay works with. */
export interface ReplayParts {
  readonly regionOf: (tableId: TableId) => Region | undefined;
  /** Ids of tables from this one on were never given out. */
  readonly nextTableId: number;
  /** The table of a region. */
  readonly tableOf: (region: TableId) => TableId;
  readonly ledger: LogLedger;
  readonly logger: Logger;
  /** Is told of every table's part of every record. */
  readonly sawEntry?: (tableId: TableId, sequence: number) => void;
}

/** Takes the records that one log stream has at a start. */
export class Replay {
  private readonly parts: ReplayParts;
  private readonly writers: LocalWriters = new LocalWriters();
  private readonly translator: SeriesTranslator = new SeriesTranslator();
  /** Records that do not say where they come from. */
  private unsaid = 0;
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
    const { segment, sequence, payload } = record;
    const { origin = this.originOf(record), entries } = decodeWriteRecord(sequence, payload);
    const verdict = this.writers.take(origin);
    if (verdict.kind !== "rows") this.parts.logger.error({ segment, sequence, rows: rowsOf(entries) }, SKIPPED);
    if (verdict.kind === "older") return;
    if (verdict.begins) this.translator.beginSegment();
    for (const entry of entries) this.applyEntry(entry, record, verdict.kind === "rows");
    if (this.rows - this.reported < PROGRESS_ROWS) return;
    this.reported = this.rows;
    this.parts.logger.info({ segment, rows: this.rows }, "replaying the log");
  }

  /** Counts the rows of a record that is skipped; `payload` is damaged, undefined when it could not be told apart. */
  lose(payload: Uint8Array | undefined): void {
    const rows = payload === undefined ? undefined : rowsOfDamaged(payload);
    if (rows === undefined) this.lostUnknown++;
    else this.lostRows += rows;
  }

  /** Where a record comes from that does not say it: one writer, which numbers them as they come and begins anew with each log segment. */
  private originOf({ segment }: WalRecord): RecordOrigin {
    return { writer: UNSAID, number: ++this.unsaid, segment, catalogVersion: 0 };
  }

  private applyEntry(entry: DecodedEntry, record: WalRecord, hasRows: boolean): void {
    const { regionOf, tableOf, nextTableId, sawEntry } = this.parts;
    sawEntry?.(entry.tableId, record.sequence);
    const region = regionOf(entry.tableId);
    if (region === undefined) {
      const table = tableOf(entry.tableId);
      if (table >= nextTableId) throw olderThanLog(table, nextTableId, record);
      return;
    }
    const { series: map } = this.translator.define(entry, region.registry);
    if (!hasRows || record.sequence <= region.flushedSequence) return;
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

function rowsOf(entries: readonly HeadEntry[]): number {
  return entries.reduce((sum, { header }) => sum + header.rowCount, 0);
}

/** Rows of a record whose payload is damaged somewhere; undefined when what says so is damaged itself. */
function rowsOfDamaged(payload: Uint8Array): number | undefined {
  try {
    const rows = rowsOf(decodeWriteRecord(0, payload).entries);
    return rows <= LOST_ROWS_MAX ? rows : undefined;
  } catch (error) {
    if (error instanceof Error) return undefined; // A broken invariant as well: these bytes did not pass their checksum.
    throw error;
  }
}
