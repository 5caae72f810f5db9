/**
 * Messages of `proto/` as @bufbuild/protobuf reads and writes them: the oracle of the decoders that are written by hand. buf compiles the
 * definitions when a test asks, so that no generated file has to be there.
 */
import {
  createFileRegistry,
  type DescField,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonValue,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { join } from "node:path";
import { ROOT } from "../tidy/source-tree.ts";

/** A message type, read as objects of `T`: lowerCamelCase names, 64-bit integers as bigint. */
export interface Codec<T> {
  /** @throws Error for bytes that are none */
  read(bytes: Uint8Array): T;
  write(json: JsonValue): Uint8Array<ArrayBuffer>;
  /**
   * Whether every field that the type has comes in a wire type of its own, at any depth. Others are unknown fields by the specification,
   * and read as if they were known by the library.
   */
  isWellTyped(bytes: Uint8Array): boolean;
}

/** Whether buf runs on this machine. */
export function canCompileProtos(): boolean {
  try {
    return Bun.spawnSync([BUF, "--version"]).exitCode === 0;
  } catch {
    return false;
  }
}

const BUF = join(ROOT, "node_modules/.bin/buf");

/**
 * The message type of this full name.
 *
 * @param without fields that the type shall not know, `package.Message.field`: those that a decoder passes over unread
 * @throws Error when buf cannot run or the name is unknown
 */
export function codecOf<T>(name: string, without: readonly string[] = []): Codec<T> {
  const type = registryWithout(without).getMessage(name);
  if (type === undefined) throw new Error(`proto/ has no message ${name}`);
  return {
    read: (bytes) => fromBinary(type, bytes) as unknown as T, // The library's types come from generated files.
    write: (json) => toBinary(type, fromJson(type, json)),
    isWellTyped: (bytes) => isWellTyped(type, bytes),
  };
}

let compiled: Uint8Array | undefined;

function registryWithout(fields: readonly string[]): ReturnType<typeof createFileRegistry> {
  if (compiled === undefined) {
    const run = Bun.spawnSync([BUF, "build", "-o", "-#format=binpb"], { cwd: join(ROOT, "proto") });
    if (run.exitCode !== 0) throw new Error(`buf cannot build proto/: ${run.stderr.toString()}`);
    compiled = run.stdout;
  }
  const set = fromBinary(FileDescriptorSetSchema, compiled);
  for (const file of set.file) {
    for (const message of file.messageType) {
      message.field = message.field.filter((field) => !fields.includes(`${file.package}.${message.name}.${field.name}`));
    }
  }
  return createFileRegistry(set);
}

function isWellTyped(type: DescMessage, bytes: Uint8Array): boolean {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    const field = type.fields.find((each) => each.number === number);
    if (field !== undefined && !wireTypesOf(field).includes(wire)) return false;
    const inner = field?.message;
    if (inner === undefined) reader.skip(wire, number);
    else if (!isWellTyped(inner, reader.bytes())) return false;
  }
  return true;
}

function wireTypesOf(field: DescField): readonly WireType[] {
  if (field.message !== undefined) return [WireType.LengthDelimited];
  const own = field.scalar === undefined ? WireType.Varint : wireTypeOf(field.scalar);
  return field.fieldKind === "list" ? [own, WireType.LengthDelimited] : [own];
}

function wireTypeOf(scalar: ScalarType): WireType {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return WireType.LengthDelimited;
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return WireType.Bit64;
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return WireType.Bit32;
    default:
      return WireType.Varint;
  }
}
