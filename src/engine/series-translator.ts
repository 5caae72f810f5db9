/**
 * Series numbers of one log stream → numbers of a table's region. A stream says what its numbers mean once a segment, in the records
 * themselves; so whoever reads records of a stream in order knows all of them: replay after a start, and the owner of the tables while
 * another thread writes the stream.
 */
import type { Chunk } from "../storage/memtable/chunk.ts";
import type { HeadEntry } from "../storage/memtable/write-record.ts";
import type { SeriesRegistry } from "../storage/series/series-registry.ts";

const UNDEFINED_SERIES = 0xffff_ffff;

/** See the file header. Holds what the current segment has said, by table. */
export class SeriesTranslator {
  private maps: Map<number, Uint32Array> = new Map();
  private segment = -1;

  /** Says which segment the next entries are of: what an earlier one said is forgotten. */
  enterSegment(segment: number): void {
    if (segment === this.segment) return;
    this.segment = segment;
    this.maps = new Map();
  }

  /** Takes the definitions of an entry and returns the numbers in `registry` by number in the stream, for `renumber`. */
  define(entry: HeadEntry, registry: SeriesRegistry): Uint32Array {
    let map = this.maps.get(entry.tableId) ?? new Uint32Array(256).fill(UNDEFINED_SERIES);
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
      map[series] = registry.registerKnown(tuple);
    }
    this.maps.set(entry.tableId, map);
    return map;
  }
}

/** Replaces a stream's series numbers by those of the region, in place where they fit; undefined when one is not defined. */
export function renumber(chunk: Chunk, map: Uint32Array): Chunk | undefined {
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
