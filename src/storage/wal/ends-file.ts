/**
 * The file `ends` of a log's folder: statements about the log's two ends, one after the other in three places. A statement goes where
 * neither the latest nor the one before it stands, so that a torn or failed write takes none away that may be the only one on disk. The
 * file never grows: a full disk takes statements, and so does not keep segments from being trimmed.
 */
import { join } from "node:path";
import { assert } from "../../base/assert.ts";
import { DbError, errorText } from "../../base/error.ts";
import { failPoint } from "../../base/process/fail-point.ts";
import { StatusCode } from "../../base/status-code.ts";
import { Turns } from "../../base/scheduler/turns.ts";
import type { LogDisk } from "./log-disk.ts";
import {
  decodeStatement,
  encodeStatement,
  type EndsStatement,
  type LogEnds,
  NO_ENDS,
  STATEMENT_PLACES,
  STATEMENT_STRIDE,
} from "./log-ends.ts";
import { LogFile } from "./log-file.ts";

/** Sum of the numbers of all three places. */
const PLACES_SUM = 3;

/** Name of the file. */
export const ENDS_NAME = "ends";

/** A statement and where it stands. */
interface PlacedStatement {
  readonly statement: EndsStatement;
  readonly place: number;
}

/** Invariant: statements are written one at a time; until one is on disk, `said` is the one before it. */
export class EndsFile {
  private readonly disk: LogDisk;
  private readonly folder: string;
  private readonly path: string;
  private readonly isSynced: boolean;
  private readonly turns: Turns = new Turns();
  private file: LogFile | undefined;
  private said: LogEnds = NO_ENDS;
  private number = 0;
  /** Where the latest statement stands, and the one before it. */
  private latest = 0;
  private before = 1;
  /** Whether the last statement failed: the disk may have it, or `said`. */
  private isUnsure = false;

  /** @param isSynced whether a statement is on disk before it counts, unless its caller says so himself */
  constructor(disk: LogDisk, folder: string, isSynced: boolean) {
    this.disk = disk;
    this.folder = folder;
    this.path = join(folder, ENDS_NAME);
    this.isSynced = isSynced;
  }

  /** What was said last. */
  get ends(): LogEnds {
    return this.said;
  }

  /** Reads what the process before said; undefined when no statement is whole. @throws DbError StorageUnavailable */
  async read(): Promise<LogEnds | undefined> {
    const bytes = new Uint8Array(STATEMENT_PLACES * STATEMENT_STRIDE);
    let there = 0;
    try {
      for (let read = -1; read !== 0 && there < bytes.length; there += read) {
        read = await this.disk.read(this.path, bytes.subarray(there), there);
      }
    } catch (cause) {
      throw unavailable("read", this.path, errorText(cause), cause);
    }
    const [first, second] = this.statementsIn(bytes.subarray(0, there));
    if (first === undefined) return undefined;
    const { number, oldest, newest, end } = first.statement;
    this.number = number;
    this.latest = first.place; // A killed process may have left it unsynced: the one before it counts as well.
    this.before = second?.place ?? (first.place + 1) % STATEMENT_PLACES;
    this.said = { oldest, newest, end };
    return this.said;
  }

  /** Makes the file or opens it, and says what the start found. @throws DbError StorageUnavailable */
  async begin(ends: LogEnds, isThere: boolean): Promise<void> {
    try {
      this.file = isThere ? await LogFile.open(this.disk, this.path) : await LogFile.create(this.disk, this.path);
      if (this.number === 0) {
        this.number = 1;
        this.said = ends;
        await this.writeWhole(this.file);
      } else await this.say(ends, this.isSynced);
    } catch (cause) {
      throw unavailable("write", this.path, errorText(cause), cause);
    }
  }

  /** Says what has changed. @throws the system's error: then the disk may have this statement or the one before */
  note(change: Partial<LogEnds>, isSynced: boolean = this.isSynced): Promise<void> {
    return this.turns.alone(() => this.say({ ...this.said, ...change }, isSynced));
  }

  /** After a statement that failed says the one before it again, so that the disk has that one. @throws the system's error */
  settle(): Promise<void> {
    return this.turns.alone(async () => {
      if (this.isUnsure) await this.say(this.said, this.isSynced);
    });
  }

  close(): Promise<void> {
    return this.turns.alone(async () => {
      const { file } = this;
      this.file = undefined;
      await file?.close();
    });
  }

  private async say(ends: LogEnds, isSynced: boolean): Promise<void> {
    const { file } = this;
    assert(file !== undefined, "statements are made while the file of the log's ends is open");
    const statement = { ...ends, number: ++this.number };
    this.isUnsure = true;
    const place = PLACES_SUM - this.latest - this.before;
    await file.write([encodeStatement(statement)], place * STATEMENT_STRIDE);
    if (isSynced) await file.sync();
    this.isUnsure = false;
    this.said = ends;
    this.before = this.latest;
    this.latest = place;
    failPoint("log.ends-noted");
  }

  /** All places, so that later statements need no room. */
  private async writeWhole(file: LogFile): Promise<void> {
    const bytes = new Uint8Array(STATEMENT_PLACES * STATEMENT_STRIDE);
    bytes.set(encodeStatement({ ...this.said, number: this.number }));
    await file.write([bytes], 0);
    if (this.isSynced) await file.sync();
    if (this.isSynced) await this.disk.syncFolder(this.folder);
  }

  /** Whole statements, the latest first. */
  private statementsIn(bytes: Uint8Array): PlacedStatement[] {
    const found: PlacedStatement[] = [];
    for (let place = 0; place < STATEMENT_PLACES; place++) {
      const result = decodeStatement(bytes, place * STATEMENT_STRIDE);
      if (result.kind === "ok") found.push({ statement: result.statement, place });
      if (result.kind !== "unknown") continue;
      throw unavailable("read", this.path, `it has format version ${result.version}, which this server does not know`);
    }
    return found.sort((a, b) => b.statement.number - a.statement.number);
  }
}

function unavailable(verb: string, path: string, why: string, cause?: unknown): DbError {
  return new DbError(StatusCode.StorageUnavailable, `cannot ${verb} the log's ends ${path}: ${why}`, { cause });
}
