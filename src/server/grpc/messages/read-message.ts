/**
 * Messages that are read into objects: requests that are small where they are honest. Their fields are counted first, without an object,
 * since a byte or two of a message may become an object of a hundred: 8 MiB of empty column definitions took 17 s and 1.4 GiB.
 */
import { type DescField, type DescMessage, fromBinary, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { DbError, errorText, invalidArguments } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { ProtoError, ProtoReader, Wire } from "../../../format/proto/reader.ts";

/** Most fields of a message, those of messages in it and numbers of lists too. Reason: a table of 4096 columns has some 50,000. */
const FIELDS_MAX = 65_536;
/** How deep messages may lie in each other. Reason: reading them recurses. */
const DEPTH_MAX = 64;
/** Characters of the library's reason that are shown. */
const SHOWN_CHARACTERS_MAX = 200;

/** What is counted of a field whose value has a length beside itself: its numbers, or its fields. Others are absent. */
type Counted = "numbers" | (() => Fields);
type Fields = ReadonlyMap<number, Counted>;

/** Number of the value in an entry of a map. */
const MAP_VALUE = 2;

const known: WeakMap<DescMessage, Fields> = new WeakMap();

/**
 * Reads a message of a client.
 *
 * @param what its name in errors
 * @throws DbError InvalidArguments for bytes that are no such message, or one of more than `FIELDS_MAX` fields
 */
export function readMessage<D extends DescMessage>(schema: D, bytes: Uint8Array, what: string = schema.name): MessageShape<D> {
  const reader = new ProtoReader();
  reader.open(bytes);
  try {
    new FieldCount(what).add(reader, bytes.length, fieldsOf(schema), 0);
  } catch (error) {
    if (!(error instanceof ProtoError)) throw error;
    throw invalidArguments(`cannot read ${what}: ${error.message}`, error);
  }
  try {
    return fromBinary(schema, bytes, { readUnknownFields: false });
  } catch (cause) {
    throw new DbError(StatusCode.InvalidArguments, `cannot read ${what}: ${errorText(cause, SHOWN_CHARACTERS_MAX)}`, { cause });
  }
}

class FieldCount {
  private readonly what: string;
  private count = 0;

  constructor(what: string) {
    this.what = what;
  }

  /** Counts a message that ends at `end`. @throws DbError InvalidArguments, ProtoError */
  add(reader: ProtoReader, end: number, fields: Fields, depth: number): void {
    if (depth > DEPTH_MAX) throw this.refusal(`has messages more than ${DEPTH_MAX} deep in each other`);
    while (reader.at < end) {
      const tag = reader.tag(end);
      this.take(1);
      const counted = fields.get(tag >>> 3);
      if (counted === undefined || (tag & 7) !== Wire.bytes) {
        reader.skip(tag, end);
        continue;
      }
      const valueEnd = reader.lengthEnd(end);
      if (counted === "numbers") this.take(valueEnd - reader.at);
      else this.add(reader, valueEnd, counted(), depth + 1);
      reader.at = valueEnd;
    }
  }

  private take(count: number): void {
    this.count += count;
    if (this.count > FIELDS_MAX) throw this.refusal(`has more than ${FIELDS_MAX} fields; send several smaller ones`);
  }

  private refusal(why: string): DbError {
    return invalidArguments(`cannot read ${this.what}: it ${why}`);
  }
}

function fieldsOf(schema: DescMessage): Fields {
  let fields = known.get(schema);
  if (fields !== undefined) return fields;
  const found = new Map<number, Counted>();
  for (const each of schema.fields) {
    const counted = countedOf(each);
    if (counted !== undefined) found.set(each.number, counted);
  }
  fields = found;
  known.set(schema, fields);
  return fields;
}

function countedOf(field: DescField): Counted | undefined {
  switch (field.fieldKind) {
    case "message":
      return () => fieldsOf(field.message);
    case "list": {
      if (field.listKind === "message") return () => fieldsOf(field.message);
      const isSingle = field.listKind === "scalar" && (field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES);
      return isSingle ? undefined : "numbers";
    }
    case "map": {
      const value: Fields = new Map(field.mapKind === "message" ? [[MAP_VALUE, () => fieldsOf(field.message)]] : []);
      return () => value;
    }
    default:
      return undefined;
  }
}
