/** Rows that an operator keeps past the life of their batches, copied column by column. */
import type { TextTable } from "../../../column/text-table.ts";
import { bytesOfEntries, textLength } from "../../../column/coded-text.ts";
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import type { MemoryBudget } from "../../../base/memory/memory-budget.ts";
import { concat } from "../kernels/concat.ts";
import { copied, nullLike } from "../kernels/copied.ts";
import { gather } from "../kernels/gather.ts";
import { sliceBatch } from "../../../column/slice.ts";
import { RowRoom } from "./row-room.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecContext } from "../contract/exec-context.ts";
import { constantVector } from "../../expression/vector-values.ts";

/** Bytes that the rows of a batch take once they are copied, about. */
export function bytesOfBatch({ vectors, rowCount }: Batch): number {
  let bytes = 0;
  for (const vector of vectors) {
    bytes += bytesOf(vector, rowCount);
    // Of entries that many batches share no more than the texts of these rows.
    if (vector.kind === "coded") bytes += Math.min(bytesOfEntries(vector.entries), textLength(vector, 0, rowCount));
  }
  return bytes;
}

/** Bytes of a vector without the entries of its codes, about. */
function bytesOf(vector: Vector, rowCount: number): number {
  if (vector.kind === "dictionary") return rowCount * 4 + textBytesOf(vector, rowCount);
  if (vector.kind === "coded") return rowCount * 4;
  const validityBytes = vector.validity === undefined ? 0 : rowCount;
  if (vector.kind === "bytes") return (vector.offsets[rowCount] ?? 0) - (vector.offsets[0] ?? 0) + rowCount * 4 + validityBytes;
  if (vector.kind === "time") return rowCount * 8 + validityBytes;
  return rowCount * vector.values.BYTES_PER_ELEMENT + validityBytes;
}

/** Bytes that an entry of a dictionary takes beside its text. */
const ENTRY_BYTES = 40;

/**
 * Bytes of the texts that rows point to, about: those of a small dictionary at once; of a large one each range of equal rows once, since
 * it may be a table's and no more than the rows' part of it is theirs.
 */
function textBytesOf({ codes, dictionary }: Extract<Vector, { kind: "dictionary" }>, rowCount: number): number {
  let bytes = 0;
  if (dictionary.length * 4 <= rowCount) {
    for (const text of dictionary) bytes += text === undefined ? 0 : ENTRY_BYTES + text.length;
    return bytes;
  }
  let before = 0;
  for (let row = 0; row < rowCount; row++) {
    const code = codes[row] as number;
    if (code !== before) bytes += ENTRY_BYTES + (dictionary[code]?.length ?? 0);
    before = code;
  }
  return bytes;
}

/** Rows that are given out at once, at most. */
const DRAINED_ROWS = 65_536;
/** Of a column that is joined already. */
const NO_VALUES: Vector = { kind: "number", values: new Float64Array(0), validity: undefined };

/** Rows `selection[0, count)` of a batch as a batch of its own. */
export function gatherBatch(batch: Batch, selection: Uint32Array, count: number): Batch {
  return { rowCount: count, vectors: batch.vectors.map((vector) => gather(vector, selection, count)) };
}

/** Bytes that an operator will need beside the values of so many rows, of which those of a batch are the last. */
export type BesideRows = (rowCount: number, last: Batch) => number;

/** A growing list of copied batches. */
export class HeldRows {
  rowCount = 0;
  private ownParts: Batch[] = [];
  /** Where rows go first; `parts` are behind it, once it is full. */
  private room: RowRoom | undefined;
  private bytes = 0;
  private readonly headers: readonly ColumnHeader[];
  private readonly budget: MemoryBudget;
  private beside: BesideRows;
  private besideBytes = 0;
  /** Entries that are counted. */
  private readonly tables: Set<TextTable> = new Set();

