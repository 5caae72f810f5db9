/**
 * Values that a client gives with a statement: those of the placeholders of EXECUTE, and attributes, which a statement may ask for by
 * `mysql_query_attribute_string`. Attributes have names and lie behind the values.
 *
 *   EXECUTE      [count] · NULL bits · 1 · { type(1) flags(1) [name] }* · value*       0 instead of 1: types as the last time
 *   COM_QUERY    count · sets, which are 1 · NULL bits · 1 · { type(1) flags(1) name }* · value*
 */
import { type DataType, STRING } from "../../column/data-type.ts";
import { NO_ATTRIBUTES } from "../../query/connection.ts";
import type { ParameterValue } from "../../query/prepared-query.ts";
import { castValue } from "../../value/cast.ts";
import { MalformedPacket, type PacketReader, utf8 } from "./codec.ts";
import { bytesValue, type GivenType, readValue } from "./parameter-values.ts";

const UNSIGNED = 0x80;

/** A type, and a name where it is that of an attribute. */
export interface NamedType extends GivenType {
  readonly name: string;
}

/** What a statement takes, and how the client tells it. */
export interface Places {
  /** Types that the placeholders' places ask for. */
  readonly parameters: readonly (DataType | undefined)[];
  /** Types of the last time. */
  readonly types: readonly NamedType[];
  /** Values that came in pieces, by parameter. */
  readonly long: ReadonlyMap<number, readonly Uint8Array[]>;
  /** Whether the client sends names. */
  readonly hasNames: boolean;
  /** Whether it says how many values there are: attributes may be among them. */
  readonly hasCount: boolean;
  readonly timeZone: string;
}

/** What was given. */
export interface Given {
  /** As many as there are placeholders. */
  readonly values: readonly ParameterValue[];
  readonly types: readonly NamedType[];
  readonly attributes: ReadonlyMap<string, string>;
}

/** Reads what comes with EXECUTE; a count that is too low. @throws MalformedPacket; DbError InvalidArguments for a value that is none */
export function readGiven(reader: PacketReader, places: Places): Given | { readonly tooFew: number } {
  const { parameters, hasCount, timeZone } = places;
  const wanted = parameters.length;
  const count = hasCount ? reader.lenenc() : wanted;
  if (count < wanted) return { tooFew: count };
  if (count === 0) return { values: [], types: places.types, attributes: NO_ATTRIBUTES };
  const nulls = nullsOf(reader, count);
  const types = reader.u8() === 1 ? readTypes(reader, count, places.hasNames) : places.types;
  if (types.length < count) throw new MalformedPacket("values come without their types");
  const values: ParameterValue[] = [];
  for (const [i, type] of types.slice(0, count).entries()) {
    const place = parameters[i];
    const pieces = places.long.get(i);
    if (pieces !== undefined) values.push(bytesValue(Buffer.concat(pieces), false, place));
    else if (nulls(i)) values.push({ type: place ?? { kind: "null" }, value: undefined });
    else values.push(readValue(reader, type, place, timeZone));
  }
  return { values: values.slice(0, wanted), types, attributes: attributesOf(types.slice(wanted), values.slice(wanted), timeZone) };
}

/** Reads the attributes before the text of COM_QUERY. @throws MalformedPacket, DbError */
export function readAttributes(reader: PacketReader, timeZone: string): ReadonlyMap<string, string> {
  const count = reader.lenenc();
  reader.lenenc(); // how many sets of values: one
  if (count === 0) return NO_ATTRIBUTES;
  const nulls = nullsOf(reader, count);
  if (reader.u8() !== 1) throw new MalformedPacket("attributes come without their types");
  const types = readTypes(reader, count, true);
  const values = types.map(
    (type, i): ParameterValue => (nulls(i) ? { type: { kind: "null" }, value: undefined } : readValue(reader, type, undefined, timeZone)),
  );
  return attributesOf(types, values, timeZone);
}

/** Whether value `i` is NULL. */
function nullsOf(reader: PacketReader, count: number): (i: number) => boolean {
  if (count > reader.remaining * 8) throw new MalformedPacket("a packet ends before its fields do");
  const nulls = reader.raw((count + 7) >> 3);
  return (i) => ((nulls[i >> 3] ?? 0) & (1 << (i & 7))) !== 0;
}

function readTypes(reader: PacketReader, count: number, hasNames: boolean): readonly NamedType[] {
  if (count * 2 > reader.remaining) throw new MalformedPacket("a packet ends before its fields do");
  return Array.from({ length: count }, () => {
    const given = { type: reader.u8(), isUnsigned: (reader.u8() & UNSIGNED) !== 0 };
    return { ...given, name: hasNames ? utf8(reader.lenencBytes()) : "" };
  });
}

/** Attributes as texts; those that are NULL, or bytes that are no text, are left out. */
function attributesOf(types: readonly NamedType[], values: readonly ParameterValue[], timeZone: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  for (const [i, { name }] of types.entries()) {
    const given = values[i];
    if (given === undefined || given.type.kind === "binary") continue;
    // As MySQL writes floats: 5 and not 5.0.
    const text =
      typeof given.value === "number" && given.type.kind === "float"
        ? String(given.value)
        : castValue(given.value, given.type, STRING, { timeZone });
    if (typeof text === "string") attributes.set(name, text);
  }
  return attributes;
}
