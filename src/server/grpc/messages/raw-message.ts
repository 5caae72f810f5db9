/**
 * Messages that reach methods as they came. The transport's library reads whatever comes into objects, the fields that nobody knows among
 * them: a MiB of two-byte fields took it 350 ms and 80 MiB, before anyone had signed in. So binary messages are put into a field of another
 * message on their way in (incoming-messages.ts, compression.ts), which is all that the library gets to read.
 *
 *   ┌────────────┬──────────────────┬─────────┐
 *   │ tag (0x0a) │ length (varint)  │ message │   a google.protobuf.BytesValue; an empty message stays empty
 *   └────────────┴──────────────────┴─────────┘
 */
import type { DescMethod, Message } from "@bufbuild/protobuf";
import { type BytesValue, BytesValueSchema } from "@bufbuild/protobuf/wkt";

const TAG = 0x0a;

/** Most bytes that wrapping adds to a message: the tag, and a length of 32 bits. */
export const WRAP_BYTES_MAX = 6;

/** The method as the library shall know it: its messages in are bytes. */
export function withRawInput(method: DescMethod): DescMethod {
  return { ...method, input: BytesValueSchema } as DescMethod; // its kind stays, whatever the input is
}

/** The bytes of a message that came in wrapped: a view of what was received, valid while the message is worked on. */
export function bytesOf(message: Message): Uint8Array {
  return (message as BytesValue).value; // which `withRawInput` made of it
}

/** How many bytes go before a message of that length. */
function wrapBytes(length: number): number {
  if (length === 0) return 0;
  let count = 2;
  for (let rest = Math.floor(length / 128); rest > 0; rest = Math.floor(rest / 128)) count++;
  return count;
}

/** Writes them. @param at where they begin @param length of the message that follows, below 2^32 */
function writeWrap(out: Uint8Array, at: number, length: number): void {
  if (length === 0) return;
  out[at] = TAG;
  let place = at + 1;
  let rest = length;
  for (; rest >= 128; rest = Math.floor(rest / 128)) out[place++] = (rest % 128) | 0x80;
  out[place] = rest;
}

/** A message with what goes before it, copied. */
export function wrapped(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const before = wrapBytes(message.length);
  const out = new Uint8Array(before + message.length);
  writeWrap(out, 0, message.length);
  out.set(message, before);
  return out;
}
