/**
 * Rows of a log table while a push is decoded: time, key, line, metadata.
 *
 * Times of one write must lie near each other, so rows are kept in parts by windows of 52 days, counted from 1970. Ordinary pushes
 * have one.
 */
import { longer, resized } from "../../base/bytes/longer-array.ts";
import { JSON_TYPE, STRING, TIMESTAMP_NANOSECOND } from "../../column/data-type.ts";
import type { ColumnDefinition } from "../../table/schema.ts";
import type { TableWrite } from "../../table/write-batch.ts";
import { TextColumn } from "./text-column.ts";
import { windowOf } from "../common/time-window.ts";

const NANOS_PER_SECOND = 1_000_000_000;

/** Names of the columns that every log table of this protocol has. A label of one of these names goes to the metadata. */
export const LOG_COLUMNS = { time: "greptime_timestamp", line: "line", metadata: "structured_metadata" } as const;

const SHAPE: readonly ColumnDefinition[] = [
  { name: LOG_COLUMNS.time, type: TIMESTAMP_NANOSECOND, semantic: "timestamp", nullable: false },
  { name: LOG_COLUMNS.line, type: STRING, semantic: "field", nullable: true },
  { name: LOG_COLUMNS.metadata, type: JSON_TYPE, semantic: "field", nullable: true },
];

/** Rows whose times lie in one window. */
export class LogPart {
  readonly line: TextColumn = new TextColumn();
  readonly metadata: TextColumn = new TextColumn();
  /** Number of the window; NaN while there are no rows. */
  window: number = Number.NaN;
  rowCount = 0;
  private keys: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  private offsets: Float64Array<ArrayBuffer> = new Float64Array(1024);
  private baseSeconds = 0;
  private baseNanos = 0;

  /** Bytes held. */
  get byteSize(): number {
    return this.line.byteSize + this.metadata.byteSize + this.keys.byteLength + this.offsets.byteLength;
  }

  /** Forgets the rows. */
  reset(): void {
    this.window = Number.NaN;
    this.rowCount = 0;
    this.line.reset();
    this.metadata.reset();
  }

  /** Begins a row; its line and metadata follow. `nanos` is 0..999,999,999. */
  begin(seconds: number, nanos: number, key: number): void {
    const row = this.rowCount;
    if (row === 0) {
      this.baseSeconds = seconds;
      this.baseNanos = nanos;
      this.window = windowOf(seconds);
    } else if (row === this.keys.length) this.grow();
    this.keys[row] = key;
    this.offsets[row] = (seconds - this.baseSeconds) * NANOS_PER_SECOND + (nanos - this.baseNanos);
    this.rowCount = row + 1;
  }

  /** The rows as the engine takes them; borrows the arrays. */
  write(table: string): TableWrite {
    const base = BigInt(this.baseSeconds) * BigInt(NANOS_PER_SECOND) + BigInt(this.baseNanos);
    return {
      table,
      rowCount: this.rowCount,
      keys: this.keys,
      timeUnit: "nanosecond",
      times: { kind: "time", base, offsets: this.offsets, validity: undefined },
      fields: [
        { name: LOG_COLUMNS.line, type: STRING, vector: this.line.vector() },
        { name: LOG_COLUMNS.metadata, type: JSON_TYPE, vector: this.metadata.vector() },
      ],
      shape: SHAPE,
    };
  }

  private grow(): void {
    this.keys = longer(this.keys);
    this.offsets = resized(this.offsets, this.offsets.length * 2);
  }
}

/** All rows of a push. The memory of the first part is kept for the next one. */
export class LogRows {
  rowCount = 0;
  private current: LogPart = new LogPart();
  private readonly others: Map<number, LogPart> = new Map();
  private first: LogPart = this.current;

  /** Bytes held. */
  get byteSize(): number {
    return this.first.byteSize;
  }

  /** Forgets the rows. */
  reset(): void {
    this.first.reset();
    this.current = this.first;
    this.others.clear();
    this.rowCount = 0;
  }

  /** Begins a row and returns the part that takes its line and its metadata. `nanos` is 0..999,999,999. */
  begin(seconds: number, nanos: number, key: number): LogPart {
    const window = windowOf(seconds);
    if (this.current.window !== window) this.current = this.partOf(window);
    this.current.begin(seconds, nanos, key);
    this.rowCount++;
    return this.current;
  }

  /** All rows. */
  writes(table: string): TableWrite[] {
    const parts = [this.first, ...this.others.values()].filter(({ rowCount }) => rowCount > 0);
    return parts.map((part) => part.write(table));
  }

  private partOf(window: number): LogPart {
    if (this.first.rowCount === 0 || this.first.window === window) return this.first;
    let part = this.others.get(window);
    if (part === undefined) {
      part = new LogPart();
      this.others.set(window, part);
    }
    return part;
  }
}
