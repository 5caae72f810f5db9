/**
 * The facade of an ingest thread: takes writes; everything else is done by the thread that owns the tables.
 */
import { throwIfCancelled } from "../base/scheduler/cancel.ts";
import type { RowWriter, SchemaLookup, WriteBatch, WriteOptions, WriteResult } from "../table/write-batch.ts";
import { authorize } from "./authorize.ts";
import type { Action } from "./auth/user.ts";
import type { IngestDb } from "./db.ts";
import { countedWrite } from "./ingest-counts.ts";
import type { Session } from "./session.ts";

/** What the facade needs of the thread. */
export interface IngestFacade extends RowWriter, SchemaLookup {
  /** Names of all databases. */
  readonly databases: ReadonlySet<string>;
  /** Follows changes of the catalog: what was acknowledged before the call is seen after it. */
  refresh(): void;
  /** Resolves when there is memory for another write, with the catalog as it is then. @throws DbError RateLimited */
  admit(): Promise<void>;
}

/** See the file header. */
export class ThreadDb implements IngestDb {
  readonly schemas: SchemaLookup;
  private readonly thread: IngestFacade;
  private names: ReadonlySet<string> = new Set();
  private infos: readonly { readonly name: string }[] = [];

  constructor(thread: IngestFacade) {
    this.thread = thread;
    this.schemas = thread;
  }

  async admit(signal?: AbortSignal): Promise<void> {
    await this.thread.admit();
    throwIfCancelled(signal);
  }

  async write(batch: WriteBatch, session: Session, options: WriteOptions): Promise<WriteResult> {
    this.authorize(session, "write");
    return countedWrite(session.ingest, this.thread.write(session.database, batch, { ...options, signal: session.signal }));
  }

  authorize(session: Session, action: Action): void {
    authorize(session, action);
  }

  /** As they are now: a client may have made one on another connection. */
  databases(): readonly { readonly name: string }[] {
    this.thread.refresh();
    if (this.thread.databases !== this.names) {
      this.names = this.thread.databases;
      this.infos = [...this.names].map((name) => ({ name }));
    }
    return this.infos;
  }

  hasDatabase(name: string): boolean {
    this.thread.refresh();
    return this.thread.databases.has(name);
  }
}
