/**
 * Where the values of some labels lie in the label sets of a block of series, so that the codes of a block are looked up together and each
 * set is read no further than the last label that is wanted.
 */
import type { TextTable } from "../../column/text-table.ts";
import { digitOf } from "./label-set.ts";
import type { TagColumn } from "./tag-column.ts";

/** Series of a block: 3 KiB a label. */
const BLOCK = 256;
const COLON = 0x3a;

/** Label sets of a table's series: that of series i is the text of code `codes[regionSeries[i]]`. */
export interface LabelSets {
  readonly texts: TextTable;
  /** By the region's numbers. */
  readonly codes: Uint32Array;
  /** The region's numbers, by the table's. */
  readonly regionSeries: Uint32Array;
}

/** See the file header. */
export class LabelSpans {
  readonly blockMax: number = BLOCK;
  private readonly labelIds: Uint32Array;
  /** By label: pairs of where a value begins and ends, of those series that have it. */
  private readonly spans: readonly Uint32Array[];
  /** By label: those series. */
  private readonly series: readonly Uint32Array[];
  private readonly counts: Uint32Array;
  private readonly codes: Uint32Array<ArrayBuffer> = new Uint32Array(BLOCK);

  /** @param labelIds of the labels that are wanted, ascending */
  constructor(labelIds: readonly number[]) {
    this.labelIds = Uint32Array.from(labelIds);
    this.spans = labelIds.map(() => new Uint32Array(2 * BLOCK));
    this.series = labelIds.map(() => new Uint32Array(BLOCK));
    this.counts = new Uint32Array(labelIds.length);
  }

  /** Finds the values of series `[from, to)`, a block at most; false when a set is not ASCII, whose lengths count something else. */
  locate({ texts: { bytes, starts }, codes, regionSeries }: LabelSets, from: number, to: number): boolean {
    this.counts.fill(0);
    for (let series = from; series < to; series++) {
      const code = codes[regionSeries[series] as number] as number;
      if (!this.locateIn(bytes, starts[code] as number, starts[code + 1] as number, series)) return false;
    }
    return true;
  }

  private locateIn(bytes: Uint8Array, from: number, to: number, series: number): boolean {
    const { labelIds, counts } = this;
    let bits = 0;
    for (let at = from, wanted = 0; at < to; ) {
      let labelId = 0;
      for (; bytes[at] !== COLON; at++) labelId = labelId * 36 + digitOf(bytes[at]);
      while (wanted < labelIds.length && (labelIds[wanted] as number) < labelId) wanted++;
      if (wanted === labelIds.length) break; // Labels come by ascending id.
      let length = 0;
      for (at++; bytes[at] !== COLON; at++) length = length * 36 + digitOf(bytes[at]);
      const start = at + 1;
      at = start + length;
      if (at > to) return false; // Only where a byte before was not ASCII: `decodeLabels` checks it.
      for (let i = start; i < at; i++) bits |= bytes[i] as number;
      if (bits >= 0x80) return false;
      if (labelIds[wanted] !== labelId) continue;
      const count = counts[wanted] as number;
      const spans = this.spans[wanted] as Uint32Array;
      spans[2 * count] = start;
      spans[2 * count + 1] = at;
      (this.series[wanted] as Uint32Array)[count] = series;
      counts[wanted] = count + 1;
    }
    return true;
  }

  /** Gives the series of the block their codes of the label numbered `label`; those without it keep NULL. `bytes`: of the sets. */
  encode(label: number, column: Pick<TagColumn, "codes" | "dictionary">, bytes: Uint8Array): void {
    const { codes } = this;
    const count = this.counts[label] as number;
    const series = this.series[label] as Uint32Array;
    column.dictionary.encodeSpans(bytes, this.spans[label] as Uint32Array, 0, 2, count, codes);
    for (let i = 0; i < count; i++) column.codes[series[i] as number] = codes[i] as number;
  }
}
