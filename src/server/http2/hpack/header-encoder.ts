/**
 * Blocks of headers as the server writes them (RFC 7541): fields and names of the static table by their number, the rest as they are. It
 * keeps no table, so that blocks may be sent in any order and cost no memory; heads of answers are some 100 bytes.
 */
import type { ByteWriter } from "../../../base/bytes/byte-writer.ts";
import type { HeaderField } from "./header-decoder.ts";
import { STATIC_TABLE } from "./static-table.ts";

const FIELDS: ReadonlyMap<string, number> = new Map(STATIC_TABLE.map(([name, value], i) => [`${name}\n${value}`, i + 1]));
/** By name, the first of it. */
const NAMES: ReadonlyMap<string, number> = new Map(STATIC_TABLE.map(([name], i): [string, number] => [name, i + 1]).reverse());

/** Appends a field: the name in small letters, each character a byte. */
export function writeHeader(out: ByteWriter, [name, value]: HeaderField): void {
  const known = FIELDS.get(`${name}\n${value}`);
  if (known !== undefined) return integer(out, 0x80, 7, known);
  const index = NAMES.get(name) ?? 0;
  integer(out, 0, 4, index);
  if (index === 0) text(out, name);
  text(out, value);
}

function integer(out: ByteWriter, high: number, prefixBits: number, value: number): void {
  const mask = (1 << prefixBits) - 1;
  if (value < mask) return out.u8(high | value);
  out.u8(high | mask);
  let rest = value - mask;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out.u8((rest & 0x7f) | 0x80);
  out.u8(rest);
}

function text(out: ByteWriter, value: string): void {
  integer(out, 0, 7, value.length);
  out.reserve(value.length);
  Buffer.from(out.buffer.buffer).write(value, out.length, "latin1");
  out.length += value.length;
}
