import { StatusCode } from "./status-code.ts";

/** How bytes are not what was written: wrong sums, too few or many, no sense in them, a format not known, not there at all. */
export type CorruptionKind = "checksum" | "length" | "structure" | "version" | "missing";

/** Bytes that were written once and are not there as they were. */
export interface Corruption {
  /** Path or name of the file, folder or record, as an operator finds it. */
  readonly file: string;
  /** Byte at which it shows; undefined where the whole is wrong. */
  readonly offset: number | undefined;
  readonly kind: CorruptionKind;
}

/** A place in a text, counted from 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/**
 * What callers may need to know of an error besides its code, so that nobody looks into its message. Plain data: it passes between threads
 * as it is.
 */
export interface ErrorDetails {
  readonly corruption?: Corruption;
  /** Where in the text of a statement it is, counted from 1. */
  readonly position?: TextPosition;
  /** The message without the words before it by which clients know the code, for those who have other words. */
  readonly reason?: string;
}

/** Options of a `DbError`. */
export interface DbErrorOptions extends ErrorOptions {
  /** Seconds after which the client should try again; becomes `Retry-After`. */
  readonly retryAfterSeconds?: number | undefined;
  readonly details?: ErrorDetails;
}

/**
 * Most characters of an error's message. Reason: many quote a value of the client's, which may have megabytes, and each goes to the client
 * and to logs. The rest is left out.
 */
export const ERROR_CHARACTERS_MAX = 8192;

const NO_DETAILS: ErrorDetails = {};

function bounded(message: string): string {
  return message.length > ERROR_CHARACTERS_MAX ? `${message.slice(0, ERROR_CHARACTERS_MAX - 1)}…` : message;
}

/**
 * A failure of the world: bad input, a missing table, a full disk. Carries the code that every protocol maps.
 * The message reads "cannot <verb> <thing>: <why>" unless clients match on another text. It is for people: code reads `code` and `details`.
 */
export class DbError extends Error {
  override readonly name = "DbError";
  readonly code: StatusCode;
  readonly retryAfterSeconds: number | undefined;
  readonly details: ErrorDetails;

  constructor(code: StatusCode, message: string, options?: DbErrorOptions) {
    super(bounded(message), options);
    this.code = code;
    this.retryAfterSeconds = options?.retryAfterSeconds;
    this.details = options?.details ?? NO_DETAILS;
  }
}

/** The error of bytes that are not what was written. The message says the file and the place too. */
export function corrupted(message: string, corruption: Corruption, cause?: unknown): DbError {
  return new DbError(StatusCode.StorageUnavailable, message, { details: { corruption }, ...(cause === undefined ? {} : { cause }) });
}

/** What anything thrown says of bytes that are not what was written; undefined where it is about something else. */
export function corruptionOf(thrown: unknown): Corruption | undefined {
  return thrown instanceof DbError ? thrown.details.corruption : undefined;
}

/** The same failure in other words: its code, when to come back, and what bytes it is about stay. */
export function restated(error: DbError, message: string): DbError {
  const { code, retryAfterSeconds } = error;
  const { corruption } = error.details;
  return new DbError(code, message, { cause: error, retryAfterSeconds, details: corruption === undefined ? NO_DETAILS : { corruption } });
}

/** The text a client may see: the message, but masked for Unknown and Internal (http.md 2.6). */
export function publicMessageOf(error: DbError): string {
  if (error.code === StatusCode.Unknown || error.code === StatusCode.Internal) return `Internal error: ${error.code}`;
  return error.message;
}

/** What anything thrown says: the message of an error, anything else as text. @param charactersMax that are given, from its beginning */
export function errorText(thrown: unknown, charactersMax?: number): string {
  return (thrown instanceof Error ? thrown.message : String(thrown)).slice(0, charactersMax);
}

/** Turns anything thrown into a `DbError`; what is not one already becomes Internal with the original as its cause. */
export function toDbError(thrown: unknown): DbError {
  if (thrown instanceof DbError) return thrown;
  return new DbError(StatusCode.Internal, errorText(thrown), { cause: thrown });
}

/** The error of a request that asks for what cannot be. */
export function invalidArguments(message: string, cause?: unknown): DbError {
  return new DbError(StatusCode.InvalidArguments, message, cause === undefined ? {} : { cause });
}
