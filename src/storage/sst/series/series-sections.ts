/**
 * The series index of a shared region's file, in sections: a query of one of ten thousand tables reads the runs of that table, not those
 * of all. A section is a series index of neighbouring runs, with rows that count from its first one; a directory says where it lies and
 * which tables it has. FORMAT.md has the layout.
 *
 *   runs       | 4,096 | 4,096 | …         section ─► encodeSeriesIndex ─► bytes behind the row groups
 *   directory  | tables, runs, rows, place, checksum of each
 */
import type { TableId } from "../../../base/units.ts";
import { assert } from "../../../base/assert.ts";
import { ByteReader } from "../../../base/bytes/byte-reader.ts";
import { ByteWriter } from "../../../base/bytes/byte-writer.ts";
import { crc32 } from "../../../base/bytes/hash.ts";
import { pickTexts, type TextTable, textAt } from "../../../column/text-table.ts";
import { LABELS_COLUMN_ID } from "../../series/label-set.ts";
import { TABLE_ID_COLUMN_ID } from "../../../table/metric.ts";
import { decodeSeriesIndex, encodeSeriesIndex, type RunIndex, type SeriesIndex } from "./series-index.ts";

/** Name of the blob with the directory. */
export const SERIES_SECTIONS_BLOB = "series-sections";
const VERSION = 1;
/**
 * Runs of a section. Smaller ones are read faster, larger ones share more texts: 1M series of 10,000 metrics are 250 sections, one takes
 * 2 ms to read.
 */
const SECTION_RUNS = 4096;
/** Bytes of a section in the directory. */
const ENTRY_BYTES = 32;

/** Where neighbouring runs are. */
export interface SeriesSection {
  /** Ids of the tables of its first and last run; those between lie between. */
  readonly firstTable: number;
  readonly lastTable: number;
  readonly runCount: number;
  readonly rowCount: number;
  /** In the file. */
  readonly offset: number;
  readonly length: number;
  readonly checksum: number;
}

/** Whether the runs of an index are of tables that share a region, so that it goes to sections. */
export function isSectioned({ columnIds, ends }: SeriesIndex): boolean {
  return columnIds[0] === TABLE_ID_COLUMN_ID && columnIds[1] === LABELS_COLUMN_ID && ends.length > 0;
}

/** Writes the sections of an index by `place`, which gives the offset of bytes in the file, and returns the directory. */
export function encodeSections(index: SeriesIndex, place: (bytes: Uint8Array) => number): Uint8Array {
  assert(isSectioned(index), "an index with tables and label sets");
  const runCount = index.ends.length;
  const count = Math.ceil(runCount / SECTION_RUNS);
  const out = new ByteWriter(8 + count * ENTRY_BYTES);
  out.u32(VERSION);
  out.u32(count);
  for (let from = 0; from < runCount; from += SECTION_RUNS) {
    const to = Math.min(runCount, from + SECTION_RUNS);
    const bytes = encodeSeriesIndex(pickRuns(index, from, to));
    out.u32(tableOfRun(index, from));
    out.u32(tableOfRun(index, to - 1));
    out.u32(to - from);
    out.u32((index.ends[to - 1] as number) - startOfRun(index, from));
    out.i64(BigInt(place(bytes)));
    out.u32(bytes.length);
    out.u32(crc32(bytes));
  }
  return out.bytes();
}

/** @throws ByteReadError or Error when the bytes are no directory that this server knows */
export function decodeSections(bytes: Uint8Array): readonly SeriesSection[] {
  const input = new ByteReader(bytes);
  const version = input.u32();
  if (version !== VERSION) throw new Error(`series sections have version ${version}, which this server does not know`);
  const count = input.u32();
  if (count * ENTRY_BYTES !== input.remaining) throw new Error(`${count} series sections in ${input.remaining} bytes`);
  const sections: SeriesSection[] = [];
  for (let i = 0; i < count; i++) {
    sections.push({
      firstTable: input.u32(),
      lastTable: input.u32(),
      runCount: input.u32(),
      rowCount: input.u32(),
      offset: Number(input.i64()),
      length: input.u32(),
      checksum: input.u32(),
    });
  }
  return sections;
}

