/**
 * The session of a connection: who it is, its database, time zone and settings, what it keeps between statements, and the signal of the
 * statement that runs, so that another connection or a stop can cancel it.
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { User } from "../../db/auth/user.ts";
import type { IngestCounts } from "../../db/ingest-counts.ts";
import type { Session } from "../../db/session.ts";
import type { ConnectionClient } from "../../query/connection-client.ts";
import { type Connection, endConnection, newConnection } from "../../query/connection.ts";
import type { KeptMemory } from "../../query/kept-statements.ts";
import { newSettings, type SessionSettings } from "../../query/session-settings.ts";
import type { WireName } from "./wire-metrics.ts";

/** What a session begins with. */
export interface SessionStart {
  readonly protocol: WireName;
  readonly user: User;
  readonly database: string;
  readonly timeZone: string;
  /** Address of the client. */
  readonly client: string;
  /** What its rows are counted for. */
  readonly ingest: IngestCounts;
  /** What statements may ask of the client, where the protocol tells it. */
  readonly told?: ConnectionClient;
  /** Of what it keeps between statements. */
  readonly memory: KeptMemory;
}

/** A statement of a session. */
export interface StatementRun {
  /** Fires when it is cancelled, or its connection is gone. */
  readonly signal: AbortSignal;
  /** It runs on: it is the one that a cancel means. */
  resume(): void;
  /** It does not run any more, or for now. */
  pause(): void;
}

/** See the file header. Fields are its own, since statements are run with copies of it. */
export class WireSession implements Session {
  readonly user: User;
  readonly client: string;
  readonly ingest: IngestCounts;
  readonly memory: KeptMemory;
  database: string;
  timeZone: string;
  settings: SessionSettings = newSettings();
  connection: Connection;
  /** Of the statement that runs, or the last one. */
  signal: AbortSignal;
  private readonly start: SessionStart;
  private readonly life: AbortController = new AbortController();
  private running: AbortController | undefined;

  constructor(start: SessionStart) {
    this.start = start;
    this.user = start.user;
    this.client = start.client;
    this.ingest = start.ingest;
    this.memory = start.memory;
    this.database = start.database;
    this.timeZone = start.timeZone;
    this.connection = newConnection(start.protocol, this.life.signal, start.memory, start.told);
    this.signal = this.life.signal;
  }

  /** Whether a statement runs. */
  get isRunning(): boolean {
    return this.running !== undefined;
  }

  /** Begins a statement, which runs until it is paused or ended. */
  begin(): StatementRun {
    const controller = new AbortController();
    if (this.life.signal.aborted) controller.abort(this.life.signal.reason);
    const { signal } = controller;
    const resume = (): void => {
      this.running = controller;
      this.signal = signal;
    };
    const pause = (): void => {
      if (this.running === controller) this.running = undefined;
    };
    resume();
    return { signal, resume, pause };
  }

  /** Cancels the statement that runs, if one does. @returns whether one did */
  cancel(why = "Query has been cancelled: the client asked for it"): boolean {
    this.running?.abort(new DbError(StatusCode.Cancelled, why));
    return this.running !== undefined;
  }

  /** Makes it as it was at its start, as a pool of connections wants it. */
  async reset(): Promise<void> {
    await endConnection(this.connection);
    this.connection = newConnection(this.start.protocol, this.life.signal, this.start.memory, this.start.told);
    this.database = this.start.database;
    this.timeZone = this.start.timeZone;
    this.settings = newSettings();
  }

  /** Ends it: what runs is cancelled, what it keeps is let go. */
  async close(): Promise<void> {
    const gone = new DbError(StatusCode.Cancelled, "Query has been cancelled: its connection is gone");
    this.life.abort(gone);
    this.running?.abort(gone);
    await endConnection(this.connection);
  }
}
