/**
 * An expression over one column of coded text, computed for the entries of its tables as batches of their own: from bytes to bytes.
 *
 *   entries of a table ─► a vector of bytes ─► the expression ─► states and numbers, or texts that keep the codes
 *
 * Numbers and truths are computed for the entries that rows have and nobody looked at yet, for all once there were as many rows; texts for
 * all entries at once, as soon as there were enough rows for that, so that their table stays one and what others find out may be kept.
 */
import { bytesOfEntries } from "../../column/coded-text.ts";
import { pickTexts, type TextTable } from "../../column/text-table.ts";
import type { BytesVector, CodedVector, NumberVector, Vector } from "../../column/vector.ts";
import type { Value } from "../function/value/value.ts";

/** States of entries: Boolean values, a value, NULL, "ask the interpreter", or not looked at. As in `lifted-table.ts`. */
const FALSE = 0;
const TRUE = 1;
const NULL_ENTRY = 2;
const UNKNOWN = 4;

/** Values of an expression over entries that lie as bytes; undefined: only the interpreter knows. */
export type OfEntries = (entries: BytesVector, count: number) => Vector | undefined;

/** A table is computed whole once it has at most this many times the entries that it had rows. */
const WHOLE_RATIO = 4;
/** Entries of a table that is computed whole at once, however few rows there are. */
const SMALL_TABLE = 1024;
/** Most bytes of a table that is computed whole. Reason: what comes out is as large, and nobody counts it. */
const WHOLE_BYTES_MAX: number = 16 * 1024 * 1024;
/** Most bytes of what is kept, but for the table that came last. Files have many tables. */
const HELD_BYTES_MAX: number = 32 * 1024 * 1024;
/** Bytes of the state and the number of an entry. */
const NUMBER_BYTES = 9;

/** What is known of the entries of one table. */
export class EntryTable {
  /** By code. */
  readonly states: Uint8Array;
  readonly values: Float64Array;
  private readonly entries: TextTable;
  private rowsSeen = 0;
  /** Whether values of all entries are there; undefined: that was not tried yet. */
  private isWhole: boolean | undefined;
  private texts: EntryTexts | undefined;
  /** Whether values are truths, of which 0 is FALSE. */
  private readonly isTruth: boolean;

  constructor(entries: TextTable, { isText, isTruth }: EntryKind, ofNull: Value) {
    this.entries = entries;
    this.isTruth = isTruth;
    this.states = new Uint8Array(isText ? 0 : entries.size).fill(UNKNOWN);
    this.values = new Float64Array(isText ? 0 : entries.size);
    if (!isText) this.note(0, ofNull);
  }

  private note(code: number, value: Value): void {
    if (typeof value === "number") this.values[code] = value;
    this.states[code] = value === undefined ? NULL_ENTRY : value === false ? FALSE : TRUE;
  }

  /** Looks at the entries of some rows; false: only the interpreter knows. */
  look(codes: Uint32Array, rowCount: number, ofEntries: OfEntries): boolean {
    this.rowsSeen += rowCount;
    if (this.isWhole ?? this.lookAtAll(ofEntries)) return true;
    const { states } = this;
    const unknown = new Uint32Array(Math.min(rowCount, states.length));
    let count = 0;
    for (let row = 0; row < rowCount; row++) {
      const code = codes[row] as number;
      if (states[code] !== UNKNOWN) continue;
      states[code] = NULL_ENTRY; // Noted as seen; its state follows.
      unknown[count++] = code;
    }
    if (count === 0) return true;
    const picked = pickTexts(this.entries, unknown.subarray(0, count));
    const made = ofEntries({ kind: "bytes", offsets: picked.starts.subarray(1), bytes: picked.bytes, validity: undefined }, count);
    if (made?.kind !== "number") {
      for (let i = 0; i < count; i++) states[unknown[i] as number] = UNKNOWN;
      return false;
    }
    for (let i = 0; i < count; i++) this.noteNumber(unknown[i] as number, made, i);
    return true;
  }

  private noteNumber(code: number, { values, validity }: NumberVector, i: number): void {
    const value = values[i] as number;
    this.values[code] = value;
    this.states[code] = validity !== undefined && validity[i] === 0 ? NULL_ENTRY : value === 0 && this.isTruth ? FALSE : TRUE;
  }

