/**
 * Parts of one fragment that begin in one turn of the loop, asked for together: the client sends those of one owner as one request.
 *
 *   add, add, add ─► end of the turn ─► moments of all shards ─► `ShardClient.fragments` ─► an answer each
 */
import type { FragmentJob } from "../../query/operator/contract/query-workers.ts";
import type { FragmentPiece } from "../wire/shard-request.ts";
import { type AnswerPiece, piecesOf, type RemoteTable } from "./remote-table.ts";

type Answers = readonly AsyncGenerator<FragmentPiece>[];

/** See the file header. */
export class GatheredParts {
  private readonly job: FragmentJob;
  private readonly signal: AbortSignal;
  private readonly tables: RemoteTable[] = [];
  /** Undefined: the turn has not ended. */
  private answers: Promise<Answers> | undefined;
  private readonly begun: Promise<Answers>;

  /** @param job its parts are read in order */
  constructor(job: FragmentJob, signal: AbortSignal) {
    this.job = job;
    this.signal = signal;
    this.begun = Promise.resolve().then(() => (this.answers = this.ask()));
    void Promise.allSettled([this.begun]); // Whoever reads a part hears of it.
  }

  /** Whether parts may be added. */
  get isOpen(): boolean {
    return this.answers === undefined;
  }

  /** One more part. @returns its answer, to be begun at once. @throws as `RemoteTable.pieces` */
  add(table: RemoteTable): AsyncGenerator<AnswerPiece> {
    const place = this.tables.push(table) - 1;
    return this.pieces(place);
  }

  private async *pieces(place: number): AsyncGenerator<AnswerPiece> {
    const answers = await this.begun;
    yield* piecesOf(answers[place] as AsyncGenerator<FragmentPiece>);
  }

  private async ask(): Promise<Answers> {
    const requests = await Promise.all(this.tables.map((table) => table.request(this.job, this.signal)));
    return this.tables[0]?.client.fragments(requests, this.signal) ?? [];
  }
}
