/** A tag column of some runs, with only the values that occur. */
export interface UsedCodes {
  /** Index 0 is undefined (NULL), then the values in order of first use. */
  readonly dictionary: (string | undefined)[];
  /** Code of each run, into `dictionary`. */
  readonly codes: Uint32Array;
}

/** Renumbers the codes of `runCount` runs to those that occur. `codeOf(run)` is a code of `strings`; 0 is NULL and stays 0. */
export function usedCodes(runCount: number, codeOf: (run: number) => number, strings: readonly (string | undefined)[]): UsedCodes {
  const newCodes = new Map<number, number>([[0, 0]]);
  const dictionary: (string | undefined)[] = [undefined];
  const codes = new Uint32Array(runCount);
  for (let run = 0; run < runCount; run++) {
    const code = codeOf(run);
    let mapped = newCodes.get(code);
    if (mapped === undefined) {
      mapped = dictionary.length;
      newCodes.set(code, mapped);
      dictionary.push(strings[code]);
    }
    codes[run] = mapped;
  }
  return { dictionary, codes };
}
