/**
 * How a connection begins: the server greets, the client says who it is, after TLS where it asks for that first.
 *
 *   greeting   version 10 · server version \0 · connection id(4) · scramble(8) 0 · capabilities(2) · charset · status(2) · capabilities(2)
 *              · length of the scramble · reserved(10) · scramble(13) · plugin \0
 *   answer     capabilities(4) · longest packet(4) · charset(1) · reserved(23) · [TLS begins here] · user \0 · proof · database \0
 *              · plugin \0 · length of attributes, attributes · level of zstd(1)
 */
import { randomBytes } from "node:crypto";
import type { Compression } from "./compression.ts";
import { MalformedPacket, PacketReader, type PacketWriter, utf8 } from "./codec.ts";
import { Capability, Charset } from "./packets.ts";

/** Bytes of a scramble. */
const SCRAMBLE_BYTES = 20;

const FIRST_SCRAMBLE_BYTES = 8;
const RESERVED_BYTES = 10;
const ZSTD_LEVEL_MAX = 22;
const SSL_REQUEST_BYTES = 32;
/** LONG_PASSWORD, FOUND_ROWS, LONG_FLAG and PS_MULTI_RESULTS: what every server of protocol 4.1 has. */
const CUSTOMARY: number = 0x1 | 0x2 | 0x4 | (1 << 18);

/** What the server can, as bits of `Capability`. */
export const OFFERED: number =
  CUSTOMARY |
  Capability.ConnectWithDb |
  Capability.Compress |
  Capability.LocalFiles |
  Capability.Protocol41 |
  Capability.Transactions |
  Capability.SecureConnection |
  Capability.MultiStatements |
  Capability.MultiResults |
  Capability.PluginAuth |
  Capability.ConnectAttributes |
  Capability.PluginAuthLenenc |
  Capability.SessionTrack |
  Capability.DeprecateEof |
  Capability.ZstdCompression |
  Capability.QueryAttributes;

/** What a client answers to the greeting. */
export interface HandshakeResponse {
  readonly capabilities: number;
  readonly user: string;
  /** What proves who it is, by its plugin. */
  readonly proof: Uint8Array;
  readonly database: string;
  /** Empty: the client knows none. */
  readonly plugin: string;
  /** What the client wants to go on with once it has signed in. */
  readonly compression: Compression | undefined;
}

/** Random bytes for proofs, without those that end texts in some clients. */
export function newScramble(): Uint8Array {
  const bytes = randomBytes(SCRAMBLE_BYTES);
  for (const [i, byte] of bytes.entries()) bytes[i] = (byte % 90) + 37; // 37 to 126: neither NUL nor `$`
  return bytes;
}

/** What a greeting tells. */
export interface Greeting {
  readonly version: string;
  readonly connectionId: number;
  readonly scramble: Uint8Array;
  readonly plugin: string;
  readonly hasTls: boolean;
}

/** Writes the greeting. */
export function greet(packets: PacketWriter, { version, connectionId, scramble, plugin, hasTls }: Greeting): void {
  const { outgoing } = packets;
  const capabilities = hasTls ? OFFERED | Capability.Ssl : OFFERED;
  const place = packets.begin();
  outgoing.u8(10); // version of the protocol
  outgoing.textZero(version);
  packets.u32(connectionId);
  outgoing.raw(scramble.subarray(0, FIRST_SCRAMBLE_BYTES));
  outgoing.u8(0);
  packets.u16(capabilities & 0xffff);
  outgoing.u8(Charset.Utf8);
  packets.u16(0); // status
  packets.u16(capabilities >>> 16);
  outgoing.u8(SCRAMBLE_BYTES + 1);
  outgoing.raw(new Uint8Array(RESERVED_BYTES));
  outgoing.raw(scramble.subarray(FIRST_SCRAMBLE_BYTES));
  outgoing.u8(0);
  outgoing.textZero(plugin);
  packets.end(place);
}

/** Whether an answer is but the wish for TLS; it ends where TLS begins. @throws MalformedPacket */
export function wishesTls(payload: Uint8Array): boolean {
  const capabilities = new PacketReader(payload).u32();
  return payload.length === SSL_REQUEST_BYTES && (capabilities & Capability.Ssl) !== 0;
}

/** Reads the client's answer. @throws MalformedPacket */
export function readResponse(payload: Uint8Array): HandshakeResponse {
  const reader = new PacketReader(payload);
  const capabilities = reader.u32();
  if ((capabilities & Capability.Protocol41) === 0) throw new MalformedPacket("the client speaks a protocol older than 4.1");
  reader.raw(SSL_REQUEST_BYTES - 4);
  const user = reader.textZero();
  const has = (capability: number): boolean => (capabilities & capability) !== 0;
  const proof = has(Capability.PluginAuthLenenc)
    ? reader.lenencBytes()
    : has(Capability.SecureConnection)
      ? reader.raw(reader.u8())
      : reader.bytesZero();
  const database = has(Capability.ConnectWithDb) ? reader.textZero() : "";
  const plugin = has(Capability.PluginAuth) ? reader.textZero() : "";
  const compression = readCompression(reader, capabilities);
  return { capabilities, user, proof: proof.slice(), database, plugin, compression };
}

/** zlib goes before zstd where a client can do both, as in MySQL. */
function readCompression(reader: PacketReader, capabilities: number): Compression | undefined {
  if ((capabilities & Capability.Compress) !== 0) return { kind: "zlib" };
  if ((capabilities & Capability.ZstdCompression) === 0) return undefined;
  if ((capabilities & Capability.ConnectAttributes) !== 0) reader.lenencBytes();
  const level = reader.u8();
  if (level < 1 || level > ZSTD_LEVEL_MAX) throw new MalformedPacket(`${level} is no level of zstd; it is 1 to ${ZSTD_LEVEL_MAX}`);
  return { kind: "zstd", level };
}

/** Reads COM_CHANGE_USER behind its first byte. A connection stays as compressed as it is. @throws MalformedPacket */
export function readChangeUser(reader: PacketReader, capabilities: number): HandshakeResponse {
  const user = reader.textZero();
  const proof = reader.raw(reader.u8()).slice();
  const database = reader.textZero();
  if (reader.remaining >= 2) reader.u16(); // charset
  const plugin = reader.remaining > 0 ? utf8(reader.bytesZero()) : "";
  return { capabilities, user, proof, database, plugin, compression: undefined };
}
