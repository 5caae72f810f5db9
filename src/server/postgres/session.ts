/**
 * One connection of a PostgreSQL client, from its first message to its end.
 *
 *   start ──SSLRequest──► S, TLS ─► start          CancelRequest: cancels, ends
 *     │ StartupMessage: database, time zone, TLS required?
 *     ▼
 *   sign-in ──password, SCRAM──► ready ──Query, Parse … Sync──► ready          a failed extended message: skips to Sync
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { parseTimeZone } from "../../base/text/time-zone.ts";
import { DEFAULT_USER, type User } from "../../db/auth/user.ts";
import { postgresSetting } from "../../query/postgres-settings.ts";
import { dateStyleOf, INTERVAL_STYLES, oneOf } from "../../query/session-settings.ts";
import { databaseExists, databaseOf } from "../common/database-name.ts";
import { guarded } from "../wire/guarded.ts";
import type { Framing } from "../wire/incoming.ts";
import { MESSAGE_BYTES_MAX } from "../wire/limits.ts";
import type { WireServer } from "../wire/listener.ts";
import type { Outgoing } from "../wire/outgoing.ts";
import type { EndReason, WireConnection, WireProtocol } from "../wire/wire-connection.ts";
import { WireSession } from "../wire/wire-session.ts";
import type { CancelKey, CancelKeys } from "./cancel-keys.ts";
import { beginMessage, endMessage, MalformedMessage, MessageReader } from "./codec.ts";
import { complain, sqlStateOf } from "./errors.ts";
import { ExtendedQuery } from "./extended-query.ts";
import { optionSettings, readFirst, type Startup } from "./handshake.ts";
import { Ask, AuthCode, MESSAGE_FRAMING, START_FRAMING, Tell, TransactionState } from "./packets.ts";
import { Settings } from "./settings.ts";
import { type Accounts, SignIn } from "./sign-in.ts";
import { runSimple, runSimpleAtOnce } from "./simple-query.ts";
import { type PostgresParts, Talk } from "./talk.ts";

/** What sessions of a server share. */
export interface SessionParts extends PostgresParts {
  /** Absent: whoever connects may do everything. */
  readonly accounts: Accounts | undefined;
  readonly cancelKeys: CancelKeys;
}

type State =
  | { readonly kind: "start" }
  | { readonly kind: "sign-in"; readonly startup: Startup; readonly signIn: SignIn }
  | { readonly kind: "ready"; readonly talk: Talk; readonly extended: ExtendedQuery; readonly key: CancelKey }
  | { readonly kind: "over" };

const HEADER_BYTES = 5;
/** What direct TLS has to offer by ALPN. */
const ALPN_NAME = "postgresql";

/** Failures before somebody has signed in, and last words, end the connection. */
class Fatal extends Error {
  readonly sqlState: string;

  constructor(sqlState: string, message: string) {
    super(message);
    this.sqlState = sqlState;
  }
}

/** Why the server ends a connection, as PostgreSQL says it. */
const LAST_WORDS: Readonly<Record<EndReason, readonly [sqlState: string, message: string]>> = {
  "too many connections": ["53300", "sorry, too many clients already"],
  "sign-in took too long": ["57P01", "canceling authentication due to timeout"],
  "idle for too long": ["57P05", "terminating connection due to idle-session timeout"],
  shutdown: ["57P01", "terminating connection due to administrator command"],
  "malformed message": ["08P01", "invalid message"],
  "out of memory": ["53200", "out of memory"],
};

/** See the file header. */
export class PostgresSession implements WireProtocol {
  readonly framing: Framing = START_FRAMING;
  private readonly parts: SessionParts;
  private readonly server: WireServer;
  private readonly connection: WireConnection;
  private readonly outgoing: Outgoing;
  private state: State = { kind: "start" };
  /** Whether messages are passed over until Sync. */
  private isSkipping = false;
  private isGone = false;

  constructor(parts: SessionParts, server: WireServer, connection: WireConnection) {
    this.parts = parts;
    this.server = server;
    this.connection = connection;
    this.outgoing = connection.outgoing;
  }

  get isSignedIn(): boolean {
    return this.state.kind === "ready";
  }

