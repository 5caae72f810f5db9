/**
 * Folds of windows that slide, where a fold is an object: as `functions/kernels/sliding.ts` has them for numbers. Nothing is subtracted,
 * each sample is folded at most twice, and each step costs one merge.
 *
 *     first      pivot        end
 *       ├──────────┼───────────┤
 *       suffix[first]  running          result = suffix merged with running
 */

/** A fold of some samples, by their positions. */
export interface ObjectFold<State> {
  /** Of no sample. */
  readonly empty: () => State;
  readonly push: (state: State, at: number) => void;
  /** A fold of `left` and then `right`, which stay as they are. */
  readonly merged: (left: State, right: State) => State;
  /** Bytes that a state holds. */
  readonly bytes: (state: State) => number;
}

/** What counts the memory of folds. */
export interface FoldMemory {
  readonly reserve: (bytes: number) => void;
  readonly release: (bytes: number) => void;
}

/** Samples that are folded between two places where others may have a turn. */
const TURN_SAMPLES = 64;

/**
 * The fold of samples `[first, end)` of each step, to be looked at until the next one; steps of none are left out. Undefined now and then,
 * so that others may have a turn. Neither end may go back.
 */
export function* slideObjects<State>(
  fold: ObjectFold<State>,
  first: Int32Array,
  end: Int32Array,
  memory: FoldMemory,
): Generator<readonly [step: number, state: State] | undefined, void> {
  const suffixes = new Suffixes(fold, memory);
  let running: State | undefined;
  let pivot = 0;
  let folded = 0;
  try {
    for (let i = 0; i < first.length; i++) {
      const [low, high] = [first[i]!, end[i]!];
      if (low >= high) continue;
      if (low >= pivot && (i + 1 >= first.length || first[i + 1]! >= high)) {
        // No other window shares a sample with this one.
        yield [i, folding(fold, low, high)];
        continue;
      }
      if (low >= pivot) {
        yield* suffixes.fill(low, high);
        running = undefined;
        pivot = high;
        folded = high;
      }
      for (; folded < high; folded++) {
        running ??= fold.empty();
        fold.push(running, folded);
      }
      yield [i, running === undefined ? suffixes.at(low) : fold.merged(suffixes.at(low), running)];
    }
  } finally {
    suffixes.drop();
  }
}

/** The folds of `[at, pivot)` for each `at`, and their memory. */
class Suffixes<State> {
  private readonly fold: ObjectFold<State>;
  private readonly memory: FoldMemory;
  private states: State[] = [];
  private base = 0;
  private held = 0;

  constructor(fold: ObjectFold<State>, memory: FoldMemory) {
    this.fold = fold;
    this.memory = memory;
  }

  at(place: number): State {
    return this.states[place - this.base]!;
  }

  *fill(low: number, high: number): Generator<undefined, void> {
    const { fold, memory } = this;
    this.drop();
    this.base = low;
    this.states = new Array<State>(high - low);
    for (let at = high - 1; at >= low; at--) {
      const one = folding(fold, at, at + 1);
      const state = at === high - 1 ? one : fold.merged(one, this.at(at + 1));
      memory.reserve(fold.bytes(state));
      this.held += fold.bytes(state);
      this.states[at - low] = state;
      if (at % TURN_SAMPLES === 0) yield undefined;
    }
  }

  drop(): void {
    this.memory.release(this.held);
    this.held = 0;
    this.states = [];
  }
}

function folding<State>(fold: ObjectFold<State>, from: number, to: number): State {
  const state = fold.empty();
  for (let at = from; at < to; at++) fold.push(state, at);
  return state;
}
