/**
 * Packets of MySQL's protocol 4.1: what commands, capabilities and types are called by numbers. Numbers are little-endian.
 * Source: https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html
 *
 *   length(3) sequence(1) payload[length]       a payload of 2^24 - 1 bytes goes on in the next packet
 */
import type { Framing } from "../wire/incoming.ts";

/** Bytes before a packet's payload. */
export const HEADER_BYTES = 4;

/** Bytes of a payload that goes on in the next packet. */
export const PART_BYTES: number = 2 ** 24 - 1;

/** First byte of a command. */
export const Command = {
  Quit: 0x01,
  InitDb: 0x02,
  Query: 0x03,
  FieldList: 0x04,
  Statistics: 0x09,
  ProcessKill: 0x0c,
  Ping: 0x0e,
  ChangeUser: 0x11,
  StmtPrepare: 0x16,
  StmtExecute: 0x17,
  StmtSendLongData: 0x18,
  StmtClose: 0x19,
  StmtReset: 0x1a,
  SetOption: 0x1b,
  StmtFetch: 0x1c,
  ResetConnection: 0x1f,
} as const;

/** What client and server can do, as bits of both handshakes. */
export const Capability = {
  ConnectWithDb: 0x8,
  Compress: 0x20,
  LocalFiles: 0x80,
  Protocol41: 0x200,
  Ssl: 0x800,
  Transactions: 0x2000,
  SecureConnection: 0x8000,
  MultiStatements: 0x10000,
  MultiResults: 0x20000,
  PluginAuth: 0x80000,
  ConnectAttributes: 0x100000,
  PluginAuthLenenc: 0x200000,
  SessionTrack: 0x800000,
  DeprecateEof: 0x1000000,
  ZstdCompression: 0x4000000,
  QueryAttributes: 0x8000000,
} as const;

/** Bits of a server's status. */
export const Status = {
  InTransaction: 0x0001,
  Autocommit: 0x0002,
  MoreResults: 0x0008,
  CursorExists: 0x0040,
  LastRowSent: 0x0080,
  SessionChanged: 0x4000,
} as const;

/** Types of columns and parameters. */
export const ColumnType = {
  Decimal: 0x00,
  Tiny: 0x01,
  Short: 0x02,
  Long: 0x03,
  Float: 0x04,
  Double: 0x05,
  Null: 0x06,
  Timestamp: 0x07,
  LongLong: 0x08,
  Int24: 0x09,
  Date: 0x0a,
  Time: 0x0b,
  DateTime: 0x0c,
  Year: 0x0d,
  Varchar: 0x0f,
  Bit: 0x10,
  Json: 0xf5,
  NewDecimal: 0xf6,
  Enum: 0xf7,
  Set: 0xf8,
  TinyBlob: 0xf9,
  MediumBlob: 0xfa,
  LongBlob: 0xfb,
  Blob: 0xfc,
  VarString: 0xfd,
  String: 0xfe,
  Geometry: 0xff,
} as const;

/** Bits of a column's flags. */
export const ColumnFlag = { Blob: 0x10, Unsigned: 0x20, Binary: 0x80 } as const;

/** Numbers of character sets: texts are UTF-8; what is none is binary. */
export const Charset = { Utf8: 0x21, Binary: 0x3f } as const;

/** Packets as they come in. */
export const FRAMING: Framing = {
  headerBytes: HEADER_BYTES,
  lengthOf: (bytes, at) => ((bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16)) + HEADER_BYTES,
};
