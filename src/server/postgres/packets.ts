/**
 * Messages of PostgreSQL's protocol 3: their letters and how their length is told. Source: PostgreSQL 17, chapter 53.
 *
 *   start-up, cancel, SSL request   length(4) code(4) …            the length counts itself
 *   all others                      letter(1) length(4) …          the length counts itself, not the letter
 */
import type { Framing } from "../wire/incoming.ts";

/** Codes of the first message. */
export const StartCode = {
  Protocol3: 0x0003_0000,
  Cancel: 80_877_102,
  Ssl: 80_877_103,
  Gss: 80_877_104,
} as const;

/** First byte of a TLS handshake: a client that begins with one wants direct TLS. */
export const TLS_HANDSHAKE = 0x16;

/** Letters of messages that clients send. */
export const Ask = {
  Bind: 0x42, // 'B'
  Close: 0x43, // 'C'
  Describe: 0x44, // 'D'
  Execute: 0x45, // 'E'
  FunctionCall: 0x46, // 'F'
  Flush: 0x48, // 'H'
  Parse: 0x50, // 'P'
  Query: 0x51, // 'Q'
  Sync: 0x53, // 'S'
  Terminate: 0x58, // 'X'
  CopyDone: 0x63, // 'c'
  CopyData: 0x64, // 'd'
  CopyFail: 0x66, // 'f'
  Password: 0x70, // 'p', also of SASL
} as const;

/** Letters of messages that the server sends. */
export const Tell = {
  ParseComplete: 0x31, // '1'
  BindComplete: 0x32, // '2'
  CloseComplete: 0x33, // '3'
  CommandComplete: 0x43, // 'C'
  DataRow: 0x44, // 'D'
  Error: 0x45, // 'E'
  CopyIn: 0x47, // 'G'
  CopyOut: 0x48, // 'H'
  EmptyQuery: 0x49, // 'I'
  BackendKey: 0x4b, // 'K'
  Notice: 0x4e, // 'N'
  Authentication: 0x52, // 'R'
  ParameterStatus: 0x53, // 'S'
  RowDescription: 0x54, // 'T'
  ReadyForQuery: 0x5a, // 'Z'
  CopyDone: 0x63, // 'c'
  CopyData: 0x64, // 'd'
  NoData: 0x6e, // 'n'
  PortalSuspended: 0x73, // 's'
  ParameterDescription: 0x74, // 't'
  NegotiateVersion: 0x76, // 'v'
} as const;

/** What authentication is asked for. */
export const AuthCode = { Ok: 0, Cleartext: 3, Md5: 5, Sasl: 10, SaslContinue: 11, SaslFinal: 12 } as const;

/** State of a transaction, as ReadyForQuery tells it. */
export const TransactionState = { Idle: 0x49, Open: 0x54, Failed: 0x45 } as const;
/** One of `TransactionState`. */
export type TransactionState = (typeof TransactionState)[keyof typeof TransactionState];

const lengthAt = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number) | 0;

/** The first message of a connection: of a TLS handshake its first four bytes. */
export const START_FRAMING: Framing = {
  headerBytes: 4,
  lengthOf: (bytes, at) => (bytes[at] === TLS_HANDSHAKE ? 4 : lengthAt(bytes, at)),
};

/** All further messages. */
export const MESSAGE_FRAMING: Framing = {
  headerBytes: 5,
  lengthOf: (bytes, at) => lengthAt(bytes, at + 1) + 1,
};