  /**
   * @param beside what the operator will need beside values: for each row, or by their number
   * @param rowsExpected rows that will come, if that is known: then they are copied once
   */
  constructor(headers: readonly ColumnHeader[], budget: MemoryBudget, beside: number | BesideRows = 0, rowsExpected = 0) {
    this.room = rowsExpected > 0 ? new RowRoom(rowsExpected) : undefined;
    this.headers = headers;
    this.budget = budget;
    this.beside = typeof beside === "number" ? (rowCount) => rowCount * beside : beside;
  }

  /** Bytes that are counted for its rows. */
  get bytesHeld(): number {
    return this.bytes;
  }

  /** Bytes that a batch would take: entries that rows held have too are counted already. */
  costOf(batch: Batch): number {
    return this.costBeside(batch) + this.costOfValues(batch);
  }

  /** All rows, of which those in the room are the first. */
  private get parts(): Batch[] {
    const { room } = this;
    this.room = undefined;
    if (room !== undefined && room.rowCount > 0) this.ownParts.unshift(room.batch());
    return this.ownParts;
  }

  private set parts(parts: Batch[]) {
    this.room = undefined;
    this.ownParts = parts;
  }

  private costBeside(batch: Batch): number {
    return Math.max(0, this.beside(this.rowCount + batch.rowCount, batch) - this.besideBytes);
  }

  private costOfValues({ vectors, rowCount }: Batch): number {
    let bytes = 0;
    for (const vector of vectors) bytes += bytesOf(vector, rowCount);
    for (const table of this.newTables(vectors)) bytes += bytesOfEntries(table);
    return bytes;
  }

  private count(batch: Batch): void {
    const beside = this.costBeside(batch);
    const bytes = beside + this.costOfValues(batch);
    this.budget.reserve(bytes);
    this.bytes += bytes;
    this.besideBytes += beside;
  }

  private newTables(vectors: readonly Vector[]): ReadonlySet<TextTable> {
    const found = new Set<TextTable>();
    for (const vector of vectors) if (vector.kind === "coded" && !this.tables.has(vector.entries)) found.add(vector.entries);
    return found;
  }

  private noteTables(vectors: readonly Vector[]): void {
    for (const vector of vectors) if (vector.kind === "coded") this.tables.add(vector.entries);
  }

  /** Copies a batch. @throws DbError RuntimeResourcesExhausted */
  add(batch: Batch): void {
    this.count(batch);
    this.noteTables(batch.vectors);
    const { rowCount } = batch;
    this.rowCount += rowCount;
    if (this.room?.add(batch) === true) return;
    this.parts.push({ rowCount, vectors: batch.vectors.map((vector) => copied(vector, rowCount)) });
  }

  /** Takes a batch that lies on memory of its own. @throws DbError RuntimeResourcesExhausted */
  addOwn(batch: Batch): void {
    this.count(batch);
    this.noteTables(batch.vectors);
    this.parts.push(batch);
    this.rowCount += batch.rowCount;
  }

  /** Leaves out batches that `addOwn` took: somebody else keeps them. Entries of texts are counted as long as there are rows. */
  remove(batches: ReadonlySet<Batch>): void {
    this.parts = this.parts.filter((part) => !batches.has(part));
    let [bytes, last] = [0, undefined as Batch | undefined];
    for (const batch of batches) {
      this.rowCount -= batch.rowCount;
      bytes += this.costOfValues(batch);
      last = batch;
    }
    if (this.rowCount === 0) return this.clear();
    this.bytes -= bytes;
    this.budget.release(bytes);
    if (last !== undefined) this.giveBack(Math.max(0, this.besideBytes - this.beside(this.rowCount, last)));
  }

  /** All rows as one batch. Of many rows, `joinedInTurns` is kinder to others. */
  joined(): Batch {
    const [first] = this.parts;
    if (this.parts.length === 1 && first !== undefined) return first;
    return this.joinedTo(this.headers.map((_, c) => this.column(c)));
  }

