import { StatusCode } from "./status-code.ts";

/** Options of a `DbError`. */
export interface DbErrorOptions extends ErrorOptions {
  /** Seconds after which the client should try again; becomes `Retry-After`. */
  readonly retryAfterSeconds?: number;
}

/**
 * Most characters of an error's message. Reason: many quote a value of the client's, which may have megabytes, and each goes to the client
 * and to logs. The rest is left out.
 */
export const ERROR_CHARACTERS_MAX = 8192;

function bounded(message: string): string {
  return message.length > ERROR_CHARACTERS_MAX ? `${message.slice(0, ERROR_CHARACTERS_MAX - 1)}…` : message;
}

/**
 * A failure of the world: bad input, a missing table, a full disk. Carries the code that every protocol maps.
 * The message reads "cannot <verb> <thing>: <why>" unless clients match on another text.
 */
export class DbError extends Error {
  override readonly name = "DbError";
  readonly code: StatusCode;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: StatusCode, message: string, options?: DbErrorOptions) {
    super(bounded(message), options);
    this.code = code;
    this.retryAfterSeconds = options?.retryAfterSeconds;
  }
}

/** The text a client may see: the message, but masked for Unknown and Internal (http.md 2.6). */
export function publicMessageOf(error: DbError): string {
  if (error.code === StatusCode.Unknown || error.code === StatusCode.Internal) return `Internal error: ${error.code}`;
  return error.message;
}

/** What anything thrown says: the message of an error, anything else as text. */
export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Turns anything thrown into a `DbError`; what is not one already becomes Internal with the original as its cause. */
export function toDbError(thrown: unknown): DbError {
  if (thrown instanceof DbError) return thrown;
  return new DbError(StatusCode.Internal, errorText(thrown), { cause: thrown });
}
