/** Calls over frames of plain numbers: which of them count, what is kept of them, and results as a vector. */
import type { DataType } from "../../../column/data-type.ts";
import type { Validity, Vector } from "../../../column/vector.ts";
import { sumOfType } from "../../function/aggregate/sums.ts";
import { valuesVector } from "../../expression/vector-values.ts";
import { FrameNumbers } from "./frame-numbers.ts";
import type { FrameState, Hold } from "./frame-walk.ts";
import { keptOf, offsetsFrom } from "./plain-numbers.ts";
import type { Chunk } from "./sorted-rows.ts";

/** What is folded of the numbers of a frame. */
export interface Fold {
  /** As of `FrameState`, for so many numbers; undefined: always 1. */
  cost?(count: number): number;
  /** A number comes in. */
  add(value: number): void;
  /** Those at `[from, to)` leave, the first that are there. */
  drop(numbers: FrameNumbers, from: number, to: number): void;
  /** All leave. */
  clear(): void;
  /** What the results of a chunk need beside. */
  begin?(chunk: Chunk): Promise<void>;
  /** Sets the result of a row, whose frame has `count` numbers that count; none: NULL. */
  put(i: number, count: number, results: NumberResults): void;
}

/** Results of the rows of a chunk, NULL where none is set. */
export class NumberResults {
  private readonly values: Float64Array;
  private readonly validity: Uint8Array;
  private known = 0;
  private exact: Map<number, bigint> | undefined;

  constructor(count: number) {
    this.values = new Float64Array(count);
    this.validity = new Uint8Array(count);
  }

  set(i: number, value: number): void {
    this.values[i] = value;
    this.validity[i] = 1;
    this.known++;
  }

  /** Sets a sum that doubles may not hold. */
  setExact(i: number, value: bigint): void {
    this.set(i, 0);
    this.exact ??= new Map();
    this.exact.set(i, value);
  }

  /** As a vector of `type`. @param base of times, what they count from */
  vector(type: DataType, base: bigint | undefined): Vector {
    const { values, exact } = this;
    const validity = this.known === values.length ? undefined : this.validity;
    if (exact !== undefined) {
      const sums = Array.from(values, (value, i) => (validity?.[i] === 0 ? undefined : sumOfType(exact.get(i) ?? BigInt(value), type)));
      return valuesVector(type, sums);
    }
    if (base !== undefined) return { kind: "time", base, offsets: values, validity };
    return { kind: "number", values: type.kind === "float" && type.bits === 32 ? new Float32Array(values) : values, validity };
  }
}

/** What a call counts. */
export interface Counted {
  /** Whether it is the rows that count, whatever their values. */
  readonly rowsAlone: boolean;
  /** Whether results are of the same kind as the numbers: times of times. */
  readonly keepsTimes: boolean;
  readonly skipsNan: boolean;
  /** Whether FILTER is the last of the values. */
  readonly hasFilter: boolean;
  /** Whether rows leave before all do: else numbers are not kept. */
  readonly leave: boolean;
  readonly result: DataType;
}

/** See the file header. */
export class NumberFrame implements FrameState {
  private readonly fold: Fold;
  private readonly counted: Counted;
  private readonly numbers: FrameNumbers;
  private count = 0;
  private base: bigint | undefined;
  private values: Float64Array = new Float64Array(0);
  private kept: Validity;
  private from = 0;
  private to = new NumberResults(0);

  /** @param hold counts bytes */
  constructor(fold: Fold, counted: Counted, hold: Hold) {
    this.fold = fold;
    this.counted = counted;
    this.numbers = new FrameNumbers(hold);
  }

  get cost(): number {
    return this.fold.cost?.(this.count) ?? 1;
  }

  open(values: readonly Vector[], from: number, to: number): boolean {
    const { rowsAlone, keepsTimes, hasFilter } = this.counted;
    const vector = values.length > (hasFilter ? 1 : 0) ? values[0] : undefined;
    const rowCount = to - from;
    this.from = from;
    this.kept = keptOf(vector, hasFilter ? values.at(-1) : undefined, rowCount);
    if (rowsAlone || vector === undefined) {
      if (this.values.length < rowCount) this.values = new Float64Array(rowCount);
      return true;
    }
    if (vector.kind === "time") {
      if (!keepsTimes) return false;
      this.base ??= vector.base;
    }
    const numbers = offsetsFrom(this.base ?? 0n, vector, rowCount);
    if (numbers === undefined) return false;
    this.values = numbers;
    return true;
  }

  enter(from: number, to: number): void {
    const { values, kept, fold, numbers, from: base } = this;
    const { leave, skipsNan } = this.counted;
    for (let at = from - base; at < to - base; at++) {
      if (kept !== undefined && kept[at] === 0) continue;
      const value = values[at] as number;
      if (skipsNan && value !== value) continue;
      this.count++;
      if (leave) numbers.push(base + at, value);
      fold.add(value);
    }
  }

  leave(to: number): void {
    const { numbers } = this;
    const { head } = numbers;
    const place = numbers.placeOf(to);
    if (place === head) return;
    this.count -= place - head;
    this.fold.drop(numbers, head, place);
    numbers.head = place;
  }

  clear(): void {
    this.count = 0;
    this.numbers.head = this.numbers.tail = 0;
    this.fold.clear();
  }

  begin(chunk: Chunk): Promise<void> | undefined {
    this.to = new NumberResults(chunk.to - chunk.from);
    return this.fold.begin?.(chunk);
  }

  put(i: number): undefined {
    this.fold.put(i, this.count, this.to);
  }

  results(): Vector {
    return this.to.vector(this.counted.result, this.base);
  }
}
