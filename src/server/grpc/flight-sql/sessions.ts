/**
 * What a client sets for the calls that follow: database and time zone (SetSessionOptions, `USE`, `SET`). Flight has no connection, so that
 * a session goes by the cookie `arrow_flight_session_id`, which drivers send back; those that keep no cookies have one by the token of
 * their sign-in.
 */
import { create } from "@bufbuild/protobuf";
import {
  CloseSessionResult_Status,
  type CloseSessionResult,
  CloseSessionResultSchema,
  type GetSessionOptionsResult,
  GetSessionOptionsResultSchema,
  type SessionOptionValue,
  SessionOptionValueSchema,
  SetSessionOptionsResult_ErrorSchema,
  SetSessionOptionsResult_ErrorValue,
  type SetSessionOptionsRequest,
  type SetSessionOptionsResult,
  SetSessionOptionsResultSchema,
} from "../../../../proto/gen/arrow/flight/Flight_pb.js";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { timeZoneNamed } from "../../../base/text/time-zone.ts";
import type { Db } from "../../../db/db.ts";
import type { Session } from "../../../db/session.ts";
import type { SessionSettings } from "../../../query/session-settings.ts";
import { CATALOG_NAME } from "../../../table/reserved-names.ts";
import type { FlightCaller } from "./caller.ts";
import { HANDLE_BYTES, Handles } from "./handles.ts";
import { SESSION_IDLE_MS, SESSION_OPTIONS_MAX, SESSIONS_OF_ALL_MAX, SESSIONS_PER_USER_MAX } from "./limits.ts";

const COOKIE = "arrow_flight_session_id";
const LIMITS = { noun: "session", perUserMax: SESSIONS_PER_USER_MAX, ofAllMax: SESSIONS_OF_ALL_MAX, idleMillis: SESSION_IDLE_MS };
/** Names of the options, under which drivers set and read them. */
const OPTIONS = ["catalog", "schema", "time_zone"] as const;
type Option = (typeof OPTIONS)[number];

/** What is kept between calls. */
interface KeptSession {
  database: string;
  timeZone: string;
  settings?: SessionSettings | undefined;
}

/** See the file header. */
export class FlightSessions {
  private readonly db: Pick<Db, "hasDatabase">;
  private readonly kept: Handles<KeptSession>;

  /** @param now monotonic milliseconds */
  constructor(db: Pick<Db, "hasDatabase">, now: () => number) {
    this.db = db;
    this.kept = new Handles(LIMITS, now, () => undefined);
  }

  /** Runs a statement's work as the caller; what it sets is kept where there is a session. */
  async as<T>(caller: FlightCaller, work: (session: Session) => Promise<T>): Promise<T> {
    const session = this.sessionOf(caller);
    const result = await work(session);
    this.keep(caller, session);
    return result;
  }

  /** What statements of the caller run in: a copy, which is the call's own. @param signal of the work; absent: the call's */
  sessionOf(caller: FlightCaller, signal: AbortSignal = caller.signal): Session {
    const { user, client, ingest, database, timeZone } = caller;
    return { database, timeZone, ...this.find(caller), user, client, signal, ...(ingest === undefined ? {} : { ingest }) };
  }

  /** Keeps what statements changed in a copy, where there is a session. */
  keep(caller: FlightCaller, { database, timeZone, settings }: Session): void {
    const kept = this.find(caller);
    if (kept !== undefined) Object.assign(kept, { database, timeZone, settings });
  }

  /** SetSessionOptions: names what could not be set, and sets the others. @throws DbError InvalidArguments, RuntimeResourcesExhausted */
  set(caller: FlightCaller, { sessionOptions }: SetSessionOptionsRequest): SetSessionOptionsResult {
    const given = Object.entries(sessionOptions);
    if (given.length > SESSION_OPTIONS_MAX) {
      const why = `there are ${given.length} options, at most ${SESSION_OPTIONS_MAX} may be set at once`;
      throw new DbError(StatusCode.InvalidArguments, `cannot set options of the session: ${why}`);
    }
    const session = this.find(caller) ?? this.begin(caller);
    const result = create(SetSessionOptionsResultSchema);
    for (const [name, value] of given) {
      const problem = this.setOne(session, name, value, caller);
      if (problem !== undefined) result.errors[name] = create(SetSessionOptionsResult_ErrorSchema, { value: problem });
    }
    return result;
  }

