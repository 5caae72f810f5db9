/** Errors and notices as the protocol has them, and the SQLSTATE of every status code (contract query.md, Appendix A). */
import { type DbError, publicMessageOf } from "../../base/error.ts";
import type { StatusCode } from "../../base/status-code.ts";
import type { Outgoing } from "../wire/outgoing.ts";
import { beginMessage, endMessage } from "./codec.ts";
import { Tell } from "./packets.ts";

/** SQLSTATE of each code. A missing code is a compile error. */
const SQLSTATES: Readonly<Record<StatusCode, string>> = {
  0: "00000",
  1000: "XX000",
  1001: "0A000",
  1002: "XX000",
  1003: "XX000",
  1004: "22023",
  1005: "57000",
  1006: "XX000",
  1007: "58000",
  1008: "57000",
  1009: "57P03",
  2000: "42601",
  3000: "P0000",
  3001: "P0000",
  4000: "42P07",
  4001: "42P01",
  4002: "42703",
  4003: "42701",
  4004: "42704",
  4005: "42P01",
  4006: "42P07",
  4007: "25006",
  4008: "55000",
  4009: "55000",
  4010: "55000",
  4011: "42P04",
  5000: "XX000",
  5001: "XX000",
  6000: "53000",
  6001: "54000",
  7000: "28P01",
  7001: "28P01",
  7002: "28P01",
  7003: "28000",
  7004: "28000",
  7005: "42501",
  7006: "42501",
  8000: "42P07",
  8001: "42P01",
  9000: "42P07",
  9001: "42P01",
};

/** SQLSTATE of a status code. */
export function sqlStateOf(code: StatusCode): string {
  return SQLSTATES[code];
}

/** What an error or a notice says. */
export interface Complaint {
  readonly severity: "ERROR" | "FATAL" | "WARNING" | "NOTICE";
  readonly sqlState: string;
  readonly message: string;
  readonly detail?: string | undefined;
  readonly hint?: string | undefined;
  /** Character of the statement's text, counted from 1. */
  readonly position?: number | undefined;
}

/** A failure that only this protocol knows, with a SQLSTATE of its own. */
export class WireFailure extends Error {
  override readonly name = "WireFailure";
  readonly sqlState: string;
  readonly hint: string | undefined;

  constructor(sqlState: string, message: string, hint?: string) {
    super(message);
    this.sqlState = sqlState;
    this.hint = hint;
  }
}

/** What an error of a statement says. @param text in which the place of an error is */
export function complaintOf(error: DbError, text: string | undefined): Complaint {
  const { position } = error.details;
  const seconds = error.retryAfterSeconds;
  return {
    severity: "ERROR",
    sqlState: SQLSTATES[error.code],
    message: publicMessageOf(error),
    hint: seconds === undefined ? undefined : `Try again in ${seconds} s.`,
    position: position === undefined || text === undefined ? undefined : placeInText(text, position),
  };
}

/** The character at a line and a column, counted from 1. */
function placeInText(text: string, { line, column }: { readonly line: number; readonly column: number }): number {
  let start = 0;
  for (let i = 1; i < line; i++) {
    const end = /\r\n|\r|\n/g;
    end.lastIndex = start;
    const found = end.exec(text);
    if (found === null) break;
    start = found.index + found[0].length;
  }
  return Array.from(text.slice(0, start + column - 1)).length + 1; // characters, not halves of them
}

/** Writes it. */
export function complain(outgoing: Outgoing, complaint: Complaint): void {
  const { severity, sqlState, message, detail, hint, position } = complaint;
  const isError = severity === "ERROR" || severity === "FATAL";
  const place = beginMessage(outgoing, isError ? Tell.Error : Tell.Notice);
  const field = (letter: string, text: string | undefined): void => {
    if (text === undefined) return;
    outgoing.text(letter);
    outgoing.textZero(text);
  };
  field("S", severity);
  field("V", severity);
  field("C", sqlState);
  field("M", message);
  field("D", detail);
  field("H", hint);
  field("P", position === undefined ? undefined : String(position));
  outgoing.u8(0);
  endMessage(outgoing, place);
}
