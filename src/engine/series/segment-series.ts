/**
 * What one log segment has said about the series of one table: which number of this process each logged number stands for, and which code
 * each logged code of a tag value.
 */
import { longer } from "../../base/bytes/longer-array.ts";
import type { SeriesDefinitions } from "../../storage/memtable/series-definitions.ts";
import type { Chunk } from "../../storage/memtable/chunk.ts";
import { SeriesCarrier } from "../../storage/series/series-carrier.ts";
import type { SeriesRegistry } from "../../storage/series/series-registry.ts";

/** Stands for a logged number or code that nothing has defined. */
export const UNDEFINED = 0xffff_ffff;

/** Series or texts that are looked up together. */
const BLOCK = 256;

/** What was said while an earlier registry was in force. */
interface Former {
  readonly series: Uint32Array;
  readonly codes: ReadonlyMap<number, Uint32Array>;
  readonly carrier: SeriesCarrier;
  readonly before: Former | undefined;
}

/**
 * See the file header. When the table's registry is renewed, what is asked for is carried over: most of a segment's series may be dead.
 */
export class SegmentSeries {
  /** Series of this process by logged number. */
  series: Uint32Array = new Uint32Array(64).fill(UNDEFINED);
  /** By id of the tag column: codes of this process by logged code. */
  private codes: Map<number, Uint32Array> = new Map();
  private registry: SeriesRegistry | undefined;
  private former: Former | undefined;

  /**
   * Takes in the definitions of a record. A series one of whose values nobody has defined, since damage took that record, stays undefined.
   *
   * @param isolated whether codes mean something in this record only
   */
  define(definitions: SeriesDefinitions, columnIds: readonly number[], registry: SeriesRegistry, isolated: boolean): void {
    const { series, codes } = definitions;
    this.follow(registry);
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
          const said = codes[c]?.[next] as number;
          let code = known[c]?.[said] ?? UNDEFINED;
          if (code === UNDEFINED && this.former !== undefined && !isolated) code = this.formerCode(columnIds[c] as number, position, said);
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

  /** Forgets what was said while earlier registries were in force: the stream has said everything again that it uses. */
  forgetFormer(): void {
    this.former = undefined;
  }

  /** Bytes held. */
  get byteLength(): number {
    let bytes = this.series.byteLength;
    for (const codes of this.codes.values()) bytes += codes.byteLength;
    for (let { former } = this; former !== undefined; former = former.before)
      bytes += former.series.byteLength + former.carrier.from.byteLength;
    return bytes;
  }

  /** Makes sure that the series of a chunk's rows are known that an earlier registry knew. */
  complete({ series, rowCount }: Chunk): void {
    if (this.former === undefined) return;
    for (let i = 0; i < rowCount; i++) {
      const logged = series[i] as number;
      if ((this.series[logged] ?? UNDEFINED) !== UNDEFINED) continue;
      for (let at: Former | undefined = this.former; at !== undefined; at = at.before) {
        const own = at.series[logged] ?? UNDEFINED;
        if (own === UNDEFINED) continue;
        this.set(logged, at.carrier.numberOf(own));
        break;
      }
    }
  }

  private formerCode(columnId: number, position: number, logged: number): number {
    for (let at = this.former; at !== undefined; at = at.before) {
      const own = at.codes.get(columnId)?.[logged] ?? UNDEFINED;
      if (own !== UNDEFINED) return at.carrier.codeOf(position, own);
    }
    return UNDEFINED;
  }

  /** Begins anew under the numbers of a later registry. */
  private follow(registry: SeriesRegistry): void {
    const { registry: from } = this;
    if (from === registry) return;
    this.registry = registry;
    if (from === undefined) return;
    let before = this.former;
    // Numbers of the registry before that one are carried straight to the new one.
    if (before !== undefined) before = carriedTo(before, registry);
    this.former = { series: this.series, codes: this.codes, carrier: new SeriesCarrier(from, registry), before };
    this.series = new Uint32Array(64).fill(UNDEFINED);
    this.codes = new Map();
  }

  private set(logged: number, series: number): void {
    if (logged >= this.series.length) this.series = grown(this.series, logged);
    this.series[logged] = series;
  }
}

function carriedTo({ before, carrier, ...said }: Former, registry: SeriesRegistry): Former {
  const older = before === undefined ? undefined : carriedTo(before, registry);
  return { ...said, carrier: new SeriesCarrier(carrier.from, registry), before: older };
}

function grown(array: Uint32Array, index: number): Uint32Array {
  return longer(array, index + 1).fill(UNDEFINED, array.length);
}