  /** All rows as one batch, column by column with other tasks in between. @throws DbError Cancelled */
  async joinedInTurns(context: ExecContext): Promise<Batch> {
    const [first] = this.parts;
    if (this.parts.length === 1 && first !== undefined) return first;
    const vectors: Vector[] = [];
    this.parts = this.parts.map(({ rowCount, vectors: own }) => ({ rowCount, vectors: [...own] }));
    for (const c of this.headers.keys()) {
      vectors.push(this.column(c));
      // So that of one column at most all is there twice.
      for (const part of this.parts) (part.vectors as Vector[])[c] = NO_VALUES;
      checkCancelled(context);
      await context.pace.turn();
    }
    return this.joinedTo(vectors);
  }

  private column(c: number): Vector {
    const { type } = this.headers[c] ?? { type: { kind: "null" } };
    return concat(
      type,
      this.parts.flatMap(({ vectors, rowCount }) => (vectors[c] === undefined ? [] : [{ vector: vectors[c], rowCount }])),
    );
  }

  private joinedTo(vectors: readonly Vector[]): Batch {
    const batch = { rowCount: this.rowCount, vectors };
    this.parts = [batch];
    return batch;
  }

  /** Keeps only the rows `order[0, count)`, in that order. */
  keep(order: Uint32Array, count: number): void {
    const kept = gatherBatch(this.joined(), order, count);
    this.clear();
    this.count(kept);
    this.noteTables(kept.vectors);
    this.parts = [kept];
    this.rowCount = count;
  }

  /** Adds a row of NULLs, which is not counted. */
  addNulls(): void {
    const like = this.parts.at(-1)?.vectors;
    this.parts.push({ rowCount: 1, vectors: like?.map(nullLike) ?? this.headers.map(({ type }) => constantVector(type, undefined, 1)) });
    this.rowCount++;
  }

  /** All rows as one batch of the caller's, which goes on being counted. */
  async take(context: ExecContext): Promise<Batch> {
    const { rowCount } = this;
    if (rowCount === 0) return { rowCount, vectors: this.headers.map(({ type }) => constantVector(type, undefined, 0)) };
    const { vectors } = await this.joinedInTurns(context);
    this.parts = [];
    return { rowCount, vectors };
  }

  /** All rows, part by part, in the order they came in. */
  batches(): readonly Batch[] {
    return this.parts;
  }

  /** Gives all rows out, part by part, and forgets them. */
  *drain(): Iterable<Batch> {
    const { parts } = this;
    this.releaseBeside();
    this.parts = [];
    this.rowCount = 0;
    for (const part of parts) {
      for (let from = 0; from < part.rowCount; from += DRAINED_ROWS) {
        const piece = part.rowCount > DRAINED_ROWS ? sliceBatch(part, from, Math.min(part.rowCount, from + DRAINED_ROWS)) : part;
        const bytes = Math.min(this.bytes, this.costOfValues(piece));
        this.bytes -= bytes;
        this.budget.release(bytes);
        yield piece;
      }
    }
    // Of the entries.
    this.budget.release(this.bytes);
    this.bytes = 0;
    this.tables.clear();
  }

  /** Gives back so much of what was counted for each row beside its values: the operator needs that no more, nor for rows to come. */
  release(rowBytes: number): void {
    const { beside } = this;
    this.beside = (rowCount, last) => Math.max(0, beside(rowCount, last) - rowCount * rowBytes);
    this.giveBack(Math.min(this.besideBytes, rowBytes * this.rowCount));
  }

  /** Gives back what was counted beside values of the rows held: the operator counts itself what it takes of that. */
  releaseBeside(): void {
    this.giveBack(this.besideBytes);
  }

  private giveBack(besideBytes: number): void {
    this.bytes -= besideBytes;
    this.besideBytes -= besideBytes;
    this.budget.release(besideBytes);
  }

  /** Forgets all rows. */
  clear(): void {
    this.parts = [];
    this.rowCount = 0;
    this.budget.release(this.bytes);
    this.bytes = 0;
    this.besideBytes = 0;
    this.tables.clear();
  }
}
