/**
 * Puts log records back into memtables after a start.
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

/** Takes the records of one start. Holds what the current segment has said about series. */
export class Replay {
  private readonly regionOf: (tableId: number) => Region | undefined;
  private readonly ledger: LogLedger;
  private readonly logger: Logger;
  /** Logged series number → number in this process, by table, for the segment being read. */
  private maps: Map<number, Uint32Array> = new Map();
  private segment = -1;
  private rows = 0;
  private reported = 0;

  constructor(regionOf: (tableId: number) => Region | undefined, ledger: LogLedger, logger: Logger) {
    this.regionOf = regionOf;
    this.ledger = ledger;
    this.logger = logger;
  }

  /** Applies one record. Records come in the order in which they were written. */
  apply(record: WalRecord): void {
    if (record.segment !== this.segment) {
      this.segment = record.segment;
      this.maps = new Map();
    }
    for (const entry of decodeWriteRecord(record.sequence, record.payload)) this.applyEntry(entry, record);
    if (this.rows - this.reported < PROGRESS_ROWS) return;
    this.reported = this.rows;
    this.logger.info({ segment: record.segment, rows: this.rows }, "replaying the log");
  }

  private applyEntry(entry: DecodedEntry, record: WalRecord): void {
    const region = this.regionOf(entry.tableId);
    if (region === undefined) return;
    const map = this.define(entry, region);
    if (record.sequence <= region.flushedSequence) return;
    this.ledger.note(record.segment, entry.tableId, record.sequence);
    const { rowCount } = entry.header;
    region.restore((memtable) => {
      const chunk = renumber(placeChunk(entry.header, entry.bytes, memtable.arena), map);
      if (chunk !== undefined) this.rows += rowCount;
      else this.logger.error({ segment: record.segment, sequence: record.sequence, table: region.schemaNow.name, rows: rowCount }, LOST);
      return chunk;
    });
  }

  private define(entry: DecodedEntry, region: Region): Uint32Array {
    let map = this.maps.get(entry.tableId) ?? new Uint32Array(256).fill(UNDEFINED_SERIES);
    const { registry } = region;
    const positions = entry.columnIds.map((id) => registry.positionOf(id));
    const initial = Array.from({ length: registry.columnCount }, (_, c) => registry.dictionaryAt(c)[registry.initialCodeAt(c)]);
    for (const { series, values } of entry.definitions) {
      const tuple = [...initial]; // Tags that the record does not list are younger than it.
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
