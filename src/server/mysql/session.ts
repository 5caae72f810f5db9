/**
 * One connection of a MySQL client, from the greeting to its end.
 *
 *   greeting ─► answer ──wish for TLS──► TLS ─► answer
 *                 │ user, proof, database
 *                 ▼
 *   sign-in ──proof, password──► ready ──commands──► ready ──COM_CHANGE_USER──► sign-in
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { DEFAULT_USER, type User } from "../../db/auth/user.ts";
import { NO_ATTRIBUTES } from "../../query/connection.ts";
import { databaseExists, databaseOf } from "../common/database-name.ts";
import { guarded } from "../wire/guarded.ts";
import type { Framing } from "../wire/incoming.ts";
import { MESSAGE_BYTES_MAX } from "../wire/limits.ts";
import type { WireServer } from "../wire/listener.ts";
import type { EndReason, WireConnection, WireProtocol } from "../wire/wire-connection.ts";
import { WireSession } from "../wire/wire-session.ts";
import { type Compression, CompressedLayer } from "./compression.ts";
import { MalformedPacket, PacketReader, PacketWriter, utf8 } from "./codec.ts";
import { complain, complaintOf, WireFailure } from "./errors.ts";
import { greet, type HandshakeResponse, newScramble, OFFERED, readChangeUser, readResponse, wishesTls } from "./handshake.ts";
import { unknownDatabase, useDatabase } from "./own-statements.ts";
import { Capability, Command, FRAMING, HEADER_BYTES, PART_BYTES } from "./packets.ts";
import { KnownForms } from "./known-forms.ts";
import { PreparedStatements } from "./prepared.ts";
import { readAttributes } from "./given-values.ts";
import { runQuery, runQueryAtOnce } from "./query.ts";
import { type Accounts, greetingPlugin, Plugin, SignIn, switchPlugin, tellFastSuccess } from "./sign-in.ts";
import { type MysqlParts, Talk } from "./talk.ts";

/** What sessions of a server share. */
export interface SessionParts extends MysqlParts {
  /** Absent: whoever connects may do everything. */
  readonly accounts: Accounts | undefined;
  /** What the greeting says the server is. */
  readonly serverVersion: string;
  /** Whether a client has to name a database. */
  readonly rejectsNoDatabase: boolean;
}

interface Ready {
  readonly kind: "ready";
  readonly talk: Talk;
  readonly prepared: PreparedStatements;
  readonly forms: KnownForms;
}

type State =
  | { readonly kind: "greeted" }
  /** Anybody may sign in, but says so by a plugin of its own. */
  | { readonly kind: "switched"; readonly response: HandshakeResponse }
  | { readonly kind: "sign-in"; readonly response: HandshakeResponse; readonly signIn: SignIn }
  | Ready
  | { readonly kind: "over" };

/** Why the server ends a connection, as MySQL says it. */
const LAST_WORDS: Readonly<Record<EndReason, readonly [number: number, sqlState: string, message: string]>> = {
  "too many connections": [1040, "08004", "Too many connections"],
  "sign-in took too long": [1159, "08S01", "Got timeout reading communication packets"],
  "idle for too long": [4031, "HY000", "The client was disconnected by the server because of inactivity"],
  shutdown: [1053, "08S01", "Server shutdown in progress"],
  "malformed message": [1835, "HY000", "Malformed communication packet"],
  "out of memory": [1041, "08004", "Out of memory"],
};

const DEFAULT_DATABASE = "public";

/** See the file header. */
export class MysqlSession implements WireProtocol {
  readonly framing: Framing = FRAMING;
  private readonly parts: SessionParts;
  private readonly server: WireServer;
  private readonly connection: WireConnection;
  private readonly packets: PacketWriter;
  private readonly scramble: Uint8Array = newScramble();
  private readonly id: number;
  private state: State = { kind: "greeted" };
  /** Once and for all: one that changes its user is no stranger. */
  private hasSignedIn = false;
  private isGone = false;
  /** Parts of a packet that is longer than one. */
  private parted: Uint8Array[] = [];
  private partedBytes = 0;