/** A section out of its bytes. @throws Error when they are damaged */
export function decodeSection(section: SeriesSection, bytes: Uint8Array): SeriesIndex {
  if (crc32(bytes) !== section.checksum) throw new Error(`the series section at byte ${section.offset} does not match its checksum`);
  const index = decodeSeriesIndex(bytes);
  const rows = index.ends.at(-1) ?? 0;
  if (index.ends.length !== section.runCount || rows !== section.rowCount || !isSectioned(index)) {
    throw new Error(`the series section at byte ${section.offset} has ${index.ends.length} runs of ${rows} rows`);
  }
  return index;
}

/** Runs `[from, to)` of a section that are of a table; empty if there is none. */
export function runsOfTable({ codes, dictionaries, ends }: SeriesIndex, tableId: TableId): { readonly from: number; readonly to: number } {
  const tables = codes[0] as Uint32Array;
  const code = codeOfText(dictionaries[0] as TextTable, String(tableId));
  let from = 0;
  while (from < ends.length && tables[from] !== code) from++;
  let to = from;
  while (to < ends.length && tables[to] === code) to++;
  return { from, to };
}

/** -1 when the table does not have it. */
function codeOfText(texts: TextTable, text: string): number {
  for (let code = 1; code < texts.size; code++) if (textAt(texts, code) === text) return code;
  return -1;
}

/** Runs `[from, to)` of an index as one of their own, with rows from 0 and the texts that they have. */
export function pickRuns(index: SeriesIndex, from: number, to: number): SeriesIndex {
  if (from === 0 && to === index.ends.length) return index;
  const start = startOfRun(index, from);
  const columns = index.codes.map((codes, c) => usedTexts(codes.subarray(from, to), index.dictionaries[c] as TextTable));
  return {
    columnIds: index.columnIds,
    dictionaries: columns.map(({ texts }) => texts),
    codes: columns.map(({ codes }) => codes),
    ends: index.ends.slice(from, to).map((end) => end - start),
    timeBase: index.timeBase,
    firstTimes: index.firstTimes.slice(from, to),
    lastTimes: index.lastTimes.slice(from, to),
  };
}

/** The row at which a run begins. */
export function startOfRun({ ends, firstRow }: Pick<RunIndex, "ends" | "firstRow">, run: number): number {
  return run === 0 ? (firstRow ?? 0) : (ends[run - 1] as number);
}

function tableOfRun({ codes, dictionaries }: SeriesIndex, run: number): number {
  return Number(textAt(dictionaries[0] as TextTable, codes[0]![run]!));
}

/** Codes renumbered to those that occur; NULL stays 0. Codes of neighbours lie close together, so little is looked at. */
function usedTexts(codes: Uint32Array, texts: TextTable): { readonly texts: TextTable; readonly codes: Uint32Array } {
  let min = texts.size;
  let max = 0;
  for (let run = 0; run < codes.length; run++) {
    const code = codes[run] as number;
    if (code === 0) continue;
    if (code < min) min = code;
    if (code > max) max = code;
  }
  const known = new Uint32Array(Math.max(0, max - min + 1));
  const used = new Uint32Array(Math.min(codes.length, known.length));
  const renumbered = new Uint32Array(codes.length);
  let count = 0;
  for (let run = 0; run < codes.length; run++) {
    const code = codes[run] as number;
    if (code === 0) continue;
    let mapped = known[code - min] as number;
    if (mapped === 0) {
      used[count++] = code;
      mapped = count;
      known[code - min] = mapped;
    }
    renumbered[run] = mapped;
  }
  return { texts: pickTexts(texts, used.subarray(0, count)), codes: renumbered };
}
