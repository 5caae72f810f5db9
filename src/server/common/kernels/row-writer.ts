/**
 * Joins the cells of columns into rows of bytes as `interleave` does, row by row in one generated loop: many rows of few columns. What
 * stands before a cell is written eight bytes at a time, cells four, each of which may run over into what is written next.
 *
 *   at ─► lead ─► cell ─► lead ─► cell ─► … ─► after ─► next row          the loop ends before a row that does not fit
 *
 * 13 columns, 237 bytes of JSON a row: 180 ns by `interleave`, 80 so; 63 bytes of CSV 95 and 65 (processor time, two hyper-threads that
 * others use). A small integer is one store, with the end of its lead, by its value: with ten of them a row of JSON takes 70 ns instead of
 * 111, both passes, of CSV 49 instead of 100; with NULLs 93 and 76 instead of 121 and 125 (least of 11 rounds in turns in one process).
 */
import { BytesInTurn } from "../../../base/bytes/bytes-in-turn.ts";
import type { CellColumn } from "./cell-column.ts";
import { interleave, type PrintedRows, type RowLayout } from "./interleave.ts";
import { ledWords, SMALL_BYTES, SMALL_MIN, SMALL_NULL } from "./small-integers.ts";

/** Most columns of a loop. Reason: a longer text takes long to compile. */
const COLUMNS_MAX = 64;
/** Fewest rows for which a loop is made and run. */
const ROWS_MIN = 256;
/** Bytes of a lead that are written at once. */
const LEAD_WORD = 8;
/** Bytes behind the last row that a cell or a lead may run over. */
const SLACK_BYTES = 16;
/** Bytes of a cell from which it is copied by a call. */
const LONG_CELL = 192;
/** A guess of the bytes of a cell, before rows have been seen. */
const CELL_BYTES = 12;
/** How much longer than the last rows the next ones may be. */
const MARGIN = 1.25;

/** Loops of one result, for columns that are printed now this way, now that. The next ones are printed as cells. */
const FORMS_MAX = 4;

/** Writes rows `[start, end)` up to position `limit` of the target; `written[0]` is how many. Returns where the last one ends. */
type RowLoop = (
  columns: readonly CellColumn[],
  leads: readonly number[],
  small: readonly (Float64Array | undefined)[],
  after: Uint8Array,
  target: Uint8Array,
  start: number,
  end: number,
  limit: number,
  written: Uint32Array,
) => number;

/** How a column comes: as cells, or as small integers without and with NULL. */
const CELLS = 0;
const SMALL = 1;
const SMALL_OR_NULL = 2;
type Form = typeof CELLS | typeof SMALL | typeof SMALL_OR_NULL;

/**
 * Prints rows of one result, whose columns and layout stay. Rows lie in one of two pieces of memory, which are used in turn: fresh ones of
 * 0.6 MB each cost a quarter of the CPU of 800,000 rows of JSON on their way to the socket (290 and 215 ms, 20,000 page faults less).
 */
export class RowWriter {
  private readonly columns: readonly CellColumn[];
  private readonly layout: RowLayout;
  private readonly isPlain: boolean;
  private readonly leads: number[] = [];
  /** Of each column that came as small integers, their texts behind its lead; one for all leads that end alike. */
  private readonly small: (Float64Array | undefined)[];
  private readonly written = new Uint32Array(1);
  private readonly room = new BytesInTurn();
  private forms: readonly Form[] = [];
  private loop: RowLoop | undefined;
  private loopsMade = 0;
  private rowBytes: number;

  constructor(columns: readonly CellColumn[], layout: RowLayout) {
    this.columns = columns;
    this.layout = layout;
    const { before, after } = layout;
    this.rowBytes = after.length + before.reduce((sum, lead) => sum + lead.length + CELL_BYTES, 0);
    for (const lead of before) for (const word of wordsOf(lead)) this.leads.push(word);
    this.isPlain = columns.length > 0 && columns.length <= COLUMNS_MAX && !this.leads.some(Number.isNaN);
    this.small = columns.map(() => undefined);
  }

  /** Rows `[start, end)`, at least one, and no more than about `bytesMax` bytes of them. Valid until the next call but one. */
  write(start: number, end: number, bytesMax: number): PrintedRows {
    const { columns, layout, leads, small, written } = this;
    if (!this.isPlain || end - start < ROWS_MIN) return interleave(columns, layout, start, end, bytesMax);
    const loop = this.loopNow();
    const length = Math.min(bytesMax, Math.ceil(this.rowBytes * MARGIN) * (end - start)) + SLACK_BYTES;
    const target = this.room.take(length);
    const limit = length - SLACK_BYTES - layout.after.length;
    const stop = loop(columns, leads, small, layout.after, target, start, end, limit, written);
    const rowCount = written[0]!;
    if (rowCount === 0) return this.longRow(start, bytesMax);
    this.rowBytes = Math.max(1, stop / rowCount);
    return { bytes: target.subarray(0, stop), rowCount };
  }

  /** The loop for what the columns hold. */
  private loopNow(): RowLoop {
    const { columns, forms } = this;
    if (this.loop !== undefined && (this.loopsMade > FORMS_MAX || columns.every((column, c) => formOf(column) === forms[c])))
      return this.loop;
    this.loopsMade++;
    this.forms = columns.map((column) => (this.loopsMade > FORMS_MAX ? CELLS : formOf(column)));
    for (const [c, { small }] of columns.entries()) {
      if (small === undefined || this.forms[c] === CELLS || this.small[c] !== undefined) continue;
      const lead = this.layout.before[c]!;
      const twin = this.layout.before.findIndex((other, o) => this.small[o] !== undefined && endsAlike(other, lead));
      this.small[c] = this.small[twin] ?? ledWords(lead, small.table);
    }
    const lengths = this.layout.before.map((lead) => lead.length);
    this.loop = loopOf(lengths, this.forms, this.layout.after.length);
    return this.loop;
  }

