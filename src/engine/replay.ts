/**
 * Puts log records back into memtables after a start.
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
import { DbError } from "../base/error.ts";
import type { Logger } from "../base/log.ts";
import { StatusCode } from "../base/status-code.ts";
import type { Chunk } from "../storage/memtable/chunk.ts";
import { placeChunk } from "../storage/memtable/chunk-codec.ts";
import { type DecodedEntry, decodeWriteRecord } from "../storage/memtable/write-record.ts";
import type { Region } from "../storage/region/region.ts";
import type { WalRecord } from "../storage/wal/wal.ts";
import type { LogLedger } from "./log-ledger.ts";

const UNDEFINED_SERIES = 0xffff_ffff;

/** Rows read back between two progress lines. */
const PROGRESS_ROWS = 10_000_000;

const LOST = "cannot replay rows: the damaged part of their log segment said what series they are of; they are lost";

/** What a replay works with. */
export interface ReplayParts {
  readonly regionOf: (tableId: number) => Region | undefined;
  /** Ids of tables from this one on were never given out. */
  readonly nextTableId: number;
  readonly ledger: LogLedger;
  readonly logger: Logger;
  /** Is told of every table's part of every record. */
  readonly sawEntry?: (tableId: number, sequence: number) => void;
}

/** Takes the records of one start. Holds what the current segment has said about series. */
export class Replay {
  private readonly parts: ReplayParts;
  /** Logged series number → number in this process, by table, for the segment being read. */
  private maps: Map<number, Uint32Array> = new Map();
  private segment = -1;
  private rows = 0;
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
    if (record.segment !== this.segment) {
      this.segment = record.segment;
      this.maps = new Map();
    }
    for (const entry of decodeWriteRecord(record.sequence, record.payload)) this.applyEntry(entry, record);
    if (this.rows - this.reported < PROGRESS_ROWS) return;
    this.reported = this.rows;
    this.parts.logger.info({ segment: record.segment, rows: this.rows }, "replaying the log");
  }

  private applyEntry(entry: DecodedEntry, record: WalRecord): void {
    const { regionOf, nextTableId, sawEntry } = this.parts;
    sawEntry?.(entry.tableId, record.sequence);
    const region = regionOf(entry.tableId);
    if (region === undefined) {
      if (entry.tableId >= nextTableId) throw olderThanLog(entry.tableId, nextTableId, record);
      return;
    }
    const map = this.define(entry, region);
    if (record.sequence <= region.flushedSequence) return;
    this.parts.ledger.note(record.segment, entry.tableId, record.sequence);
    const { rowCount } = entry.header;
    region.restore((memtable) => {
      const chunk = renumber(placeChunk(entry.header, entry.bytes, memtable.arena), map);
      if (chunk !== undefined) this.rows += rowCount;
      else
        this.parts.logger.error({ segment: record.segment, sequence: record.sequence, table: region.schemaNow.name, rows: rowCount }, LOST);
      return chunk;
    });
  }

  private define(entry: DecodedEntry, region: Region): Uint32Array {
    let map = this.maps.get(entry.tableId) ?? new Uint32Array(256).fill(UNDEFINED_SERIES);
    const positions = entry.columnIds.map((id) => region.registry.positionOf(id));
    for (const { series, values } of entry.definitions) {
      const tuple: (string | undefined)[] = new Array<string | undefined>(region.registry.columnCount);
      for (let c = 0; c < values.length; c++) {
        const position = positions[c];
        if (position !== undefined && position >= 0) tuple[position] = values[c];
      }
      if (series >= map.length) {
        const grown = new Uint32Array(Math.max(series + 1, map.length * 2)).fill(UNDEFINED_SERIES);
        grown.set(map);
        map = grown;
      }
      map[series] = region.registry.register(tuple);
    }
    this.maps.set(entry.tableId, map);
    return map;
  }
}

function olderThanLog(tableId: number, nextTableId: number, { segment, sequence }: WalRecord): DbError {
  return new DbError(
    StatusCode.StorageUnavailable,
    `cannot replay record ${sequence} of log segment ${segment}: it is of table ${tableId}, and the meta store has given out ids below ` +
      `${nextTableId} only, so it is older than the log; put the meta store back that belongs to this log, or move the log away to go on ` +
      "without its rows",
  );
}

/** Replaces logged series numbers by those of this process, in place where they fit; undefined when one is not defined. */
function renumber(chunk: Chunk, map: Uint32Array): Chunk | undefined {
  const { series, rowCount } = chunk;
  let same = true;
  let max = 0;
  for (let i = 0; i < rowCount; i++) {
    const mapped = map[series[i] as number];
    if (mapped === undefined || mapped === UNDEFINED_SERIES) return undefined;
    if (mapped !== series[i]) same = false;
    if (mapped > max) max = mapped;
  }
  if (same) return chunk;
  const target = max < 0x1_0000 || series instanceof Uint32Array ? series : new Uint32Array(new SharedArrayBuffer(rowCount * 4));
  for (let i = 0; i < rowCount; i++) target[i] = map[series[i] as number] as number;
  return { ...chunk, series: target };
}
