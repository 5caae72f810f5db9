/**
 * Batches on their way between threads. Arrays are cut to the batch's rows and change hands without a copy; texts of a dictionary that grow
 * from batch to batch go once, and entries that many rows share.
 */
import type { TextTable } from "../../../column/text-table.ts";
import { bytesOfEntries, ownEntries, textLength } from "../../../column/coded-text.ts";
import type { CodedVector, NumberArray, Vector } from "../../../column/vector.ts";
import type { ExecBatch } from "../contract/exec-context.ts";
import type { PlainBatch, PlainCoded, PlainDictionary } from "../contract/query-workers.ts";

interface Sent {
  readonly dictionary: readonly (string | undefined)[];
  readonly length: number;
}

/** Makes plain batches of those of one stream. */
export class BatchPacker {
  private readonly sent: Map<number, Sent> = new Map();
  /** The entries that were sent last, by column. */
  private readonly entries: Map<number, TextTable> = new Map();

  /** A copy of a batch's rows. `buffers` takes what may change hands with it. Returns the batch and its bytes. */
  pack(batch: ExecBatch, buffers: ArrayBuffer[]): { readonly batch: PlainBatch; readonly bytes: number } {
    const { rowCount, runs } = batch;
    let bytes = 0;
    const own = <A extends { readonly buffer: ArrayBufferLike; readonly byteLength: number }>(array: A): A => {
      bytes += array.byteLength;
      if (array.buffer instanceof ArrayBuffer) buffers.push(array.buffer);
      return array;
    };
    const vectors = batch.vectors.map((vector, column) => {
      if (vector.kind === "coded") return this.coded(column, vector, rowCount, own);
      if (vector.kind === "dictionary") return this.dictionary(column, own(vector.codes.slice(0, rowCount)), vector.dictionary);
      const validity = vector.validity === undefined ? undefined : own(vector.validity.slice(0, rowCount));
      return packed(vector, validity, rowCount, own);
    });
    const copy = runs === undefined ? undefined : { starts: own(runs.starts.slice()), series: own(runs.series.slice()) };
    return { batch: { rowCount, vectors, runs: copy }, bytes };
  }

  private coded(column: number, vector: CodedVector, rowCount: number, own: Own): PlainCoded {
    const { entries } = vector;
    if (this.entries.get(column) === entries) return { kind: "coded", codes: own(vector.codes.slice(0, rowCount)), entries: undefined };
    // Of large tables only what the rows have.
    const isLarge = bytesOfEntries(entries) > textLength(vector, 0, rowCount) + rowCount * 4;
    const sent = isLarge ? ownEntries(vector, rowCount) : vector;
    const { size, bytes, starts } = sent.entries;
    this.entries.set(column, sent.entries);
    const copy = { size, bytes: own(bytes.slice(0, starts[size])), starts: own(starts.slice(0, size + 1)) };
    return { kind: "coded", codes: own(sent.codes.slice(0, rowCount)), entries: copy };
  }

  private dictionary(column: number, codes: Uint32Array, dictionary: readonly (string | undefined)[]): PlainDictionary {
    const sent = this.sent.get(column);
    const start = sent?.dictionary === dictionary ? sent.length : 0;
    this.sent.set(column, { dictionary, length: dictionary.length });
    return { kind: "dictionary", codes, start, texts: dictionary.slice(start) };
  }
}

type Plain = Exclude<Vector, { kind: "dictionary" | "coded" }>;
type Own = <A extends { readonly buffer: ArrayBufferLike; readonly byteLength: number }>(array: A) => A;

function packed(vector: Plain, validity: Uint8Array | undefined, rowCount: number, own: Own): Plain {
  switch (vector.kind) {
    case "number":
      return { kind: "number", values: own(vector.values.slice(0, rowCount) satisfies NumberArray), validity };
    case "wide":
      return { kind: "wide", values: own(vector.values.slice(0, rowCount)), validity };
    case "time":
      return { kind: "time", base: vector.base, offsets: own(vector.offsets.slice(0, rowCount)), validity };
    case "bytes": {
      const first = vector.offsets[0] ?? 0;
      const offsets = vector.offsets.slice(0, rowCount + 1);
      if (first > 0) for (let i = 0; i < offsets.length; i++) offsets[i] = (offsets[i] as number) - first;
      const end = vector.offsets[rowCount] ?? first;
      return { kind: "bytes", offsets: own(offsets), bytes: own(vector.bytes.slice(first, end)), validity };
    }
  }
}

/** Makes batches of the plain ones of one stream, in their order. */
export class BatchUnpacker {
  private readonly known: Map<number, (string | undefined)[]> = new Map();
  private readonly entries: Map<number, TextTable> = new Map();

  unpack({ rowCount, vectors, runs }: PlainBatch): ExecBatch {
    return {
      rowCount,
      runs,
      vectors: vectors.map((vector, column): Vector => {
        if (vector.kind === "coded") return this.coded(column, vector);
        if (vector.kind !== "dictionary") return vector;
        const dictionary = vector.start === 0 ? [] : (this.known.get(column) ?? []);
        if (vector.start === 0) this.known.set(column, dictionary);
        for (const text of vector.texts) dictionary.push(text);
        return { kind: "dictionary", codes: vector.codes, dictionary };
      }),
    };
  }

  private coded(column: number, { codes, entries }: PlainCoded): Vector {
    if (entries !== undefined) {
      this.entries.set(column, entries);
      return { kind: "coded", codes, entries };
    }
    const known = this.entries.get(column);
    if (known === undefined || codes.some((code) => code >= known.size))
      throw new Error("rows have codes of texts that did not come before");
    return { kind: "coded", codes, entries: known };
  }
}