  /** A row that is longer than all that there was room for. */
  private longRow(start: number, bytesMax: number): PrintedRows {
    const printed = interleave(this.columns, this.layout, start, start + 1, bytesMax);
    this.rowBytes = printed.bytes.length;
    return printed;
  }
}

/** A lead as doubles of eight bytes each. One that is no number keeps no bits: then there is no loop. */
function wordsOf(lead: Uint8Array): Float64Array {
  const padded = new Uint8Array(Math.ceil(lead.length / LEAD_WORD) * LEAD_WORD);
  padded.set(lead);
  return new Float64Array(padded.buffer);
}

function formOf({ small }: CellColumn): Form {
  if (small === undefined) return CELLS;
  return small.validity === undefined ? SMALL : SMALL_OR_NULL;
}

function endsAlike(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a.subarray(-SMALL_BYTES), b.subarray(-SMALL_BYTES)) === 0;
}

/** Loops by what they are for. Their texts hold numbers alone. */
const loops = new Map<string, RowLoop>();
/** Most loops kept. Reason: each holds compiled code. Full: the oldest go. */
const LOOPS_MAX = 256;

/** The loop for columns in these forms behind leads of these lengths. */
function loopOf(leads: readonly number[], forms: readonly Form[], after: number): RowLoop {
  const key = `${leads.join()} ${forms.join("")} ${after}`;
  const known = loops.get(key);
  if (known !== undefined) return known;
  const text = `"use strict";\n${loopText(leads, forms, after)}\n//# sourceURL=varve:print-rows-${key.replaceAll(/[ ,]/g, "-")}`;
  const made = new Function(...PARAMETERS, text) as RowLoop; // of the fixed parts and counters below
  for (const oldest of loops.keys()) {
    if (loops.size < LOOPS_MAX) break;
    loops.delete(oldest);
  }
  loops.set(key, made);
  return made;
}

const PARAMETERS = ["columns", "leads", "small", "after", "target", "start", "stop", "limit", "written"];

function loopText(leads: readonly number[], forms: readonly Form[], after: number): string {
  const lines: string[] = [];
  const steps: string[] = [];
  let word = 0;
  let smallBytes = 0; // of all small integers of a row with their leads, at most
  for (const [c, length] of leads.entries()) {
    const isSmall = forms[c] !== CELLS;
    const tail = isSmall ? Math.max(0, length - SMALL_BYTES) : length;
    const writes: string[] = [];
    for (let at = 0; at < length; at += LEAD_WORD, word++) {
      if (at >= tail) continue;
      lines.push(`const l${word} = leads[${word}];`);
      writes.push(`view.setFloat64(at + ${at}, l${word}, true);`);
    }
    if (isSmall) smallBytes += length + SMALL_BYTES;
    lines.push(...(isSmall ? smallLines(c) : cellLines(c)));
    steps.push(isSmall ? smallStep(c, forms[c] === SMALL_OR_NULL, length, tail, writes) : cellStep(c, length, writes));
  }
  for (let i = 0; i < after; i++) lines.push(`const a${i} = after[${i}];`);
  const ending = Array.from({ length: after }, (_, i) => `target[at++] = a${i};`).join(" ");
  return `${lines.join("\n")}
const view = new DataView(target.buffer, target.byteOffset, target.byteLength);
const bound = limit - ${smallBytes};
let at = 0, last = 0, i = start;
for (; i < stop; i++) {
if (at > bound) break;
${steps.join("\n")}
${ending}
last = at;
}
written[0] = i - start;
return last;`;
}

function cellLines(c: number): readonly string[] {
  return [
    `const { starts: s${c}, ends: e${c}, bytes: b${c} } = columns[${c}];`,
    `const d${c} = new DataView(b${c}.buffer, b${c}.byteOffset, b${c}.byteLength);`,
  ];
}

function cellStep(c: number, length: number, writes: readonly string[]): string {
  return `{
let cell = s${c}[i];
const end = e${c}[i];
let to = at + ${length};
const next = to + end - cell;
if (next > bound) break;
${writes.join("\n")}
if (end - cell > ${LONG_CELL}) target.set(b${c}.subarray(cell, end), to);
else for (; cell < end; cell += 4, to += 4) view.setUint32(to, d${c}.getUint32(cell, true), true);
at = next;
}`;
}

function smallLines(c: number): readonly string[] {
  return [`const w${c} = small[${c}];`, `const { values: v${c}, validity: n${c}, table: { lengths: t${c} } } = columns[${c}].small;`];
}

/** The lead but for its last bytes, and those with the value. */
function smallStep(c: number, hasNulls: boolean, length: number, tail: number, writes: readonly string[]): string {
  const entry = `v${c}[i] + ${-SMALL_MIN}`;
  return `{
const k = ${hasNulls ? `n${c}[i] === 0 ? ${SMALL_NULL} : ${entry}` : entry};
${writes.join("\n")}
view.setFloat64(at + ${tail}, w${c}[k], true);
at += ${length} + t${c}[k];
}`;
}
