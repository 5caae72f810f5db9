/** Keeps the rows of one share of the values of keys, whatever vectors hold them: other threads keep those of the other shares. */
import { assert } from "../../../base/assert.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { TextTable } from "../../../column/text-table.ts";
import type { DictionaryVector, Vector } from "../../../column/vector.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { NodeOf } from "../contract/node.ts";
import { gather, gatherRuns } from "../kernels/gather.ts";
import { type LaneForm, laneFormOf, lanesInPlace, writeLanes } from "../kernels/lanes.ts";
import {
  beginShares,
  foldShareCodes,
  foldShareTexts,
  foldShareWords,
  rowsOfShare,
  shareHashesOf,
  shareHashOfText,
} from "../kernels/share-hashes.ts";
import { viewOf } from "../kernels/texts/text-hash.ts";
import { isBytesKey } from "../group-keys/text-codes.ts";

const encoder = new TextEncoder();

/** Whether rows can be divided by values of a type: those that are words, or texts. */
export function mayShareBy(type: DataType): boolean {
  return laneFormOf(type) !== undefined || isBytesKey(type);
}

/** The rows of `input` that are of the node's share. */
export async function* keyShare(
  node: NodeOf<"key-share">,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
): AsyncIterable<ExecBatch> {
  const keys = new ShareKeys(node.keys.map((key) => node.columns[key]?.type ?? { kind: "null" }));
  for await (const batch of input) {
    assert(batch.summary === undefined, "rows that are divided do not come as statistics");
    const { rowCount } = batch;
    const vectors = node.keys.map((key) => batch.vectors[key]).filter((vector) => vector !== undefined);
    const { rows, count } = keys.rowsOf(vectors, rowCount, node.share, node.shares);
    if (count === rowCount) yield batch;
    else if (count > 0) {
      const runs = batch.runs === undefined ? undefined : gatherRuns(batch.runs, rows, count);
      yield { rowCount: count, vectors: batch.vectors.map((vector) => gather(vector, rows, count)), runs };
    }
    await context.pace.turn();
  }
}

/** Hashes of rows by columns of some types. */
export class ShareKeys {
  private readonly types: readonly DataType[];
  private hashes: Int32Array = new Int32Array(0);
  private rows: Uint32Array = new Uint32Array(0);
  private words: Int32Array = new Int32Array(0);

  private readonly ofTables: WeakMap<TextTable, Int32Array> = new WeakMap();

  /** @param types each of `mayShareBy` */
  constructor(types: readonly DataType[]) {
    this.types = types;
  }

  /** Positions of the rows of a share: `rows[0, count)`, valid until the next call. */
  rowsOf(
    vectors: readonly Vector[],
    rowCount: number,
    share: number,
    shares: number,
  ): { readonly rows: Uint32Array; readonly count: number } {
    if (this.hashes.length < rowCount) {
      this.hashes = new Int32Array(rowCount);
      this.rows = new Uint32Array(rowCount);
    }
    beginShares(this.hashes, rowCount);
    for (const [i, vector] of vectors.entries()) this.fold(vector, this.types[i] ?? { kind: "null" }, rowCount);
    return { rows: this.rows, count: rowsOfShare(this.hashes, rowCount, share, shares, this.rows) };
  }

  private fold(vector: Vector, type: DataType, rowCount: number): void {
    const { hashes } = this;
    const form = laneFormOf(type);
    if (vector.kind === "coded") foldShareCodes(this.hashesOf(vector.entries), vector.codes, rowCount, hashes);
    else if (vector.kind === "dictionary") foldTextsOf(vector, rowCount, hashes);
    else if (form !== undefined) foldShareWords(this.wordsOf(vector, form, rowCount), form.width, vector.validity, rowCount, hashes);
    else if (vector.kind === "bytes") foldShareTexts(viewOf(vector.bytes), vector.offsets, vector.validity, rowCount, hashes);
    // Else all are NULL, of any type.
    else foldShareTexts(viewOf(new Uint8Array(0)), new Uint32Array(rowCount + 1), new Uint8Array(rowCount), rowCount, hashes);
  }

  /** Of a table whose rows come in many batches once. */
  private hashesOf(entries: TextTable): Int32Array {
    let hashes = this.ofTables.get(entries);
    if (hashes === undefined) {
      hashes = shareHashesOf(entries);
      this.ofTables.set(entries, hashes);
    }
    return hashes;
  }

  private wordsOf(vector: Vector, form: LaneForm, rowCount: number): Int32Array {
    const isHere = lanesInPlace(vector, form, rowCount);
    if (isHere !== undefined) return isHere;
    if (this.words.length < rowCount * form.width) this.words = new Int32Array(rowCount * form.width);
    writeLanes(vector, form, rowCount, this.words, 0, form.width);
    return this.words;
  }
}

/** Texts of a dictionary: each is hashed once. */
function foldTextsOf({ codes, dictionary }: DictionaryVector, rowCount: number, hashes: Int32Array): void {
  const known = new Map<number, number>();
  const words = new Int32Array(rowCount);
  const validity = new Uint8Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const code = codes[row] as number;
    const text = dictionary[code];
    validity[row] = text === undefined ? 0 : 1;
    if (text === undefined) continue;
    let hash = known.get(code);
    if (hash === undefined) {
      const bytes = encoder.encode(text);
      hash = shareHashOfText(viewOf(bytes), 0, bytes.length);
      known.set(code, hash);
    }
    words[row] = hash;
  }
  foldShareWords(words, 1, validity, rowCount, hashes);
}
