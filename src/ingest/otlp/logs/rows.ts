/**
 * Rows of logs as columns while a request is decoded. What a scope and its resource say goes to all of their rows at once, when the next
 * scope begins.
 */
import { resized } from "../../../base/bytes/longer-array.ts";
import { JSON_TYPE, STRING, type TimeUnit } from "../../../column/data-type.ts";
import type { NumberArray, Scalar, Vector } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import type { ProtoReader } from "../../../format/proto/reader.ts";
import type { ColumnDefinition } from "../../../table/schema.ts";
import type { FieldWrite, TableWrite } from "../../../table/write-batch.ts";
import { JsonColumn } from "../columns/json-column.ts";
import { pick } from "../columns/pick.ts";
import { RowTimes } from "../columns/row-times.ts";
import { TextColumn } from "../columns/text-column.ts";
import { UNFOLDED_BYTES_SLACK } from "../limits.ts";
import type { LogColumn } from "./columns.ts";
import type { ExtraColumns } from "./extra-columns.ts";

/** Places of columns in `LogPlan.columns`. */
export const C = {
  traceId: 0,
  spanId: 1,
  severityText: 2,
  severityNumber: 3,
  body: 4,
  attributes: 5,
  flags: 6,
  scopeName: 7,
  scopeVersion: 8,
  scopeAttributes: 9,
  scopeUrl: 10,
  resourceAttributes: 11,
  resourceUrl: 12,
} as const;

/** Texts that all rows of a scope share, in the order of their columns from `C.scopeName` on; undefined is NULL. */
export type SharedTexts = readonly (Uint8Array | undefined)[];

/** See the file header. */
export class LogRows {
  readonly times: RowTimes = new RowTimes();
  readonly traceId: TextColumn = new TextColumn();
  readonly spanId: TextColumn = new TextColumn();
  readonly severityText: TextColumn = new TextColumn();
  readonly body: TextColumn = new TextColumn();
  readonly attributes: JsonColumn;
  private readonly shared: readonly TextColumn[] = Array.from({ length: 6 }, () => new TextColumn());
  private sharedRows = 0;
  private keys: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  private severities: Int32Array<ArrayBuffer> = new Int32Array(1024);
  private flags: Uint32Array<ArrayBuffer> = new Uint32Array(1024);

  constructor(reader: ProtoReader) {
    this.attributes = new JsonColumn(reader);
  }

  /** Bytes held. */
  get byteSize(): number {
    const columns = [this.traceId, this.spanId, this.severityText, this.body, this.attributes, ...this.shared];
    return columns.reduce((sum, { byteSize }) => sum + byteSize, this.times.byteSize + 3 * this.keys.byteLength);
  }

  get rowCount(): number {
    return this.times.count;
  }

  /** Forgets the rows, before a body of so many bytes. */
  reset(bodyBytes: number): void {
    const bytesMax = Math.min(2 * bodyBytes + UNFOLDED_BYTES_SLACK, 2 ** 32 - 1);
    this.times.count = 0;
    this.attributes.reset();
    for (const column of [this.traceId, this.spanId, this.severityText, this.body, ...this.shared]) column.reset(bytesMax);
    this.sharedRows = 0;
  }

  /** Begins a row; its texts and attributes follow. */
  begin(low: number, high: number, key: number, severity: number, flags: number): void {
    const row = this.times.count;
    if (row === this.keys.length) this.grow();
    this.times.add(low, high);
    this.keys[row] = key;
    this.severities[row] = severity;
    this.flags[row] = flags;
  }

  /** Gives the rows since the last call what they share. @throws DbError InvalidArguments when a column exceeds its limit */
  share(texts: SharedTexts): void {
    const count = this.rowCount - this.sharedRows;
    this.shared.forEach((column, i) => column.repeat(texts[i], count));
    this.sharedRows = this.rowCount;
  }

  /** All rows as the engine takes them; borrows the memory. Columns that are tags are left out. */
  writes(
    table: string,
    unit: TimeUnit,
    columns: readonly LogColumn[],
    extra: ExtraColumns,
    shape: readonly ColumnDefinition[],
  ): TableWrite[] {
    const { rowCount } = this;
    const vectors = rowCount === 0 ? [] : this.vectors(columns);
    const fields = vectors.flatMap((vector, i): FieldWrite[] => {
      const { name, type, isTag } = columns[i] as LogColumn;
      return isTag ? [] : [{ name, type, vector }];
    });
    fields.push(...extra.fields(rowCount));
    return this.times.parts(unit).map((part): TableWrite => {
      const keys = part.rows === undefined ? this.keys : Uint32Array.from(part.rows, (row) => this.keys[row] as number);
      const picked = part.rows === undefined ? fields : fields.map((field) => ({ ...field, vector: pick(field.vector, part.rows) }));
      return { table, rowCount: part.rowCount, keys, timeUnit: unit, times: part.times, fields: picked, shape };
    });
  }

  /** In the order of the plan. */
  private vectors(columns: readonly LogColumn[]): readonly Vector[] {
    const { traceId, spanId, severityText, body, attributes, shared, severities, flags, rowCount } = this;
    return [
      traceId.vector(),
      spanId.vector(),
      severityText.vector(),
      numbers(severities, rowCount, columns[C.severityNumber]),
      body.vector(),
      attributes.vector(),
      numbers(flags, rowCount, columns[C.flags]),
      ...shared.map((column) => column.vector()),
    ];
  }

  private grow(): void {
    const length = this.keys.length * 2;
    this.keys = resized(this.keys, length);
    this.severities = resized(this.severities, length);
    this.flags = resized(this.flags, length);
  }
}

/** Numbers of a column, as text where a table has them so. */
function numbers(values: NumberArray, rowCount: number, column: LogColumn | undefined): Vector {
  if (column?.type.kind !== "string" && column?.type.kind !== "json") return { kind: "number", values, validity: undefined };
  const texts = Array.from(values.subarray(0, rowCount), (value): Scalar => String(value));
  return vectorOf(column.type.kind === "json" ? JSON_TYPE : STRING, texts);
}
