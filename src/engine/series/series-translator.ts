/**
 * Series numbers of one log stream → numbers of a table's region. A stream says what its numbers mean once a segment, in the records
 * themselves; so whoever reads records of a stream in order knows all of them: replay after a start, and the owner of the tables while
 * another thread writes the stream.
 */
import type { TableId } from "../../base/units.ts";
import type { Chunk } from "../../storage/memtable/chunk.ts";
import type { HeadEntry } from "../../storage/memtable/write-record.ts";
import type { SeriesRegistry } from "../../storage/series/series-registry.ts";
import { SegmentSeries, UNDEFINED } from "./segment-series.ts";

/** See the file header. Holds what the current segment has said, by table. */
export class SeriesTranslator {
  private known: Map<TableId, SegmentSeries> = new Map();

  /** Says that the next entries are of a new segment: what earlier ones said is forgotten. */
  beginSegment(): void {
    this.known = new Map();
  }

  /** Takes the definitions of an entry and returns what is known of its table: the numbers in `registry` by number in the stream. */
  define({ tableId, definitions, columnIds, isolated }: HeadEntry, registry: SeriesRegistry): SegmentSeries {
    let known = this.known.get(tableId);
    if (known === undefined) {
      known = new SegmentSeries();
      this.known.set(tableId, known);
    }
    known.define(definitions, columnIds, registry, isolated);
    return known;
  }

  /** Forgets what the stream said of a table's series before it began to say everything again. */
  forgetFormer(tableId: TableId): void {
    this.known.get(tableId)?.forgetFormer();
  }

  /** Bytes held. */
  get byteLength(): number {
    let bytes = 0;
    for (const known of this.known.values()) bytes += known.byteLength;
    return bytes;
  }
}

/** Replaces a stream's series numbers by those of the region, in place where they fit; undefined when one is not defined. */
export function renumber(chunk: Chunk, map: Uint32Array): Chunk | undefined {
  const { series, rowCount } = chunk;
  let same = true;
  let max = 0;
  for (let i = 0; i < rowCount; i++) {
    const mapped = map[series[i] as number];
    if (mapped === undefined || mapped === UNDEFINED) return undefined;
    if (mapped !== series[i]) same = false;
    if (mapped > max) max = mapped;
  }
  if (same) return chunk;
  const target = max < 0x1_0000 || series instanceof Uint32Array ? series : new Uint32Array(new SharedArrayBuffer(rowCount * 4));
  for (let i = 0; i < rowCount; i++) target[i] = map[series[i] as number] as number;
  return { ...chunk, series: target };
}
