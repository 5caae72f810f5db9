/**
 * Reads values with their tags (`FORMAT.md`). Nothing of the bytes is believed: lengths are compared with what is left before memory is
 * taken, depth and the number of values are bounded, and what a reference names was read before.
 */
import { ByteReader, ByteReadError } from "../../base/bytes/byte-reader.ts";
import { ShortTexts } from "../../base/bytes/short-texts.ts";
import { DbError, invalidArguments } from "../../base/error.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { ScannedTable } from "../../table/catalog.ts";
import { ARRAYS, MAGIC, PLAN_BYTES_MAX, PLAN_DEPTH_MAX, PLAN_VALUES_MAX, PLAN_VERSION, type PlainValue, TAG } from "./tags.ts";

/** What a plan calls a table. */
export interface TableIdentity {
  readonly database: string;
  readonly name: string;
  readonly id: number;
}

/** What names of a plan stand for where it is read. */
export interface PlanNames {
  /** @throws DbError TableNotFound, RequestOutdated when there is another table of that name now */
  table(identity: TableIdentity): ScannedTable;
  /** Counts memory that the plan takes. @throws DbError RuntimeResourcesExhausted */
  readonly reserve?: (bytes: number) => void;
}

/** Of what names no table. */
export const NO_TABLES: PlanNames = {
  table: ({ name }) => {
    throw unreadable(`it names table ${name}, and no table may be here`);
  },
};

/** Reads an operator. */
export interface NodeReader {
  read(from: PlanReader): object;
}

/** Bytes of a value in memory, about, and values that are counted at a time. */
const VALUE_BYTES = 64;
const COUNTED_VALUES = 8192;

/** Names of fields and columns come in every plan. */
const SHORT_TEXTS: ShortTexts = new ShortTexts();

const HEAD_BYTES = 3;
const CHECKSUM_BYTES = 4;
/** Digits of a decimal of 38, and then some. */
const BIGINT_BYTES_MAX = 64;

interface Known {
  readonly by: object;
  readonly value: object;
  readonly values: number;
}

/** Reads one plan, or a part of one. */
export class PlanReader {
  /** Reads operators. */
  readonly nodes: NodeReader | undefined;
  private readonly in: ByteReader;
  private readonly names: PlanNames;
  private readonly words: string[] = [];
  private readonly known: Known[] = [];
  private readonly tables: Map<string, ScannedTable> = new Map();
  private depth = 0;
  private values = 0;
  private counted = COUNTED_VALUES;

  /** @throws DbError Unsupported for a newer version, InvalidArguments for bytes that are no plan or were changed on their way */
  constructor(bytes: Uint8Array, names: PlanNames, nodes: NodeReader | undefined) {
    this.names = names;
    this.nodes = nodes;
    if (bytes.length > PLAN_BYTES_MAX + CHECKSUM_BYTES) throw unreadable(`it has more than ${PLAN_BYTES_MAX} bytes`);
    if (bytes.length < HEAD_BYTES + CHECKSUM_BYTES) throw unreadable(`it ends within its first bytes; it has ${bytes.length}`);
    const body = bytes.subarray(0, bytes.length - CHECKSUM_BYTES);
    this.in = new ByteReader(body);
    if (this.in.u16() !== MAGIC) throw unreadable("it does not begin as a plan does");
    const version = this.count();
    if (version > PLAN_VERSION || version < 1) {
      const why = `it is of version ${version} of the format, and this server reads versions 1 to ${PLAN_VERSION}`;
      throw new DbError(StatusCode.Unsupported, `cannot read a plan: ${why}; update this server`);
    }
    const checksum = new ByteReader(bytes, body.length).u32();
    if (checksum !== crc32(body)) throw unreadable("its checksum does not match: it was damaged on its way");
  }

  /** To be called after the last value. @throws DbError InvalidArguments when there is more */
  end(): void {
    if (this.in.remaining > 0) this.fail(`${this.in.remaining} bytes follow its end`);
  }

  /** @throws DbError InvalidArguments */
  fail(why: string): never {
    throw unreadable(`${why}, at byte ${this.in.offset}`);
  }

  tag(): number {
    this.take(1);
    return this.in.u8();
  }

  /** A tag that must be this one. */
  expect(tag: number, what: string): void {
    const found = this.tag();
    if (found !== tag) this.fail(`${what} is wanted, and tag ${found} is there`);
  }

  private take(values: number): void {
    this.values += values;
    if (this.values > PLAN_VALUES_MAX) throw unreadable(`it has more than ${PLAN_VALUES_MAX} values`);
    if (this.values <= this.counted) return;
    const more = this.values - this.counted + COUNTED_VALUES;
    this.names.reserve?.(more * VALUE_BYTES);
    this.counted += more;
  }

  count(): number {
    return this.in.varint();
  }

