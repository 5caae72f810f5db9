/**
 * Answers that are made while they are sent. Up to `ANSWER_HOLD_BYTES` are held back, so that a statement that fails early is answered
 * with its own status. Once more than that is there the status is committed; a later failure resets the connection, so that no client
 * takes a cut answer for a whole one. A client that takes a piece too slowly is cut off as well: what the answer is made from, memory and
 * files, waits with it.
 */
import type { FailureLog } from "../common/failure-log.ts";
import type { Exchange } from "./exchange.ts";
import type { HttpMetrics } from "./http-metrics.ts";
import { ANSWER_HOLD_BYTES, type PaceLimits, STREAM_IDLE_SECONDS } from "./limits.ts";

/** What to do about an answer that is streamed. */
interface AnswerHooks {
  /** The answer is about to be streamed. */
  onCommit(): void;
  /** A statement failed after the commit; the connection is reset. */
  onLateFailure(error: unknown): void;
  /** Nothing more of a streamed answer is made: it is whole, it failed, or nobody takes it. */
  onEnd(): void;
}

/** What every protocol does about the answer to a request. */
export function answerHooks(exchange: Exchange, failures: FailureLog, metrics: HttpMetrics): AnswerHooks {
  return {
    onCommit: () => exchange.setIdleTimeout(STREAM_IDLE_SECONDS),
    onLateFailure: (error) => {
      if (failures.reportCut(error, exchange, exchange.signal)) metrics.errors.inc({ protocol: "http" });
    },
    onEnd: () => exchange.endTimeout(),
  };
}

/**
 * The bytes of a small answer, or a stream of a large one. Errors before the commit are thrown.
 *
 * @param source what it yields is valid until the next is asked for
 */
export async function answerBody(
  source: AsyncIterable<Uint8Array<ArrayBuffer>>,
  hooks: AnswerHooks,
  pace: PaceLimits,
): Promise<Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>> {
  const iterator = source[Symbol.asyncIterator]();
  const held: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  while (length <= ANSWER_HOLD_BYTES) {
    const next = await iterator.next();
    if (next.done === true) return joined(held, length);
    held.push(new Uint8Array(next.value)); // `slice` of a `Buffer` would be the same memory.
    length += next.value.length;
  }
  hooks.onCommit();
  return streamOf(joined(held, length), iterator, hooks, pace);
}

/** A stream of what happens: each piece is sent when it is there, from the first on. Errors before the first are thrown. */
export async function eventBody(
  source: AsyncIterable<Uint8Array<ArrayBuffer>>,
  hooks: AnswerHooks,
  pace: PaceLimits,
): Promise<Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>> {
  const iterator = source[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done === true) return new Uint8Array(0);
  hooks.onCommit();
  return streamOf(first.value, iterator, hooks, pace);
}

function joined(chunks: readonly Uint8Array<ArrayBuffer>[], length: number): Uint8Array<ArrayBuffer> {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const out = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    out.set(chunk, at);
    at += chunk.length;
  }
  return out;
}

/**
 * Pulls only as fast as the client reads. The runtime has written a piece to the socket, or copied what the socket did not take, before it
 * asks for the next: the piece may be written over then.
 */
function streamOf(
  held: Uint8Array<ArrayBuffer>,
  iterator: AsyncIterator<Uint8Array<ArrayBuffer>>,
  hooks: AnswerHooks,
  pace: PaceLimits,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let waiting: Uint8Array<ArrayBuffer> | undefined = held;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const give = (controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>, piece: Uint8Array<ArrayBuffer>): void => {
    const giveUp = (): void => {
      hooks.onEnd();
      controller.error(undefined);
      Promise.resolve(iterator.return?.()).catch((error: unknown) => hooks.onLateFailure(error));
    };
    timer = setTimeout(giveUp, pace.graceMs + (piece.length / pace.bytesPerSecondMin) * 1000);
    controller.enqueue(piece);
  };
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        clearTimeout(timer); // The last piece was taken.
        if (waiting !== undefined) {
          give(controller, waiting);
          waiting = undefined;
          return;
        }
        try {
          const next = await iterator.next();
          if (next.done !== true) return give(controller, next.value);
          hooks.onEnd();
          controller.close();
        } catch (error) {
          hooks.onEnd();
          hooks.onLateFailure(error);
          // Without a value: the runtime then resets the connection and prints nothing of its own.
          controller.error(undefined);
        }
      },
      async cancel() {
        clearTimeout(timer);
        hooks.onEnd();
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