  opened(): void {
    // The client speaks first.
  }

  message(bytes: Uint8Array): Promise<void> | undefined {
    switch (this.state.kind) {
      case "start":
        return this.beforeReady(() => this.first(bytes));
      case "sign-in":
        return this.beforeReady(() => this.signingIn(bytes));
      case "ready":
        return this.command(bytes, this.state);
      case "over":
        return undefined;
    }
  }

  lastWords(reason: EndReason, detail: string): void {
    const [sqlState, message] = LAST_WORDS[reason];
    complain(this.outgoing, { severity: "FATAL", sqlState, message, detail: detail === "" ? undefined : detail });
  }

  closed(): void {
    if (this.isGone) return;
    this.isGone = true;
    const { state } = this;
    this.state = { kind: "over" };
    if (state.kind !== "ready") return;
    this.parts.cancelKeys.remove(state.key);
    void this.ended(state.talk, state.extended); // Nobody waits for it.
  }

  /** Ends what a session runs and keeps. Never rejects. */
  private ended({ session }: Talk, extended: ExtendedQuery): Promise<void> {
    const close = async (): Promise<void> => {
      await session.close();
      await extended.closePortals();
    };
    return guarded(close, (thrown) => this.parts.failures.report(thrown, { method: "close", path: "postgres" }, () => session.client));
  }

  /** Runs what comes before a sign-in; a failure of it ends the connection. */
  private beforeReady(work: () => Promise<void> | void): Promise<void> {
    return guarded(work, (thrown) => this.fatal(thrown));
  }

  private fatal(thrown: unknown): void {
    if (this.isGone) return;
    const severity = "FATAL";
    if (thrown instanceof Fatal) complain(this.outgoing, { severity, sqlState: thrown.sqlState, message: thrown.message });
    else if (thrown instanceof MalformedMessage) complain(this.outgoing, { severity, sqlState: "08P01", message: thrown.message });
    else {
      const { error } = this.parts.failures.report(thrown, { method: "start", path: "postgres" }, () => this.connection.socket.client);
      complain(this.outgoing, { severity, sqlState: sqlStateOf(error.code), message: error.message });
    }
    this.over();
  }

  /** Ends the connection once what was written is sent. */
  private over(): void {
    this.state = { kind: "over" };
    this.connection.bye();
  }

  private first(bytes: Uint8Array): void {
    const first = readFirst(bytes);
    const { socket, incoming } = this.connection;
    const { tls } = this.server;
    switch (first.kind) {
      case "ssl": {
        // What came behind the request was not encrypted, and would be taken for what is.
        if (incoming.length > 0) throw new Fatal("08P01", "received unencrypted data after SSL request");
        const isOffered = tls !== undefined && !socket.isEncrypted;
        this.outgoing.u8(isOffered ? 0x53 : 0x4e); // 'S' or 'N'
        if (isOffered) this.connection.startTls(tls.context, new Uint8Array(0));
        return;
      }
      case "gss":
        if (incoming.length > 0) throw new Fatal("08P01", "received unencrypted data after GSSAPI encryption request");
        this.outgoing.u8(0x4e); // 'N'
        return;
      case "tls-handshake": {
        if (tls === undefined || socket.isEncrypted) return this.over();
        const rest = incoming.rest();
        const hello = new Uint8Array(bytes.length + rest.length);
        hello.set(bytes);
        hello.set(rest, bytes.length);
        this.connection.startTls(tls.context, hello, [ALPN_NAME]);
        return;
      }
      case "cancel":
        this.parts.cancelKeys.cancel(first);
        return this.over();
      case "start":
        return this.start(first);
    }
  }

