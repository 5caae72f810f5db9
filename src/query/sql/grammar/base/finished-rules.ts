/**
 * How the grammar stops in the midst of a long statement and goes on: it is nested calls, which cannot wait, so they are thrown away, and
 * begin anew with what they had finished. A rule that comes to a token where it was finished before takes what it gave then.
 *
 *   SELECT a + 1 , b + 2 , c …        first   ├── item ──┤├── item ──┤├─ it ✕ stop
 *                                     then    ● , ● , ├── item ──┤ …          ● taken as it is
 *
 * At each token the largest part that begins there is kept, so that going over them takes a tenth of the time of reading them. What is
 * read at a time grows with what was read before: a statement costs less than twice what it costs at once.
 */
import type { Expression } from "../../syntax/ast.ts";

/** Fewest parts that are finished at a time: about a millisecond, ten while the code is cold. */
const PARTS_AT_ONCE = 2048;
/** Part of what was finished before that is finished at a time, where that is more. */
const GROWTH = 1 / 6;

/** What the grammar counts and remembers while it reads, besides its place. */
export interface Marks {
  /** Height of the tree of the running expression. */
  height: number;
  questionMarks: number;
  /** Whether there are parameters with numbers. */
  numbered: boolean;
  parameterCount: number;
  setOperations: number;
  /** `a.*`, once it was read. */
  qualifiedStar: Expression | undefined;
}

/** Marks of a text that has not begun. */
export function newMarks(): Marks {
  return { height: 0, questionMarks: 0, numbered: false, parameterCount: 0, setOperations: 0, qualifiedStar: undefined };
}

/** A part that a rule finished. */
export interface FinishedPart {
  readonly rule: string;
  readonly args: readonly unknown[];
  readonly result: unknown;
  /** Index of its last token. */
  readonly end: number;
  /** As they were then. */
  readonly marks: Marks;
}

/** Thrown out of the rules when it is time to stop. */
export class Stop extends Error {
  override readonly name = "Stop";
}

const STOP = new Stop("the grammar stops");

/** The finished parts of one statement. */
export class FinishedRules {
  /** By the index of the token before their first. */
  private readonly parts: (FinishedPart | undefined)[] = [];
  private count = 0;
  private stopAt = 0;
  private readonly atOnce: number;

  /** @param atOnce fewest parts that are finished at a time */
  constructor(atOnce: number = PARTS_AT_ONCE) {
    this.atOnce = atOnce;
    this.begin();
  }

  /** Begins anew. */
  begin(): void {
    this.stopAt = this.count + Math.max(this.atOnce, Math.floor(this.count * GROWTH));
  }

  /** What a rule gave at a token; undefined when it has to be read. @throws Stop when it is time */
  partAt(start: number, rule: string, args: readonly unknown[]): FinishedPart | undefined {
    const part = this.parts[start];
    if (part?.rule === rule && part.args.length === args.length && part.args.every((arg, i) => arg === args[i])) return part;
    if (this.count >= this.stopAt) throw STOP;
    return undefined;
  }

  /** Keeps what a rule gave, unless it read nothing: what follows begins there too. */
  keep(start: number, part: FinishedPart): void {
    if (part.end === start) return;
    this.parts[start] = part;
    this.count++;
  }
}
