/** Membership of texts in a list of constants, by a table of their hashes. */
import { HashSlots, slotOf } from "../../../base/bytes/hash-slots.ts";
import { bytesHash } from "../../../base/bytes/hash.ts";
import type { Texts } from "../../../column/texts.ts";

const encoder = new TextEncoder();
const SLOTS_MIN = 16;

/** See the file header. */
export class TextSet {
  private readonly members: readonly Uint8Array[];
  private readonly slots = new HashSlots(SLOTS_MIN);
  /** By length: whether there is a member of it. */
  private readonly lengths: Uint8Array;

  constructor(members: readonly string[]) {
    this.members = members.map((text) => encoder.encode(text));
    let longest = 0;
    for (const { length } of this.members) longest = Math.max(longest, length);
    this.lengths = new Uint8Array(longest + 1);
    this.slots.reserve(this.members.length);
    for (const [i, bytes] of this.members.entries()) {
      this.lengths[bytes.length] = 1;
      this.slots.add(bytesHash(bytes, 0, bytes.length), i);
    }
  }

  /** Writes `value` where a row's text is a member. */
  mark({ bytes, starts, ends }: Texts, rowCount: number, into: Uint8Array, value: number): void {
    const { lengths } = this;
    for (let row = 0; row < rowCount; row++) {
      const start = starts[row] as number;
      const end = ends[row] as number;
      if (lengths[end - start] === 1 && this.has(bytes, start, end)) into[row] = value;
    }
  }

  private has(bytes: Uint8Array, start: number, end: number): boolean {
    const { pairs, mask } = this.slots;
    const hash = bytesHash(bytes, start, end);
    for (let at = slotOf(hash, mask); ; at = (at + 2) & mask) {
      const entry = (pairs[at + 1] as number) - 1;
      if (entry < 0) return false;
      if (pairs[at] !== hash) continue;
      const member = this.members[entry] as Uint8Array;
      let i = 0;
      while (i < member.length && bytes[start + i] === member[i]) i++;
      if (i === member.length && i === end - start) return true;
    }
  }
}
