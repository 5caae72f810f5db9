/** The rows of a fragment as frames: batches in pieces of about `PIECE_BYTES`, each behind the series that it names first. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { encodeRows } from "../../query/operator/parallel/row-bytes.ts";
import { BatchPacker } from "../../query/operator/parallel/plain-batch.ts";
import type { ExecBatch } from "../../query/operator/contract/exec-context.ts";
import { bytesOfBatch } from "../../query/operator/rows/held-rows.ts";
import { pieces } from "../../query/operator/rows/pieces.ts";
import { FRAME, type Frame } from "../wire/frames.ts";
import { PIECE_BYTES } from "../wire/limits.ts";
import type { StreamSeries } from "./stream-series.ts";

/** Makes the frames of one answer. */
export class FragmentFrames {
  /** Undefined: rows do not say of which series they are. */
  private readonly series: StreamSeries | undefined;
  private readonly packer: BatchPacker = new BatchPacker();

  constructor(series: StreamSeries | undefined) {
    this.series = series;
  }

  /** The frames of a batch, which is copied piece by piece. @throws DbError Unsupported for rows that no frame holds */
  *of(batch: ExecBatch): Generator<Frame> {
    if (batch.summary !== undefined) {
      throw new DbError(StatusCode.Unsupported, "cannot send statistics of pages: they are for operators on the same machine");
    }
    const rowsMax = Math.floor((batch.rowCount * PIECE_BYTES) / Math.max(1, bytesOfBatch(batch)));
    for (const piece of pieces(batch, Math.max(1, rowsMax))) yield* this.ofPiece(piece);
  }

  private *ofPiece({ rowCount, vectors, runs }: ExecBatch): Generator<Frame> {
    const renumbered = runs === undefined ? undefined : this.series?.renumbered(runs);
    for (const payload of renumbered?.frames ?? []) yield { kind: FRAME.series, payload };
    const { batch } = this.packer.pack({ rowCount, vectors, runs: renumbered?.runs }, []);
    yield { kind: FRAME.rows, payload: encodeRows(batch) };
  }
}