  constructor(parts: SessionParts, server: WireServer, connection: WireConnection) {
    this.parts = parts;
    this.server = server;
    this.connection = connection;
    this.packets = new PacketWriter(connection.outgoing);
    this.id = parts.connections.newId();
  }

  get isSignedIn(): boolean {
    return this.hasSignedIn;
  }

  opened(): void {
    const { serverVersion: version, accounts } = this.parts;
    const plugin = greetingPlugin(accounts);
    greet(this.packets, { version, connectionId: this.id, scramble: this.scramble, plugin, hasTls: this.server.tls !== undefined });
  }

  message(bytes: Uint8Array): Promise<void> | undefined {
    this.packets.sequence = ((bytes[3] ?? 0) + 1) & 0xff;
    const payload = this.whole(bytes.subarray(HEADER_BYTES));
    if (payload === undefined) return undefined;
    switch (this.state.kind) {
      case "greeted":
        return this.beforeReady(() => this.greeted(payload));
      case "switched": {
        const { response } = this.state;
        return this.beforeReady(() => this.signedIn(response, userNamed(response.user)));
      }
      case "sign-in":
        return this.beforeReady(() => this.signingIn(payload));
      case "ready":
        return this.command(payload, this.state);
      case "over":
        return undefined;
    }
  }

  lastWords(reason: EndReason, detail: string): void {
    const [number, sqlState, message] = LAST_WORDS[reason];
    complain(this.packets, { number, sqlState, message: detail === "" ? message : `${message}: ${detail}` });
  }

  closed(): void {
    if (this.isGone) return;
    this.isGone = true;
    const { state } = this;
    this.state = { kind: "over" };
    this.parted = [];
    if (state.kind === "ready") this.leave(state);
  }

  /** The payload of a packet that belongs to the statement at work. */
  private async readPacket(): Promise<Uint8Array | undefined> {
    const packet = await this.connection.read();
    if (packet === undefined) return undefined;
    this.packets.sequence = ((packet[3] ?? 0) + 1) & 0xff;
    return packet.subarray(HEADER_BYTES);
  }

  /** The payload, once all its parts are there. */
  private whole(payload: Uint8Array): Uint8Array | undefined {
    const isLast = payload.length < PART_BYTES;
    if (isLast && this.partedBytes === 0) return payload;
    this.partedBytes += payload.length;
    if (this.partedBytes > MESSAGE_BYTES_MAX) {
      this.fatal(new WireFailure(1153, "08S01", `Got a packet bigger than the ${MESSAGE_BYTES_MAX} bytes of 'max_allowed_packet'`));
      return undefined;
    }
    this.parted.push(isLast ? payload : payload.slice());
    if (!isLast) return undefined;
    const whole = Buffer.concat(this.parted);
    this.parted = [];
    this.partedBytes = 0;
    return whole;
  }

  /** Ends what a session runs and keeps. */
  private leave(state: Ready): void {
    this.parts.connections.remove(this.id);
    void this.ended(state); // Nobody waits for it.
  }

  /** What runs is cancelled first: a cursor that is read waits for that. Never rejects. */
  private ended({ talk: { session }, prepared }: Ready): Promise<void> {
    return guarded(
      async () => {
        await session.close();
        await prepared.clear();
      },
      (thrown) => this.parts.failures.report(thrown, { method: "close", path: "mysql" }, () => session.client),
    );
  }

  /** Runs what comes before a sign-in; a failure of it ends the connection. */
  private beforeReady(work: () => Promise<void> | void): Promise<void> {
    return guarded(work, (thrown) => this.fatal(thrown));
  }

  private fatal(thrown: unknown): void {
    if (this.isGone) return;
    if (thrown instanceof WireFailure) complain(this.packets, thrown);
    else if (thrown instanceof MalformedPacket) complain(this.packets, { number: 1043, sqlState: "08S01", message: badHandshake(thrown) });
    else {
      const { error } = this.parts.failures.report(thrown, { method: "start", path: "mysql" }, () => this.connection.socket.client);
      complain(this.packets, complaintOf(error));
    }
    this.over();
  }

