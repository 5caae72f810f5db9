/** What a profile is, whatever it counts: stacks with values. It is shown as pprof's protobuf, as a table, or as a flame graph. */

/** What one value of a stack is: `cpu` in `nanoseconds`. */
export interface ValueType {
  readonly type: string;
  readonly unit: string;
}

/** A function, or what stands for one. */
export interface Frame {
  readonly name: string;
  /** "" when it has none. */
  readonly file: string;
  /** From 1 on; 0 when it is not known. */
  readonly line: number;
}

/** Where samples were met. */
export interface Stack {
  /** Positions in `frames`, the innermost first. */
  readonly frames: readonly number[];
  /** One for each of the profile's types. */
  readonly values: readonly number[];
}

/** See the file header. */
export interface Profile {
  readonly title: string;
  readonly types: readonly ValueType[];
  /** Which of the values tables and graphs show. */
  readonly shown: number;
  readonly frames: readonly Frame[];
  readonly stacks: readonly Stack[];
  /** When it began, and how long it took; 0: it is of a moment. */
  readonly startNanos: bigint;
  readonly durationNanos: number;
  /** What one sample stands for. */
  readonly period: (ValueType & { readonly value: number }) | undefined;
}

/** Frames by what they are, each once. */
export class Frames {
  readonly list: Frame[] = [];
  private readonly known: Map<string, number> = new Map();

  /** The position of a frame. */
  add(frame: Frame): number {
    const key = `${frame.line} ${frame.file}\n${frame.name}`;
    let position = this.known.get(key);
    if (position === undefined) {
      position = this.list.length;
      this.list.push(frame);
      this.known.set(key, position);
    }
    return position;
  }
}
