/** JsonValue: a document as a message, made into text. Few clients send it, so that this makes strings; its depth is bounded. */
import { field, ProtoError, type ProtoReader, Wire } from "../../format/proto/reader.ts";
import { JSON_DEPTH_MAX } from "./limits.ts";
import { readText } from "./schema-reader.ts";

/** The text of a JsonValue. An empty one is null. @throws ProtoError for bytes that are none, and for too deep ones */
export function jsonOfMessage(reader: ProtoReader, end: number, depth = 0): string {
  if (depth > JSON_DEPTH_MAX) throw new ProtoError(`JSON with more than ${JSON_DEPTH_MAX} levels`, reader.at);
  let text = "null";
  while (reader.at < end) {
    const tag = reader.tag(end);
    switch (tag) {
      case field(1, Wire.varint):
        reader.varint64(end);
        text = reader.low === 0 && reader.high === 0 ? "false" : "true";
        break;
      case field(2, Wire.varint):
        reader.varint64(end);
        text = String(reader.signedBigInt());
        break;
      case field(3, Wire.varint):
        reader.varint64(end);
        text = String(BigInt.asUintN(64, reader.signedBigInt()));
        break;
      case field(4, Wire.fixed64):
        text = floatText(reader.double(end));
        break;
      case field(5, Wire.bytes):
        text = JSON.stringify(readText(reader, end));
        break;
      case field(6, Wire.bytes):
        text = `[${membersOf(reader, reader.lengthEnd(end), depth, jsonOfMessage).join(",")}]`;
        break;
      case field(7, Wire.bytes):
        text = `{${membersOf(reader, reader.lengthEnd(end), depth, entryOf).join(",")}}`;
        break;
      case field(8, Wire.bytes):
        throw new ProtoError("a JSON variant, which is not supported: send string_value", reader.at);
      default:
        reader.skip(tag, end);
    }
  }
  return text;
}

/** A whole float has a point, so that it stays a float. JSON has no NaN. */
function floatText(value: number): string {
  if (!Number.isFinite(value)) return "null";
  return Number.isInteger(value) && Math.abs(value) < 1e21 ? `${Object.is(value, -0) ? "-0" : value}.0` : String(value);
}

function membersOf(reader: ProtoReader, end: number, depth: number, read: typeof jsonOfMessage): string[] {
  const members: string[] = [];
  while (reader.at < end) {
    const tag = reader.tag(end);
    if (tag === field(1, Wire.bytes)) members.push(read(reader, reader.lengthEnd(end), depth + 1));
    else reader.skip(tag, end);
  }
  return members;
}

function entryOf(reader: ProtoReader, end: number, depth = 0): string {
  let [key, value] = ["", "null"];
  while (reader.at < end) {
    const tag = reader.tag(end);
    if (tag === field(1, Wire.bytes)) key = readText(reader, end);
    else if (tag === field(2, Wire.bytes)) value = jsonOfMessage(reader, reader.lengthEnd(end), depth);
    else reader.skip(tag, end);
  }
  return `${JSON.stringify(key)}:${value}`;
}
