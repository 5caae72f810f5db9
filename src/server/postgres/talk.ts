/** What the parts of a connection share once its client has signed in: the session, where answers go, the state of the transaction. */
import { AssertionError } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import type { Db } from "../../db/db.ts";
import type { FailureLog } from "../common/failure-log.ts";
import type { Outgoing } from "../wire/outgoing.ts";
import type { WireConnection } from "../wire/wire-connection.ts";
import type { WireMetrics } from "../wire/wire-metrics.ts";
import type { WireSession } from "../wire/wire-session.ts";
import { MalformedMessage } from "./codec.ts";
import { complain, complaintOf, WireFailure } from "./errors.ts";
import { beginMessage, endMessage } from "./codec.ts";
import { Tell, TransactionState } from "./packets.ts";
import { KnownForms } from "./results.ts";
import type { Settings } from "./settings.ts";

/** What the whole server has. */
export interface PostgresParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly failures: FailureLog;
  /** Of the server itself. */
  readonly version: string;
}

/** See the file header. */
export class Talk {
  readonly parts: PostgresParts;
  readonly metrics: WireMetrics;
  readonly connection: WireConnection;
  readonly outgoing: Outgoing;
  readonly session: WireSession;
  readonly settings: Settings;
  readonly forms: KnownForms = new KnownForms();
  transaction: TransactionState = TransactionState.Idle;

  constructor(parts: PostgresParts, metrics: WireMetrics, connection: WireConnection, session: WireSession, settings: Settings) {
    this.parts = parts;
    this.metrics = metrics;
    this.connection = connection;
    this.outgoing = connection.outgoing;
    this.session = session;
    this.settings = settings;
  }

  /** Tells of a failure, and that the transaction has failed. @param text that was read when it came; undefined: none was */
  failed(thrown: unknown, text: string | undefined): void {
    if (this.transaction === TransactionState.Open) this.transaction = TransactionState.Failed;
    if (thrown instanceof WireFailure) {
      const { sqlState, message, hint } = thrown;
      complain(this.outgoing, { severity: "ERROR", sqlState, message, hint });
    } else if (thrown instanceof MalformedMessage) {
      complain(this.outgoing, { severity: "ERROR", sqlState: "08P01", message: thrown.message });
    } else {
      const { error, requestId } = this.parts.failures.report(thrown, { method: "query", path: "postgres" }, () => this.session.client);
      const complaint = complaintOf(error, text);
      complain(this.outgoing, requestId === undefined ? complaint : { ...complaint, detail: `request ${requestId}` });
    }
    if (thrown instanceof AssertionError) this.outgoing.send();
  }

  /** Sends what a statement has to say that is no error, and settings that it changed. */
  notices(): void {
    for (const message of this.session.connection.warnings.splice(0)) this.warn(message);
    this.settings.report(this.outgoing, this.session);
  }

  warn(message: string): void {
    complain(this.outgoing, { severity: "WARNING", sqlState: "01000", message });
  }

  /** Says that the next statement may come. */
  ready(): void {
    const place = beginMessage(this.outgoing, Tell.ReadyForQuery);
    this.outgoing.u8(this.transaction);
    endMessage(this.outgoing, place);
  }

  /** @throws WireFailure for a statement in a transaction that has failed, unless it ends that */
  checkTransaction(endsIt: boolean): void {
    if (this.transaction !== TransactionState.Failed || endsIt) return;
    throw new WireFailure("25P02", "current transaction is aborted, commands ignored until end of transaction block");
  }
}
