import { pickTexts, type TextTable } from "../../../column/text-table.ts";

/** A tag column of some runs, with only the values that occur. */
export interface UsedCodes {
  /** The values in order of first use. */
  readonly texts: TextTable;
  /** Code of each run, into `texts`. */
  readonly codes: Uint32Array;
}

/**
 * Renumbers the codes of runs to those that occur. Run r is of series `series[r]`; `codeOf[s]` is a code of `texts`, 0 is NULL and
 * stays 0.
 */
export function usedCodes(series: Uint32Array, codeOf: Uint32Array, texts: TextTable): UsedCodes {
  const newCodes = new Uint32Array(texts.size);
  const used = new Uint32Array(Math.min(series.length, texts.size));
  const codes = new Uint32Array(series.length);
  let count = 0;
  for (let run = 0; run < series.length; run++) {
    const code = codeOf[series[run] as number] as number;
    if (code === 0) continue;
    let mapped = newCodes[code] as number;
    if (mapped === 0) {
      used[count++] = code;
      mapped = count;
      newCodes[code] = mapped;
    }
    codes[run] = mapped;
  }
  return { texts: pickTexts(texts, used.subarray(0, count)), codes };
}
