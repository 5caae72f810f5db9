/**
 * The loop over series that are known and come in the order of before, as a WebAssembly function:
 *
 *   (at, end, rows, most rows, previous key) ─► rows, with `at` and the last key in the cells of `Place.state`
 *
 * It takes a series only in the usual form: its key's label bytes, one sample of 16 bytes with a time of six, nothing else. It stops at
 * the first that is otherwise, which `write-v1.ts` then reads.
 *
 *   record of a key   | length of labels, 4 B | 4 B | labels | 12 10 09 |     the head of a sample is compared with the labels
 */
import {
  add,
  and,
  block,
  type Code,
  double,
  eq,
  ge,
  get,
  give,
  gt,
  i32,
  jump,
  jumpIf,
  load,
  loop,
  lt,
  ne,
  ne64,
  or,
  or64,
  set,
  shl,
  shl64,
  shr,
  store,
  storeDouble,
  sub,
  when,
  wide,
} from "../../base/wasm/code.ts";
import type { Kernel } from "../../base/wasm/module.ts";

/** Rows that the kernel makes at most in one call. */
export const KERNEL_ROWS_MAX: number = 8192;

/** Keys that the kernel can know. */
export const KERNEL_KEYS_MAX: number = 512 * 1024;

/** Bytes at the start of the memory that are room for messages; nothing of the kernel's lies there. */
export const MESSAGE_ROOM_BYTES: number = 8 * 1024 * 1024;

/** What a sample of the usual form begins with: field 2 with 16 bytes, and the value's field 1. */
export const SAMPLE_HEAD: readonly number[] = [0x12, 0x10, 0x09];

const KEYS: number = MESSAGE_ROOM_BYTES + 64;
const TIMES: number = KEYS + 4 * KERNEL_ROWS_MAX;
const VALUES: number = TIMES + 8 * KERNEL_ROWS_MAX;
const NEXT: number = VALUES + 8 * KERNEL_ROWS_MAX;
const RECORDS: number = NEXT + 4 * KERNEL_KEYS_MAX;

/** Where things lie: addresses, each a multiple of 8. */
export const Place: {
  /** Two cells: where the kernel stopped, and the key before. */
  readonly state: number;
  /** Rows: keys, milliseconds as doubles, bits of values. */
  readonly keys: number;
  readonly times: number;
  readonly values: number;
  /** By key: the one that followed it plus 1, 0 without one; and the address of its record, 0 without one. */
  readonly next: number;
  readonly records: number;
  /** Records begin here. */
  readonly heap: number;
} = {
  state: MESSAGE_ROOM_BYTES,
  keys: KEYS,
  times: TIMES,
  values: VALUES,
  next: NEXT,
  records: RECORDS,
  heap: RECORDS + 4 * KERNEL_KEYS_MAX,
};

const SERIES_TAG = 0x0a;
const TIME_TAG = 0x10;
/** Bytes of a usual sample with its tag and length. */
const SAMPLE_BYTES = 18;

const AT = 0;
const END = 1;
const ROW = 2;
const ROW_END = 3;
const KEY = 4;
const FROM = 5;
const LENGTH = 6;
const RECORD = 7;
const LOW = 8;
const HIGH = 9;
const I = 10;
const LAST = 11;
const NEXT_KEY = 12;

/** The length of the series, one or two bytes, to LENGTH; where it begins to FROM. `stop`: levels out of the loop's body. */
function lengthOf(stop: number): Code {
  return [
    jumpIf(ne(load(8, get(AT)), i32(SERIES_TAG)), stop),
    set(LENGTH, load(8, get(AT), 1)),
    set(FROM, add(get(AT), i32(2))),
    when(
      ge(get(LENGTH), i32(0x80)),
      set(HIGH, load(8, get(AT), 2)),
      jumpIf(ge(get(HIGH), i32(0x80)), stop + 1),
      set(LENGTH, or(and(get(LENGTH), i32(0x7f)), shl(get(HIGH), i32(7)))),
      set(FROM, add(get(AT), i32(3))),
    ),
    jumpIf(gt(get(FROM), get(END)), stop),
    jumpIf(gt(get(LENGTH), sub(get(END), get(FROM))), stop),
  ].flat();
}