  /** Ends the connection once what was written is sent. */
  private over(): void {
    const { state } = this;
    this.state = { kind: "over" };
    if (state.kind === "ready") this.leave(state);
    this.connection.bye();
  }

  private async greeted(payload: Uint8Array): Promise<void> {
    const { tls } = this.server;
    const { socket, incoming } = this.connection;
    if (wishesTls(payload) && !socket.isEncrypted) {
      if (tls === undefined) throw new MalformedPacket("the client wants TLS, which was not offered");
      this.connection.startTls(tls.context, incoming.rest());
      return;
    }
    if (tls?.isRequired === true && !socket.isEncrypted) {
      const why = "Connections using insecure transport are prohibited: the server asks for TLS (mysql.tls.mode)";
      throw new WireFailure(3159, "HY000", why);
    }
    await this.begin(readResponse(payload), false);
  }

  /** Begins a sign-in. @param isChange of a client that has signed in before: its proof is of no scramble that it got */
  private async begin(response: HandshakeResponse, isChange: boolean): Promise<void> {
    const { accounts } = this.parts;
    const { plugin, proof } = response;
    const { socket } = this.connection;
    if (accounts === undefined) {
      const isKnown = plugin === "" || plugin === Plugin.Native || plugin === Plugin.Sha2;
      if (!isKnown) {
        this.state = { kind: "switched", response };
        switchPlugin(this.packets, Plugin.Native, this.scramble);
        return;
      }
      if (plugin === Plugin.Sha2 && proof.length > 1) tellFastSuccess(this.packets);
      this.signedIn(response, userNamed(response.user));
      return;
    }
    const start = { name: response.user, scramble: this.scramble, isEncrypted: socket.isEncrypted, client: () => socket.client };
    const signIn = new SignIn(accounts, this.packets, start);
    this.state = { kind: "sign-in", response, signIn };
    this.judge(await signIn.begin(plugin, isChange ? undefined : proof), response, signIn);
  }

  private async signingIn(payload: Uint8Array): Promise<void> {
    if (this.state.kind !== "sign-in") return;
    const { signIn, response } = this.state;
    this.judge(await signIn.answer(payload), response, signIn);
  }

  private judge(user: User | DbError | undefined, response: HandshakeResponse, { plugin }: SignIn): void {
    if (this.isGone || user === undefined) return;
    if (!(user instanceof DbError)) return this.signedIn(response, user);
    if (user.code === StatusCode.RateLimited) throw user;
    throw new WireFailure(1698, "28000", `Authenticate failed, user: "${response.user.slice(0, 80)}", auth_plugin: "${plugin}"`);
  }

  private signedIn(response: HandshakeResponse, user: User): void {
    const { db, connections, rejectsNoDatabase } = this.parts;
    if (response.database === "" && rejectsNoDatabase)
      throw new WireFailure(1046, "3D000", "database required on connection: name one (mysql.reject_no_database)");
    const database = response.database === "" ? DEFAULT_DATABASE : databaseOf(response.database, db);
    if (!databaseExists(database, db)) throw unknownDatabase(response.database);
    const { client } = this.connection.socket;
    const { memory } = this.connection;
    const told = { id: this.id, user: `${user.name}@${client.slice(0, client.lastIndexOf(":"))}` };
    const { ingest } = this.server.metrics;
    const session = new WireSession({ protocol: "mysql", user, database, timeZone: "UTC", client, ingest, told, memory });
    const talk = new Talk(this.parts, this.server.metrics, this.packets, session, {
      id: this.id,
      capabilities: response.capabilities & OFFERED,
      readPacket: () => this.readPacket(),
    });
    const forms = new KnownForms(talk);
    this.state = { kind: "ready", talk, forms, prepared: new PreparedStatements(talk, forms) };
    connections.add(this.id, {
      user,
      cancel: () => session.cancel("Query has been cancelled: KILL asked for it"),
      end: () => this.connection.end("shutdown", "the connection was killed"),
    });
    this.hasSignedIn = true;
    this.connection.incoming.bytesMax = PART_BYTES + HEADER_BYTES;
    talk.ok();
    if (response.compression !== undefined) this.compress(response.compression);
  }