  private start(startup: Startup): void {
    const { accounts, db } = this.parts;
    const { socket, incoming } = this.connection;
    if (this.server.tls?.isRequired === true && !socket.isEncrypted) throw new Fatal("28000", "No encryption");
    if (startup.minorVersion > 0 || startup.unknownOptions.length > 0) this.negotiate(startup);
    const { parameters } = startup;
    if ((parameters.get("user") ?? "") === "") throw new Fatal("28000", "no PostgreSQL user name specified in startup packet");
    const database = parameters.get("database") ?? "";
    const name = databaseOf(database, db);
    // As psql has it where none is named: the one that is called as the user.
    if (database !== "" && !databaseExists(name, db) && !(database === parameters.get("user") && accounts === undefined))
      throw new Fatal("3D000", `Database not found: ${database.slice(0, 80)}`);
    const zone = parameters.get("TimeZone") ?? parameters.get("timezone");
    if (zone !== undefined && parseTimeZone(zone) === undefined) throw new Fatal("22023", `Invalid TimeZone: ${zone.slice(0, 80)}`);
    incoming.framing = MESSAGE_FRAMING;
    if (accounts === undefined) this.signedIn(startup, { ...DEFAULT_USER, name: DEFAULT_USER.name });
    else {
      const signIn = new SignIn(accounts, this.outgoing, parameters.get("user") ?? "", () => socket.client);
      this.state = { kind: "sign-in", startup, signIn };
    }
  }

  /** Tells a client which wants a newer version what there is. */
  private negotiate({ unknownOptions }: Startup): void {
    const place = beginMessage(this.outgoing, Tell.NegotiateVersion);
    this.outgoing.i32be(0); // the newest minor version there is
    this.outgoing.i32be(unknownOptions.length);
    for (const option of unknownOptions) this.outgoing.textZero(option);
    endMessage(this.outgoing, place);
  }

  private async signingIn(bytes: Uint8Array): Promise<void> {
    if (this.state.kind !== "sign-in") return;
    const { signIn, startup } = this.state;
    if (bytes[0] === Ask.Terminate) return this.over();
    if (bytes[0] !== Ask.Password) throw new MalformedMessage("expected a password response");
    const user = await signIn.answer(new MessageReader(bytes, HEADER_BYTES));
    if (this.isGone || user === undefined) return;
    if (user instanceof DbError) {
      if (user.code === StatusCode.RateLimited) throw new Fatal("54000", user.message);
      throw new Fatal("28P01", "password authentication failed");
    }
    this.signedIn(startup, user);
  }

  private signedIn({ parameters }: Startup, user: User): void {
    const { db, cancelKeys, version } = this.parts;
    const named = parameters.get("database") ?? "";
    const database = named === "" ? DEFAULT_DATABASE : databaseOf(named, db);
    const key = cancelKeys.unused();
    const session = new WireSession({
      protocol: "postgres",
      user,
      database: databaseExists(database, db) ? database : DEFAULT_DATABASE,
      timeZone: parseTimeZone(parameters.get("TimeZone") ?? parameters.get("timezone") ?? "UTC") ?? "UTC",
      client: this.connection.socket.client,
      ingest: this.server.metrics.ingest,
      told: { id: key.processId },
      memory: this.connection.memory,
    });
    const settings = new Settings(version);
    begin(session, settings, parameters);
    const talk = new Talk(this.parts, this.server.metrics, this.connection, session, settings);
    const extended = new ExtendedQuery(talk, { input: { read: () => this.connection.read() } });
    cancelKeys.add(key, session);
    this.connection.incoming.bytesMax = MESSAGE_BYTES_MAX;
    this.state = { kind: "ready", talk, extended, key };
    this.tellAuth(AuthCode.Ok);
    settings.report(this.outgoing, session);
    const place = beginMessage(this.outgoing, Tell.BackendKey);
    this.outgoing.i32be(key.processId);
    this.outgoing.i32be(key.secret | 0);
    endMessage(this.outgoing, place);
    talk.ready();
  }

  private tellAuth(code: number): void {
    const place = beginMessage(this.outgoing, Tell.Authentication);
    this.outgoing.i32be(code);
    endMessage(this.outgoing, place);
  }

