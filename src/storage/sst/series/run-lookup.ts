/** Which run of a file belongs to a series: made when a query of few series first asks. */

/** See the file header. */
export interface RunLookup {
  /** The run of a series number, or -1. */
  find(series: number): number;
  /** Bytes held. */
  readonly byteLength: number;
}

/** A table by series number takes 4 B a number between the smallest and the largest: up to this many a run. */
const DENSE_NUMBERS_PER_RUN = 4;

/** @param series series number of each run, all different */
export function runLookupOf(series: Uint32Array): RunLookup {
  let min = Number.POSITIVE_INFINITY;
  let max = -1;
  for (let run = 0; run < series.length; run++) {
    const number = series[run] as number;
    if (number < min) min = number;
    if (number > max) max = number;
  }
  if (max < 0) return { find: () => -1, byteLength: 0 };
  return max - min < series.length * DENSE_NUMBERS_PER_RUN ? denseLookup(series, min, max) : sparseLookup(series);
}

function denseLookup(series: Uint32Array, min: number, max: number): RunLookup {
  const runs = new Int32Array(max - min + 1).fill(-1);
  for (let run = 0; run < series.length; run++) runs[(series[run] as number) - min] = run;
  return { find: (number) => runs[number - min] ?? -1, byteLength: runs.byteLength };
}

/** Runs in the order of their series, for a binary search. */
function sparseLookup(series: Uint32Array): RunLookup {
  const runs = Uint32Array.from(series.keys()).sort((a, b) => (series[a] as number) - (series[b] as number));
  const find = (number: number): number => {
    let low = 0;
    let high = runs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((series[runs[middle] as number] as number) < number) low = middle + 1;
      else high = middle;
    }
    const run = runs[low];
    return run !== undefined && series[run] === number ? run : -1;
  };
  return { find, byteLength: runs.byteLength };
}
