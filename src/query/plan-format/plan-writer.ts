/** Writes values with their tags (`FORMAT.md`). */
import { ByteWriter } from "../../base/bytes/byte-writer.ts";
import { DbError } from "../../base/error.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import { StatusCode } from "../../base/status-code.ts";
import { ARRAYS, MAGIC, PLAN_BYTES_MAX, PLAN_DEPTH_MAX, PLAN_VERSION, type PlainArray, type PlainValue, TAG } from "./tags.ts";

/** Writes an operator. */
export interface NodeWriter {
  write(value: object, to: PlanWriter): void;
}

/** The bytes of one plan, or of a part of one. */
export class PlanWriter {
  /** Writes operators. */
  readonly nodes: NodeWriter | undefined;
  private readonly out: ByteWriter = new ByteWriter();
  private readonly words: Map<string, number> = new Map();
  private readonly written: Map<object, number> = new Map();
  private depth = 0;

  constructor(nodes?: NodeWriter) {
    this.nodes = nodes;
    this.out.u16(MAGIC);
    this.out.varint(PLAN_VERSION);
  }

  /** What was written, with its checksum. @throws DbError Unsupported when it is too long */
  finish(): Uint8Array<ArrayBuffer> {
    this.checkLength();
    this.out.u32(crc32(this.out.bytes()));
    return this.out.copy();
  }

  tag(tag: number): void {
    this.out.u8(tag);
  }

  /** A length, a place or a number of elements. */
  count(value: number): void {
    this.out.varint(value);
  }

  /** A text that comes again and again: a name of a field, a kind, a function. */
  word(text: string): void {
    const known = this.words.get(text);
    this.out.varint(known ?? 0);
    if (known !== undefined) return;
    this.words.set(text, this.words.size + 1);
    this.out.text(text);
  }

  number(value: number): void {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) {
      const isNegative = value < 0;
      const size = isNegative ? -1 - value : value;
      // The sign is apart: twice a number of 53 bits is none that a varint holds.
      this.tag(TAG.int);
      this.out.u8(isNegative ? 1 : 0);
      this.out.varint(size);
      return;
    }
    this.tag(TAG.double);
    this.out.f64(value);
  }

  bigint(value: bigint): void {
    this.tag(TAG.bigint);
    const isNegative = value < 0n;
    const digits = (isNegative ? -1n - value : value).toString(16);
    const bytes = Uint8Array.fromHex(digits.length % 2 === 0 ? digits : `0${digits}`);
    this.out.u8(isNegative ? 1 : 0);
    this.out.varint(bytes.length);
    this.out.raw(bytes);
  }

  text(value: string): void {
    if (value.isWellFormed()) {
      this.tag(TAG.text);
      this.out.text(value);
    } else {
      this.tag(TAG.units);
      this.out.varint(value.length);
      for (let i = 0; i < value.length; i++) this.out.u16(value.charCodeAt(i));
    }
    this.checkLength();
  }

  bytes(value: Uint8Array): void {
    this.tag(TAG.bytes);
    this.out.varint(value.length);
    this.out.raw(value);
    this.checkLength();
  }

  /** Plain data as it is. @throws DbError Unsupported when it nests too deep */
  plain(value: PlainValue): void {
    switch (typeof value) {
      case "undefined":
        return this.tag(TAG.none);
      case "boolean":
        return this.tag(value ? TAG.true : TAG.false);
      case "number":
        return this.number(value);
      case "bigint":
        return this.bigint(value);
      case "string":
        return this.text(value);
      default:
        return this.composed(value);
    }
  }

  private composed(value: Extract<PlainValue, object>): void {
    if (value instanceof Uint8Array) return this.bytes(value);
    if (ArrayBuffer.isView(value)) return this.array(value);
    this.nested(() => {
      if (Array.isArray(value)) {
        this.tag(TAG.list);
        this.count(value.length);
        for (const each of value as readonly PlainValue[]) this.plain(each);
        return;
      }
      const entries = Object.entries(value);
      this.tag(TAG.record);
      this.count(entries.length);
      for (const [key, each] of entries) {
        this.word(key);
        this.plain(each);
      }
    });
  }

  private array(value: PlainArray): void {
    const kind = [...ARRAYS].find(([, made]) => value instanceof made)?.[0];
    if (kind === undefined) throw new Error("a typed array of the format");
    this.tag(TAG.array);
    this.out.u8(kind);
    this.count(value.length);
    this.out.raw(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    this.checkLength();
  }

  /** Writes what lies a level deeper. @throws DbError Unsupported when that is too deep */
  nested(write: () => void): void {
    if (++this.depth > PLAN_DEPTH_MAX) throw tooLarge(`nests deeper than ${PLAN_DEPTH_MAX} levels`);
    write();
    this.depth--;
  }

  /** Writes a thing once; where it comes again, its number stands for it. */
  once(value: object, write: () => void): void {
    const known = this.written.get(value);
    if (known !== undefined) {
      this.tag(TAG.reference);
      this.count(known);
      return;
    }
    this.nested(write);
    this.written.set(value, this.written.size);
    this.checkLength();
  }

  private checkLength(): void {
    if (this.out.length > PLAN_BYTES_MAX) throw tooLarge(`takes more than ${PLAN_BYTES_MAX} bytes`);
  }
}

function tooLarge(why: string): DbError {
  return new DbError(StatusCode.Unsupported, `cannot send the plan of the query elsewhere: it ${why}`);
}
