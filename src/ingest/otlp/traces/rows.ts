/**
 * Rows of spans as columns while a request is decoded, but for attributes that are columns of their own.
 */
import { resized } from "../../../base/bytes/longer-array.ts";
import { JSON_TYPE, STRING, TIMESTAMP_NANOSECOND, UINT64 } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import type { ProtoReader } from "../../../format/proto/reader.ts";
import type { FieldWrite } from "../../../table/write-batch.ts";
import { JsonColumn } from "../columns/json-column.ts";
import { RowTimes } from "../columns/row-times.ts";
import { TextColumn } from "../columns/text-column.ts";
import { UNFOLDED_BYTES_SLACK } from "../limits.ts";
import { SPAN_KINDS, STATUS_CODES } from "../messages.ts";

const TWO_32 = 0x1_0000_0000;
const KINDS: readonly Uint8Array[] = SPAN_KINDS.map((name) => Buffer.from(name));
const STATUSES: readonly Uint8Array[] = STATUS_CODES.map((name) => Buffer.from(name));
const EMPTY = new Uint8Array(0);

/** Texts that all spans of a scope share; the last two belong to model v0. */
export interface SharedTexts {
  readonly scopeName: Uint8Array;
  readonly scopeVersion: Uint8Array;
  readonly scopeAttributes: Uint8Array;
  readonly resourceAttributes: Uint8Array;
}

/** See the file header. */
export class SpanRows {
  readonly start: RowTimes = new RowTimes();
  readonly end: RowTimes = new RowTimes();
  readonly traceId: TextColumn = new TextColumn();
  readonly spanId: TextColumn = new TextColumn();
  readonly parentId: TextColumn = new TextColumn();
  readonly name: TextColumn = new TextColumn();
  readonly statusMessage: TextColumn = new TextColumn();
  readonly traceState: TextColumn = new TextColumn();
  readonly events: JsonColumn;
  readonly links: JsonColumn;
  /** Of model v0. */
  readonly attributes: JsonColumn;
  /** Bytes that a column may take. */
  bytesMax = 0;
  private readonly kind: TextColumn = new TextColumn();
  private readonly statusCode: TextColumn = new TextColumn();
  private readonly scopeName: TextColumn = new TextColumn();
  private readonly scopeVersion: TextColumn = new TextColumn();
  private readonly scopeAttributes: TextColumn = new TextColumn();
  private readonly resourceAttributes: TextColumn = new TextColumn();
  private sharedRows = 0;
  private keys: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  private operations: Int32Array<ArrayBuffer> = new Int32Array(1024);
  private durations: Float64Array<ArrayBuffer> = new Float64Array(1024);
  /** Durations that a number does not hold, by row. */
  private readonly wide: Map<number, bigint> = new Map();

  constructor(reader: ProtoReader) {
    this.events = new JsonColumn(reader);
    this.links = new JsonColumn(reader);
    this.attributes = new JsonColumn(reader);
  }

  /** Bytes held. */
  get byteSize(): number {
    const columns = [...this.texts, this.events, this.links, this.attributes, this.start, this.end];
    return columns.reduce((sum, { byteSize }) => sum + byteSize, this.keys.length * 16);
  }

  get rowCount(): number {
    return this.start.count;
  }

  /** Forgets the rows, before a body of so many bytes. */
  reset(bodyBytes: number): void {
    this.bytesMax = Math.min(2 * bodyBytes + UNFOLDED_BYTES_SLACK, 2 ** 32 - 1);
    for (const column of this.texts) column.reset(this.bytesMax);
    for (const column of [this.events, this.links, this.attributes]) column.reset();
    this.start.count = 0;
    this.end.count = 0;
    this.sharedRows = 0;
    this.wide.clear();
  }

  /** Begins a row, whose times are there already; its other texts follow. Kind and status are numbers of their enums. */
  begin(key: number, operation: number, kind: number, status: number | undefined): void {
    const row = this.rowCount - 1;
    if (row === this.keys.length) this.grow();
    this.keys[row] = key;
    this.operations[row] = operation;
    const kindText = KINDS[kind] ?? (KINDS[0] as Uint8Array);
    this.kind.add(kindText, 0, kindText.length);
    const statusText = status === undefined ? EMPTY : (STATUSES[status] ?? (STATUSES[0] as Uint8Array));
    this.statusCode.add(statusText, 0, statusText.length);
  }

