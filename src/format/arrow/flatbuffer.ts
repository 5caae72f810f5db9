/**
 * Writes FlatBuffers, the envelope of Arrow messages: from the end to the front, so that children exist before what points at them.
 * Covers what Arrow needs: tables, vectors of tables and of structs of two longs, strings. Source: flatbuffers.dev "Internals".
 *
 * Positions returned here count from the end of the buffer, as the format's own back-to-front builders do.
 */
import { assert } from "../../base/assert.ts";

/** One field of a table: its slot number and how it is written. */
export type TableField =
  | { readonly slot: number; readonly kind: "u8" | "i16" | "i32"; readonly value: number }
  | { readonly slot: number; readonly kind: "i64"; readonly value: bigint }
  | { readonly slot: number; readonly kind: "offset"; readonly value: number };

const WIDTH: Readonly<Record<TableField["kind"], number>> = { u8: 1, i16: 2, i32: 4, i64: 8, offset: 4 };

const encoder = new TextEncoder();

/** A buffer under construction; one instance makes one buffer. */
export class FlatBufferWriter {
  private bytes: Uint8Array<ArrayBuffer> = new Uint8Array(1024);
  private view: DataView<ArrayBuffer> = new DataView(this.bytes.buffer);
  /** Bytes written, counted from the end. */
  private used = 0;
  private alignMax = 4;

  private grow(extra: number): void {
    if (this.used + extra <= this.bytes.length) return;
    const bytes = new Uint8Array(Math.max(this.bytes.length * 2, this.used + extra));
    bytes.set(this.bytes.subarray(this.bytes.length - this.used), bytes.length - this.used);
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
  }

  /** Pads so that after `extra` further bytes the position is a multiple of `align`. */
  private align(align: number, extra: number): void {
    this.alignMax = Math.max(this.alignMax, align);
    const pad = (align - ((this.used + extra) % align)) % align;
    this.grow(pad + extra);
    this.used += pad;
  }

  private put(kind: TableField["kind"], value: number | bigint): void {
    this.align(WIDTH[kind], WIDTH[kind]);
    this.used += WIDTH[kind];
    const at = this.bytes.length - this.used;
    if (kind === "i64") this.view.setBigInt64(at, BigInt(value), true);
    else if (kind === "u8") this.view.setUint8(at, Number(value));
    else if (kind === "i16") this.view.setInt16(at, Number(value), true);
    else if (kind === "i32") this.view.setInt32(at, Number(value), true);
    else this.view.setUint32(at, this.used - Number(value), true); // an offset counts from its own place to its target
  }

  /** A string; returns its position. */
  text(text: string): number {
    const bytes = encoder.encode(text);
    this.align(4, bytes.length + 1);
    this.used += bytes.length + 1; // the terminating zero is already there
    this.bytes.set(bytes, this.bytes.length - this.used);
    this.put("i32", bytes.length);
    return this.used;
  }

  /** A vector of tables or strings, given by their positions. */
  offsets(positions: readonly number[]): number {
    this.align(4, positions.length * 4);
    for (const position of positions.toReversed()) this.put("offset", position);
    this.put("i32", positions.length);
    return this.used;
  }

  /** A vector of 32-bit numbers. */
  numbers(values: readonly number[]): number {
    this.align(4, values.length * 4);
    for (const value of values.toReversed()) this.put("i32", value);
    this.put("i32", values.length);
    return this.used;
  }

  /** A vector of structs of two 64-bit numbers. */
  pairs(pairs: readonly (readonly [number, number])[]): number {
    this.align(4, pairs.length * 16);
    this.align(8, pairs.length * 16);
    for (const [first, second] of pairs.toReversed()) {
      this.put("i64", BigInt(second));
      this.put("i64", BigInt(first));
    }
    this.put("i32", pairs.length);
    return this.used;
  }

  /** A table; returns its position. Fields with their default value may be left out. */
  table(fields: readonly TableField[]): number {
    const slots = fields.reduce((most, field) => Math.max(most, field.slot + 1), 0);
    const end = this.used;
    const places = Array.from({ length: slots }, () => 0);
    for (const field of fields.toSorted((a, b) => WIDTH[b.kind] - WIDTH[a.kind])) {
      this.put(field.kind, field.value);
      assert(places[field.slot] === 0, `a field is written once; got slot ${field.slot} twice`);
      places[field.slot] = this.used;
    }
    this.put("i32", 0); // to the vtable, patched below
    const table = this.used;
    for (const place of places.toReversed()) this.put("i16", place === 0 ? 0 : table - place);
    this.put("i16", table - end);
    this.put("i16", (slots + 2) * 2);
    this.view.setInt32(this.bytes.length - table, this.used - table, true);
    return table;
  }

  /** The finished buffer, whose root is the table at `root`. */
  finish(root: number): Uint8Array<ArrayBuffer> {
    this.align(this.alignMax, 4);
    this.put("offset", root);
    return this.bytes.slice(this.bytes.length - this.used);
  }
}
