/**
 * Runs fragments where the rows are: each part of a remote table's scan is one shard, whose owner runs the fragment over all of its rows,
 * on as many threads as it has. In the place of query threads, which a frontend has no rows for.
 *
 *   operator/parallel ─pull─► stream of a shard ─► "series" registered, "rows" renumbered ─► answer of about so many bytes
 */
import { assert } from "../../base/assert.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { JoinedSnapshot } from "../../engine/joined/joined-share.ts";
import type { FragmentJob, OpenFragment, PlainBatch, Pulled, QueryWorkers } from "../../query/operator/contract/query-workers.ts";
import type { ScanPart, ShareLimits } from "../../table/shared-scan.ts";
import { GatheredParts } from "./gathered-parts.ts";
import { type AnswerPiece, RemoteSnapshot } from "./remote-table.ts";
import { StreamSeries } from "./stream-series.ts";

/** However few rows there are: they are not here. One part a shard, which its owner cuts as it likes. */
const LIMITS: ShareLimits = { rowsMin: 0, partRows: Number.MAX_SAFE_INTEGER, partsMax: Number.MAX_SAFE_INTEGER };

/** See the file header. */
export class RemoteWorkers implements QueryWorkers {
  readonly limits: ShareLimits = LIMITS;
  readonly threads: number;
  readonly sharesRows = true;
  readonly walksTimes = true;
  readonly aloneMs: number = 0;
  readonly groupsMin: number = Number.POSITIVE_INFINITY;
  readonly hasRoom = true;

  /** @param shards that there are */
  constructor(shards: number) {
    this.threads = shards;
  }

  openFragment(job: FragmentJob): OpenFragment {
    return new RemoteFragment(job);
  }
}

class RemoteFragment implements OpenFragment {
  private readonly job: FragmentJob;
  private readonly ending: AbortController = new AbortController();
  private readonly streams: Map<number, PartStream> = new Map();
  /** Parts that begin in this turn of the loop. */
  private gathered: GatheredParts | undefined;

  constructor(job: FragmentJob) {
    this.job = job;
  }

  async pull(index: number, [part, ...others]: readonly ScanPart[], bytesMax: number): Promise<Pulled> {
    assert(part !== undefined && others.length === 0, "a part of one shard");
    if (this.ending.signal.aborted) throw new DbError(StatusCode.Cancelled, "cannot go on with a query that is over");
    let stream = this.streams.get(index);
    if (stream === undefined) {
      const snapshot = snapshotOf(this.job, part);
      stream = new PartStream(snapshot, this.pieces(snapshot));
      this.streams.set(index, stream);
    }
    return stream.pull(bytesMax);
  }

  private pieces({ table }: RemoteSnapshot): AsyncGenerator<AnswerPiece> {
    const { signal } = this.ending;
    if (this.job.isReadInOrder !== true) return table.pieces(this.job, signal);
    if (this.gathered?.isOpen !== true) this.gathered = new GatheredParts(this.job, signal);
    return this.gathered.add(table);
  }

  async close(): Promise<void> {
    this.ending.abort();
    await Promise.allSettled(this.streams.values().map((stream) => stream.close())); // What they threw, pulls threw before.
  }
}

function snapshotOf({ snapshot }: FragmentJob, { shard }: ScanPart): RemoteSnapshot {
  const own = snapshot instanceof RemoteSnapshot ? snapshot : (snapshot as JoinedSnapshot).snapshots[shard ?? -1];
  if (own instanceof RemoteSnapshot) return own;
  throw new DbError(StatusCode.Unsupported, "cannot run a part of a query elsewhere: its rows are here");
}

/** The answer of one shard. */
class PartStream {
  private readonly pieces: AsyncGenerator<AnswerPiece>;
  private readonly snapshot: RemoteSnapshot;
  private readonly series: StreamSeries;

  constructor(snapshot: RemoteSnapshot, pieces: AsyncGenerator<AnswerPiece>) {
    this.snapshot = snapshot;
    this.series = new StreamSeries(snapshot.series);
    this.pieces = pieces;
  }

  /** As `OpenFragment.pull`. */
  async pull(bytesMax: number): Promise<Pulled> {
    const batches: PlainBatch[] = [];
    let bytes = 0;
    while (bytes < bytesMax) {
      const { done, value: piece } = await this.pieces.next();
      assert(done !== true, "an answer ends by saying so");
      switch (piece.kind) {
        case "series":
          this.snapshot.table.define(piece, this.series, this.snapshot.series);
          break;
        case "rows": {
          const { runs } = piece.batch;
          batches.push(runs === undefined ? piece.batch : { ...piece.batch, runs: this.series.renumbered(runs) });
          bytes += piece.bytes;
          break;
        }
        case "end":
          return { batches, bytes, isDone: true, workMs: piece.workMs, metrics: piece.metrics };
      }
    }
    return { batches, bytes, isDone: false, workMs: 0, metrics: undefined };
  }

  async close(): Promise<void> {
    await this.pieces.return(undefined);
  }
}