  /** Adds the times of the row that `begin` begins next; of an end before the start the duration is 0. */
  times(startLow: number, startHigh: number, endLow: number, endHigh: number): void {
    const row = this.start.count;
    this.start.add(startLow, startHigh);
    this.end.add(endLow, endHigh);
    if (row === this.keys.length) this.grow();
    const duration = Math.max(0, (endHigh - startHigh) * TWO_32 + (endLow - startLow));
    this.durations[row] = duration;
    if (duration > Number.MAX_SAFE_INTEGER) this.wide.set(row, this.end.at(row) - this.start.at(row));
  }

  /** Gives the rows since the last call what they share. @throws DbError InvalidArguments when a column exceeds its limit */
  share(texts: SharedTexts, isV0: boolean): void {
    const count = this.rowCount - this.sharedRows;
    this.scopeName.repeat(texts.scopeName, count);
    this.scopeVersion.repeat(texts.scopeVersion, count);
    if (isV0) {
      this.scopeAttributes.repeat(texts.scopeAttributes, count);
      this.resourceAttributes.repeat(texts.resourceAttributes, count);
    }
    this.sharedRows = this.rowCount;
  }

  /** Trace and span of a row, as reasons name them. */
  labelAt(row: number): string {
    return `${this.traceId.textAt(row)}:${this.spanId.textAt(row)}`;
  }

  /** Key of a row. */
  keyAt(row: number): number {
    return this.keys[row] as number;
  }

  /** The key of a row's operation, or -1. */
  operationAt(row: number): number {
    return this.operations[row] as number;
  }

  /** All columns but the time index, the tag and attributes of v1. Borrows the memory. */
  fields(isV0: boolean): FieldWrite[] {
    const text = (name: string, column: TextColumn): FieldWrite => ({ name, type: STRING, vector: column.vector() });
    const json = (name: string, column: TextColumn | JsonColumn): FieldWrite => ({ name, type: JSON_TYPE, vector: column.vector() });
    const fields: FieldWrite[] = [
      { name: "timestamp_end", type: TIMESTAMP_NANOSECOND, vector: this.endTimes() },
      { name: "duration_nano", type: UINT64, vector: this.durationVector() },
      text("parent_span_id", this.parentId),
      text("trace_id", this.traceId),
      text("span_id", this.spanId),
      text("span_kind", this.kind),
      text("span_name", this.name),
      text("span_status_code", this.statusCode),
      text("span_status_message", this.statusMessage),
      text("trace_state", this.traceState),
      text("scope_name", this.scopeName),
      text("scope_version", this.scopeVersion),
      json("span_events", this.events),
      json("span_links", this.links),
    ];
    if (!isV0) return fields;
    const ofV0 = [
      json("span_attributes", this.attributes),
      json("scope_attributes", this.scopeAttributes),
      json("resource_attributes", this.resourceAttributes),
    ];
    return [...fields, ...ofV0];
  }

  private get texts(): readonly TextColumn[] {
    const { traceId, spanId, parentId, name, statusMessage, traceState, kind, statusCode, scopeName, scopeVersion } = this;
    const { scopeAttributes, resourceAttributes } = this;
    return [traceId, spanId, parentId, name, statusMessage, traceState, kind, statusCode, scopeName, scopeVersion].concat(
      scopeAttributes,
      resourceAttributes,
    );
  }

  private endTimes(): Vector {
    const [part, ...more] = this.end.parts("nanosecond");
    if (part !== undefined && more.length === 0) return part.times;
    const values = BigInt64Array.from({ length: this.rowCount }, (_, row) => this.end.at(row));
    return { kind: "wide", values, validity: undefined };
  }

  private durationVector(): Vector {
    if (this.wide.size === 0) return { kind: "number", values: this.durations, validity: undefined };
    const values = BigUint64Array.from({ length: this.rowCount }, (_, row) => this.wide.get(row) ?? BigInt(this.durations[row] as number));
    return { kind: "wide", values, validity: undefined };
  }

  private grow(): void {
    const length = this.keys.length * 2;
    this.keys = resized(this.keys, length);
    this.operations = resized(this.operations, length);
    this.durations = resized(this.durations, length);
  }
}
