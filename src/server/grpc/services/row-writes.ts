/**
 * Messages with rows on their way into the log.
 *
 *   up to some MiB   its turn ─► admit ─► decode ─► one record, whole or not at all
 *   larger           alone ─► decode in steps, others in between ─► records of some rows each, while the first ones are synced
 *
 * A large message that cannot be read, or has a value that is none, is refused whole, too; what the engine refuses or the disk fails at in
 * between leaves the records before it.
 */
import { throwIfCancelled } from "../../../base/scheduler/cancel.ts";
import type { Clock } from "../../../base/clock.ts";
import { invalidArguments } from "../../../base/error.ts";
import type { ServerMemory } from "../../../base/memory/server-memory.ts";
import { Pace, paced } from "../../../base/scheduler/pace.ts";
import type { Scheduler } from "../../../base/scheduler/scheduler.ts";
import { Turns } from "../../../base/scheduler/turns.ts";
import type { Db } from "../../../db/db.ts";
import type { Session } from "../../../db/session.ts";
import { claimedCells, GreptimeDecoder, type RowMessage } from "../../../ingest/greptime/decode.ts";
import type { SchemaLookup, TableWrite, WriteBatch, WriteOptions } from "../../../table/write-batch.ts";
import { copiedAndWritten, decodedAndWritten } from "../../../table/decoded-and-written.ts";
import type { Hints } from "../../common/hints.ts";
import { KeptDecoders } from "../../common/kept-decoders.ts";
import { type WriteSettings, writeOptionsOf } from "../../common/write-options.ts";
import { begun, type BegunWrite, PendingWrites } from "./pending-writes.ts";

/**
 * A message of more bytes or cells is large. Reason: 2 MiB are 20,000 rows of ten columns, 3 ms of decoding at 140 ns a row; NULLs
 * unfold to many cells of few bytes.
 */
const LARGE_BYTES: number = 2 * 1024 * 1024;
const LARGE_CELLS = 1_000_000;
/** Cells of one record of a large message, and new tag sets: as the decoder cuts tables, and for its reasons. */
const RECORD_CELLS_MAX = 163_840;
const RECORD_NEW_KEYS_MAX = 4096;

/** What writes work with. */
export interface RowWritesParts extends WriteSettings {
  readonly db: Db;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** Hears of what decoders keep. */
  readonly memory: ServerMemory;
}

/** The rows of a message. */
export interface RowsMessage {
  readonly kind: RowMessage;
  /** Borrowed until it is logged. */
  readonly body: Uint8Array;
  readonly session: Session;
  readonly hints: Hints;
}

/** A message in the log's queue; `write` is absent where it is durable. */
export interface LoggedRows {
  readonly rowCount: number;
  readonly write?: BegunWrite;
}

/** See the file header. */
export class RowWrites {
  private readonly parts: RowWritesParts;
  private readonly decoders: KeptDecoders<GreptimeDecoder>;
  /** Of large messages: each works on one for many rounds of the event loop. */
  private readonly largeDecoders: KeptDecoders<GreptimeDecoder>;
  private readonly large: Turns = new Turns();

  constructor(parts: RowWritesParts) {
    this.parts = parts;
    this.decoders = new KeptDecoders(() => new GreptimeDecoder(), parts.clock);
    this.largeDecoders = new KeptDecoders(() => new GreptimeDecoder(), parts.clock);
    for (const each of [this.decoders, this.largeDecoders]) parts.memory.register("decoders", each);
  }

  /**
   * Writes, or deletes, the rows of a message.
   *
   * @param until when it resolves: with its rows durable, or with what comes after it sure to come after it
   * @throws DbError
   */
  async write(message: RowsMessage, until: "durable" | "logged"): Promise<LoggedRows> {
    const { kind, body, hints } = message;
    const options: WriteOptions = { ...writeOptionsOf(hints, this.parts, "physical", {}), allOrNothing: true };
    if (hints.has("physical_table")) throw invalidArguments(NO_PHYSICAL_TABLE);
    const isLarge = body.length > LARGE_BYTES || claimedCells(kind, body) > LARGE_CELLS;
    return isLarge ? this.inSteps(message, options) : this.atOnce(message, options, until);
  }

