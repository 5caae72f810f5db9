/** What one scan asks the indexes of one file: conditions are turned into keys once, lists are searched once. */
import { firstNumberFrom, firstWordFrom } from "../../base/bytes/binary-search.ts";
import type { FieldCondition, ScanMetrics } from "../../table/scan.ts";
import type { FileIndex, FileIndexes } from "./file-indexes.ts";
import { mayHold } from "./key-filter.ts";
import { HASHED } from "./key-hash.ts";
import { LOOKUP_VALUES_MAX } from "./limits.ts";
import { keysOfPart, SPECIAL_KEY, type TextKey } from "./text-keys.ts";
import { keyKindOf, keyOfScalar } from "./value-keys.ts";
import { ValueList } from "./value-list.ts";

/** A condition on one column. */
export type LeafCondition = Exclude<FieldCondition, { kind: "all" | "any" }>;

/** Keys to ask filters for: a block is out when each of the lists has a key that the filter has not. */
interface Question {
  readonly alternatives: readonly (readonly TextKey[])[];
  /** A filter that has this key says nothing. */
  readonly unless: TextKey | undefined;
}

/** See the file header. */
export class IndexLookup {
  private readonly indexes: FileIndexes;
  private readonly metrics: ScanMetrics | undefined;
  private readonly questions: Map<string, Question | undefined> = new Map();
  private readonly marks: Map<string, ListMarks | undefined> = new Map();
  private readonly numbers: Map<LeafCondition, number> = new Map();

  constructor(indexes: FileIndexes, metrics: ScanMetrics | undefined) {
    this.indexes = indexes;
    this.metrics = metrics;
  }

  /** Whether a row of `[start, end)` may meet the condition, which is on the column of that id. */
  async mayMeet(condition: LeafCondition, columnId: number, start: number, end: number): Promise<boolean> {
    for (const index of this.indexes.of(columnId)) {
      if (index.kind === "list" && condition.kind === "text") continue;
      const question = index.kind === "list" ? undefined : this.questionOf(condition, index);
      if (index.kind !== "list" && question === undefined) continue;
      if (!(await this.piecesMayMeet(condition, index, question, start, end))) return false;
    }
    return true;
  }

  private async piecesMayMeet(
    condition: LeafCondition,
    index: FileIndex,
    question: Question | undefined,
    start: number,
    end: number,
  ): Promise<boolean> {
    const first = firstNumberFrom(index.starts, start + 1, 1, index.pieces.length) - 1;
    for (let at = first; at < index.pieces.length && index.starts[at]! < end; at++) {
      if (question === undefined) {
        const marks = await this.marksOf(condition, index, at);
        if (marks === undefined || anyMarked(marks, start - index.starts[at]!, end - index.starts[at]!)) return true;
        continue;
      }
      const filter = await this.indexes.piece(index, at, this.metrics);
      if (filter === undefined || mayAnswer(filter, question)) return true;
    }
    return false;
  }

  private questionOf(condition: LeafCondition, index: FileIndex): Question | undefined {
    const key = `${this.numberOf(condition)} ${index.kind}`;
    if (!this.questions.has(key))
      this.questions.set(key, index.kind === "words" ? wordQuestion(condition) : valueQuestion(condition, index));
    return this.questions.get(key);
  }

  /** Pages of a list's piece that hold a wanted value; undefined when it cannot tell. */
  private async marksOf(condition: LeafCondition, index: FileIndex, at: number): Promise<ListMarks | undefined> {
    const key = `${this.numberOf(condition)} ${index.firstKey + at}`;
    if (this.marks.has(key)) return this.marks.get(key);
    const plain = await this.indexes.piece(index, at, this.metrics);
    let marks: ListMarks | undefined;
    try {
      marks = plain === undefined ? undefined : listMarks(plain, condition, index);
    } catch (error) {
      this.indexes.markDamaged(error);
    }
    this.marks.set(key, marks);
    return marks;
  }

  private numberOf(condition: LeafCondition): number {
    const number = this.numbers.get(condition) ?? this.numbers.size;
    this.numbers.set(condition, number);
    return number;
  }
}

/** Which pages of a list hold a wanted value. */
interface ListMarks {
  readonly marks: Uint8Array;
  readonly pageEnds: Uint32Array;
}

/** The pages of a list that hold a wanted value; undefined when the list cannot tell. */
function listMarks(plain: Uint8Array, condition: LeafCondition, { type }: FileIndex): ListMarks | undefined {
  const kind = keyKindOf(type);
  if (kind === undefined || condition.kind === "text") return undefined;
  const list = new ValueList(plain, type, kind);
  const marks = new Uint8Array(list.pageEnds.length);
  const isKnown =
    condition.kind === "range"
      ? list.markRange(condition.min, condition.max, marks)
      : condition.values.every((value) => value === undefined || list.markEqual(value, marks));
  return isKnown ? { marks, pageEnds: list.pageEnds } : undefined;
}

/** Whether a page with rows of `[start, end)`, counted from the list's first, is marked. */
function anyMarked({ marks, pageEnds }: ListMarks, start: number, end: number): boolean {
  for (let page = firstWordFrom(pageEnds, start + 1); page < marks.length; page++) {
    if (marks[page] === 1) return true;
    if (pageEnds[page]! >= end) return false;
  }
  return false;
}

function mayAnswer(filter: Uint8Array, { alternatives, unless }: Question): boolean {
  if (alternatives.some((keys) => keys.every(({ high, low }) => mayHold(filter, high, low)))) return true;
  return unless !== undefined && mayHold(filter, unless.high, unless.low);
}

/** What filters of values are asked; undefined when they cannot tell. */
function valueQuestion(condition: LeafCondition, { type }: FileIndex): Question | undefined {
  const kind = keyKindOf(type);
  if (condition.kind !== "in" || kind === undefined || condition.values.length > LOOKUP_VALUES_MAX) return undefined;
  const alternatives: TextKey[][] = [];
  for (const value of condition.values) {
    if (value === undefined) continue;
    if (!keyOfScalar(value, kind)) return undefined;
    alternatives.push([{ high: HASHED[0]!, low: HASHED[1]! }]);
  }
  return { alternatives, unless: undefined };
}

/** What filters of words are asked; undefined when they cannot tell. */
function wordQuestion(condition: LeafCondition): Question | undefined {
  if (condition.kind === "range") return undefined;
  if (condition.kind === "text") {
    const keys = keysOfPart(condition.part);
    return keys.length === 0 ? undefined : { alternatives: [keys], unless: condition.part.lowered ? SPECIAL_KEY : undefined };
  }
  if (condition.values.length > LOOKUP_VALUES_MAX) return undefined;
  const alternatives: (readonly TextKey[])[] = [];
  for (const value of condition.values) {
    if (value === undefined) continue;
    if (typeof value !== "string") return undefined;
    const keys = keysOfPart({ text: value, wholeStart: true, wholeEnd: true, lowered: false });
    if (keys.length === 0) return undefined;
    alternatives.push(keys);
  }
  return { alternatives, unless: undefined };
}
