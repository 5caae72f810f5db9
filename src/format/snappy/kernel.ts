/**
 * The decoding loop of snappy as a WebAssembly function: (start, end, target, target's end) in one memory to 1, or 0 for a block that is
 * broken in any way; `decode.ts` says how. Copies go eight bytes at a time, so up to seven bytes too many are read and written.
 */
import {
  add,
  and,
  block,
  choose,
  copy,
  type Code,
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
  or,
  set,
  shl,
  shr,
  store,
  sub,
  when,
} from "../../base/wasm/code.ts";
import type { Kernel } from "../../base/wasm/module.ts";

const AT = 0;
const END = 1;
const OUT = 2;
const OUT_END = 3;
const BASE = 4;
const TAG = 5;
const COUNT = 6;
const OFFSET = 7;
const FROM = 8;
const STOP = 9;

/** Literals from this length on are copied by one instruction. */
const LONG_LITERAL = 64;

/** Levels: `fail` is a block outside of all, `next` the loop of elements. */
function literal(fail: number, next: number): Code {
  const wide = when(
    gt(get(COUNT), i32(60)),
    set(OFFSET, sub(get(COUNT), i32(60))),
    jumpIf(gt(get(OFFSET), sub(get(END), get(AT))), fail + 2),
    // One to four bytes, the rest of the word cut off.
    set(COUNT, add(and(load(32, get(AT)), shr(i32(-1), sub(i32(32), shl(get(OFFSET), i32(3))))), i32(1))),
    set(AT, add(get(AT), get(OFFSET))),
    jumpIf(eq(get(COUNT), i32(0)), fail + 2),
  );
  return [
    set(COUNT, add(shr(get(TAG), i32(2)), i32(1))),
    wide,
    jumpIf(gt(get(COUNT), sub(get(END), get(AT))), fail + 1),
    jumpIf(gt(get(COUNT), sub(get(OUT_END), get(OUT))), fail + 1),
    set(FROM, get(AT)),
    set(AT, add(get(AT), get(COUNT))),
    when(gt(get(COUNT), i32(LONG_LITERAL)), copy(get(OUT), get(FROM), get(COUNT)), set(OUT, add(get(OUT), get(COUNT))), jump(next + 2)),
  ].flat();
}

function copied(fail: number, next: number): Code {
  const near = [
    jumpIf(ge(get(AT), get(END)), fail + 2),
    set(COUNT, add(and(shr(get(TAG), i32(2)), i32(7)), i32(4))),
    set(OFFSET, or(shl(shr(get(TAG), i32(5)), i32(8)), load(8, get(AT)))),
    set(AT, add(get(AT), i32(1))),
  ].flat();
  const far = [
    set(COUNT, add(shr(get(TAG), i32(2)), i32(1))),
    choose(
      eq(and(get(TAG), i32(3)), i32(2)),
      [jumpIf(lt(sub(get(END), get(AT)), i32(2)), fail + 3), set(OFFSET, load(16, get(AT))), set(AT, add(get(AT), i32(2)))].flat(),
      [jumpIf(lt(sub(get(END), get(AT)), i32(4)), fail + 3), set(OFFSET, load(32, get(AT))), set(AT, add(get(AT), i32(4)))].flat(),
    ),
  ].flat();
  return [
    choose(eq(and(get(TAG), i32(3)), i32(1)), near, far),
    jumpIf(eq(get(OFFSET), i32(0)), fail + 1),
    jumpIf(gt(get(OFFSET), sub(get(OUT), get(BASE))), fail + 1),
    jumpIf(gt(get(COUNT), sub(get(OUT_END), get(OUT))), fail + 1),
    set(FROM, sub(get(OUT), get(OFFSET))),
    when(
      lt(get(OFFSET), i32(8)), // A pattern that repeats within eight bytes.
      set(STOP, add(get(OUT), get(COUNT))),
      loop(
        store(8, get(OUT), load(8, get(FROM))),
        set(FROM, add(get(FROM), i32(1))),
        set(OUT, add(get(OUT), i32(1))),
        jumpIf(lt(get(OUT), get(STOP)), 0),
      ),
      jump(next + 2),
    ),
  ].flat();
}

/** See the file header. */
export const snappyKernel: Kernel = {
  parameters: 4,
  locals: 6,
  body: [
    set(BASE, get(OUT)),
    block(
      block(
        loop(
          jumpIf(ge(get(AT), get(END)), 1),
          set(TAG, load(8, get(AT))),
          set(AT, add(get(AT), i32(1))),
          choose(eq(and(get(TAG), i32(3)), i32(0)), literal(2, 0), copied(2, 0)),
          set(STOP, add(get(OUT), get(COUNT))),
          loop(
            store(64, get(OUT), load(64, get(FROM))),
            set(FROM, add(get(FROM), i32(8))),
            set(OUT, add(get(OUT), i32(8))),
            jumpIf(lt(get(OUT), get(STOP)), 0),
          ),
          set(OUT, get(STOP)),
          jump(0),
        ),
      ),
      give(eq(get(OUT), get(OUT_END))),
    ),
    give(i32(0)),
  ],
};
