/**
 * Rows of a table as line protocol: `table,tag=value field=value time`, times in nanoseconds.
 *
 * What it has no form for is refused by name, never dropped: other types, tags that are empty or hold a line end, NaN and infinity, rows
 * without any field. NULL is a tag or field that is not there.
 */
import { invalidArguments } from "../../base/error.ts";
import type { Batch } from "../../column/batch.ts";
import { type DataType, displayName } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Scalar } from "../../column/vector.ts";
import { shortestFloat32 } from "../../value/float32.ts";
import { floatText } from "../../value/number-text.ts";
import { NANOS_PER_UNIT } from "../../value/time-units.ts";
import type { AnsweredRows } from "../common/arrow-answer.ts";
import type { TableFacts } from "../common/table-facts.ts";

/** Characters that are handed on at a time. */
const PIECE_CHARACTERS: number = 256 * 1024;
const INT64_MAX: bigint = 2n ** 63n - 1n;

/** The table that rows are of. */
export interface LineTable {
  readonly name: string;
  readonly facts: TableFacts;
}

interface Column {
  readonly at: number;
  readonly name: string;
  readonly type: DataType;
  /** `,name=` or `name=`, escaped. */
  readonly begin: string;
}

const wrong = (why: string): Error => invalidArguments(`cannot write line protocol: ${why}; csv, json and parquet hold everything`);

/** The lines of a table's rows. @throws DbError InvalidArguments */
export async function* encodeLines({ headers, batches }: AnsweredRows, table: LineTable | undefined): AsyncGenerator<Uint8Array> {
  if (table === undefined) throw wrong("rows of a query have no tags");
  const roles = new Map(table.facts.columns.map(({ name, role }) => [name, role]));
  const tags: Column[] = [];
  const fields: Column[] = [];
  let time: Column | undefined;
  for (const [at, { name, type }] of headers.entries()) {
    const role = roles.get(name);
    if (role === "timestamp") time = { at, name, type, begin: "" };
    else if (role === "tag") tags.push({ at, name, type: tagType(name, type), begin: `,${escapedKey(name)}=` });
    else fields.push({ at, name, type: fieldType(name, type), begin: `${escapedKey(name)}=` });
  }
  if (time === undefined) throw wrong(`${table.name} has no time index`);
  const measurement = escaped("the name of the table", table.name, /[, ]/g);
  const encoder = new TextEncoder();
  let text = "";
  for await (const batch of batches) {
    for (let row = 0; row < batch.rowCount; row++) {
      text += lineOf(measurement, tags, fields, time, batch, row);
      if (text.length < PIECE_CHARACTERS) continue;
      yield encoder.encode(text);
      text = "";
    }
  }
  if (text !== "") yield encoder.encode(text);
}

function lineOf(measurement: string, tags: readonly Column[], fields: readonly Column[], time: Column, batch: Batch, row: number): string {
  let line = measurement;
  for (const tag of tags) {
    const value = valueOf(tag, batch, row);
    if (value === undefined) continue;
    if (value === "") throw wrong(`tag ${tag.name} of a row is an empty text`);
    line += tag.begin + escaped(`tag ${tag.name}`, String(value), /[,= ]/g);
  }
  let separator = " ";
  for (const field of fields) {
    const value = valueOf(field, batch, row);
    if (value === undefined) continue;
    line += separator + field.begin + fieldText(field, value);
    separator = ",";
  }
  if (separator === " ") throw wrong("all fields of a row are NULL");
  return `${line} ${nanosOf(time, valueOf(time, batch, row))}\n`;
}

function valueOf({ at, type }: Column, { vectors }: Batch, row: number): Scalar {
  const vector = vectors[at];
  return vector === undefined ? undefined : scalarAt(vector, type, row);
}

function tagType(name: string, type: DataType): DataType {
  if (type.kind === "string") return type;
  throw wrong(`tag ${name} is ${displayName(type)}, and tags there are texts`);
}

function fieldType(name: string, type: DataType): DataType {
  if (type.kind === "string" || type.kind === "int" || type.kind === "float" || type.kind === "boolean") return type;
  throw wrong(`column ${name} is ${displayName(type)}`);
}

function fieldText({ name, type }: Column, value: Exclude<Scalar, undefined>): string {
  switch (type.kind) {
    case "int":
      return `${String(value as number | bigint)}${type.signed ? "i" : "u"}`;
    case "float": {
      const number = type.bits === 32 ? shortestFloat32(Number(value)) : Number(value);
      if (!Number.isFinite(number)) throw wrong(`column ${name} of a row is ${floatText(number)}`);
      return floatText(number);
    }
    case "boolean":
      return String(value);
    default:
      return `"${String(value).replace(/["\\]/g, "\\$&")}"`;
  }
}

function nanosOf({ type }: Column, value: Scalar): bigint {
  const nanos = BigInt(value as bigint) * (type.kind === "timestamp" ? NANOS_PER_UNIT[type.unit] : 1n); // A time index is never NULL.
  if (nanos > INT64_MAX || nanos < -INT64_MAX - 1n) throw wrong("a time is out of the range of nanoseconds");
  return nanos;
}

function escapedKey(name: string): string {
  return escaped(`the name of column ${name}`, name, /[,= ]/g);
}

/** A name or tag. A backslash at its end, or before what is escaped, has no form there. */
function escaped(what: string, text: string, special: RegExp): string {
  // oxlint-disable-next-line no-control-regex -- it is about those
  if (/[\u0000-\u001f\u007f]/.test(text)) throw wrong(`${what} has a control character`);
  if (/\\(?:[,= ]|$)/.test(text) || text.startsWith("#")) throw wrong(`${what} is ${JSON.stringify(text.slice(0, 80))}`);
  return text.replace(special, "\\$&");
}
