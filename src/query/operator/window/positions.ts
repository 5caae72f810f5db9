/** Ascending positions of rows by number: where groups of peers begin, which rows are not NULL. In memory, or on disk beside the rows. */
import { assert } from "../../../base/assert.ts";
import { grown } from "../../../base/bytes/longer-array.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import { FLOAT64 } from "../../../column/data-type.ts";
import type { SpilledRows } from "../spill/spilled-rows.ts";

/** How positions lie on disk. */
export const POSITION: ColumnHeader = { name: "position", type: FLOAT64 };

/** See the file header. */
export interface Positions {
  readonly count: number;
  /** The positions with these numbers, which do not fall; for a number from `count` on what stands for "behind the last". */
  at(numbers: Uint32Array): Uint32Array | Promise<Uint32Array>;
}

/** Positions that are being found, in order; `finish` comes before `at`. */
export interface FoundPositions extends Positions {
  /** Takes the next ones, which are the caller's to reuse. */
  add(positions: Uint32Array): void | Promise<void>;
  finish(): void | Promise<void>;
}

/** In memory. */
export class HeldPositions implements FoundPositions {
  count = 0;
  private list: Uint32Array;
  private readonly behind: number;
  private readonly reserve: (bytes: number) => void;

  /** @param list all of them, or room for some */
  constructor(list: Uint32Array, count: number, behind: number, reserve: (bytes: number) => void) {
    this.list = list;
    this.count = count;
    this.behind = behind;
    this.reserve = reserve;
  }

  /** @throws DbError RuntimeResourcesExhausted */
  add(positions: Uint32Array): void {
    const end = this.count + positions.length;
    if (end > this.list.length) {
      const before = this.list.byteLength;
      this.list = grown(this.list, end);
      this.reserve(this.list.byteLength - before);
    }
    this.list.set(positions, this.count);
    this.count = end;
  }

  finish(): void {
    // All of them are at hand.
  }

  at(numbers: Uint32Array): Uint32Array {
    const { list, count, behind } = this;
    const found = new Uint32Array(numbers.length);
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i] as number;
      found[i] = number < count ? (list[number] as number) : behind;
    }
    return found;
  }
}

/** On disk. */
export class SpilledPositions implements FoundPositions {
  private readonly rows: SpilledRows;
  private readonly behind: () => number;

  constructor(rows: SpilledRows, behind: () => number) {
    this.rows = rows;
    this.behind = behind;
  }

  get count(): number {
    return this.rows.rowCount;
  }

  async add(positions: Uint32Array): Promise<void> {
    const values = Float64Array.from(positions);
    await this.rows.add({ rowCount: values.length, vectors: [{ kind: "number", values, validity: undefined }] });
  }

  finish(): Promise<void> {
    return this.rows.finish();
  }

  async at(numbers: Uint32Array): Promise<Uint32Array> {
    const found = new Uint32Array(numbers.length).fill(this.behind());
    let base = numbers[0] ?? 0;
    const end = Math.min(this.count, (numbers.at(-1) ?? 0) + 1);
    let i = 0;
    for await (const { rowCount, vectors } of this.rows.readRange(base, end)) {
      const [vector] = vectors;
      assert(vector?.kind === "number", `positions are numbers; got a ${vector?.kind} vector`);
      for (; i < numbers.length && (numbers[i] as number) < base + rowCount; i++) {
        found[i] = vector.values[(numbers[i] as number) - base] as number;
      }
      base += rowCount;
    }
    return found;
  }
}