  private command(bytes: Uint8Array, state: Extract<State, { kind: "ready" }>): Promise<void> | undefined {
    const [letter = 0] = bytes;
    if (letter === Ask.Terminate) {
      this.over();
      this.closedBy(state);
      return undefined;
    }
    if (this.isSkipping && letter !== Ask.Sync) return undefined;
    const { talk, extended } = state;
    const reader = new MessageReader(bytes, HEADER_BYTES);
    switch (letter) {
      case Ask.Query:
        return this.query(reader, talk, extended);
      case Ask.Parse:
        return this.extendedStep(talk, () => extended.parse(reader), extended);
      case Ask.Bind:
        return this.extendedStep(talk, () => extended.bind(reader));
      case Ask.Describe:
        return this.extendedStep(talk, () => extended.describe(reader));
      case Ask.Execute:
        return this.extendedStep(talk, () => extended.execute(reader));
      case Ask.Close:
        return this.extendedStep(talk, () => extended.close(reader));
      case Ask.Flush:
        this.outgoing.send();
        return undefined;
      case Ask.Sync:
        return this.sync(talk, extended);
      case Ask.CopyData:
      case Ask.CopyDone:
      case Ask.CopyFail:
        return undefined; // What is left of a COPY that failed, as the protocol has it.
      case Ask.FunctionCall:
        talk.failed(new MalformedMessage("function calls by number are not supported; use SELECT"), undefined);
        talk.ready();
        return undefined;
      default:
        this.fatal(new Fatal("08P01", `invalid frontend message type ${letter}`));
        this.closedBy(state);
        return undefined;
    }
  }

  /** A client that says goodbye: what it keeps goes now, not when its socket closes. */
  private closedBy(state: Extract<State, { kind: "ready" }>): void {
    this.state = state;
    this.closed();
  }

  private query(reader: MessageReader, talk: Talk, extended: ExtendedQuery): Promise<void> | undefined {
    let text: string;
    try {
      text = reader.text();
      reader.end();
    } catch (thrown) {
      if (!(thrown instanceof MalformedMessage)) throw thrown;
      talk.failed(thrown, undefined);
      talk.ready();
      return undefined;
    }
    return extended.hasPortals || !runSimpleAtOnce(text, talk) ? this.runQuery(text, talk, extended) : undefined;
  }

  private async runQuery(text: string, talk: Talk, extended: ExtendedQuery): Promise<void> {
    await runSimple(text, talk, extended.forSimple);
    if (talk.transaction !== TransactionState.Open) await extended.sync();
  }

  /** A message of the extended protocol: after a failure the others pass until Sync. */
  private extendedStep(talk: Talk, step: () => Promise<void> | undefined, parsing?: ExtendedQuery): Promise<void> | undefined {
    const failed = (thrown: unknown): void => {
      this.isSkipping = true;
      talk.failed(thrown, parsing?.parsedText);
    };
    try {
      return step()?.catch(failed);
    } catch (thrown) {
      failed(thrown);
      return undefined;
    }
  }

  private sync(talk: Talk, extended: ExtendedQuery): Promise<void> | undefined {
    this.isSkipping = false;
    const ended = extended.sync();
    if (ended !== undefined) return ended.then(() => talk.ready());
    talk.ready();
    return undefined;
  }
}

const DEFAULT_DATABASE = "public";

/** Settings that a client starts with. What is no setting here is kept and shown; a value that makes no sense is an error. */
function begin(session: WireSession, settings: Settings, parameters: ReadonlyMap<string, string>): void {
  const options = optionSettings(parameters.get("options") ?? "");
  for (const [name, value] of [...parameters, ...options]) {
    switch (name.toLowerCase()) {
      case "user":
      case "database":
      case "options":
      case "timezone":
        break;
      case "replication":
        if (!/^(?:false|off|no|0)$/i.test(value)) throw new Fatal("0A000", "Not supported: replication");
        break;
      case "client_encoding":
        if (!/^'?(?:utf-?8|unicode|auto)'?$/i.test(value))
          throw new Fatal("22023", `invalid value for parameter "client_encoding": "${value.slice(0, 40)}"; texts are UTF8`);
        break;
      case "datestyle":
        Object.assign(session.settings, dateStyleOf(value, session.settings));
        break;
      case "intervalstyle":
        session.settings.intervalStyle = oneOf("intervalstyle", value, INTERVAL_STYLES);
        break;
      case "bytea_output":
        session.settings.byteaOutput = oneOf("bytea_output", value, ["hex", "escape"]);
        break;
      default: {
        const known = postgresSetting(name);
        if (known?.isFixed !== true) settings.keep(known?.name ?? name, value);
      }
    }
  }
}
