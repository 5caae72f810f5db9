/**
 * Instructions of WebAssembly as bytes, for loops that JavaScript cannot write well: eight bytes at a time, unchecked by the language and
 * checked by the machine's pages. An expression is the bytes that leave one value; a statement leaves none. Functions nest as the text form
 * does, so a kernel reads like it.
 *
 *   when(lt(get(at), get(end)), set(at, add(get(at), i32(1))))
 *
 * Source: webassembly.github.io/spec/core/binary. Only what kernels use is here; all numbers are 32 bits unless a name says otherwise.
 */

/** Bytes of instructions. */
export type Code = readonly number[];

/** An unsigned LEB128 number below 2^32. */
export function unsigned(value: number): Code {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 0x80)) {
    if (rest < 0x80) return [...bytes, rest];
    bytes.push((rest % 0x80) | 0x80);
  }
}

/** A constant, -2^31 to 2^32 - 1. */
export function i32(value: number): Code {
  const bytes: number[] = [0x41];
  for (let rest = value | 0; ; rest >>= 7) {
    if (rest >= -0x40 && rest < 0x40) return [...bytes, rest & 0x7f];
    bytes.push((rest & 0x7f) | 0x80);
  }
}

/** The value of a local. */
export function get(local: number): Code {
  return [0x20, ...unsigned(local)];
}

/** Sets a local. */
export function set(local: number, value: Code): Code {
  return [...value, 0x21, ...unsigned(local)];
}

type Binary = (left: Code, right: Code) => Code;

function binary(opcode: number): Binary {
  return (left, right) => [...left, ...right, opcode];
}

/** Whether both are equal. */
export const eq: Binary = binary(0x46);
/** Whether they differ. */
export const ne: Binary = binary(0x47);
/** Whether the left one is less, without sign. */
export const lt: Binary = binary(0x49);
/** Whether the left one is greater, without sign. */
export const gt: Binary = binary(0x4b);
/** Whether the left one is not less, without sign. */
export const ge: Binary = binary(0x4f);
/** The sum modulo 2^32. */
export const add: Binary = binary(0x6a);
/** The difference modulo 2^32. */
export const sub: Binary = binary(0x6b);
/** The bits that both have. */
export const and: Binary = binary(0x71);
/** The bits of both. */
export const or: Binary = binary(0x72);
/** Shifted to the left, by less than 32. */
export const shl: Binary = binary(0x74);
/** Shifted to the right by less than 32; zeros come in. */
export const shr: Binary = binary(0x76);
/** Whether two 64-bit values differ. */
export const ne64: Binary = binary(0x52);

/** A 32-bit value as a 64-bit one, zeros above. */
export function wide(value: Code): Code {
  return [...value, 0xad];
}

/** A 64-bit value shifted to the left by 0 to 63 bits. */
export function shl64(value: Code, bits: number): Code {
  return [...value, 0x42, bits, 0x86];
}

/** The bits of both 64-bit values. */
export const or64: Binary = binary(0x84);

/** A 64-bit value, unsigned, as a double. */
export function double(value: Code): Code {
  return [...value, 0xba];
}

/** Writes a double to memory at `address`, unaligned. */
export function storeDouble(address: Code, value: Code): Code {
  return [...address, ...value, 0x39, 0, 0];
}

/** Reads memory at `address + offset`, unaligned: bytes and halves come with zeros above. */
export function load(bits: 8 | 16 | 32 | 64, address: Code, offset = 0): Code {
  const opcode = { 8: 0x2d, 16: 0x2f, 32: 0x28, 64: 0x29 }[bits];
  return [...address, opcode, 0, ...unsigned(offset)];
}

/** Writes memory at `address + offset`, unaligned; a 64-bit value where `bits` is 64. */
export function store(bits: 8 | 32 | 64, address: Code, value: Code, offset = 0): Code {
  const opcode = { 8: 0x3a, 32: 0x36, 64: 0x37 }[bits];
  return [...address, ...value, opcode, 0, ...unsigned(offset)];
}

/** Copies `count` bytes that do not overlap, or do. */
export function copy(target: Code, source: Code, count: Code): Code {
  return [...target, ...source, ...count, 0xfc, 0x0a, 0, 0];
}

/** Statements that `jump(0)` from inside leaves. */
export function block(...body: readonly Code[]): Code {
  return [0x02, 0x40, ...body.flat(), 0x0b];
}

/** Statements that `jump(0)` from inside begins again; without one they end. */
export function loop(...body: readonly Code[]): Code {
  return [0x03, 0x40, ...body.flat(), 0x0b];
}

/** Leaves the block, or begins the loop, that is `depth` levels out: `block`, `loop`, `when` and `choose` are a level each. */
export function jump(depth: number): Code {
  return [0x0c, ...unsigned(depth)];
}

/** `jump` where the condition holds. */
export function jumpIf(condition: Code, depth: number): Code {
  return [...condition, 0x0d, ...unsigned(depth)];
}

/** Statements that run where the condition holds. */
export function when(condition: Code, ...body: readonly Code[]): Code {
  return [...condition, 0x04, 0x40, ...body.flat(), 0x0b];
}

/** One statement or the other. */
export function choose(condition: Code, then: Code, otherwise: Code): Code {
  return [...condition, 0x04, 0x40, ...then, 0x05, ...otherwise, 0x0b];
}

/** Ends the function with a value. */
export function give(value: Code): Code {
  return [...value, 0x0f];
}
