/**
 * The body of an answer: pieces are made as they are taken. It ends when they do, when whoever asked leaves, or when a piece is left where
 * it is for too long; from then on nothing is made.
 */

/** What an answer is made of, and who is told of its end. */
export interface AnswerStreamParts {
  /** Ends soon once the controller's signal has fired. */
  readonly pieces: AsyncGenerator<Uint8Array<ArrayBuffer>>;
  readonly controller: AbortController;
  /** How long a piece may be left where it is. */
  readonly stallMillis: number;
  /** Called once, when nothing more is made. */
  onOver(this: void): void;
  /** Called when making pieces failed. */
  onFailure(this: void, error: unknown): void;
}

/** See the file header. */
export class AnswerStream {
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  private readonly parts: AnswerStreamParts;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private ending: Promise<void> | undefined;
  private isOver = false;

  constructor(parts: AnswerStreamParts) {
    this.parts = parts;
    this.stream = new ReadableStream<Uint8Array<ArrayBuffer>>(
      { pull: (controller) => this.pull(controller), cancel: () => this.end() },
      { highWaterMark: 0 },
    );
  }

  /** Ends it before its time; resolves when nothing is made any more. */
  end(): Promise<void> {
    this.ending ??= this.left();
    return this.ending;
  }

  private async left(): Promise<void> {
    const { pieces, controller, onFailure } = this.parts;
    clearTimeout(this.timer);
    controller.abort();
    try {
      await pieces.return(undefined);
    } catch (error) {
      onFailure(error);
    } finally {
      this.over();
    }
  }

  private async pull(stream: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): Promise<void> {
    clearTimeout(this.timer); // The last piece was taken.
    const { pieces, controller, stallMillis, onFailure } = this.parts;
    try {
      const next = await pieces.next();
      if (next.done === true) {
        this.over();
        // One that was left is not to be taken for a whole one. Without a value: the runtime resets the connection and prints nothing.
        if (controller.signal.aborted) stream.error(undefined);
        else stream.close();
        return;
      }
      if (this.ending !== undefined) return; // The frontend left meanwhile: the stream takes nothing.
      stream.enqueue(next.value);
      this.timer = setTimeout(() => {
        stream.error(undefined);
        void this.end(); // It tells of what fails.
      }, stallMillis);
    } catch (error) {
      this.over();
      onFailure(error);
      stream.error(undefined);
    }
  }

  private over(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.parts.onOver();
  }
}
