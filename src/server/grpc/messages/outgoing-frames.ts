/**
 * Messages that a method frames itself: large ones, which the transport's library would copy three times on their way into a frame. The
 * library is given an empty message for each, and the frame that it makes of that one is replaced by the method's.
 *
 *   method ── frame ─► OutgoingFrames ─────────────┐
 *      └── empty message ─► the library ─► 00 00000000 ─► frame ─► the client
 *
 *   ┌───────┬──────────────┬─────────┐
 *   │ 0     │ length (u32) │ message │   a frame, the same in gRPC, gRPC-web and streams of Connect
 *   └───────┴──────────────┴─────────┘
 */
import { Code, ConnectError } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { errorMetadata } from "../errors.ts";
import { StatusCode } from "../../../base/status-code.ts";

/** Flags and length. */
export const FRAME_HEAD_BYTES = 5;

/** The frames of one call that wait for the library: one or two, since a method is asked for a message when the one before is out. */
export class OutgoingFrames {
  private readonly waiting: Uint8Array[] = [];

  /** Takes a frame in whose stead an empty message goes to the library. */
  push(frame: Uint8Array): void {
    this.waiting.push(frame);
  }

  /** What goes out for a frame of the library: itself, unless it is empty. */
  inPlaceOf(frame: Uint8Array): Uint8Array {
    if (frame.length !== FRAME_HEAD_BYTES || frame.some((byte) => byte !== 0)) return frame;
    return this.waiting.shift() ?? frame;
  }
}

/** Makes room for a frame's head. @returns memory for the whole frame, its head written */
export function newFrame(messageBytes: number): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(FRAME_HEAD_BYTES + messageBytes);
  new DataView(frame.buffer).setUint32(1, messageBytes);
  return frame;
}

/** @throws ConnectError RESOURCE_EXHAUSTED for a message that is longer than messages may be */
export function checkFrame(frame: Uint8Array, bytesMax: number): void {
  const length = frame.length - FRAME_HEAD_BYTES;
  if (length <= bytesMax) return;
  const why = `cannot send a message of ${length} bytes: at most ${bytesMax} are sent (grpc.max_send_message_size)`;
  throw new ConnectError(why, Code.ResourceExhausted, errorMetadata(StatusCode.RuntimeResourcesExhausted, undefined));
}

/** The answer with the frames that its method has made. */
export function withFrames(response: UniversalServerResponse, frames: OutgoingFrames): UniversalServerResponse {
  const { body } = response;
  return body === undefined ? response : { ...response, body: replaced(body, frames) };
}

/** Not a generator: what throws into it or ends it has to reach the library. */
function replaced(body: AsyncIterable<Uint8Array>, frames: OutgoingFrames): AsyncIterable<Uint8Array> {
  const source = body[Symbol.asyncIterator]();
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const next = await source.next();
      return next.done === true ? next : { done: false, value: frames.inPlaceOf(next.value) };
    },
    throw: (reason: unknown) => source.throw?.(reason) ?? Promise.reject(reason),
    return: async (value: unknown) => (await source.return?.(value)) ?? { done: true, value },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}
