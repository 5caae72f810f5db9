/**
 * FlatBuffers, the envelope of Arrow's messages, front to back: a table, then what it points at. Covers what Arrow needs.
 * Source: flatbuffers.dev, "Internals".
 */

/** A table: its fields by their slot. */
export type FlatTable = readonly (FlatField | undefined)[];

/** A field. */
export type FlatField =
  | { readonly kind: "u8" | "i16" | "i32" | "i64"; readonly value: number }
  | { readonly kind: "text"; readonly value: string }
  | { readonly kind: "table"; readonly value: FlatTable }
  | { readonly kind: "tables"; readonly value: readonly FlatTable[] }
  /** Structs of two numbers of 64 bits. */
  | { readonly kind: "pairs"; readonly value: readonly (readonly [number, number])[] };

const WIDTH: Readonly<Record<FlatField["kind"], number>> = { u8: 1, i16: 2, i32: 4, i64: 8, text: 4, table: 4, tables: 4, pairs: 4 };
const BYTES_MAX = 64 * 1024;

/** The bytes of a root table, a multiple of eight. @throws RangeError beyond 64 KiB */
export function flatBuffer(root: FlatTable): Uint8Array<ArrayBuffer> {
  const writer = new FlatWriter();
  return writer.finish(root);
}

class FlatWriter {
  private readonly view = new DataView(new ArrayBuffer(BYTES_MAX));
  private at = 4;

  finish(root: FlatTable): Uint8Array<ArrayBuffer> {
    this.view.setUint32(0, this.table(root), true);
    this.align(8, 0);
    return new Uint8Array(this.view.buffer.slice(0, this.at));
  }

  /** Moves on so that `before` bytes further the position is a multiple of `width`. */
  private align(width: number, before: number): void {
    while ((this.at + before) % width !== 0) this.at++;
  }

  private table(fields: FlatTable): number {
    const vtable = this.vtable(fields.length);
    const table = this.at;
    this.view.setInt32(table, table - vtable, true);
    this.at += 4;
    const pointers: (readonly [number, FlatField])[] = [];
    for (const [slot, field] of fields.entries()) {
      if (field === undefined) continue;
      this.align(WIDTH[field.kind], 0);
      this.view.setUint16(vtable + 4 + slot * 2, this.at - table, true);
      if (typeof field.value === "number") this.number(field.kind, field.value);
      else pointers.push([this.at, field]);
      this.at = this.at + WIDTH[field.kind];
    }
    this.view.setUint16(vtable + 2, this.at - table, true);
    for (const [place, field] of pointers) {
      const target = this.target(field);
      this.view.setUint32(place, target - place, true);
    }
    return table;
  }

  /** Leaves room for a vtable, so that its table begins at a multiple of eight. */
  private vtable(slots: number): number {
    const bytes = 4 + slots * 2;
    this.align(8, bytes);
    const vtable = this.at;
    this.view.setUint16(vtable, bytes, true);
    this.at += bytes;
    return vtable;
  }

  private number(kind: FlatField["kind"], value: number): void {
    if (kind === "u8") this.view.setUint8(this.at, value);
    else if (kind === "i16") this.view.setInt16(this.at, value, true);
    else if (kind === "i32") this.view.setInt32(this.at, value, true);
    else this.view.setBigInt64(this.at, BigInt(value), true);
  }

  private target(field: FlatField): number {
    if (field.kind === "text") return this.text(field.value);
    if (field.kind === "table") return this.table(field.value);
    if (field.kind === "tables") return this.tables(field.value);
    if (field.kind === "pairs") return this.pairs(field.value);
    throw new Error(`cannot write a ${field.kind} behind its table`);
  }

  private text(value: string): number {
    const bytes = Buffer.from(value);
    const place = this.count(4, bytes.length);
    new Uint8Array(this.view.buffer).set(bytes, this.at);
    this.at += bytes.length + 1;
    return place;
  }

  private tables(tables: readonly FlatTable[]): number {
    const place = this.count(4, tables.length);
    const first = this.at;
    this.at += tables.length * 4;
    for (const [i, each] of tables.entries()) {
      const target = this.table(each);
      this.view.setUint32(first + i * 4, target - first - i * 4, true);
    }
    return place;
  }

  private pairs(pairs: readonly (readonly [number, number])[]): number {
    const place = this.count(8, pairs.length);
    for (const value of pairs.flat()) {
      this.view.setBigInt64(this.at, BigInt(value), true);
      this.at += 8;
    }
    return place;
  }

  /** The length of a vector whose elements are so wide. */
  private count(width: number, length: number): number {
    this.align(4, 0);
    this.align(width, 4);
    const place = this.at;
    this.view.setUint32(place, length, true);
    this.at += 4;
    return place;
  }
}

/** The position of a field's value in a table that was received; undefined: it is absent. */
export function fieldAt(view: DataView, table: number, slot: number): number | undefined {
  const vtable = table - view.getInt32(table, true);
  const at = 4 + slot * 2;
  if (at + 2 > view.getUint16(vtable, true)) return undefined;
  const offset = view.getUint16(vtable + at, true);
  return offset === 0 ? undefined : table + offset;
}

/** Where an offset leads. */
export function follow(view: DataView, at: number): number {
  return at + view.getUint32(at, true);
}