/** The expected key's record, whose length must be the series'. */
function recordOf(stop: number): Code {
  return [
    set(NEXT_KEY, sub(load(32, shl(get(KEY), i32(2)), Place.next), i32(1))),
    jumpIf(ge(get(NEXT_KEY), i32(KERNEL_KEYS_MAX)), stop),
    set(RECORD, load(32, shl(get(NEXT_KEY), i32(2)), Place.records)),
    jumpIf(eq(get(RECORD), i32(0)), stop),
    jumpIf(ne(add(load(32, get(RECORD)), i32(SAMPLE_BYTES)), get(LENGTH)), stop),
  ].flat();
}

/** Labels and the sample's head, eight bytes at a time; the last eight overlap those before. A record has eight bytes at least. */
function compared(stop: number): Code {
  const differs = ne64(load(64, add(get(FROM), get(I))), load(64, add(get(RECORD), get(I)), 8));
  return [
    set(LAST, sub(get(LENGTH), i32(SAMPLE_BYTES - SAMPLE_HEAD.length + 8))),
    set(I, i32(0)),
    block(loop(jumpIf(ge(get(I), get(LAST)), 1), jumpIf(differs, stop + 2), set(I, add(get(I), i32(8))), jump(0))),
    set(I, get(LAST)),
    jumpIf(differs, stop),
  ].flat();
}

/** Seven bits of each byte of a varint's piece, side by side: `groups` bytes. */
function packed(piece: number, groups: number): Code {
  let code = and(get(piece), i32(0x7f));
  for (let group = 1; group < groups; group++) code = or(code, and(shr(get(piece), i32(group)), i32(0x7f << (7 * group))));
  return code;
}

/** The sample behind the labels as a row. */
function row(stop: number): Code {
  const eight = (base: number): Code => add(shl(get(ROW), i32(3)), i32(base));
  return [
    set(FROM, sub(add(get(FROM), get(LENGTH)), i32(SAMPLE_BYTES))),
    jumpIf(ne(load(8, get(FROM), 11), i32(TIME_TAG)), stop),
    set(LOW, load(32, get(FROM), 12)),
    set(HIGH, load(16, get(FROM), 16)),
    jumpIf(ne(and(get(LOW), i32(0x8080_8080)), i32(0x8080_8080)), stop),
    jumpIf(ne(and(get(HIGH), i32(0x8080)), i32(0x0080)), stop),
    store(32, add(shl(get(ROW), i32(2)), i32(Place.keys)), get(NEXT_KEY)),
    storeDouble(eight(Place.times), double(or64(shl64(wide(packed(HIGH, 2)), 28), wide(packed(LOW, 4))))),
    store(64, eight(Place.values), load(64, get(FROM), 3)),
    set(ROW, add(get(ROW), i32(1))),
    set(KEY, get(NEXT_KEY)),
    set(AT, add(get(FROM), i32(SAMPLE_BYTES))),
  ].flat();
}

/** See the file header. */
export const knownSeriesKernel: Kernel = {
  parameters: 5,
  locals: 8,
  body: [
    block(
      loop(
        jumpIf(ge(get(ROW), get(ROW_END)), 1),
        // Tag, length and a sample are there, so that no read below goes over the end by more than a word of the memory's own.
        jumpIf(lt(sub(get(END), get(AT)), i32(SAMPLE_BYTES)), 1),
        lengthOf(1),
        recordOf(1),
        compared(1),
        row(1),
        jump(0),
      ),
    ),
    store(32, i32(Place.state), get(AT)),
    store(32, i32(Place.state + 4), get(KEY)),
    give(get(ROW)),
  ],
};
