/**
 * One call as its method sees it: who calls, for which database, until when.
 *
 *   metadata ──► headers ──► database, time zone, user (who signs in by metadata)
 *   message  ──► databaseOf(header), login(name, password) (who signs in by what the message says)
 *   deadline, a client that left, a stop ──► signal, whose reason is a DbError
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { TraceContext } from "../../base/trace/trace-context.ts";
import { timeZoneNamed } from "../../base/text/time-zone.ts";
import { DEFAULT_USER, type User } from "../../db/auth/user.ts";
import type { IngestDb } from "../../db/db.ts";
import type { Session } from "../../db/session.ts";
import { databaseOf } from "../common/database-name.ts";
import { headerTextOf } from "../common/header-text.ts";
import type { Login, Logins } from "../common/logins.ts";
import { basicLoginOf } from "./basic-login.ts";
import type { BearerTokens, SignIn } from "./bearer-tokens.ts";
import type { GrpcMetrics } from "./grpc-metrics.ts";

/** Database of calls that name none. */
const DEFAULT_DATABASE = "public";

/** What all calls share. */
export interface CallParts {
  readonly db: IngestDb;
  /** Absent: whoever calls may do everything. */
  readonly logins: Logins | undefined;
  /** Made by `Handshake`, for clients that send a token with every call after it. */
  readonly tokens: BearerTokens;
  readonly metrics: GrpcMetrics;
}

/** What the header of a message says of a database (messages.md: RequestHeader). */
export interface NamedDatabase {
  readonly dbname: string;
  readonly catalog: string;
  readonly schema: string;
}

/** What came with a call. */
export interface CallContext {
  /** Metadata of the client. */
  readonly headers: Headers;
  /** Metadata of the answer; before the first message of a stream. */
  readonly answerHeaders: Headers;
  /** `/package.Service/Method`. */
  readonly path: string;
  /** Address of the client, `host:port`. */
  readonly client: string;
  /** Fires with a `DbError` when the deadline passes, the client leaves or the server stops. */
  readonly signal: AbortSignal;
}

/** See the file header. */
export class Call {
  /** Of a stream: nobody reads the bytes of the last message any more, so that their memory may be used again. */
  isMessageDone = false;
  /** The span of the call; undefined: it is not recorded. */
  trace: TraceContext | undefined;
  private readonly context: CallContext;
  private readonly parts: CallParts;

  constructor(parts: CallParts, context: CallContext) {
    this.parts = parts;
    this.context = context;
  }

  /** See `CallContext`; so are those that follow. */
  get headers(): Headers {
    return this.context.headers;
  }

  get answerHeaders(): Headers {
    return this.context.answerHeaders;
  }

  get path(): string {
    return this.context.path;
  }

  get client(): string {
    return this.context.client;
  }

  get signal(): AbortSignal {
    return this.context.signal;
  }

  /** Where services count what they did. */
  get metrics(): GrpcMetrics {
    return this.parts.metrics;
  }

  /** The database that metadata name, else `public`. */
  get database(): string {
    const text = headerTextOf(this.headers, "x-greptime-db-name");
    return this.databaseNamed(text === null || text === "" ? DEFAULT_DATABASE : text);
  }

  /** The database that a message's header names; where it names none, that of the metadata. */
  databaseOf({ dbname, catalog, schema }: NamedDatabase): string {
    if (dbname !== "") return this.databaseNamed(dbname);
    if (catalog === "" && schema === "") return this.database;
    const name = schema === "" ? DEFAULT_DATABASE : schema.toLowerCase();
    return this.databaseNamed(catalog === "" ? name : `${catalog.toLowerCase()}-${name}`);
  }

  /**
   * Who the metadata say it is: `x-greptime-auth`, else `authorization`; `Basic` with base64, or base64 alone.
   *
   * @throws DbError AuthHeaderNotFound, InvalidAuthHeader, UserPasswordMismatch
   */
  user(): Promise<User> {
    return this.checked(() => this.bearer() ?? basicLoginOf(this.headers));
  }

  /** The sign-in of the token in the metadata; undefined: there is none. @throws DbError UserPasswordMismatch for one that is over */
  bearer(): SignIn | undefined {
    const token = /^Bearer +(.+)$/i.exec(this.headers.get("authorization") ?? "")?.[1];
    if (token === undefined || this.headers.has("x-greptime-auth")) return undefined;
    const found = this.parts.tokens.open(token.trim());
    if (found !== undefined) return found;
    const why = "it is none of this server's, or its time is over; sign in again";
    throw new DbError(StatusCode.UserPasswordMismatch, `the bearer token is not good: ${why}`);
  }

  /** Signs in by the metadata, and answers with a token where they brought a name and a password. @throws DbError as `user` */
  async signIn(): Promise<void> {
    await this.user();
    if (!this.hasCredentials || this.bearer() !== undefined) return;
    this.answerHeaders.set("authorization", `Bearer ${this.parts.tokens.issue(basicLoginOf(this.headers))}`);
  }

  /** Whether the metadata carry credentials. */
  get hasCredentials(): boolean {
    return this.headers.has("x-greptime-auth") || this.headers.has("authorization");
  }

  /** The account of a name and a password. @throws DbError UserPasswordMismatch, InvalidArguments (blank name or password) */
  login(name: string, password: string): Promise<User> {
    return this.checked(() => ({ name, password }));
  }

  /** The account of what `read` finds; what it throws refuses, and is counted and logged as a failed login. @throws DbError */
  async checked(read: () => Login): Promise<User> {
    const { logins } = this.parts;
    if (logins === undefined) return DEFAULT_USER;
    const found = await logins.check(read, this.path, () => this.client);
    if (found instanceof DbError) throw found;
    return found;
  }

  /**
   * A session for statements and writes.
   *
   * @param timeZone of the message's header; empty: that of `x-greptime-timezone`, else UTC
   * @throws DbError InvalidArguments for what is no time zone
   */
  session(user: User, database: string = this.database, timeZone = ""): Session {
    const zone = timeZone === "" ? (this.headers.get("x-greptime-timezone") ?? "").trim() : timeZone;
    const named = { database, timeZone: zone === "" ? "UTC" : timeZoneNamed(zone), user };
    const session: Session = { ...named, signal: this.signal, client: this.client };
    return this.trace === undefined ? session : { ...session, trace: this.trace };
  }

  private databaseNamed(text: string): string {
    return databaseOf(text, this.parts.db);
  }
}

/** Why a call has to end. @param isLate its deadline has passed; otherwise its client left, or the server stops: `cause` */
export function endOf(isLate: boolean, cause: unknown): DbError {
  return isLate
    ? new DbError(StatusCode.DeadlineExceeded, "cannot finish the call: its deadline has passed")
    : new DbError(StatusCode.Cancelled, "the call was cancelled", { cause });
}
