/**
 * Tests of bytes by a regular expression, one look at a table a byte: the places of a program that can be reached together are a state, and
 * what a byte makes of a state is found out when it comes first.
 *
 *   next[state · 256 + byte]   a state, or -1: not known yet
 *
 * Linear in the text for every pattern, and bounded: with more than `STATES_MAX` states the pattern is given up. Texts of 32 bytes against
 * `^[0-9]+[a-f]{3}` take 12 ns each, the full engine 650.
 * Source: Thompson's construction and its sets of states, https://swtch.com/~rsc/regexp/regexp1.html
 */
import { type ByteRegexFlags, regexTree } from "./syntax.ts";
import { programOf, type Program, requiredBytes } from "./program.ts";

/** Most states: 256 KiB of table. */
const STATES_MAX = 256;
const BYTES = 256;
const UNKNOWN = -1;
/** No place is left: no match. */
const DEAD = 0;
/** There is a match, whatever follows. */
const MATCHED = 1;

/** What a test says. */
export const ByteTest = { no: 0, yes: 1, ask: 2, gaveUp: 3 } as const;
/** One of them: a match, none, ask the full engine, or ask it from now on for all. */
export type ByteTest = (typeof ByteTest)[keyof typeof ByteTest];

/** See the file header. */
export class ByteRegex {
  /** What each text with a match has; undefined: nothing. */
  readonly required: Uint8Array | undefined;
  private readonly program: Program;
  private readonly next: Int32Array = new Int32Array(STATES_MAX * BYTES).fill(UNKNOWN);
  /** By state: what the end of the text says there. */
  private readonly atEnd: Uint8Array = new Uint8Array(STATES_MAX);
  /** By state: its places, ascending. */
  private readonly placesOf: Int32Array[] = [];
  private readonly states = new Map<string, number>();
  private readonly first: number;

  private constructor(program: Program, required: Uint8Array | undefined) {
    this.program = program;
    this.required = required;
    this.placesOf.push(new Int32Array(0), new Int32Array(0));
    this.atEnd[MATCHED] = ByteTest.yes;
    const start = this.closure([program.first], true, false);
    this.first = this.stateOf(start, this.closure([program.first], true, true));
  }

  /** The tests of a valid pattern; undefined where it is none of the simple ones. */
  static of(pattern: string, flags: ByteRegexFlags): ByteRegex | undefined {
    const tree = regexTree(pattern, flags);
    const program = tree === undefined ? undefined : programOf(tree);
    return tree === undefined || program === undefined ? undefined : new ByteRegex(program, requiredBytes(tree));
  }

  /** Whether the expression fits somewhere in `bytes[start, end)`, which is UTF-8. */
  test(bytes: Uint8Array, start: number, end: number): ByteTest {
    const { next } = this;
    let state = this.first;
    if (state <= MATCHED) return state === MATCHED ? ByteTest.yes : state === DEAD ? ByteTest.no : ByteTest.gaveUp;
    for (let at = start; at < end; at++) {
      const byte = bytes[at] as number;
      let after = next[(state << 8) | byte] as number;
      if (after <= MATCHED) {
        if (after === UNKNOWN) after = this.step(state, byte);
        if (after === MATCHED) return ByteTest.yes;
        if (after === DEAD) return ByteTest.no;
        if (after < 0) return ByteTest.gaveUp;
      }
      state = after;
    }
    return this.atEnd[state] as ByteTest;
  }

  /** The state that a byte leads to; -1 where there are too many. */
  private step(state: number, byte: number): number {
    const { places, first } = this.program;
    const reached: number[] = [];
    for (const index of this.placesOf[state] as Int32Array) {
      const place = places[index];
      if (place?.kind === "bytes" && place.set[byte] === 1) reached.push(place.next);
      else if (place?.kind === "ask") reached.push(index);
    }
    // A match may begin at any byte.
    reached.push(first);
    const made = this.stateOf(this.closure(reached, false, false), this.closure(reached, false, true));
    if (made >= 0) this.next[(state << 8) | byte] = made;
    return made;
  }

  /** All places that are reached without a byte. */
  private closure(from: readonly number[], atStart: boolean, atEnd: boolean): Int32Array {
    const { places } = this.program;
    const seen = new Set<number>();
    const waiting = [...from];
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      if (seen.has(index)) continue;
      seen.add(index);
      const place = places[index];
      if (place?.kind === "fork") waiting.push(...place.next);
      else if ((place?.kind === "start" && atStart) || (place?.kind === "end" && atEnd)) waiting.push(place.next);
    }
    return Int32Array.from(seen).sort();
  }

  /** The number of the state of some places; `ending` are those that are reached if the text ends here. */
  private stateOf(reached: Int32Array, ending: Int32Array): number {
    const { places } = this.program;
    const has = (set: Int32Array, kind: "match" | "ask"): boolean => set.some((index) => places[index]?.kind === kind);
    if (has(reached, "match")) return MATCHED;
    // Forks and borders of the text have been followed.
    const own = reached.filter((index) => places[index]?.kind === "bytes" || places[index]?.kind === "ask");
    const end = has(ending, "match") ? ByteTest.yes : has(ending, "ask") ? ByteTest.ask : ByteTest.no;
    if (own.length === 0 && end === ByteTest.no) return DEAD;
    const key = `${end} ${own.join(" ")}`;
    const known = this.states.get(key);
    if (known !== undefined) return known;
    const made = this.placesOf.length;
    if (made === STATES_MAX) return UNKNOWN;
    this.placesOf.push(own);
    this.atEnd[made] = end;
    this.states.set(key, made);
    return made;
  }
}
