/**
 * Distinct counts in bounded memory: HyperLogLog with 2^14 registers of 6 bits, error about 0.8 %. A value's 64-bit hash (xxHash64 of its
 * text) chooses a register by its upper 14 bits; the register keeps the largest number of leading zeros, plus one, of the other 50.
 * Estimates follow Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017), algorithm 6, which needs no tables of
 * corrections.
 *
 * State, a Binary value that tables may keep (all little-endian):
 *
 *   'H' 1 kind:u8                       3 bytes
 *   kind 0, sparse: entry:u32 *         index << 6 | register, ascending by index
 *   kind 1, dense: register:u8 * 16384
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";

const INDEX_BITS = 14;
const REGISTERS = 1 << INDEX_BITS;
/** Bits of a hash behind the index. */
const REST_BITS = 64 - INDEX_BITS;
/** Sparse entries before the registers are laid out: four bytes each against one a register. */
const SPARSE_MAX = REGISTERS / 8;
/** About what an entry costs in memory while the sketch is sparse. */
const SPARSE_ENTRY_BYTES = 48;
const HEADER = Uint8Array.of(0x48, 1); // 'H', version 1
const HEADER_BYTES = 3;

/** A growing sketch. */
export class HyperLogLog {
  private sparse: Map<number, number> | undefined = new Map();
  private dense: Uint8Array | undefined;

  /** Takes a value by its text. */
  add(text: string): void {
    const hash = Bun.hash.xxHash64(text);
    const rest = BigInt.asUintN(REST_BITS, hash);
    const zeros = rest === 0n ? REST_BITS : REST_BITS - rest.toString(2).length;
    this.raise(Number(hash >> BigInt(REST_BITS)), zeros + 1);
  }

  /** Takes all that another sketch took. @throws DbError EngineExecuteQuery for bytes that are no state */
  merge(state: Uint8Array): void {
    for (const [index, register] of entriesOf(state)) this.raise(index, register);
  }

  /** About what the sketch holds in memory, bytes. */
  get heldBytes(): number {
    return this.dense === undefined ? (this.sparse?.size ?? 0) * SPARSE_ENTRY_BYTES : REGISTERS;
  }

  /** The state as bytes. */
  encoded(): Uint8Array {
    const { dense, sparse } = this;
    if (dense !== undefined) {
      const bytes = new Uint8Array(HEADER_BYTES + REGISTERS);
      bytes.set([...HEADER, 1]);
      bytes.set(dense, HEADER_BYTES);
      return bytes;
    }
    const entries = [...(sparse ?? [])].sort((a, b) => a[0] - b[0]);
    const bytes = new Uint8Array(HEADER_BYTES + entries.length * 4);
    bytes.set(HEADER);
    const view = new DataView(bytes.buffer);
    for (const [i, [index, register]] of entries.entries()) view.setUint32(HEADER_BYTES + i * 4, (index << 6) | register, true);
    return bytes;
  }

  private raise(index: number, register: number): void {
    const { dense, sparse } = this;
    if (dense !== undefined) {
      if (register > (dense[index] as number)) dense[index] = register;
      return;
    }
    if (sparse === undefined || register <= (sparse.get(index) ?? 0)) return;
    sparse.set(index, register);
    if (sparse.size <= SPARSE_MAX) return;
    const laidOut = new Uint8Array(REGISTERS);
    for (const [at, value] of sparse) laidOut[at] = value;
    this.dense = laidOut;
    this.sparse = undefined;
  }
}

/** How many distinct values a state took, about. @throws DbError EngineExecuteQuery for bytes that are no state */
export function hyperLogLogCount(state: Uint8Array): number {
  const counts = new Uint32Array(REST_BITS + 2);
  let used = 0;
  for (const [, register] of entriesOf(state)) {
    counts[register] = (counts[register] as number) + 1;
    if (register > 0) used++;
  }
  counts[0] = REGISTERS - used;
  let z = REGISTERS * tau((REGISTERS - (counts[REST_BITS + 1] as number)) / REGISTERS);
  for (let k = REST_BITS; k >= 1; k--) z = 0.5 * (z + (counts[k] as number));
  z += REGISTERS * sigma((counts[0] ?? 0) / REGISTERS);
  return Math.round(((REGISTERS / (2 * Math.LN2)) * REGISTERS) / z);
}

/** x + x^2 + 2 x^4 + 4 x^8 + …: what empty registers say. */
function sigma(x: number): number {
  if (x === 1) return Number.POSITIVE_INFINITY;
  let [power, factor, sum, before] = [x, 1, x, -1];
  while (sum !== before) {
    power *= power;
    before = sum;
    sum += power * factor;
    factor *= 2;
  }
  return sum;
}

/** What full registers say. */
function tau(x: number): number {
  if (x === 0 || x === 1) return 0;
  let [root, factor, sum, before] = [x, 1, 1 - x, -1];
  while (sum !== before) {
    root = Math.sqrt(root);
    before = sum;
    factor *= 0.5;
    sum -= (1 - root) ** 2 * factor;
  }
  return sum / 3;
}

/** Indexes and registers of a state. */
function* entriesOf(state: Uint8Array): Iterable<readonly [index: number, register: number]> {
  const kind = state[2];
  const body = state.length - HEADER_BYTES;
  const known = state[0] === HEADER[0] && state[1] === HEADER[1];
  if (!known || (kind === 0 ? body % 4 !== 0 || body > REGISTERS * 4 : kind !== 1 || body !== REGISTERS))
    throw notAState("its shape is another");
  const view = new DataView(state.buffer, state.byteOffset, state.byteLength);
  const count = kind === 0 ? body / 4 : body;
  let previous = -1;
  for (let i = 0; i < count; i++) {
    const entry = kind === 0 ? view.getUint32(HEADER_BYTES + i * 4, true) : (i << 6) | (state[HEADER_BYTES + i] as number);
    const [index, register] = [entry >>> 6, kind === 0 ? entry & 63 : (state[HEADER_BYTES + i] as number)];
    if (index <= previous || index >= REGISTERS || register > REST_BITS + 1) throw notAState("a register is out of range");
    previous = index;
    yield [index, register];
  }
}

function notAState(why: string): DbError {
  return new DbError(StatusCode.EngineExecuteQuery, `cannot read the state of hll: ${why}; give what hll() or hll_merge() made`);
}
