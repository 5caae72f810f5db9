/**
 * What one log segment has said about the series of one table: which number of this process each logged number stands for, and which code
 * each logged code of a tag value.
 */
import type { SeriesDefinitions } from "../storage/memtable/series-definitions.ts";
import type { SeriesRegistry } from "../storage/series/series-registry.ts";

/** Stands for a logged number or code that nothing has defined. */
export const UNDEFINED = 0xffff_ffff;

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
    const tuple = new Uint32Array(initial.length);
    for (let i = 0; i < series.length; i++) {
      tuple.set(initial);
      let isKnown = true;
      for (let c = 0; c < columnIds.length; c++) {
        const position = positions[c] as number;
        if (position < 0) continue; // The table no longer has the column.
        const code = known[c]?.[codes[c]?.[i] as number] ?? UNDEFINED;
        if (code === UNDEFINED) isKnown = false;
        else tuple[position] = code;
      }
      if (isKnown) this.set(series[i] as number, registry.registerKnownCodes(tuple));
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
    for (const { code, start, end } of texts[c] ?? []) {
      if (code >= codes.length) codes = grown(codes, code);
      codes[code] = registry.encodeBytes(position, bytes, start, end);
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