  /** What follows the OK of the sign-in is compressed. */
  private compress(compression: Compression): void {
    const { connection } = this;
    connection.startLayer(new CompressedLayer(connection.socket, connection.outgoing, compression, connection.memory));
  }

  private command(payload: Uint8Array, state: Ready): Promise<void> | undefined {
    const [code = 0] = payload;
    if (code === Command.Quit) {
      this.over();
      return undefined;
    }
    const reader = new PacketReader(payload.subarray(1));
    switch (code) {
      case Command.Query:
        return this.query(reader, state);
      case Command.StmtPrepare:
        return tried(state.talk, () => state.prepared.prepare(reader.rest()));
      case Command.StmtExecute:
        return tried(state.talk, () => state.prepared.execute(reader));
      case Command.ChangeUser:
        return this.beforeReady(() => this.changeUser(reader, state));
      case Command.ResetConnection:
        return tried(state.talk, () => reset(state));
      default:
        return tried(state.talk, () => this.shortCommand(code, reader, state));
    }
  }

  private query(reader: PacketReader, { talk, forms }: Ready): Promise<void> | undefined {
    let text: Uint8Array;
    try {
      talk.session.connection.attributes = talk.has(Capability.QueryAttributes)
        ? readAttributes(reader, talk.session.timeZone)
        : NO_ATTRIBUTES;
      text = reader.rest();
    } catch (thrown) {
      talk.failed(thrown);
      return undefined;
    }
    return runQueryAtOnce(text, talk, forms) ? undefined : runQuery(text, talk);
  }

  private shortCommand(code: number, reader: PacketReader, { talk, prepared }: Ready): Promise<void> | void {
    switch (code) {
      case Command.InitDb:
        useDatabase(utf8(reader.rest()), talk);
        return talk.ok();
      case Command.FieldList:
        return talk.endRows(false); // No columns: clients use it to complete names, which SHOW COLUMNS tells.
      case Command.Statistics:
        return this.statistics();
      case Command.ProcessKill:
        this.parts.connections.kill(reader.u32(), "connection", talk.user);
        return talk.ok();
      case Command.SetOption:
        talk.capabilities =
          reader.u16() === 0 ? talk.capabilities | Capability.MultiStatements : talk.capabilities & ~Capability.MultiStatements;
        return talk.endRows(false);
      case Command.StmtSendLongData:
        return prepared.sendLongData(reader);
      case Command.StmtClose:
        return prepared.close(reader);
      case Command.StmtReset:
        return prepared.reset(reader);
      case Command.StmtFetch:
        return prepared.fetch(reader);
      default:
        return talk.ok(); // Every other command, COM_PING among them (contract query.md 4.1).
    }
  }

  private statistics(): void {
    const place = this.packets.begin();
    this.packets.outgoing.text(`Uptime: ${Math.floor(this.connection.ageMs / 1000)}  Threads: ${this.parts.connections.size}`);
    this.packets.end(place);
  }

  private async changeUser(reader: PacketReader, state: Ready): Promise<void> {
    const response = readChangeUser(reader, state.talk.capabilities);
    this.state = { kind: "over" };
    this.parts.connections.remove(this.id);
    await state.prepared.clear();
    await state.talk.session.close();
    if (this.isGone) return;
    await this.begin(response, true);
  }
}

const badHandshake = (thrown: MalformedPacket): string => `Bad handshake: ${thrown.message}`;

/** Whoever signs in where there are no accounts may do everything, under the name given. */
function userNamed(name: string): User {
  return { ...DEFAULT_USER, name: name === "" ? DEFAULT_USER.name : name };
}

/** Runs a command; its failure is told. */
function tried(talk: Talk, work: () => Promise<void> | void): Promise<void> | undefined {
  try {
    const promise = work();
    return promise === undefined
      ? undefined
      : guarded(
          () => promise,
          (thrown) => talk.failed(thrown),
        );
  } catch (thrown) {
    talk.failed(thrown);
    return undefined;
  }
}

async function reset({ talk, prepared }: Ready): Promise<void> {
  await prepared.clear();
  await talk.session.reset();
  talk.isInTransaction = false;
  talk.isAutocommit = true;
  talk.ok();
}
