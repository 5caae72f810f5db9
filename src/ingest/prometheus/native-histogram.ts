/**
 * One native histogram of remote write 2.0: the message, checked, as a value of the struct column (`table/native-histogram.ts`).
 *
 *   deltas [1, 2, -1] ─► counts [1, 3, 2]
 *
 * What is refused is what no reader could make sense of: schemas that do not exist, spans that do not fit the buckets, counts of both
 * families, below zero or of another sum than they say, bounds out of order.
 */
import { type DataType, FLOAT64, INT32, INT64, type NestedType } from "../../column/data-type.ts";
import { exactInteger } from "../../column/exact-integer.ts";
import { encodeNested, type NestedPart } from "../../column/nested.ts";
import { field, type ProtoReader, Wire } from "../../format/proto/reader.ts";
import { NATIVE_HISTOGRAM } from "../../table/native-histogram.ts";
import { invalid } from "./failure.ts";
import { timeOf } from "./sample-reader.ts";

/** Schema of bounds that the sender chose. */
const CUSTOM_BOUNDS = -53;
const SCHEMA_MIN = -4;
const SCHEMA_MAX = 8;
/** Powers of two between 1 and the largest double: the bucket behind the last of them holds infinity. */
const POWERS = 1024;
const COUNT_MAX = 2n ** 63n - 1n;

/** Where the bits of `sum` stand in the struct's bytes: behind two numbers with their marks, and a mark. */
const SUM_AT = 19;
/** The NaN that marks a series as ended, and its form in the struct. A double in a variable may lose its bits. */
const STALE_HIGH = 0x7ff0_0000;
const STALE_LOW = 2;
const STALE_BYTES: Uint8Array = Uint8Array.of(0xff, 0xf0, 0, 0, 0, 0, 0, STALE_LOW);

const COUNT_INT = field(1, Wire.varint);
const COUNT_FLOAT = field(2, Wire.fixed64);
const SUM = field(3, Wire.fixed64);
const SCHEMA = field(4, Wire.varint);
const ZERO_THRESHOLD = field(5, Wire.fixed64);
const ZERO_INT = field(6, Wire.varint);
const ZERO_FLOAT = field(7, Wire.fixed64);
const RESET_HINT = field(14, Wire.varint);
const TIMESTAMP = field(15, Wire.varint);
const CUSTOM_VALUES = 16;
const START_TIMESTAMP = field(17, Wire.varint);
const SPAN_OFFSET = field(1, Wire.varint);
const SPAN_LENGTH = field(2, Wire.varint);
/** Field numbers of the spans of a side; deltas and counts have the next two. */
const NEGATIVE = 8;
const POSITIVE = 11;

type Whole = number | bigint;

/** Buckets above or below zero. */
class Side {
  readonly name: string;
  readonly offsets: number[] = [];
  readonly lengths: number[] = [];
  readonly deltas: Whole[] = [];
  readonly counts: number[] = [];

  constructor(name: string) {
    this.name = name;
  }

  reset(): void {
    for (const list of [this.offsets, this.lengths, this.deltas, this.counts]) list.length = 0;
  }

  get isEmpty(): boolean {
    return this.offsets.length + this.deltas.length + this.counts.length === 0;
  }
}

/** Reads one message after another; one a decoder, so that its lists stay. */
export class NativeHistogram {
  /** Milliseconds since 1970. */
  time = 0;
  private schema = 0;
  private zeroThreshold = 0;
  private sum = 0;
  private isStale = false;
  private resetHint = 0;
  private start: Whole = 0;
  private count: Whole | undefined;
  private zeroCount: Whole | undefined;
  private isCountFloat = false;
  private isZeroFloat = false;
  private readonly customValues: number[] = [];
  private readonly positive: Side = new Side("positive");
  private readonly negative: Side = new Side("negative");

