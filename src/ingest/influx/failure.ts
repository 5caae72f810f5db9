/**
 * Why the current line is refused, noted as numbers. The sentence is made only for the lines that the answer names, so that a body
 * of a million bad lines costs little more than scanning it.
 */
import { FIELD_NAMES_MAX, MEASUREMENTS_MAX } from "./limits.ts";
import { FIELD_TEXT_BYTES_MAX, NAME_BYTES_MAX, SERIES_KEY_BYTES_MAX, TABLE_COLUMNS_MAX } from "../../base/limits.ts";

/** What can be wrong with a line. */
export const Reason = {
  NoFields: 0,
  EmptyMeasurement: 1,
  TagSyntax: 2,
  FieldSyntax: 3,
  Integer: 4,
  Unsigned: 5,
  Float: 6,
  Value: 7,
  Text: 8,
  Timestamp: 9,
  TimestampRange: 10,
  Trailing: 11,
  Utf8: 12,
  Control: 13,
  DuplicateTag: 14,
  NameLength: 15,
  KeyLength: 16,
  Columns: 17,
  FieldNames: 18,
  Measurements: 19,
  Memory: 20,
  Conflict: 21,
  TableName: 22,
  TextLength: 23,
} as const;

/** One of `Reason`. */
export type Reason = (typeof Reason)[keyof typeof Reason];

/** Longest piece of a line that a reason quotes, in bytes. */
const QUOTE_BYTES_MAX = 64;

const lossy = new TextDecoder();

/** The reason of the last refused line: bytes `[start, end)` are at fault; `column`, `want` and `have` belong to a conflict. */
export class Failure {
  reason: Reason = Reason.NoFields;
  start = 0;
  end = 0;
  column = "";
  want = "";
  have = "";

  /** Notes a fault in `[start, end)`. Returns -1, which stands for failure wherever a position is returned. */
  at(reason: Reason, start: number, end: number): -1 {
    this.reason = reason;
    this.start = start;
    this.end = end;
    return -1;
  }

  /** Notes that a column cannot take what the line holds. Returns -1. */
  conflict(column: string, want: string, have: string): -1 {
    this.reason = Reason.Conflict;
    this.column = column;
    this.want = want;
    this.have = have;
    return -1;
  }

  /** The reason as a sentence for people. */
  describe(bytes: Uint8Array): string {
    const cut = Math.min(this.end, this.start + QUOTE_BYTES_MAX);
    const quote = lossy.decode(bytes.subarray(this.start, cut));
    switch (this.reason) {
      case Reason.NoFields:
        return "No fields were provided";
      case Reason.EmptyMeasurement:
        return "A generic parsing error occurred: the measurement is empty";
      case Reason.TagSyntax:
        return `A generic parsing error occurred: want tag=value with neither side empty, got '${quote}'`;
      case Reason.FieldSyntax:
        return `A generic parsing error occurred: want field=value with neither side empty, got '${quote}'`;
      case Reason.Integer:
        return `Unable to parse integer value '${quote}'`;
      case Reason.Unsigned:
        return `Unable to parse unsigned integer value '${quote}'`;
      case Reason.Float:
        return `Unable to parse floating-point value '${quote}'`;
      case Reason.Value:
        return `A generic parsing error occurred: want a number, a boolean or a quoted string, got '${quote}'`;
      case Reason.Text:
        return "A generic parsing error occurred: a string lacks its closing quote";
      case Reason.Timestamp:
        return `Unable to parse timestamp value '${quote}'`;
      case Reason.TimestampRange:
        return `Unable to parse timestamp value '${quote}': beyond 64-bit nanoseconds`;
      case Reason.Trailing:
        return `Could not parse entire line. Found trailing content: '${quote}'`;
      case Reason.Utf8:
        return `A generic parsing error occurred: '${quote}' is not UTF-8`;
      case Reason.Control:
        return `A generic parsing error occurred: control character ${hexOf(bytes[this.start])} in a name or tag value`;
      case Reason.DuplicateTag:
        return `A generic parsing error occurred: tag key '${this.column}' appears twice`;
      case Reason.Conflict:
        return `column ${this.column}: expected ${this.want}, got ${this.have}`;
      case Reason.TableName:
        return `measurement '${this.column}' cannot be a table name`;
      case Reason.NameLength:
      case Reason.KeyLength:
      case Reason.TextLength:
      case Reason.Columns:
      case Reason.FieldNames:
      case Reason.Measurements:
      case Reason.Memory:
        return LIMIT_TEXT[this.reason];
    }
  }
}

const LIMIT_TEXT = {
  [Reason.NameLength]: `a name is longer than ${NAME_BYTES_MAX} bytes`,
  [Reason.KeyLength]: `measurement and tags are longer than ${SERIES_KEY_BYTES_MAX} bytes`,
  [Reason.TextLength]: `a text is longer than ${FIELD_TEXT_BYTES_MAX} bytes; cut it, or send it in several fields`,
  [Reason.Columns]: `the request gives a table more than ${TABLE_COLUMNS_MAX} columns`,
  [Reason.FieldNames]: `the request names more than ${FIELD_NAMES_MAX} fields; send it in parts`,
  [Reason.Measurements]: `the request names more than ${MEASUREMENTS_MAX} measurements; send it in parts`,
  [Reason.Memory]: "the request unfolds to more columns and rows than memory is set aside for; send it in parts",
} as const;

function hexOf(byte: number | undefined): string {
  return `0x${(byte ?? 0).toString(16).padStart(2, "0")}`;
}
