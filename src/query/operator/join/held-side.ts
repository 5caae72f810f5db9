/** The held side of a join: which of its rows have which keys (`key-words.ts`, `kernels/row-index.ts`). */
import type { Batch } from "../../../column/batch.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { Validity, Vector } from "../../../column/vector.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import { sliceBatch } from "../../../column/slice.ts";
import type { ExecContext } from "../contract/exec-context.ts";
import { laneFormOf } from "../kernels/lanes.ts";
import { RowIndex } from "../kernels/row-index.ts";
import { asksOnly, hasPairs, type Join, type Side } from "./join-sides.ts";
import { hasNull, JoinKeys, keyTypesOf } from "./join-keys.ts";
import { RowsByNulls } from "./null-aware.ts";
import { KeyWords, type WordsOfRows } from "./key-words.ts";

/** Rows whose keys are looked up before others get a turn: each key takes about 50 ns a row. */
export const PIECE_ROWS = 16_384;

/** Bytes that the index takes for a row, at most: its slots and the next row. */
const INDEX_BYTES = 17;
/** Bytes that a key of texts takes beside its words: it is copied once where it is another one. */
const TEXT_KEY_BYTES = 64;

/** What is held, and how its rows are found. */
export interface Held {
  readonly side: Side;
  /** Of outer joins, behind the rows stands one of NULLs. */
  readonly rows: Batch;
  readonly rowCount: number;
  /** Absent where there are no keys. */
  readonly keys: HeldKeys | undefined;
  /** Which rows found a partner; for full joins, and for semi and anti joins whose left side is held. */
  readonly met: Uint8Array;
  /** Of NOT IN by one key: whether it is NULL in some row. */
  readonly hasNullKey: boolean;
  /** Of NOT IN by several keys. */
  readonly byNulls: RowsByNulls | undefined;
}

/** Finds held rows by their keys. */
export class HeldKeys {
  private readonly words: KeyWords;
  private readonly index: RowIndex | undefined;
  private firsts = new Int32Array(0);

  /** @param index undefined: whether a key is there is all that is asked, and its word tells */
  constructor(words: KeyWords, index: RowIndex | undefined) {
    this.words = words;
    this.index = index;
  }

  /** next[row] → the next row of equal keys, ascending; absent where no two rows are equal. */
  get next(): Int32Array | undefined {
    return this.index?.next;
  }

  /** The first held row of the keys of each row, or `NO_ROW`; of a set any number instead of the row. Valid until the next call. */
  find(keys: readonly Vector[], rowCount: number): Int32Array {
    if (this.firsts.length < rowCount) this.firsts = new Int32Array(rowCount);
    const firsts = this.firsts.subarray(0, rowCount);
    if (this.index === undefined) {
      this.words.findNumbers(keys, rowCount, firsts);
      return firsts;
    }
    const { words, present } = this.words.wordsOf(keys, rowCount);
    this.index.find(words, present, rowCount, firsts);
    return firsts;
  }
}

/** Bytes that `build` takes for a row, at most. */
export function indexBytes(node: Join): number {
  const types = keyTypesOf(node);
  return types.length === 0 ? 0 : types.reduce((bytes, type) => bytes + keyBytes(type), INDEX_BYTES);
}

const keyBytes = (type: DataType): number => (laneFormOf(type)?.width ?? 1) * 4 + (laneFormOf(type) === undefined ? TEXT_KEY_BYTES : 0);

/**
 * Finds the partners of held rows.
 *
 * @param rows of outer joins with one of NULLs behind them
 * @throws DbError RuntimeResourcesExhausted, Cancelled
 */
export async function build(node: Join, side: Side, rows: Batch, context: ExecContext): Promise<Held> {
  const rowCount = rows.rowCount - (isPadded(node) ? 1 : 0);
  const isNoted = node.join === "full" || (side === "left" && asksOnly(node));
  const met = new Uint8Array(isNoted ? rowCount : 0);
  const held = { side, rows, rowCount, met };
  if (node.keys.length === 0) return { ...held, keys: undefined, hasNullKey: false, byNulls: undefined };
  const { reserve, release } = context.budget;
  const words = new KeyWords(keyTypesOf(node), reserve);
  const of = await wordsOfHeld(node, side, sliceBatch(rows, 0, rowCount), words, context);
  // What only asks whether a key is there needs no rows of it.
  const isSet = side === "right" && asksOnly(node) && !hasPairs(node);
  if (isSet && words.areNumbers) {
    release(of.bytes);
    return { ...held, keys: new HeldKeys(words, undefined), hasNullKey: of.hasNullKey, byNulls: of.byNulls };
  }
  const index = new RowIndex({ ...of, width: words.width, rowCount }, isSet, reserve);
  for (let to = rowCount; to > 0; to -= PIECE_ROWS) {
    checkCancelled(context);
    index.add(Math.max(0, to - PIECE_ROWS), to, reserve);
    await context.pace.turn();
  }
  if (!index.needsWords) release(of.bytes);
  return { ...held, keys: new HeldKeys(words, index), hasNullKey: of.hasNullKey, byNulls: of.byNulls };
}

/** Words of all held rows. `bytes` are counted. */
interface WordsOfHeld extends WordsOfRows {
  readonly bytes: number;
  readonly hasNullKey: boolean;
  readonly byNulls: RowsByNulls | undefined;
}

async function wordsOfHeld(node: Join, side: Side, rows: Batch, words: KeyWords, context: ExecContext): Promise<WordsOfHeld> {
  const keys = new JoinKeys(node, side, context);
  const { rowCount } = rows;
  if (keys.areColumns) {
    const vectors = await keys.of(rows);
    const found = words.inPlace(vectors, rowCount);
    const hasNullKey = node.join === "not-in" && hasNull(vectors, rowCount);
    if (found !== undefined) return { ...found, bytes: 0, hasNullKey, byNulls: undefined };
  }
  const bytes = rowCount * words.width * 4;
  context.budget.reserve(bytes);
  const all = new Int32Array(rowCount * words.width);
  let present: Uint8Array | undefined;
  let hasNullKey = false;
  const byNulls = node.join === "not-in" && node.keys.length > 1 ? new RowsByNulls(node, rows, context.budget.reserve) : undefined;
  for (let at = 0; at < rowCount; at += PIECE_ROWS) {
    checkCancelled(context);
    const part = sliceBatch(rows, at, Math.min(rowCount, at + PIECE_ROWS));
    const vectors = await keys.of(part);
    const validity: Validity = words.writeHeld(vectors, part.rowCount, all, at);
    if (validity !== undefined) {
      present ??= new Uint8Array(rowCount).fill(1);
      present.set(validity.length === part.rowCount ? validity : validity.subarray(0, part.rowCount), at);
    }
    byNulls?.note(vectors, part.rowCount, at);
    if (node.join === "not-in") hasNullKey ||= hasNull(vectors, part.rowCount);
    await context.pace.turn();
  }
  return { words: all, present, bytes, hasNullKey: hasNullKey && byNulls === undefined, byNulls };
}

/** Whether streaming rows without a partner are paired with NULLs. */
export const isPadded = (node: Join): boolean => node.join === "left" || node.join === "full";
