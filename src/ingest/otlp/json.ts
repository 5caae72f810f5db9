/**
 * OTLP's JSON form to its protobuf form, so that one decoder serves both. Source: opentelemetry.io/docs/specs/otlp, JSON encoding:
 * names in lowerCamelCase (snake_case is read too), trace and span ids in hexadecimal digits, other bytes in base64, 64-bit integers as
 * numbers or text, enums as numbers (names are read too), unknown names ignored.
 */
import { errorText } from "../../base/error.ts";
import { strictUtf8Document } from "../../base/bytes/utf8.ts";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { VALUE_DEPTH_MAX } from "./limits.ts";
import { type Field, type MessageName, MESSAGES } from "./messages.ts";

/** Why a text is no OTLP request. */
export class OtlpJsonError extends Error {
  override readonly name = "OtlpJsonError";
}

/** The roots of the three requests. */
export type RequestName = "MetricsRequest" | "TracesRequest" | "LogsRequest";

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const INTEGER = /^-?\d{1,20}$/;
const MESSAGE_DEPTH = 12;

/** The protobuf form of a request in JSON. @throws OtlpJsonError */
export function protobufOfJson(body: Uint8Array, request: RequestName): Uint8Array {
  let parsed: unknown;
  try {
    parsed = JSON.parse(strictUtf8Document.decode(body));
  } catch (error) {
    throw new OtlpJsonError(errorText(error), { cause: error });
  }
  const writer = new BinaryWriter();
  writeMessage(writer, request, parsed, "the body", 0);
  return writer.finish();
}

function writeMessage(writer: BinaryWriter, name: MessageName, value: unknown, where: string, depth: number): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new OtlpJsonError(`${where} is not an object`);
  // A value that nests takes three messages a level: AnyValue, its list, KeyValue.
  if (depth > VALUE_DEPTH_MAX * 3 + MESSAGE_DEPTH) throw new OtlpJsonError(`${where} nests too deep`);
  const fields = MESSAGES[name];
  const items = value as Readonly<Record<string, unknown>>; // An object out of JSON.parse.
  for (const key of Object.keys(items)) {
    const item = items[key];
    const known = Object.hasOwn(fields, key) ? fields[key] : fields[camelCase(key)];
    if (known === undefined || item === null) continue;
    const found = isLongInteger(name, known, item) ? (MESSAGES.AnyValue["doubleValue"] ?? known) : known;
    if (found.repeated !== true) {
      writeField(writer, found, item, key, depth);
      continue;
    }
    if (!Array.isArray(item)) throw new OtlpJsonError(`${key} is not an array`);
    for (const each of item) writeField(writer, found, each, key, depth);
  }
}

/** The serialiser of JavaScript's SDK writes every number without a fraction as `intValue`, 1e300 too: it is a double. */
function isLongInteger(name: MessageName, { kind }: Field, value: unknown): boolean {
  return name === "AnyValue" && kind === "int64" && typeof value === "number" && (value >= 2 ** 63 || value < -(2 ** 63));
}

function camelCase(key: string): string {
  return key.includes("_") ? key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : key;
}

function writeField(writer: BinaryWriter, { number, kind, message, names }: Field, value: unknown, key: string, depth: number): void {
  switch (kind) {
    case "message":
      writer.tag(number, WIRE.bytes).fork();
      writeMessage(writer, message ?? "AnyValue", value, key, depth + 1);
      writer.join();
      return;
    case "string":
      if (typeof value !== "string") throw new OtlpJsonError(`${key} is not a text`);
      writer.tag(number, WIRE.bytes).string(value.toWellFormed());
      return;
    case "bool":
      if (typeof value !== "boolean") throw new OtlpJsonError(`${key} is neither true nor false`);
      writer.tag(number, WIRE.varint).bool(value);
      return;
    case "double":
      writer.tag(number, WIRE.fixed64).double(doubleOf(value, key));
      return;
    case "hex":
    case "base64":
      writer.tag(number, WIRE.bytes).bytes(bytesOf(value, kind, key));
      return;
    case "enum":
      writer.tag(number, WIRE.varint).int32(enumOf(value, names ?? [], key));
      return;
    default:
      writeInteger(writer, number, kind, integerOf(value, kind, key));
  }
}

function writeInteger(writer: BinaryWriter, number: number, kind: Field["kind"], value: bigint): void {
  if (kind === "fixed64") writer.tag(number, WIRE.fixed64).fixed64(value);
  else if (kind === "sfixed64") writer.tag(number, WIRE.fixed64).sfixed64(value);
  else if (kind === "fixed32") writer.tag(number, WIRE.fixed32).fixed32(Number(value));
  else if (kind === "int64") writer.tag(number, WIRE.varint).int64(value);
  else writer.tag(number, WIRE.varint).uint32(Number(value));
}

function integerOf(value: unknown, kind: Field["kind"], key: string): bigint {
  let integer: bigint | undefined;
  if (typeof value === "number" && Number.isInteger(value)) integer = BigInt(value);
  else if (typeof value === "string" && INTEGER.test(value)) integer = BigInt(value);
  const isSigned = kind === "int64" || kind === "sfixed64";
  const bits = kind === "uint32" || kind === "fixed32" ? 32n : 64n;
  const fits = integer !== undefined && (isSigned ? BigInt.asIntN(64, integer) : BigInt.asUintN(Number(bits), integer)) === integer;
  if (integer === undefined || !fits) throw new OtlpJsonError(`${key} is not a whole number of ${bits} bits`);
  return integer;
}

function doubleOf(value: unknown, key: string): number {
  if (typeof value === "number") return value;
  if (value === "NaN" || value === "Infinity" || value === "-Infinity") return Number(value);
  if (typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value))) return Number(value);
  throw new OtlpJsonError(`${key} is not a number`);
}

function bytesOf(value: unknown, kind: "hex" | "base64", key: string): Uint8Array {
  if (typeof value !== "string") throw new OtlpJsonError(`${key} is not a text`);
  if (kind === "base64") return Buffer.from(value, kind);
  if (value.length % 2 !== 0) throw notHex(key);
  const bytes = new Uint8Array(value.length / 2);
  for (let i = 0; i < bytes.length; i++) {
    const [high, low] = [digitOf(value, 2 * i), digitOf(value, 2 * i + 1)];
    if (high < 0 || low < 0) throw notHex(key);
    bytes[i] = high * 16 + low;
  }
  return bytes;
}

/** A hexadecimal digit of a text; -1 for another character. Identifiers are too short for a native call each. */
function digitOf(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function notHex(key: string): OtlpJsonError {
  return new OtlpJsonError(`${key} is not made of hexadecimal digits`);
}

function enumOf(value: unknown, names: readonly string[], key: string): number {
  if (typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 2 ** 31) return value;
  const index = typeof value === "string" ? names.indexOf(value) : -1;
  if (index < 0) throw new OtlpJsonError(`${key} is not one of its values`);
  return index;
}
