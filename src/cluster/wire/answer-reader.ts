/**
 * Makes the pieces of an answer out of its frames, and checks that they belong together: rows name series that were defined and texts that
 * came, an end is an end.
 */
import type { DataType } from "../../column/data-type.ts";
import type { PlainBatch } from "../../query/operator/contract/query-workers.ts";
import { decodeRows } from "../../query/operator/parallel/row-bytes.ts";
import type { ToldError } from "../../base/told-error.ts";
import { invalidArguments } from "../../base/error.ts";
import { FRAME, type ReadFrame } from "./frames.ts";
import { decodeAnswer, readValue } from "./requests.ts";
import { SeriesReader } from "./series-frame.ts";
import { fragmentEnd, toldError } from "./shapes.ts";
import type { FragmentPiece, ShardAnswers, ShardCall } from "./shard-request.ts";

/** What a frame is beside a piece of an answer. */
export type OtherFrame =
  /** The node does not do it, and nothing of it was begun: it may be asked of another one, or later. */
  | { readonly kind: "refused"; readonly error: ToldError }
  /** The node lives. */
  | { readonly kind: "alive" };

/** Reads the answer to one fragment. */
export class FragmentReader {
  private readonly types: readonly DataType[];
  private readonly series: SeriesReader = new SeriesReader();
  /** By column: texts of the dictionary that came, entries of coded text that came last. */
  private readonly texts: Map<number, number> = new Map();
  private readonly entries: Map<number, number> = new Map();
  private isOver = false;

  /** @param types of the columns of its rows */
  constructor(types: readonly DataType[]) {
    this.types = types;
  }

  /** @throws DbError InvalidArguments for a frame that has no place there, Unsupported for one of a newer version */
  read({ kind, payload }: ReadFrame): FragmentPiece | OtherFrame {
    if (this.isOver) throw wrong("a frame follows its end");
    switch (kind) {
      case FRAME.alive:
        return { kind: "alive" };
      case FRAME.series:
        return { kind: "series", series: this.series.read(payload) };
      case FRAME.rows: {
        const batch = decodeRows(payload, this.types);
        this.check(batch);
        return { kind: "rows", batch, bytes: payload.length };
      }
      case FRAME.end:
        this.isOver = true;
        return { kind: "end", ...readValue(fragmentEnd, payload, "the end of an answer") };
      default:
        this.isOver = true;
        return failure(kind, payload);
    }
  }

  private check({ vectors, runs }: PlainBatch): void {
    for (const [column, vector] of vectors.entries()) {
      if (vector.kind === "dictionary") {
        const { start, texts } = vector;
        if (start > 0 && start !== this.texts.get(column)) throw wrong(`texts of column ${column} follow others that did not come`);
        if (start === 0 && texts[0] !== undefined) throw wrong(`the dictionary of column ${column} has no NULL`);
        this.texts.set(column, start + texts.length);
      } else if (vector.kind === "coded") {
        const { codes, entries } = vector;
        if (entries !== undefined) this.entries.set(column, entries.size);
        else if (!areBelow(codes, this.entries.get(column) ?? 0)) throw wrong(`column ${column} names texts that did not come`);
      }
    }
    if (runs !== undefined && !areBelow(runs.series, this.series.count)) throw wrong("rows name series that were not defined");
  }
}

/** Reads one frame of the answer to a call. @throws DbError as `FragmentReader.read` */
export function readAnswer<K extends ShardCall["kind"]>(
  kind: K,
  frame: ReadFrame,
): { readonly kind: "answer"; readonly answer: ShardAnswers[K] } | { readonly kind: "failed"; readonly error: ToldError } | OtherFrame {
  if (frame.kind === FRAME.alive) return { kind: "alive" };
  if (frame.kind === FRAME.answer) return { kind: "answer", answer: decodeAnswer(kind, frame.payload) };
  return failure(frame.kind, frame.payload);
}

function failure(kind: number, payload: Uint8Array): { readonly kind: "failed" | "refused"; readonly error: ToldError } {
  if (kind === FRAME.failed) return { kind: "failed", error: readValue(toldError, payload, "an error") };
  if (kind === FRAME.refused) return { kind: "refused", error: readValue(toldError, payload, "a refusal") };
  throw wrong(`there is no frame of kind ${kind} here`);
}

function areBelow(numbers: Uint32Array, end: number): boolean {
  for (let i = 0; i < numbers.length; i++) if ((numbers[i] as number) >= end) return false;
  return true;
}

function wrong(why: string): Error {
  return invalidArguments(`cannot read an answer: ${why}`);
}