  /**
   * Looks at all entries at once where there were as many rows: then no row of the table needs a look any more. A condition on a text of
   * 5M rows, one of 20,000: 4.9 ms to look at the rows' entries, 0.13 so; 9.3 and 0.6 where each 524,288 rows have a table of their own; of
   * 50,000 texts 5.9 and 0.3, 13.9 and 1.9 (least of 31 rounds in turns, whose medians are 15 % more). Returns whether it is done.
   */
  private lookAtAll(ofEntries: OfEntries): boolean {
    const { entries, rowsSeen } = this;
    const count = entries.size - 1;
    if (count > rowsSeen || count === 0 || bytesOfEntries(entries) > WHOLE_BYTES_MAX) return false;
    const made = ofEntries({ kind: "bytes", offsets: entries.starts.subarray(1), bytes: entries.bytes, validity: undefined }, count);
    this.isWhole = made?.kind === "number";
    if (made?.kind !== "number") return false;
    for (let i = 0; i < count; i++) this.noteNumber(i + 1, made, i);
    return true;
  }

  /** The texts of rows by code, once it pays; undefined: not yet, or not so. */
  textsOf(vector: CodedVector, rowCount: number, ofEntries: OfEntries, ofNull: Value): CodedVector | undefined {
    this.rowsSeen += rowCount;
    const { size } = this.entries;
    const isWorth = size <= SMALL_TABLE || size <= this.rowsSeen * WHOLE_RATIO;
    if (this.texts === undefined && isWorth && bytesOfEntries(this.entries) <= WHOLE_BYTES_MAX) {
      this.texts = entryTexts(this.entries, ofEntries, ofNull);
    }
    if (this.texts === undefined) return undefined;
    const { entries, map } = this.texts;
    if (map === undefined) return { kind: "coded", codes: vector.codes, entries };
    const codes = new Uint32Array(rowCount);
    for (let row = 0; row < rowCount; row++) codes[row] = map[vector.codes[row] as number] as number;
    return { kind: "coded", codes, entries };
  }
}

/** The texts that entries become, and their codes by those of the entries; no map: they are the same. */
interface EntryTexts {
  readonly entries: TextTable;
  readonly map: Uint32Array | undefined;
}

function entryTexts({ size, starts, bytes }: TextTable, ofEntries: OfEntries, ofNull: Value): EntryTexts | undefined {
  const count = size - 1;
  const made = ofEntries({ kind: "bytes", offsets: starts.subarray(1), bytes, validity: undefined }, count);
  if (made?.kind !== "bytes") return undefined;
  const { offsets, validity } = made;
  const ofNothing = typeof ofNull === "string" ? Buffer.from(ofNull) : undefined;
  const begin = offsets[0] as number;
  const end = offsets[count] as number;
  // Code 0 has no bytes; behind the entries lies what NULL becomes.
  const positions = new Uint32Array(size + 2);
  for (let code = 1; code <= size; code++) positions[code] = (offsets[code - 1] as number) - begin;
  positions[size + 1] = end - begin + (ofNothing?.length ?? 0);
  const own = new Uint8Array(positions[size + 1] as number);
  own.set(made.bytes.subarray(begin, end));
  if (ofNothing !== undefined) own.set(ofNothing, end - begin);
  const entries = { size: size + 1, starts: positions, bytes: own };
  if (validity === undefined && ofNothing === undefined) return { entries, map: undefined };
  const map = new Uint32Array(size);
  for (let code = 1; code < size; code++) map[code] = validity?.[code - 1] === 0 ? 0 : code;
  if (ofNothing !== undefined) map[0] = size;
  return { entries, map };
}

/** What an expression over entries gives, where these are neither: numbers. */
export interface EntryKind {
  readonly isText: boolean;
  readonly isTruth: boolean;
}

/** Tables by their entries. */
export class EntryTables {
  private tables: Map<TextTable, EntryTable> = new Map();
  /** About how many bytes they take. */
  private held = 0;
  private readonly kind: EntryKind;
  private readonly ofNull: Value;

  constructor(kind: EntryKind, ofNull: Value) {
    this.kind = kind;
    this.ofNull = ofNull;
  }

  /** What is known of the entries of a table. */
  of(entries: TextTable): EntryTable {
    const known = this.tables.get(entries);
    if (known !== undefined) return known;
    const bytes = this.kind.isText ? bytesOfEntries(entries) * 2 : entries.size * NUMBER_BYTES;
    if (this.held + bytes > HELD_BYTES_MAX) {
      this.tables = new Map();
      this.held = 0;
    }
    const made = new EntryTable(entries, this.kind, this.ofNull);
    this.tables.set(entries, made);
    this.held += bytes;
    return made;
  }
}
