/**
 * What one log segment has said about the series of one table: which number of this process each logged number stands for, and which code
 * each logged code of a tag value.
 */
import type { SeriesDefinitions } from "../storage/memtable/series-definitions.ts";
import type { SeriesRegistry } from "../storage/series/series-registry.ts";

/** Stands for a logged number or code that nothing has defined. */
export const UNDEFINED = 0xffff_ffff;

/** Series or texts that are looked up together. */
const BLOCK = 256;

/** See the file header. */
export class SegmentSeries {
  /** Series of this process by logged number. */
  series: Uint32Array = new Uint32Array(64).fill(UNDEFINED);
  /** By id of the tag column: codes of this process by logged code. */
  private readonly codes: Map<number, Uint32Array> = new Map();

  /**
   * Takes in the definitions of a record. A series one of whose values nobody has defined, since damage took that record, stays undefined.
   *
   * @param isolated whether codes mean something in this record only
   */
  define(definitions: SeriesDefinitions, columnIds: readonly number[], registry: SeriesRegistry, isolated: boolean): void {
    const { series, codes } = definitions;
    if (series.length === 0) return;
    const positions = columnIds.map((id) => registry.positionOf(id));
    const known = columnIds.map((id, c) => this.codesOf(id, c, positions[c] as number, definitions, registry, isolated));
    const initial = registry.initialCodes(); // Tags that the record does not list are younger than it.
    const block = Array.from(initial, (code) => new Uint32Array(BLOCK).fill(code));
    const own = new Uint32Array(BLOCK);
    const logged = new Uint32Array(BLOCK);
    for (let next = 0; next < series.length; ) {
      let count = 0;
      for (; count < BLOCK && next < series.length; next++) {
        let isKnown = true;
        for (let c = 0; c < columnIds.length; c++) {
          const position = positions[c] as number;
          if (position < 0) continue; // The table no longer has the column.
          const code = known[c]?.[codes[c]?.[next] as number] ?? UNDEFINED;
          if (code === UNDEFINED) isKnown = false;
          else (block[position] as Uint32Array)[count] = code;
        }
        if (isKnown) logged[count++] = series[next] as number;
      }
      registry.registerKnownBlock(block, count, own);
      for (let i = 0; i < count; i++) this.set(logged[i] as number, own[i] as number);
    }
  }

  private codesOf(
    columnId: number,
    c: number,
    position: number,
    { texts, bytes }: SeriesDefinitions,
    registry: SeriesRegistry,
    isolated: boolean,
  ): Uint32Array | undefined {
    if (position < 0) return undefined;
    let codes = isolated ? undefined : this.codes.get(columnId);
    codes ??= new Uint32Array(16).fill(UNDEFINED);
    codes[0] = 0; // NULL.
    const defined = texts[c];
    const count = defined?.codes.length ?? 0;
    const own = new Uint32Array(Math.min(BLOCK, count));
    for (let from = 0; defined !== undefined && from < count; from += BLOCK) {
      const many = Math.min(BLOCK, count - from);
      registry.encodeSpans(position, bytes, defined.spans, 2 * from, 2, many, own);
      for (let i = 0; i < many; i++) {
        const code = defined.codes[from + i] as number;
        if (code >= codes.length) codes = grown(codes, code);
        codes[code] = own[i] as number;
      }
    }
    if (!isolated) this.codes.set(columnId, codes);
    return codes;
  }

  private set(logged: number, series: number): void {
    if (logged >= this.series.length) this.series = grown(this.series, logged);
    this.series[logged] = series;
  }
}

function grown(array: Uint32Array, index: number): Uint32Array {
  const larger = new Uint32Array(Math.max(index + 1, array.length * 2)).fill(UNDEFINED);
  larger.set(array);
  return larger;
}