  /** Reads the message from the reader's place to `end`. @throws ProtoError, DbError InvalidArguments */
  read(reader: ProtoReader, end: number): void {
    this.reset();
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (this.readScalar(tag, reader, end) || this.readCounts(tag, reader, end)) continue;
      const number = tag >>> 3;
      if (number === CUSTOM_VALUES && isDoubles(tag)) readDoubles(tag, reader, end, this.customValues);
      else if (number >= NEGATIVE && number < POSITIVE) readSide(tag, number - NEGATIVE, reader, end, this.negative);
      else if (number >= POSITIVE && number < POSITIVE + 3) readSide(tag, number - POSITIVE, reader, end, this.positive);
      else reader.skip(tag, end);
    }
  }

  /** The value of the struct column. @throws DbError InvalidArguments for a histogram that contradicts itself */
  encode(): Uint8Array {
    const { positive, negative } = this;
    const isFloat = this.family();
    this.checkSchema();
    this.checkSpans(positive, isFloat);
    this.checkSpans(negative, isFloat);
    const children = isFloat ? this.floatChildren() : this.wholeChildren();
    const bytes = encodeNested(NATIVE_HISTOGRAM, [
      this.schema,
      this.zeroThreshold,
      this.sum,
      this.resetHint,
      this.start === 0 ? undefined : this.start,
      listOf(FLOAT64, this.customValues),
      listOf(INT32, positive.offsets),
      listOf(INT32, positive.lengths),
      listOf(INT32, negative.offsets),
      listOf(INT32, negative.lengths),
      ...children,
    ]);
    if (this.isStale) bytes.set(STALE_BYTES, SUM_AT);
    return bytes;
  }

  private reset(): void {
    this.time = 0;
    this.schema = 0;
    this.zeroThreshold = 0;
    this.sum = 0;
    this.isStale = false;
    this.resetHint = 0;
    this.start = 0;
    this.count = undefined;
    this.zeroCount = undefined;
    this.isCountFloat = false;
    this.isZeroFloat = false;
    this.customValues.length = 0;
    this.positive.reset();
    this.negative.reset();
  }

  /** Whether the field was one of these. */
  private readScalar(tag: number, reader: ProtoReader, end: number): boolean {
    switch (tag) {
      case SUM: {
        const at = reader.take(8, end);
        this.isStale = reader.view.getUint32(at, true) === STALE_LOW && reader.view.getUint32(at + 4, true) === STALE_HIGH;
        this.sum = reader.view.getFloat64(at, true);
        return true;
      }
      case SCHEMA:
        this.schema = zigzag32(reader, end);
        return true;
      case ZERO_THRESHOLD:
        this.zeroThreshold = reader.double(end);
        return true;
      case RESET_HINT:
        reader.varint64(end);
        this.resetHint = reader.low | 0;
        return true;
      case TIMESTAMP:
        reader.varint64(end);
        this.time = timeOf(reader);
        return true;
      case START_TIMESTAMP:
        reader.varint64(end);
        this.start = exactInteger(reader.signedBigInt());
        return true;
      default:
        return false;
    }
  }

  /** Of two forms of a count the last one counts. */
  private readCounts(tag: number, reader: ProtoReader, end: number): boolean {
    switch (tag) {
      case COUNT_INT:
        this.count = unsigned(reader, end);
        this.isCountFloat = false;
        return true;
      case COUNT_FLOAT:
        this.count = reader.double(end);
        this.isCountFloat = true;
        return true;
      case ZERO_INT:
        this.zeroCount = unsigned(reader, end);
        this.isZeroFloat = false;
        return true;
      case ZERO_FLOAT:
        this.zeroCount = reader.double(end);
        this.isZeroFloat = true;
        return true;
      default:
        return false;
    }
  }

  /** Whether counts are floats. */
  private family(): boolean {
    const { positive, negative, count, zeroCount } = this;
    const isFloat =
      this.isCountFloat || (zeroCount !== undefined && this.isZeroFloat) || positive.counts.length + negative.counts.length > 0;
    const isWhole =
      (count !== undefined && !this.isCountFloat) ||
      (zeroCount !== undefined && !this.isZeroFloat) ||
      positive.deltas.length + negative.deltas.length > 0;
    if (isFloat && isWhole) throw refused("its counts are whole numbers and floats; send one kind");
    return isFloat;
  }

  private checkSchema(): void {
    const { schema, customValues, negative, zeroCount, zeroThreshold } = this;
    if (schema !== CUSTOM_BOUNDS) {
      if (schema < SCHEMA_MIN || schema > SCHEMA_MAX) {
        throw refused(`its schema is ${schema}; use ${SCHEMA_MIN} to ${SCHEMA_MAX}, or ${CUSTOM_BOUNDS} for bounds of your own`);
      }
      if (customValues.length > 0) throw refused(`custom_values are for schema ${CUSTOM_BOUNDS}; got schema ${schema}`);
      return;
    }
    if (zeroThreshold !== 0 || Number(zeroCount ?? 0) !== 0 || !negative.isEmpty) {
      throw refused(`with schema ${CUSTOM_BOUNDS} there is neither a bucket of zero nor one below zero`);
    }
    for (let i = 0; i < customValues.length; i++) {
      const bound = customValues[i] as number;
      const isAscending = i === 0 || (customValues[i - 1] as number) < bound;
      if (bound < Number.POSITIVE_INFINITY && isAscending) continue;
      throw refused(`custom_values must ascend and be below infinity; number ${i + 1} is ${bound}`);
    }
  }

  /** Positions of buckets follow from the spans; the last one that there is holds infinity. */
  private checkSpans({ name, offsets, lengths, deltas, counts }: Side, isFloat: boolean): void {
    const buckets = isFloat ? counts.length : deltas.length;
    const isCustom = this.schema === CUSTOM_BOUNDS;
    const last = isCustom ? this.customValues.length : Math.floor(POWERS * 2 ** this.schema) + 1;
    let described = 0;
    let position = 0;
    for (let i = 0; i < offsets.length; i++) {
      const offset = offsets[i] as number;
      const length = lengths[i] as number;
      if (offset < 0 && (i > 0 || isCustom)) throw refused(`the offset of ${name} span ${i + 1} is ${offset}, below zero`);
      described += length;
      position += offset + length;
      if (length > 0 && position - 1 > last) throw refused(`${name} span ${i + 1} ends at bucket ${position - 1}; the last one is ${last}`);
    }
    if (described !== buckets) throw refused(`its ${name} spans describe ${described} buckets; got ${buckets}`);
  }

  private floatChildren(): NestedPart[] {
    const { positive, negative } = this;
    const [count, zeroCount] = [Number(this.count ?? 0), Number(this.zeroCount ?? 0)];
    for (const value of [count, zeroCount]) if (value < 0) throw refused(`a count of it is ${value}, below zero`);
    for (const { counts, name } of [positive, negative]) {
      for (const value of counts) if (value < 0) throw refused(`a ${name} bucket of it has a count of ${value}, below zero`);
    }
    const buckets = [listOf(FLOAT64, positive.counts), listOf(FLOAT64, negative.counts)];
    return [undefined, undefined, listOf(INT64, []), listOf(INT64, []), count, zeroCount, ...buckets];
  }

  private wholeChildren(): NestedPart[] {
    const [count, zeroCount] = [this.count ?? 0, this.zeroCount ?? 0];
    const [positive, negative] = [countsOf(this.positive), countsOf(this.negative)];
    let total = zeroCount;
    for (const buckets of [positive, negative]) for (const value of buckets) total = plus(total, value);
    // Values that are no numbers are counted, and in no bucket.
    const isWhole = Number.isNaN(this.sum) ? total <= count : total === count;
    if (!isWhole) throw refused(`its buckets have ${total} observations; its count is ${count}`);
    if (count > COUNT_MAX) throw refused(`its count is ${count}; at most ${COUNT_MAX} are allowed`);
    const buckets = [listOf(INT64, positive), listOf(INT64, negative)];
    return [count, zeroCount, ...buckets, undefined, undefined, listOf(FLOAT64, []), listOf(FLOAT64, [])];
  }
}

