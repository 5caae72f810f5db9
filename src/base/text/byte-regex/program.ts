/**
 * A tree as a program over bytes: places that are taken together, of which each byte leads to others.
 *
 *   byte set ─► place          fork ─► place, place          start, end ─► place, where the text begins or ends
 *
 * A character beyond ASCII is two to four bytes, whose ranges are those of UTF-8. Where a set does not tell whether it has such a
 * character, its first byte leads to `ASK`.
 */
import type { CharacterSet, RegexNode } from "./syntax.ts";

/** One place. */
export type Place =
  | { readonly kind: "bytes"; readonly set: Uint8Array; next: number }
  | { readonly kind: "fork"; readonly next: number[] }
  | { readonly kind: "start"; next: number }
  | { readonly kind: "end"; next: number }
  /** The expression fits. */
  | { readonly kind: "match" }
  /** Only the full engine knows. */
  | { readonly kind: "ask" };

/** A program, and where it begins. */
export interface Program {
  readonly places: readonly Place[];
  readonly first: number;
}

/** Most places of a program. Reason: each byte may have to follow all of them once. */
const PLACES_MAX = 500;
const BYTES = 256;

/** The first and last bytes that begin characters of two, three and four bytes. */
const LEADS = [
  [0xc2, 0xdf],
  [0xe0, 0xef],
  [0xf0, 0xf4],
] as const;

/** The program of a tree; undefined where it is too large. */
export function programOf(tree: RegexNode): Program | undefined {
  const maker = new Maker();
  const first = maker.make(tree, maker.add({ kind: "match" }));
  return maker.isFull ? undefined : { places: maker.places, first };
}

class Maker {
  readonly places: Place[] = [];

  get isFull(): boolean {
    return this.places.length > PLACES_MAX;
  }

  add(place: Place): number {
    return this.places.push(place) - 1;
  }

  /** Makes what leads through a node to a place; gives where it begins. */
  make(node: RegexNode, next: number): number {
    if (this.isFull) return next;
    switch (node.kind) {
      case "bytes":
        return node.bytes.reduceRight((after, byte) => this.add({ kind: "bytes", set: rangeOf(byte, byte), next: after }), next);
      case "set":
        return this.character(node.set, next);
      case "sequence":
        return node.parts.reduceRight((after, part) => this.make(part, after), next);
      case "either":
        return this.add({ kind: "fork", next: node.parts.map((part) => this.make(part, next)) });
      case "repeat":
        return this.repeat(node.part, node.min, node.max, next);
      case "group":
        return this.make(node.part, next);
      case "start":
      case "end":
        return this.add({ kind: node.kind, next });
    }
  }

  private repeat(part: RegexNode, min: number, max: number, next: number): number {
    let after = next;
    if (max === Number.POSITIVE_INFINITY) {
      const loop: Place = { kind: "fork", next: [next] };
      after = this.add(loop);
      loop.next.push(this.make(part, after));
    } else {
      for (let i = min; i < max && !this.isFull; i++) after = this.add({ kind: "fork", next: [next, this.make(part, after)] });
    }
    for (let i = 0; i < min && !this.isFull; i++) after = this.make(part, after);
    return after;
  }

  private character({ ascii, others }: CharacterSet, next: number): number {
    const set = new Uint8Array(BYTES);
    set.set(ascii);
    const own = this.add({ kind: "bytes", set, next });
    if (others === "none") return own;
    if (others === "some")
      return this.add({
        kind: "fork",
        next: [own, this.add({ kind: "bytes", set: rangeOf(0xc0, 0xff), next: this.add({ kind: "ask" }) })],
      });
    const starts = [own];
    let tail = next;
    for (const [first, last] of LEADS) {
      tail = this.add({ kind: "bytes", set: rangeOf(0x80, 0xbf), next: tail });
      starts.push(this.add({ kind: "bytes", set: rangeOf(first, last), next: tail }));
    }
    return this.add({ kind: "fork", next: starts });
  }
}

function rangeOf(first: number, last: number): Uint8Array {
  return new Uint8Array(BYTES).fill(1, first, last + 1);
}

/** The longest range of bytes that each text has in which a tree fits somewhere; undefined: none. */
export function requiredBytes(tree: RegexNode): Uint8Array | undefined {
  let longest = new Uint8Array(0);
  let run: number[] = [];
  const end = (): void => {
    if (run.length > longest.length) longest = Uint8Array.from(run);
    run = [];
  };
  const visit = (node: RegexNode): void => {
    switch (node.kind) {
      case "bytes":
        run.push(...node.bytes);
        return;
      case "sequence":
        node.parts.forEach(visit);
        return;
      case "group":
        return visit(node.part);
      case "start":
      case "end":
        return;
      case "repeat":
        if (node.min === 0) return end();
        if (node.min === 1 && node.max === 1) return visit(node.part);
        end();
        visit(node.part);
        return end();
      default:
        end();
    }
  };
  visit(tree);
  end();
  return longest.length === 0 ? undefined : longest;
}
