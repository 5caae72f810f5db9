/**
 * Decodes lines into the builders of their tables: the hot loop of the server's hottest path.
 *
 *   measurement,tag=value field=value,field=value time LF
 *   └── SeriesIndex ────┘ └── FieldNames, values ┘└ TimeReader
 *
 * Every position returned is that of the next byte; a negative one means that the line is refused for the reason in `failure`. The
 * range always ends with LF, so loops that stop at a control character need no bound; only quoted text looks for the end.
 * Row numbers: the line is row `part.rowCount` of its part until the time is read; only then the count goes up. What a refused line
 * has written lies behind the count and `TableBuilder.rollback` takes it back.
 */
import type { Budget } from "./budget.ts";
import { Failure, Reason } from "./failure.ts";
import { FieldReader } from "./field-reader.ts";
import { lineExtent } from "./line-extent.ts";
import { LineErrors } from "./line-errors.ts";
import type { SeriesIndex } from "./series-index.ts";
import type { TableBuilder, TagShape } from "./table-builder.ts";
import { TimeReader } from "./time-reader.ts";
import type { DecodeOptions } from "./types.ts";

const NO_BYTES: Uint8Array = new Uint8Array(0);
const NO_VIEW: DataView = new DataView(new ArrayBuffer(0));

export class LineDecoder {
  readonly errors: LineErrors = new LineErrors();
  /** Tables that this request has touched, in that order. */
  readonly touched: TableBuilder[] = [];
  rowCount = 0;
  private readonly failure: Failure = new Failure();
  private readonly time: TimeReader = new TimeReader();
  private readonly fieldReader: FieldReader;
  private readonly series: SeriesIndex;
  private bytes: Uint8Array = NO_BYTES;
  private view: DataView = NO_VIEW;
  private end = 0;
  private epoch = 0;
  private lineNumber = 1;
  private options: DecodeOptions;

  constructor(series: SeriesIndex, budget: Budget, options: DecodeOptions) {
    this.series = series;
    this.options = options;
    this.fieldReader = new FieldReader(this.failure, budget, options);
  }

  /** Starts a request. */
  begin(options: DecodeOptions): void {
    this.options = options;
    this.epoch++;
    this.rowCount = 0;
    this.lineNumber = 1;
    this.touched.length = 0;
    this.errors.begin();
    this.time.begin(options.precision, options.defaultTimeNanos);
    this.fieldReader.begin(options);
  }

  /**
   * Decodes the lines of `bytes[start, end)`, whose last byte is LF. `bodyEnd >= end` is where the body ends. Returns the position
   * behind the last line decoded: before `end` when a quoted text goes on beyond it.
   */
  decode(bytes: Uint8Array, start: number, end: number, bodyEnd: number): number {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.end = end;
    this.time.forget();
    this.fieldReader.open(bytes, this.view, end);
    let at = start;
    while (at < end) {
      if (bytes[at]! <= 0x23) {
        at = this.skipBlank(at);
        if (at >= end) break;
      }
      const next = this.line(at);
      if (next >= 0) {
        at = next;
        this.lineNumber += 1 + this.fieldReader.newlines;
        continue;
      }
      if (this.failure.reason === Reason.Text && end < bodyEnd) return at;
      at = this.refuse(at, bodyEnd);
    }
    return at;
  }

  /** Lets go of the body. */
  close(): void {
    this.bytes = NO_BYTES;
    this.view = NO_VIEW;
    this.fieldReader.open(NO_BYTES, NO_VIEW, 0);
  }

  /** Skips blank lines, comments, and blanks before a line. Returns the position of a line's first byte, or the end. */
  private skipBlank(start: number): number {
    const { bytes, end } = this;
    let at = start;
    while (at < end) {
      const byte = bytes[at]!;
      if (byte === 0x20 || byte === 0x09) at++;
      else if (byte === 0x0a || (byte === 0x0d && bytes[at + 1] === 0x0a)) {
        at += byte === 0x0a ? 1 : 2;
        this.lineNumber++;
      } else if (byte === 0x23) {
        at = bytes.indexOf(0x0a, at) + 1;
        this.lineNumber++;
      } else break;
    }
    return at;
  }

  /** Notes a refused line and returns the position behind it. */
  private refuse(start: number, bodyEnd: number): number {
    const { bytes } = this;
    const behind = lineExtent(bytes, start, bodyEnd);
    this.errors.add(this.lineNumber, bytes, start, behind, this.failure);
    for (let i = start; i < behind; i++) if (bytes[i] === 0x0a) this.lineNumber++;
    return behind;
  }

  private line(start: number): number {
    const { series, bytes } = this;
    const key = series.find(bytes, this.view, start, this.end, this.failure);
    if (key < 0) return -1;
    const shape = series.shape(key);
    const { table } = shape;
    if (table.epoch !== this.epoch) {
      table.begin(this.epoch, this.options);
      this.touched.push(table);
    }
    if (shape.epoch !== this.epoch && table.checkTags(shape, this.options, this.failure) < 0) return -1;
    let fieldsStart = series.keyEnd;
    while (bytes[fieldsStart] === 0x20) fieldsStart++;
    const next = this.row(table, shape, key, fieldsStart);
    if (next >= 0 || next === -1) return next;
    // The time lies in another part: take the row back and write it there.
    return this.row(table, shape, key, fieldsStart);
  }

  /** Decodes fields and time into the current part. Returns -2, with the part changed, when the time belongs to another one. */
  private row(table: TableBuilder, shape: TagShape, key: number, fieldsStart: number): number {
    const { time } = this;
    const { part } = table;
    const activeCount = table.active.length;
    const row = part.rowCount;
    if (row === part.capacity && !part.grow(table.active)) return this.failure.at(Reason.Memory, 0, 0);
    const fieldsEnd = this.fieldReader.read(table, shape, fieldsStart);
    const next = fieldsEnd < 0 ? -1 : this.timeAndLineEnd(fieldsEnd);
    if (next < 0) {
      table.rollback(activeCount);
      return -1;
    }
    const { seconds, nanos } = time;
    if (seconds < part.windowStart || seconds >= part.windowEnd) {
      table.moveTo(seconds);
      if (table.part !== part) {
        const other = table.part;
        table.part = part;
        table.rollback(activeCount);
        table.part = other;
        return -2;
      }
      table.openPart(seconds, nanos);
    }
    part.keys[row] = key;
    part.offsets[row] = (seconds - part.baseSeconds) * 1e9 + (nanos - part.baseNanos);
    part.rowCount = row + 1;
    this.rowCount++;
    if (shape.epoch !== this.epoch) table.commitTags(shape);
    return next;
  }

  /** Reads what follows the fields. Returns the position behind the line end. */
  private timeAndLineEnd(start: number): number {
    const { bytes, failure, time } = this;
    let at = start;
    while (bytes[at] === 0x20) at++;
    if (at > start && bytes[at]! > 0x20) {
      at = time.read(bytes, this.view, at, this.end, failure);
      if (at < 0) return -1;
      if (bytes[at] === 0x0a) return at + 1;
      while (bytes[at] === 0x20) at++;
    } else if (!time.useDefault()) return failure.at(Reason.TimestampRange, start, start);
    if (bytes[at] === 0x0a) return at + 1;
    if (bytes[at] === 0x0d && bytes[at + 1] === 0x0a) return at + 2;
    return failure.at(Reason.Trailing, at, bytes.indexOf(0x0a, at));
  }
}
