/**
 * The way from a frontend to the owners of shards. It knows who owns which shard, and waits where nobody does or the owner has gone; what
 * it was asked runs again elsewhere as long as nothing of the answer was handed out.
 */
import type { FragmentPiece, FragmentRequest, ShardAnswers, ShardCall } from "./shard-request.ts";

/** See the file header. */
export interface ShardClient {
  /** How many shards the cluster has. */
  readonly shards: number;
  /**
   * Runs a fragment. Leaving the loop ends it there, at once. The last piece is "end": what fails is thrown.
   *
   * @throws DbError what running it threw there; StorageUnavailable when no owner answers in time; Cancelled
   */
  fragment(request: FragmentRequest, signal: AbortSignal): AsyncIterable<FragmentPiece>;
  /**
   * Fragments of one plan over several shards, each as `fragment`. They go together where one node owns several, and then what it sends
   * of one waits for whoever reads those before it: so all answers are begun within one turn of the loop, and read to their ends in the
   * order of the requests, or the signal fires.
   *
   * @param requests differ in `shard` and `least` alone
   */
  fragments(requests: readonly FragmentRequest[], signal: AbortSignal): readonly AsyncGenerator<FragmentPiece>[];
  /**
   * Asks one question. What changes rows is asked once: after an answer that was lost nobody knows whether it was done.
   *
   * @throws DbError what it threw there; StorageUnavailable when no owner answers in time; Cancelled
   */
  call<C extends ShardCall>(call: C, signal?: AbortSignal): Promise<ShardAnswers[C["kind"]]>;
  /**
   * The number of the last record of a shard's log, as of a moment after this call: for `ShardMoment.least`. Calls that wait share one
   * question.
   *
   * @throws DbError StorageUnavailable
   */
  newest(shard: number): Promise<number>;
}
