/**
 * What NULLs mean to `(a, b, …) NOT IN (SELECT x, y, …)`: a row of the left stays where it is certain to differ from each row of the right,
 * so it goes where all its values that are not NULL, and not NULL there, are equal to those of some row.
 *
 *   left without NULL     rows without NULL (`HeldKeys`), and those that have some, by their other values
 *   left with NULLs       all rows of the right, by the values that neither has as NULL
 *
 * Rows of the right are grouped by which of their keys are NULL. A table is made when it is first looked into: one for each such group and
 * set of keys, so that looks stay looks; keys are few (`NOT_IN_KEYS_MAX`).
 */
import { presenceOf } from "../../../column/coded-text.ts";
import type { Batch } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecContext } from "../contract/exec-context.ts";
import { KeyTable, NO_ROW } from "../group-keys/key-table.ts";
import { gather } from "../kernels/gather.ts";
import { gatherBatch } from "../rows/held-rows.ts";
import { JoinKeys, keyTypesOf } from "./join-keys.ts";
import type { Join } from "./join-sides.ts";

/** Rows whose keys go to a table before others get a turn. */
const PIECE_ROWS = 16_384;

/** By row: which keys are NULL, a bit each. */
function masksOf(keys: readonly Vector[], rowCount: number, into: Uint8Array, at: number): void {
  for (const [k, key] of keys.entries()) {
    const validity = presenceOf(key, rowCount);
    if (validity === undefined) continue;
    for (let row = 0; row < rowCount; row++) if (validity[row] === 0) into[at + row] = (into[at + row] as number) | (1 << k);
  }
}

/** Rows of the right side by which of their keys are NULL. */
export class RowsByNulls {
  private readonly node: Join;
  private readonly rows: Batch;
  private readonly masks: Uint8Array;
  private readonly counts = new Map<number, number>();
  private readonly tables = new Map<number, KeyTable>();

  /** @param rows of the right side, borrowed */
  constructor(node: Join, rows: Batch, reserve: (bytes: number) => void) {
    this.node = node;
    this.rows = rows;
    reserve(rows.rowCount);
    this.masks = new Uint8Array(rows.rowCount);
  }

  /** Notes the keys of rows from `at` on. */
  note(keys: readonly Vector[], rowCount: number, at: number): void {
    const { masks, counts } = this;
    masksOf(keys, rowCount, masks, at);
    for (let row = at; row < at + rowCount; row++) {
      const mask = masks[row] as number;
      counts.set(mask, (counts.get(mask) ?? 0) + 1);
    }
  }

  /** Notes in `met` which rows may be equal to some of the right: those that are, with all keys, have a row in `firsts`. */
  async meet(keys: readonly Vector[], firsts: Int32Array, met: Uint8Array, context: ExecContext): Promise<void> {
    const rowCount = firsts.length;
    const own = new Uint8Array(rowCount);
    masksOf(keys, rowCount, own, 0);
    for (let row = 0; row < rowCount; row++) if (firsts[row] !== NO_ROW) met[row] = 1;
    for (const mask of new Set(own)) {
      for (const other of this.counts.keys()) {
        // What has no NULL on either side was looked for.
        if ((mask | other) !== 0) await this.meetGroup(keys, own, mask, other, met, context);
      }
    }
  }

  private async meetGroup(
    keys: readonly Vector[],
    own: Uint8Array,
    mask: number,
    other: number,
    met: Uint8Array,
    context: ExecContext,
  ): Promise<void> {
    const selection = new Uint32Array(own.length);
    let count = 0;
    for (let row = 0; row < own.length; row++) if (own[row] === mask && met[row] === 0) selection[count++] = row;
    if (count === 0) return;
    const compared = keys
      .keys()
      .filter((k) => (((mask | other) >>> k) & 1) === 0)
      .toArray();
    if (compared.length === 0) {
      for (let i = 0; i < count; i++) met[selection[i] as number] = 1;
      return;
    }
    const table = await this.tableOf(other, compared, context);
    const vectors = compared.flatMap((k) => (keys[k] === undefined ? [] : [gather(keys[k], selection, count)]));
    const ids = table.find(vectors, count);
    for (let i = 0; i < count; i++) if (ids[i] !== NO_ROW) met[selection[i] as number] = 1;
  }

  /** Some keys of the rows of which just those of a mask are NULL. */
  private async tableOf(mask: number, compared: readonly number[], context: ExecContext): Promise<KeyTable> {
    const name = compared.reduce((bits, k) => bits | (1 << k), mask << 8);
    const known = this.tables.get(name);
    if (known !== undefined) return known;
    const { node, rows, masks } = this;
    const types = keyTypesOf(node);
    const own = compared.flatMap((k) => (types[k] === undefined ? [] : [types[k]]));
    const made = new KeyTable(own, { nullsMatch: false }, context.budget.reserve);
    const keys = new JoinKeys(node, "right", context);
    const selection = new Uint32Array(PIECE_ROWS);
    for (let row = 0; row < masks.length; ) {
      checkCancelled(context);
      let count = 0;
      for (; row < masks.length && count < PIECE_ROWS; row++) if (masks[row] === mask) selection[count++] = row;
      const vectors = await keys.of(gatherBatch(rows, selection, count));
      made.add(
        compared.flatMap((k) => (vectors[k] === undefined ? [] : [vectors[k]])),
        count,
      );
      await context.pace.turn();
    }
    this.tables.set(name, made);
    return made;
  }
}
