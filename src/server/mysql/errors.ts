/** Errors as packets, and MySQL's number and SQLSTATE of every status code (contract query.md, Appendix A). */
import { type DbError, publicMessageOf } from "../../base/error.ts";
import { type StatusCode, statusNameOf } from "../../base/status-code.ts";
import type { PacketWriter } from "./codec.ts";

/** A number of MySQL and its SQLSTATE. */
type ErrorCode = readonly [number: number, sqlState: string];

const UNKNOWN: ErrorCode = [1105, "HY000"];
const INTERNAL: ErrorCode = [1815, "HY000"];
const INTERRUPTED: ErrorCode = [1317, "70100"];
const HANDSHAKE: ErrorCode = [1251, "08004"];
const DENIED: ErrorCode = [1045, "28000"];

/** A missing code is a compile error. */
const CODES: Readonly<Record<StatusCode, ErrorCode>> = {
  0: UNKNOWN,
  1000: UNKNOWN,
  1001: [1235, "42000"],
  1002: INTERNAL,
  1003: INTERNAL,
  1004: [1210, "HY000"],
  1005: INTERRUPTED,
  1006: INTERNAL,
  1007: UNKNOWN,
  1008: INTERRUPTED,
  1009: [1053, "08S01"],
  2000: [1149, "42000"],
  3000: INTERNAL,
  3001: INTERNAL,
  4000: [1050, "42S01"],
  4001: [1146, "42S02"],
  4002: [1054, "42S22"],
  4003: [1060, "42S21"],
  4004: [1102, "42000"],
  4005: [1146, "42S02"],
  4006: [1050, "42S01"],
  4007: [1836, "HY000"],
  4008: INTERNAL,
  4009: INTERNAL,
  4010: INTERNAL,
  4011: [1007, "HY000"],
  5000: INTERNAL,
  5001: INTERNAL,
  6000: [1041, "HY000"],
  6001: [1637, "HY000"],
  7000: [1449, "HY000"],
  7001: [1827, "HY000"],
  7002: [1044, "42000"],
  7003: HANDSHAKE,
  7004: HANDSHAKE,
  7005: DENIED,
  7006: DENIED,
  8000: [1050, "42S01"],
  8001: [1146, "42S02"],
  9000: [1050, "42S01"],
  9001: [1146, "42S02"],
};

/** What an error packet says. */
export interface Complaint {
  readonly number: number;
  readonly sqlState: string;
  readonly message: string;
}

/** A failure that only this protocol knows. */
export class WireFailure extends Error {
  override readonly name = "WireFailure";
  readonly number: number;
  readonly sqlState: string;

  constructor(number: number, sqlState: string, message: string) {
    super(message);
    this.number = number;
    this.sqlState = sqlState;
  }
}

/** What an error of a statement says: `(StatusName): text`. */
export function complaintOf(error: DbError): Complaint {
  const [number, sqlState] = CODES[error.code];
  return { number, sqlState, message: `(${statusNameOf(error.code)}): ${publicMessageOf(error)}` };
}

/** Bytes of a message. Reason: clients keep messages in buffers of a few kilobytes. */
const MESSAGE_CHARACTERS_MAX = 4096;

/** Writes it. */
export function complain(packets: PacketWriter, { number, sqlState, message: text }: Complaint): void {
  const place = packets.begin();
  packets.outgoing.u8(0xff);
  packets.u16(number);
  packets.outgoing.text(`#${sqlState}`);
  packets.outgoing.text(text.slice(0, MESSAGE_CHARACTERS_MAX));
  packets.end(place);
}
