/**
 * The answer of one node to a request over several shards, as each of them has its part: the parts come one after the other, each up to its
 * last frame, and are read in this order.
 *
 *   stream   series rows end │ refused │ rows rows end          heard: all that have not ended
 *            └─ part 0 ──────┘ └ part 1┘ └─ part 2 ───
 *
 * Nothing is kept: a part that is not read holds back those behind it, as it holds back its node. What a reader leaves where it is, the
 * next one skips. Where the stream fails, all parts that have not ended fail with it, each for itself.
 */
import { assert } from "../../base/assert.ts";
import { waitWithin } from "../../base/scheduler/wait-within.ts";
import { FRAME, type ReadFrame } from "./frames.ts";
import { NotAnswered } from "./node-transport.ts";

/** Behind which nothing follows in an answer, or in a part of one. */
export const LAST_FRAMES: ReadonlySet<number> = new Set([FRAME.end, FRAME.answer, FRAME.failed, FRAME.refused]);

/** A part as its reader has it. */
interface Part {
  /** Told that the node works on it. */
  readonly heard: () => void;
  readonly turn: PromiseWithResolvers<void>;
  isOver: boolean;
}

/** See the file header. Each part is read by one reader, or left; all of them begin within the turn in which the first does. */
export class SharedAnswer {
  private readonly frames: AsyncGenerator<ReadFrame>;
  private readonly parts: readonly Part[];
  private readonly signal: AbortSignal;
  /** The part that may be read. */
  private reads = 0;
  /** The part that the next frame is of. */
  private comes = 0;
  private failure: Error | undefined;

  /**
   * @param frames of all parts; begun by the reader of the first
   * @param heard what each part's reader is told with: the node works on it
   */
  constructor(frames: AsyncGenerator<ReadFrame>, heard: readonly (() => void)[], signal: AbortSignal) {
    this.frames = frames;
    this.parts = heard.map((own) => ({ heard: own, turn: Promise.withResolvers<void>(), isOver: false }));
    this.parts[0]?.turn.resolve();
    this.signal = signal;
  }

  /** The frames of a part. To be ended, also where nothing of it was read. @throws NotAnswered, DbError Cancelled, as the stream does */
  async *part(index: number): AsyncGenerator<ReadFrame> {
    try {
      const own = this.parts[index];
      assert(own !== undefined, `a part of the answer; got ${index}`);
      if (this.reads !== index) await waitWithin(own.turn.promise, { signal: this.signal });
      for (;;) {
        const frame = await this.next(index);
        yield frame;
        if (LAST_FRAMES.has(frame.kind)) return;
      }
    } finally {
      await this.leave(index);
    }
  }

  /** The next frame of a part whose turn it is. */
  private async next(index: number): Promise<ReadFrame> {
    for (;;) {
      const frame = await this.read();
      for (let i = index + 1; i < this.parts.length; i++) this.parts[i]?.heard();
      if (frame.kind === FRAME.alive) return frame;
      const isOwn = this.comes === index;
      if (LAST_FRAMES.has(frame.kind)) this.comes++;
      if (isOwn) return frame;
    }
  }

  private async read(): Promise<ReadFrame> {
    if (this.failure !== undefined) throw this.failure;
    try {
      const next = await this.frames.next();
      if (next.done !== true) return next.value;
      throw new NotAnswered("its node ended an answer before it had come to all shards", true);
    } catch (error) {
      this.failure = error instanceof Error ? error : new Error(String(error));
      throw error;
    }
  }

  private async leave(index: number): Promise<void> {
    const own = this.parts[index];
    if (own !== undefined) own.isOver = true;
    for (let part = this.parts[this.reads]; part?.isOver === true; part = this.parts[this.reads]) this.parts[++this.reads]?.turn.resolve();
    if (this.reads === this.parts.length) await this.frames.return(undefined);
  }
}