  private async atOnce({ kind, body, session }: RowsMessage, options: WriteOptions, until: "durable" | "logged"): Promise<LoggedRows> {
    const { db, scheduler } = this.parts;
    const { database, signal } = session;
    const turn = scheduler.decode(body.length);
    if (turn !== undefined) await turn;
    return decodedAndWritten(async () => {
      await db.admit(signal);
      const { batch, rowCount } = this.decoders.of(database).decode(kind, body, { database, schemas: db.schemas });
      if (rowCount === 0) return { rowCount };
      if (isDelete(kind)) {
        await db.delete(batch, session);
        return { rowCount };
      }
      this.checkTables(batch, database, options);
      let isLater = false;
      const onLater = (): void => {
        isLater = true;
      };
      const writing = db.write(batch, session, { ...options, onLater });
      if (until === "logged" && !isLater) return { rowCount, write: await begun(writing, scheduler.soon) };
      await writing;
      return { rowCount };
    });
  }

  private async inSteps(message: RowsMessage, options: WriteOptions): Promise<LoggedRows> {
    const pending = new PendingWrites();
    try {
      const rowCount = await this.large.alone(() => this.largeOne(message, options, pending));
      await pending.end();
      return { rowCount };
    } catch (thrown) {
      await pending.end(); // What failed first is told.
      throw thrown;
    }
  }

  private async largeOne({ kind, body, session }: RowsMessage, options: WriteOptions, pending: PendingWrites): Promise<number> {
    const { db, scheduler } = this.parts;
    const { database, signal } = session;
    const pace = new Pace(scheduler, () => throwIfCancelled(signal));
    await db.admit(signal);
    const decoder = this.largeDecoders.of(database);
    const { batch, rowCount, newKeyCount } = await paced(decoder.steps(kind, body, { database, schemas: db.schemas }), pace);
    if (!isDelete(kind)) this.checkTables(batch, database, options);
    for (const tables of recordsOf(batch.tables, (RECORD_NEW_KEYS_MAX * rowCount) / Math.max(1, newKeyCount))) {
      await db.admit(signal);
      const part = { dictionary: batch.dictionary, tables };
      if (isDelete(kind)) await db.delete(part, session);
      else {
        const { done } = await copiedAndWritten(options, (asked) => db.write(part, session, asked));
        await pending.add(await begun(done, scheduler.soon), 0);
      }
      await pace.turn();
    }
    return rowCount;
  }

  /** @throws DbError InvalidArguments, in the contract's words (query.md 5.3), for a table that may not be made */
  private checkTables(batch: WriteBatch, database: string, { autoCreate }: WriteOptions): void {
    if (autoCreate) return;
    const { schemas }: { readonly schemas: SchemaLookup } = this.parts.db;
    const missing = batch.tables.find(({ table }) => schemas.rolesOf?.(database, table) === undefined);
    if (missing === undefined) return;
    const why = this.parts.autoCreateTable ? "`auto_create_table` hint is disabled" : "auto-create table is disabled by frontend config";
    throw invalidArguments(`Invalid InsertRequest, reason: Table \`${missing.table}\` does not exist, and ${why}`);
  }
}

const NO_PHYSICAL_TABLE =
  "cannot use the hint physical_table: rows of this interface go to tables of their own; send metrics by remote write or OTLP";

function isDelete(kind: RowMessage): boolean {
  return kind === "deletes" || kind === "row_deletes";
}

/** The writes of a message as records: as many after each other as have no more than `RECORD_CELLS_MAX` cells, and `rowsMax` rows. */
function* recordsOf(writes: readonly TableWrite[], rowsMax: number): Generator<readonly TableWrite[]> {
  let tables: TableWrite[] = [];
  let [cells, rows] = [0, 0];
  for (const write of writes) {
    const own = write.rowCount * (write.shape?.length ?? 1);
    if (tables.length > 0 && (cells + own > RECORD_CELLS_MAX || rows + write.rowCount > rowsMax)) {
      yield tables;
      tables = [];
      [cells, rows] = [0, 0];
    }
    tables.push(write);
    cells += own;
    rows += write.rowCount;
  }
  if (tables.length > 0) yield tables;
}