  /** A number of elements of which each takes some bytes. */
  length(bytesEach = 1): number {
    const count = this.count();
    if (count * bytesEach > this.in.remaining) this.fail(`${count} elements are said to follow`);
    return count;
  }

  word(): string {
    const at = this.count();
    if (at > 0) return this.words[at - 1] ?? this.fail(`there is no word ${at}`);
    const text = this.in.text(SHORT_TEXTS);
    this.words.push(text);
    return text;
  }

  /** A value without lists and records. */
  scalar(tag: number): undefined | boolean | number | bigint | string | Uint8Array {
    switch (tag) {
      case TAG.none:
        return undefined;
      case TAG.false:
        return false;
      case TAG.true:
        return true;
      case TAG.int: {
        const isNegative = this.in.u8() === 1;
        const size = this.count();
        const value = isNegative ? -1 - size : size;
        return Number.isSafeInteger(value) ? value : this.fail("a whole number is too large");
      }
      case TAG.double:
        return this.in.f64();
      case TAG.bigint:
        return this.bigint();
      case TAG.text:
        return this.in.text(SHORT_TEXTS);
      case TAG.units: {
        const length = this.length(2);
        let text = "";
        for (let i = 0; i < length; i++) text += String.fromCharCode(this.in.u16());
        return text;
      }
      case TAG.bytes: {
        const length = this.length();
        return this.in.raw(length).slice();
      }
      default:
        return this.fail(`there is no value with tag ${tag}`);
    }
  }

  private bigint(): bigint {
    const isNegative = this.in.u8() === 1;
    const length = this.length();
    if (length === 0 || length > BIGINT_BYTES_MAX) this.fail(`a number of ${length} bytes`);
    const size = BigInt(`0x${this.in.raw(length).toHex()}`);
    return isNegative ? -1n - size : size;
  }

  /** Plain data. */
  plain(tag: number = this.tag()): PlainValue {
    switch (tag) {
      case TAG.array:
        return this.array();
      case TAG.list:
        return this.nested(() => {
          const length = this.length();
          const list: PlainValue[] = [];
          for (let i = 0; i < length; i++) list.push(this.plain());
          return list;
        });
      case TAG.record:
        return this.nested(() => {
          const length = this.length(2);
          const made: Record<string, PlainValue> = {};
          for (let i = 0; i < length; i++) {
            const key = this.word();
            if (Object.hasOwn(made, key) || key === "__proto__") this.fail(`a record has field ${key}`);
            made[key] = this.plain();
          }
          return made;
        });
      default:
        return this.scalar(tag);
    }
  }

  private array(): PlainValue {
    const kind = this.in.u8();
    const made = ARRAYS.get(kind);
    if (made === undefined) return this.fail(`there is no array of kind ${kind}`);
    const length = this.length(made.BYTES_PER_ELEMENT);
    const bytes = this.in.raw(length * made.BYTES_PER_ELEMENT).slice();
    return new made(bytes.buffer);
  }

  /** Reads what lies a level deeper. */
  nested<T>(read: () => T): T {
    if (++this.depth > PLAN_DEPTH_MAX) throw unreadable(`it nests deeper than ${PLAN_DEPTH_MAX} levels`);
    const value = read();
    this.depth--;
    return value;
  }

  /** Reads a thing that was written once; `by` tells things of different shapes apart. */
  once<T extends object>(by: object, read: () => T): T {
    if (this.in.u8() === TAG.reference) {
      const at = this.count();
      const known = this.known[at];
      if (known?.by !== by) return this.fail(`nothing of this kind has number ${at}`);
      this.take(known.values);
      return known.value as T; // What was read by the same shape.
    }
    this.in.offset--;
    const before = this.values;
    const value = this.nested(read);
    this.known.push({ by, value, values: this.values - before });
    return value;
  }

  /** The table of an identity: the same one each time it is named. */
  table(identity: TableIdentity): ScannedTable {
    const key = JSON.stringify([identity.database, identity.name, identity.id]);
    const table = this.tables.get(key) ?? this.names.table(identity);
    this.tables.set(key, table);
    return table;
  }
}

/** Reads one value that is all of some bytes. @throws DbError as the reader, and those of `names` */
export function readBytes<T>(bytes: Uint8Array, names: PlanNames, read: (from: PlanReader) => T, nodes?: NodeReader): T {
  try {
    const from = new PlanReader(bytes, names, nodes);
    const value = read(from);
    from.end();
    return value;
  } catch (error) {
    if (error instanceof ByteReadError) throw unreadable(error.message, error);
    if (error instanceof RangeError) throw unreadable("it nests deeper than this thread has room for", error);
    throw error;
  }
}

function unreadable(why: string, cause?: unknown): DbError {
  return invalidArguments(`cannot read a plan: ${why}`, cause);
}
