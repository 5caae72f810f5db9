/**
 * Regular expressions as trees over bytes, for those whose meaning is plain: sets of characters, sequences, alternatives, repeats, `^` and
 * `$` at the borders of the text. Anything else (borders of words, lines, classes of Unicode by name, flags inside) gives no tree, and
 * whoever asked goes on with the full engine (`../linear-regex.ts`), by which the pattern has to be valid.
 */

/** A set of characters: which ASCII ones, and what it says of all others. */
export interface CharacterSet {
  /** 128 elements, 1: in the set. */
  readonly ascii: Uint8Array;
  /** Whether it has all other characters, none of them, or some, which are not told here. */
  readonly others: "all" | "none" | "some";
}

/** A node of the tree. */
export type RegexNode =
  | { readonly kind: "set"; readonly set: CharacterSet }
  /** Bytes that stand for themselves. */
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "sequence"; readonly parts: readonly RegexNode[] }
  | { readonly kind: "either"; readonly parts: readonly RegexNode[] }
  | { readonly kind: "repeat"; readonly part: RegexNode; readonly min: number; readonly max: number; readonly isLazy: boolean }
  /** What a group that is counted holds; the first is 1. */
  | { readonly kind: "group"; readonly part: RegexNode; readonly number: number }
  | { readonly kind: "start" }
  | { readonly kind: "end" };

/** How a pattern is read. */
export interface ByteRegexFlags {
  readonly insensitive: boolean;
  readonly dotAll: boolean;
}

/** Deepest nesting of groups. */
const DEPTH_MAX = 50;
const ASCII = 128;
const encoder = new TextEncoder();

/** The tree of a pattern; undefined where it has more than what is told above. */
export function regexTree(pattern: string, flags: ByteRegexFlags): RegexNode | undefined {
  const reader = new Reader(pattern, flags);
  const tree = reader.either(0);
  return tree === undefined || !reader.isAtEnd ? undefined : tree;
}

class Reader {
  private readonly pattern: string;
  private readonly flags: ByteRegexFlags;
  private at = 0;
  private groups = 0;

  constructor(pattern: string, flags: ByteRegexFlags) {
    this.pattern = pattern;
    this.flags = flags;
  }

  get isAtEnd(): boolean {
    return this.at === this.pattern.length;
  }

  private next(): string {
    return this.pattern.charAt(this.at);
  }