/** Counts from differences. A side has as many as it has buckets; their sum is below that many times 2^64. */
function countsOf({ name, deltas }: Side): Whole[] {
  let count: Whole = 0;
  return deltas.map((delta) => {
    count = plus(count, delta);
    if (count < 0) throw refused(`a ${name} bucket of it has a count of ${count}, below zero`);
    return count;
  });
}

function plus(a: Whole, b: Whole): Whole {
  if (typeof a === "number" && typeof b === "number") {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return exactInteger(BigInt(a) + BigInt(b));
}

function listOf(element: DataType, parts: readonly NestedPart[]): Uint8Array {
  const type: NestedType = { kind: "list", element };
  return encodeNested(type, parts);
}

/** Reads a field of a side: 0 spans, 1 deltas, 2 counts. */
function readSide(tag: number, which: number, reader: ProtoReader, end: number, side: Side): void {
  const wire = tag & 7;
  if (which === 0 && wire === Wire.bytes) readSpan(reader, reader.lengthEnd(end), side);
  else if (which === 1 && wire === Wire.varint) side.deltas.push(zigzag64(reader, end));
  else if (which === 1 && wire === Wire.bytes) {
    const packedEnd = reader.lengthEnd(end);
    while (reader.at < packedEnd) side.deltas.push(zigzag64(reader, packedEnd));
  } else if (which === 2 && isDoubles(tag)) readDoubles(tag, reader, end, side.counts);
  else reader.skip(tag, end);
}

function readSpan(reader: ProtoReader, end: number, side: Side): void {
  let offset = 0;
  let length = 0;
  while (reader.at < end) {
    const tag = reader.tag(end);
    if (tag === SPAN_OFFSET) offset = zigzag32(reader, end);
    else if (tag === SPAN_LENGTH) {
      reader.varint64(end);
      length = reader.low;
    } else reader.skip(tag, end);
  }
  side.offsets.push(offset);
  side.lengths.push(length);
}

function isDoubles(tag: number): boolean {
  return (tag & 7) === Wire.fixed64 || (tag & 7) === Wire.bytes;
}

/** Doubles, packed or one. */
function readDoubles(tag: number, reader: ProtoReader, end: number, into: number[]): void {
  if ((tag & 7) === Wire.fixed64) {
    into.push(reader.double(end));
    return;
  }
  const packedEnd = reader.lengthEnd(end);
  while (reader.at < packedEnd) into.push(reader.double(packedEnd));
}

function zigzag32(reader: ProtoReader, end: number): number {
  reader.varint64(end);
  return (reader.low >>> 1) ^ -(reader.low & 1);
}

function zigzag64(reader: ProtoReader, end: number): Whole {
  reader.varint64(end);
  const { low, high } = reader;
  if (high < 0x20_0000) {
    const value = high * 0x1_0000_0000 + low;
    return (low & 1) === 0 ? value / 2 : -(value + 1) / 2;
  }
  const value = (BigInt(high) << 32n) | BigInt(low);
  return exactInteger((value >> 1n) ^ -(value & 1n));
}

function unsigned(reader: ProtoReader, end: number): Whole {
  reader.varint64(end);
  return exactInteger((BigInt(reader.high) << 32n) | BigInt(reader.low));
}

function refused(why: string): Error {
  return invalid(`a native histogram cannot be stored: ${why}`);
}
