/**
 * The series of a file in a table's registry: what opening a file of very many series costs.
 *
 *   dictionaries of the file ─► codes of the registry         codes of each run ─► codes of the registry ─► series
 *
 * In blocks, so that lookups of a block wait for memory together, and column by column: opening a file of 1,000,000 series of ten tags
 * takes 0.6 s of processor time after a start, before 1.2.
 */
import type { SeriesRegistry } from "../../series/series-registry.ts";
import { newWords } from "../../series/shared-array.ts";
import type { SeriesNumbers } from "./file-contents.ts";
import type { SeriesIndex } from "../series/series-index.ts";

/** Series of a block: with ten tags 12 KiB. */
const BLOCK = 256;

/** Numbers of a registry, found or made; long lists lie on shared memory, for other threads that read the file. */
export function numbersOf(registry: SeriesRegistry): SeriesNumbers {
  return {
    expect: (runCount) => registry.reserve(runCount), // Each run is of another series.
    ofRows: (tags, count) => registerSeries(tags, count, registry),
    ofTombstones: (tags, count) => registerSeries(tags, count, registry),
  };
}

/** Finds or makes the number of each run's series. */
function registerSeries(
  index: Pick<SeriesIndex, "columnIds" | "dictionaries" | "codes">,
  runCount: number,
  registry: SeriesRegistry,
): Uint32Array {
  const positions = index.columnIds.map((id) => registry.positionOf(id));
  const mapped = positions.map((position, c) => registerTexts(index, c, position, registry));
  const codes = Array.from(registry.initialCodes(), (code) => new Uint32Array(BLOCK).fill(code));
  const series = newWords(runCount);
  for (let from = 0; from < runCount; from += BLOCK) {
    const count = Math.min(BLOCK, runCount - from);
    for (let c = 0; c < positions.length; c++) {
      const target = codes[positions[c] as number] as Uint32Array;
      mapCodes(index.codes[c] as Uint32Array, from, count, mapped[c] as Uint32Array, target);
    }
    registry.registerFileBlock(codes, count, series.subarray(from, from + count));
  }
  return series;
}

/** The registry's code of each text of a tag column. */
function registerTexts(
  { dictionaries }: Pick<SeriesIndex, "dictionaries">,
  c: number,
  position: number,
  registry: SeriesRegistry,
): Uint32Array {
  const texts = dictionaries[c];
  if (texts === undefined) return new Uint32Array(0);
  const codes = new Uint32Array(texts.size);
  registry.reserveTexts(position, texts.size, texts.bytes.length);
  registry.encodeTexts(position, texts, codes);
  return codes;
}

function mapCodes(codes: Uint32Array, from: number, count: number, mapped: Uint32Array, target: Uint32Array): void {
  for (let i = 0; i < count; i++) target[i] = mapped[codes[from + i] as number] as number;
}