  private takes(text: string): boolean {
    if (!this.pattern.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  either(depth: number): RegexNode | undefined {
    if (depth > DEPTH_MAX) return undefined;
    const parts: RegexNode[] = [];
    do {
      const part = this.sequence(depth);
      if (part === undefined) return undefined;
      parts.push(part);
    } while (this.takes("|"));
    return parts.length === 1 ? parts[0] : { kind: "either", parts };
  }

  private sequence(depth: number): RegexNode | undefined {
    const parts: RegexNode[] = [];
    while (!this.isAtEnd && this.next() !== "|" && this.next() !== ")") {
      const part = this.repeated(depth);
      if (part === undefined) return undefined;
      const before = parts.at(-1);
      if (part.kind === "bytes" && before?.kind === "bytes") {
        parts[parts.length - 1] = { kind: "bytes", bytes: Uint8Array.of(...before.bytes, ...part.bytes) };
      } else parts.push(part);
    }
    return { kind: "sequence", parts };
  }

  private repeated(depth: number): RegexNode | undefined {
    let node = this.atom(depth);
    while (node !== undefined) {
      const range = this.range();
      if (range === undefined) return node;
      node = { kind: "repeat", part: node, min: range[0], max: range[1], isLazy: this.takes("?") };
    }
    return undefined;
  }

  private range(): readonly [number, number] | undefined {
    if (this.takes("*")) return [0, Number.POSITIVE_INFINITY];
    if (this.takes("+")) return [1, Number.POSITIVE_INFINITY];
    if (this.takes("?")) return [0, 1];
    const found = /^\{(\d+)(,(\d*))?\}/.exec(this.pattern.slice(this.at, this.at + 16));
    if (found === null) return undefined;
    this.at += found[0].length;
    const min = Number(found[1]);
    return [min, found[2] === undefined ? min : found[3] === "" ? Number.POSITIVE_INFINITY : Number(found[3])];
  }

  private atom(depth: number): RegexNode | undefined {
    if (this.takes("(")) return this.group(depth);
    if (this.takes("[")) {
      const set = this.list();
      return set === undefined ? undefined : { kind: "set", set };
    }
    if (this.takes("^")) return { kind: "start" };
    if (this.takes("$")) return { kind: "end" };
    if (this.takes(".")) return { kind: "set", set: { ascii: this.flags.dotAll ? full() : inverted(of("\n")), others: "all" } };
    if (this.next() === "\\") return this.escaped();
    if ("*+?".includes(this.next())) return undefined;
    return this.literal();
  }

  private group(depth: number): RegexNode | undefined {
    let isCounted = true;
    if (this.takes("?")) {
      const named = /^P?<\w+>/.exec(this.pattern.slice(this.at, this.at + 80));
      if (named !== null) this.at += named[0].length;
      else if (this.takes(":")) isCounted = false;
      else return undefined;
    }
    const number = isCounted ? ++this.groups : 0;
    const part = this.either(depth + 1);
    if (part === undefined || !this.takes(")")) return undefined;
    return isCounted ? { kind: "group", part, number } : part;
  }

  private escaped(): RegexNode | undefined {
    const letter = this.pattern.charAt(this.at + 1);
    if (letter === "A" || letter === "z") {
      this.at += 2;
      return { kind: letter === "A" ? "start" : "end" };
    }
    const set = this.escapedSet();
    return set === undefined ? undefined : { kind: "set", set: this.folded(set) };
  }

  /** What an escape stands for: a class, or one ASCII character. */
  private escapedSet(): CharacterSet | undefined {
    const letter = this.pattern.charAt(this.at + 1);
    const known = CLASSES[letter];
    const control = CONTROLS[letter];
    const code = /^\\x([0-7][0-9a-fA-F])/.exec(this.pattern.slice(this.at, this.at + 4))?.[1];
    if (code !== undefined) {
      this.at += 4;
      return { ascii: of(String.fromCharCode(Number.parseInt(code, 16))), others: "none" };
    }
    this.at += 2;
    if (known !== undefined) return { ascii: known, others: "some" };
    if (control !== undefined) return { ascii: of(control), others: "none" };
    return /^[!-/:-@[-`{-~]$/.test(letter) ? { ascii: of(letter), others: "none" } : undefined;
  }

  private literal(): RegexNode | undefined {
    const character = String.fromCodePoint(this.pattern.codePointAt(this.at) ?? 0);
    this.at += character.length;
    const bytes = encoder.encode(character);
    if (!this.flags.insensitive) return { kind: "bytes", bytes };
    // Letters beyond ASCII have other cases that only the full engine knows, some of them ASCII.
    return bytes.length > 1 ? undefined : { kind: "set", set: this.folded({ ascii: of(character), others: "none" }) };
  }

  /** The characters of a list, behind its bracket. */
  private list(): CharacterSet | undefined {
    const isNegated = this.takes("^");
    const ascii = new Uint8Array(ASCII);
    let others: CharacterSet["others"] = "none";
    for (let isFirst = true; isFirst || this.next() !== "]"; isFirst = false) {
      if (this.isAtEnd || this.next() === "[") return undefined;
      const low = this.next() === "\\" ? this.escapedSet() : this.listed();
      if (low === undefined) return undefined;
      if (low.others === "some") others = "some";
      const first = codeOf(low);
      if (first === undefined || this.next() !== "-" || this.pattern.charAt(this.at + 1) === "]") {
        for (let code = 0; code < ASCII; code++) ascii[code] = (ascii[code] as number) | (low.ascii[code] as number);
        continue;
      }
      this.at++;
      const high = this.next() === "\\" ? this.escapedSet() : this.listed();
      const last = high === undefined ? undefined : codeOf(high);
      if (last === undefined) return undefined;
      for (let code = first; code <= last; code++) ascii[code] = 1;
    }
    this.at++;
    const set = this.folded({ ascii, others });
    if (!isNegated) return set;
    return { ascii: inverted(set.ascii), others: set.others === "some" ? "some" : "all" };
  }

  private listed(): CharacterSet | undefined {
    const code = this.pattern.codePointAt(this.at) ?? 0;
    if (code >= ASCII) return undefined;
    this.at++;
    return { ascii: of(String.fromCharCode(code)), others: "none" };
  }

  /** With the other case of its letters, where any will do: beyond ASCII they have some more. */
  private folded(set: CharacterSet): CharacterSet {
    if (!this.flags.insensitive) return set;
    const ascii = set.ascii.slice();
    let hasLetters = false;
    for (let code = 0x41; code <= 0x5a; code++) {
      const either = (ascii[code] as number) | (ascii[code + 32] as number);
      ascii[code] = either;
      ascii[code + 32] = either;
      hasLetters ||= either === 1;
    }
    return { ascii, others: hasLetters ? "some" : set.others };
  }
}

function of(characters: string): Uint8Array {
  const set = new Uint8Array(ASCII);
  for (let i = 0; i < characters.length; i++) set[characters.charCodeAt(i)] = 1;
  return set;
}

const full = (): Uint8Array => new Uint8Array(ASCII).fill(1);
const inverted = (set: Uint8Array): Uint8Array => set.map((is) => 1 - is);

/** The one character of a set that has one. */
function codeOf({ ascii, others }: CharacterSet): number | undefined {
  const code = ascii.indexOf(1);
  return others === "none" && code >= 0 && !ascii.includes(1, code + 1) ? code : undefined;
}

const between = (first: number, last: number): string =>
  String.fromCharCode(...Array.from({ length: last - first + 1 }, (_, i) => first + i));
const DIGITS = of(between(0x30, 0x39));
const WORDS = of(`${between(0x30, 0x39)}${between(0x41, 0x5a)}_${between(0x61, 0x7a)}`);
const BLANKS = of("\t\n\v\f\r ");
/** Classes by their letters, as far as they are ASCII. */
const CLASSES: Readonly<Record<string, Uint8Array>> = {
  d: DIGITS,
  w: WORDS,
  s: BLANKS,
  D: inverted(DIGITS),
  W: inverted(WORDS),
  S: inverted(BLANKS),
};
const CONTROLS: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", f: "\f", v: "\v", a: "\x07" };
