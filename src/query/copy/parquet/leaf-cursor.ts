import type { Scalar } from "../../../column/vector.ts";
import { PARQUET_ROW_ENTRIES_MAX, PARQUET_WINDOW_ENTRIES } from "../limits.ts";
import type { ChunkReader, LeafPage } from "./chunk-reader.ts";

/**
 * A place among the entries of a leaf. Whole rows are loaded first, then taken without waiting.
 *
 * Invariant: `rowCount` rows begin at or behind the place and are loaded whole.
 */
export class LeafCursor {
  /** Definition level of the entry at the place. */
  definition = 0;
  /** Its repetition level; 0 also at the end, where another row would begin. */
  repetition = 0;
  /** Rows that are loaded whole. */
  rowCount = 0;
  private readonly chunk: ChunkReader;
  private readonly definitionMax: number;
  private readonly pages: LeafPage[] = [];
  /** Rows that begin in the pages; the last of them may go on in the next page. */
  private startedRows = 0;
  private entriesLeft = 0;
  private entry = 0;
  private value = 0;
  private isEnded = false;

  constructor(chunk: ChunkReader, definitionMax: number) {
    this.chunk = chunk;
    this.definitionMax = definitionMax;
  }

  /** Loads pages until `rows` rows are there, or as many as fit the window, but one at least; fewer only at the end. @throws Error */
  async load(rows: number): Promise<void> {
    while (!this.isEnded && this.rowCount < rows && (this.rowCount === 0 || this.entriesLeft < PARQUET_WINDOW_ENTRIES)) {
      const page = await this.chunk.next();
      if (page === undefined) {
        this.isEnded = true;
        this.rowCount = this.startedRows;
        return;
      }
      this.pages.push(page);
      this.entriesLeft += page.entryCount;
      this.startedRows += startsIn(page);
      this.rowCount = page.repetition === undefined ? this.startedRows : Math.max(0, this.startedRows - 1);
      if (this.rowCount === 0 && this.entriesLeft > PARQUET_ROW_ENTRIES_MAX) {
        throw new Error(`a row has more than ${PARQUET_ROW_ENTRIES_MAX} values in one column`);
      }
      if (this.pages.length === 1) this.look();
    }
  }

  /** Passes the entry at the place; its value, if it is one. @throws Error at the end */
  take(): Scalar {
    const [page] = this.pages;
    if (page === undefined) throw new Error("a column ends within a row");
    if (this.repetition === 0) {
      this.rowCount--;
      this.startedRows--;
    }
    const taken = this.definition === this.definitionMax ? page.valueAt(this.value++) : undefined;
    this.entry++;
    this.entriesLeft--;
    if (this.entry === page.entryCount) {
      this.pages.shift();
      this.entry = 0;
      this.value = 0;
    }
    this.look();
    return taken;
  }

  private look(): void {
    const [page] = this.pages;
    this.definition = page?.definition?.[this.entry] ?? (page === undefined ? 0 : this.definitionMax);
    this.repetition = page?.repetition?.[this.entry] ?? 0;
  }
}

function startsIn({ entryCount, repetition }: LeafPage): number {
  if (repetition === undefined) return entryCount;
  let count = 0;
  for (let i = 0; i < entryCount; i++) if (repetition[i] === 0) count++;
  return count;
}
