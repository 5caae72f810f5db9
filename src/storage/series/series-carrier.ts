/**
 * Series of one registry under the numbers of another, which gets those that it lacks: a registry is renewed (`region.ts`), and who still
 * has numbers of the old one is answered.
 *
 *   number ─► codes there ─► text of each, once a code ─► codes here ─► number
 *
 * 0.2 µs a series, once; then one look into an array.
 */
import { resized } from "../../base/bytes/longer-array.ts";
import type { SeriesRegistry } from "./series-registry.ts";

const UNKNOWN = 0xffff_ffff;

/** See the file header. Both registries have the same tag columns at the same positions, `to` perhaps more. */
export class SeriesCarrier {
  readonly from: SeriesRegistry;
  readonly to: SeriesRegistry;
  private numbers: Uint32Array = new Uint32Array(0);
  private readonly codes: Uint32Array[] = [];
  private tuple: Uint32Array = new Uint32Array(0);

  constructor(from: SeriesRegistry, to: SeriesRegistry) {
    this.from = from;
    this.to = to;
  }

  /** The number in `to` of a series of `from`. */
  numberOf(series: number): number {
    const known = this.numbers[series];
    return known === undefined || known === UNKNOWN ? this.carry(series) : known;
  }

  /** The code in `to` of a tag value of `from`, in the column at `position`. */
  codeOf(position: number, code: number): number {
    if (code === 0) return 0; // NULL everywhere.
    let codes = this.codes[position] ?? new Uint32Array(0);
    if (codes.length <= code) {
      codes = withRoom(codes, this.from.textsAt(position).size);
      this.codes[position] = codes;
    }
    let own = codes[code] as number;
    if (own === UNKNOWN) {
      const { bytes, starts } = this.from.textsAt(position);
      own = this.to.encodeBytes(position, bytes, starts[code] as number, starts[code + 1] as number);
      codes[code] = own;
    }
    return own;
  }

  /** Series in a new array. */
  numbersOf(series: Uint16Array | Uint32Array, count: number): Uint32Array<SharedArrayBuffer> {
    const carried = new Uint32Array(new SharedArrayBuffer(count * 4));
    for (let i = 0; i < count; i++) carried[i] = this.numberOf(series[i] as number);
    return carried;
  }

  private carry(series: number): number {
    const { from, to } = this;
    if (series >= this.numbers.length) this.numbers = withRoom(this.numbers, Math.max(from.count, series + 1));
    if (this.tuple.length !== to.columnCount) this.tuple = to.initialCodes();
    for (let position = 0; position < from.columnCount; position++) {
      this.tuple[position] = this.codeOf(position, from.codesAt(position)[series] as number);
    }
    const number = to.registerKnownCodes(this.tuple);
    this.numbers[series] = number;
    return number;
  }
}

function withRoom(numbers: Uint32Array, length: number): Uint32Array {
  return resized(numbers, length).fill(UNKNOWN, numbers.length);
}
