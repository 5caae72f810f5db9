/**
 * Tombstones in a data file, beside its Parquet data (`../FORMAT.md`): the series as in a series index, then the ranges as
 * differences, which compress to almost nothing where rows come at a steady pace.
 */
import { ByteReader } from "../../../base/bytes/byte-reader.ts";
import { ByteWriter } from "../../../base/bytes/byte-writer.ts";
import { decodeSeriesIndex, encodeSeriesIndex, type SeriesIndex } from "./series-index.ts";
import { usedCodes } from "./used-codes.ts";
import type { TagColumnView } from "../../series/series-ranks.ts";
import type { TombstoneSet } from "../../tombstone/tombstone-set.ts";

/** Name of the blob in the file. */
export const TOMBSTONE_BLOB = "tombstones";
const VERSION = 1;

/** What a file deletes: run r of `series` is one series, whose ranges are `[ends[r - 1] ?? 0, ends[r])`. */
export interface StoredTombstones {
  readonly series: SeriesIndex;
  readonly firsts: Float64Array;
  readonly lasts: Float64Array;
}

/** Encodes a set, compressed. @param tags tag columns in key order, whose codes go by the numbers that the set has for series */
export function encodeTombstones(set: TombstoneSet, tags: readonly TagColumnView[]): Uint8Array {
  const used = tags.map(({ codes, texts }) => usedCodes(set.series, codes, texts));
  const series = encodeSeriesIndex({
    columnIds: tags.map(({ columnId }) => columnId),
    dictionaries: used.map(({ texts }) => texts),
    codes: used.map(({ codes }) => codes),
    ends: set.ends,
    timeBase: set.base,
    firstTimes: Float64Array.from(set.series, (_, run) => set.firsts[set.startOf(run)]!),
    lastTimes: Float64Array.from(set.ends, (end) => set.lasts[end - 1]!),
  });
  const plain = new ByteWriter(1 << 16);
  for (let run = 0; run < set.series.length; run++) {
    let before = 0;
    for (let i = set.startOf(run); i < set.ends[run]!; i++) {
      plain.varint(set.firsts[i]! - before);
      plain.varint(set.lasts[i]! - set.firsts[i]!);
      before = set.lasts[i]!;
    }
  }
  const out = new ByteWriter(16);
  out.u32(VERSION);
  out.u32(series.length);
  out.raw(series);
  out.u53(plain.length);
  out.raw(Bun.zstdCompressSync(plain.bytes(), { level: 1 }));
  return out.copy();
}

/** Decodes what `encodeTombstones` made. @throws ByteReadError or Error when the bytes are damaged; the caller names the file */
export function decodeTombstones(bytes: Uint8Array): StoredTombstones {
  const input = new ByteReader(bytes);
  const version = input.u32();
  if (version !== VERSION) throw new Error(`tombstones have version ${version}, which this server does not know`);
  const series = decodeSeriesIndex(input.raw(input.u32()));
  const plainBytes = input.u53();
  const plain = new Uint8Array(Bun.zstdDecompressSync(input.raw(input.remaining)));
  if (plain.length !== plainBytes) throw new Error(`tombstones of ${plainBytes} bytes; got ${plain.length}`);
  const count = series.ends.at(-1) ?? 0;
  if (count * 2 > plain.length) throw new Error(`${count} ranges in ${plain.length} bytes`);
  const firsts = new Float64Array(count);
  const lasts = new Float64Array(count);
  const ranges = new ByteReader(plain);
  let at = 0;
  for (const end of series.ends) {
    for (let before = 0; at < end; at++) {
      firsts[at] = before + ranges.varint();
      lasts[at] = firsts[at]! + ranges.varint();
      before = lasts[at]!;
    }
  }
  if (ranges.remaining > 0) throw new Error(`ranges end ${ranges.remaining} bytes before their blob`);
  return { series, firsts, lasts };
}
