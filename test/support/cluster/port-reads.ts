/** What tests of ports read and write with. */
import { PortError, type PortFailure } from "../../../src/cluster/port/port-error.ts";
import type { StreamMessage } from "../../../src/cluster/port/message.ts";

/** A text as a record. */
export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The text that a record is. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** The first `count` records of a follower; fewer where it ends. */
export async function textsUntil(
  followed: AsyncIterable<readonly StreamMessage[]>,
  count: number,
): Promise<{ readonly number: number; readonly text: string }[]> {
  const seen: { readonly number: number; readonly text: string }[] = [];
  for await (const list of followed) {
    seen.push(...list.map(({ number, bytes }) => ({ number, text: textOf(bytes) })));
    if (seen.length >= count) break;
  }
  return seen;
}

/** How work fails that must fail as a port does. @throws when it does not */
export async function failureName(work: Promise<unknown>): Promise<PortFailure> {
  const [outcome] = await Promise.allSettled([work]);
  if (outcome?.status === "rejected" && outcome.reason instanceof PortError) return outcome.reason.failure;
  throw new Error(`the work should fail as a port does; got ${Bun.inspect(outcome)}`);
}