  /** GetSessionOptions: what statements of the caller run in. */
  get(caller: FlightCaller): GetSessionOptionsResult {
    const { database, timeZone } = this.sessionOf(caller);
    const values: Readonly<Record<Option, string>> = { catalog: CATALOG_NAME, schema: database, time_zone: timeZone };
    const result = create(GetSessionOptionsResultSchema);
    for (const name of OPTIONS) {
      const optionValue = { case: "stringValue", value: values[name] } as const;
      result.sessionOptions[name] = create(SessionOptionValueSchema, { optionValue });
    }
    return result;
  }

  /** CloseSession: one that is not there is closed. */
  close(caller: FlightCaller): CloseSessionResult {
    for (const handle of handlesOf(caller)) this.kept.close(caller.user.name, handle);
    return create(CloseSessionResultSchema, { status: CloseSessionResult_Status.CLOSED });
  }

  private find(caller: FlightCaller): KeptSession | undefined {
    for (const handle of handlesOf(caller)) {
      const found = this.kept.find(caller.user.name, handle);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  private begin(caller: FlightCaller): KeptSession {
    const { user, database, timeZone, signIn, responseHeader } = caller;
    const session: KeptSession = { database, timeZone };
    const handle = this.kept.add(user.name, session);
    responseHeader.append("set-cookie", `${COOKIE}=${handle.toHex()}; HttpOnly`);
    if (signIn !== undefined) this.kept.addAs(user.name, signIn, session);
    return session;
  }

  private setOne(
    session: KeptSession,
    name: string,
    { optionValue }: SessionOptionValue,
    caller: FlightCaller,
  ): SetSessionOptionsResult_ErrorValue | undefined {
    const option = OPTIONS.find((each) => each === name);
    if (option === undefined) return SetSessionOptionsResult_ErrorValue.INVALID_NAME;
    // A value that is none takes the option back.
    const text = optionValue.case === undefined ? undefined : optionValue.case === "stringValue" ? optionValue.value : null;
    if (text === null) return SetSessionOptionsResult_ErrorValue.INVALID_VALUE;
    switch (option) {
      case "catalog":
        return text === undefined || text === CATALOG_NAME ? undefined : SetSessionOptionsResult_ErrorValue.INVALID_VALUE;
      case "schema":
        if (text !== undefined && !this.db.hasDatabase(text)) return SetSessionOptionsResult_ErrorValue.INVALID_VALUE;
        session.database = text ?? caller.database;
        return undefined;
      case "time_zone":
        return setTimeZone(session, text ?? caller.timeZone);
    }
  }
}

function setTimeZone(session: KeptSession, text: string): SetSessionOptionsResult_ErrorValue | undefined {
  try {
    session.timeZone = timeZoneNamed(text);
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof DbError) || thrown.code !== StatusCode.InvalidArguments) throw thrown;
    return SetSessionOptionsResult_ErrorValue.INVALID_VALUE;
  }
}

/** Names of the caller's session: its cookie, then its sign-in. */
function handlesOf({ requestHeader, signIn }: FlightCaller): readonly Uint8Array[] {
  const cookie = new RegExp(`(?:^|;)\\s*${COOKIE}="?([0-9a-f]{${HANDLE_BYTES * 2}})"?\\s*(?:;|$)`).exec(requestHeader.get("cookie") ?? "");
  const handles = cookie?.[1] === undefined ? [] : [Uint8Array.fromHex(cookie[1])];
  return signIn === undefined ? handles : [...handles, signIn];
}
