/** What the parts of a connection share once its client has signed in: the session, where answers go, and the packets that end answers. */
import { AssertionError } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import type { Db } from "../../db/db.ts";
import type { User } from "../../db/auth/user.ts";
import type { FailureLog } from "../common/failure-log.ts";
import type { WireMetrics } from "../wire/wire-metrics.ts";
import type { WireSession } from "../wire/wire-session.ts";
import { MalformedPacket, type PacketWriter } from "./codec.ts";
import type { Connections } from "./connections.ts";
import { complain, complaintOf, WireFailure } from "./errors.ts";
import { Capability, Status } from "./packets.ts";

/** What the whole server has. */
export interface MysqlParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly failures: FailureLog;
  readonly connections: Connections;
  /** Most prepared statements of a connection. */
  readonly preparedMax: number;
}

/** What an OK says. */
interface Done {
  readonly rowCount: number;
  readonly hasMore: boolean;
  /** A line for people. */
  readonly info?: string;
}

const NOTHING_MORE: Done = { rowCount: 0, hasMore: false };
/** Kinds of changes that clients are told of. */
const TRACK_VARIABLE = 0x00;
const TRACK_SCHEMA = 0x01;

/** What a connection begins with. */
export interface TalkStart {
  readonly id: number;
  /** What client and server both can. */
  readonly capabilities: number;
  /** The next packet of the client, for a statement that wants more of it; undefined when it is gone. Valid until the next call. */
  readonly readPacket: () => Promise<Uint8Array | undefined>;
}

/** See the file header. */
export class Talk {
  readonly parts: MysqlParts;
  readonly metrics: WireMetrics;
  readonly packets: PacketWriter;
  readonly session: WireSession;
  readonly user: User;
  /** The connection's id. */
  readonly id: number;
  readonly readPacket: TalkStart["readPacket"];
  capabilities: number;
  /** Between BEGIN and its end: statements count at once all the same, but clients look whether they are in one. */
  isInTransaction = false;
  /** What the client has set; nothing goes by it. */
  isAutocommit = true;
  /** Last values that the client was told of. */
  private told: { readonly database: string; readonly timeZone: string; readonly isAutocommit: boolean };

  constructor(parts: MysqlParts, metrics: WireMetrics, packets: PacketWriter, session: WireSession, start: TalkStart) {
    this.parts = parts;
    this.metrics = metrics;
    this.packets = packets;
    this.session = session;
    this.user = session.user;
    this.id = start.id;
    this.readPacket = start.readPacket;
    this.capabilities = start.capabilities;
    this.told = { database: session.database, timeZone: session.timeZone, isAutocommit: true };
  }

  /** Whether client and server have a capability. */
  has(capability: number): boolean {
    return (this.capabilities & capability) !== 0;
  }

  /** Says that a statement without rows, or a command, is done. */
  ok(done: Done = NOTHING_MORE): void {
    this.tellOk(0x00, done);
  }

  /** Ends rows. @param cursor what is to be told of one, bits of `Status` */
  endRows(hasMore: boolean, cursor = 0): void {
    if (this.has(Capability.DeprecateEof)) this.tellOk(0xfe, { rowCount: 0, hasMore }, cursor);
    else this.eof(hasMore, cursor);
  }

  /** Ends definitions of columns or parameters, for clients that want that. */
  endDefinitions(): void {
    if (!this.has(Capability.DeprecateEof)) this.eof(false);
  }

  /** An EOF packet as old clients know it. */
  private eof(hasMore: boolean, cursor = 0): void {
    const place = this.packets.begin();
    this.packets.outgoing.u8(0xfe);
    this.packets.u16(this.warningCount);
    this.packets.u16(this.statusOf(hasMore) | cursor);
    this.packets.end(place);
  }

  /** Tells of a failure. */
  failed(thrown: unknown): void {
    if (thrown instanceof WireFailure) complain(this.packets, thrown);
    else if (thrown instanceof MalformedPacket) complain(this.packets, { number: 1835, sqlState: "HY000", message: malformed(thrown) });
    else {
      const { error, requestId } = this.parts.failures.report(thrown, { method: "query", path: "mysql" }, () => this.session.client);
      const complaint = complaintOf(error);
      const message = requestId === undefined ? complaint.message : `${complaint.message} (request ${requestId})`;
      complain(this.packets, { ...complaint, message });
    }
    if (thrown instanceof AssertionError) this.packets.outgoing.send();
  }

  private statusOf(hasMore: boolean): number {
    const mode = (this.isAutocommit ? Status.Autocommit : 0) | (this.isInTransaction ? Status.InTransaction : 0);
    return mode | (hasMore ? Status.MoreResults : 0);
  }

  private get warningCount(): number {
    return Math.min(this.session.connection.warnings.length, 0xffff);
  }

  private tellOk(first: number, { rowCount, hasMore, info = "" }: Done, cursor = 0): void {
    const { packets } = this;
    const changes = this.has(Capability.SessionTrack) ? this.changes() : [];
    const place = packets.begin();
    packets.outgoing.u8(first);
    packets.lenenc(rowCount);
    packets.lenenc(0); // last inserted id
    packets.u16(this.statusOf(hasMore) | cursor | (changes.length > 0 ? Status.SessionChanged : 0));
    packets.u16(this.warningCount);
    if (!this.has(Capability.SessionTrack)) packets.outgoing.text(info);
    else if (info !== "" || changes.length > 0) packets.lenencText(info);
    if (changes.length > 0) {
      packets.lenenc(changes.reduce((sum, { length }) => sum + length, 0));
      for (const change of changes) packets.outgoing.raw(change);
    }
    packets.end(place);
  }

  /** What of the session has changed since the client was told last. */
  private changes(): readonly Uint8Array[] {
    const { isAutocommit } = this;
    const { database, timeZone } = this.session;
    const changes: Uint8Array[] = [];
    if (database !== this.told.database) changes.push(change(TRACK_SCHEMA, database));
    if (timeZone !== this.told.timeZone) changes.push(change(TRACK_VARIABLE, "time_zone", timeZone));
    if (isAutocommit !== this.told.isAutocommit) changes.push(change(TRACK_VARIABLE, "autocommit", isAutocommit ? "ON" : "OFF"));
    this.told = { database, timeZone, isAutocommit };
    return changes;
  }
}

const malformed = (thrown: MalformedPacket): string => `Malformed communication packet: ${thrown.message}`;

/** A kind, and texts behind their lenenc lengths: names and zones are shorter than 251 bytes, and longer ones are cut. */
function change(kind: number, ...texts: readonly string[]): Uint8Array {
  const parts = texts.map((text) => Buffer.from(text).subarray(0, 120));
  const data = Buffer.concat(parts.flatMap((part) => [Uint8Array.of(part.length), part]));
  return Buffer.concat([Uint8Array.of(kind, data.length), data]);
}
