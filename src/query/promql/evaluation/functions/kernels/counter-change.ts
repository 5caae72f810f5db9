/**
 * `rate`, `increase`, `delta` of whatever can be added up: histograms, and numbers of which it is known when their counting began.
 *
 * The change between the first and the last sample, with what was lost at resets, is extrapolated as for plain numbers (`rate.ts`). Where
 * the counting began within the window and before its first sample, it began there with nothing, and nothing is extrapolated to the left.
 */
import { type FoldMemory, type ObjectFold, slideObjects } from "../../kernels/slide-objects.ts";
import type { Windows } from "../../kernels/windows.ts";
import type { Moments } from "../../scope.ts";

/** Samples that are compared between two places where others may have a turn. */
const TURN_SAMPLES = 64;
/** Of the average distance between samples: what is further away is no neighbour. */
const NEIGHBOUR_FACTOR = 1.1;

/** Samples of a counter or a gauge, by position. */
export interface CounterSamples<Value, State extends Sum<Value>> {
  readonly times: Float64Array;
  /** Milliseconds; 0: unknown. */
  readonly starts: Float64Array | undefined;
  readonly count: number;
  readonly isCounter: boolean;
  /** Whether a sample does not go on with the one before it; starts do not count. */
  readonly isReset: (at: number) => boolean;
  /** What is added up of samples. */
  readonly fold: ObjectFold<State>;
  /** The last sample of a window less the first, and with `lost`. Undefined: they do not go together. */
  readonly change: (window: ChangedWindow, lost: State | undefined) => Value | undefined;
  readonly scaled: (value: Value, factor: number) => Value;
  /** By which the zero of a counter is found: the value, or the count of observations. */
  readonly sizeAt: (at: number) => number;
  readonly sizeOf: (value: Value) => number;
}

/** A sum that grows. */
export interface Sum<Value> {
  readonly result: () => Value | undefined;
}

/** Positions of samples. */
export interface ChangedWindow {
  /** What is subtracted; undefined: nothing. */
  readonly first: number | undefined;
  /** The first one that counts at all. */
  readonly from: number;
  readonly last: number;
}

/** The windows of a function, and what it is. */
export interface ChangeWindows {
  readonly windows: Windows;
  readonly moments: Moments;
  readonly rangeMillis: number;
  readonly isRate: boolean;
}

/** When samples are, and when their counting began. */
type Started = { readonly times: Float64Array; readonly starts: Float64Array | undefined };

/** By position, with turns: whether the counting began anew with it. The sample before says when its own began, as that may be unknown. */
export function* resetsOf(
  samples: Started & { readonly count: number; readonly isReset: (at: number) => boolean },
): Generator<undefined, Uint8Array> {
  const resets = new Uint8Array(samples.count);
  for (let at = 1; at < samples.count; at++) {
    resets[at] = isStartReset(samples, at) || samples.isReset(at) ? 1 : 0;
    if (at % TURN_SAMPLES === 0) yield undefined;
  }
  return resets;
}

/** A start that is that of no sample before it, and no later than the sample itself. */
export function isStartReset({ times, starts }: Started, at: number): boolean {
  if (starts === undefined) return false;
  const [start, before] = [starts[at]!, starts[at - 1]!];
  if (start === 0 || start >= times[at]! || start < times[at - 1]!) return false;
  // One that starts where the sample before stands is a delta, unless that one's start is unknown: then it is all that is known.
  return start > times[at - 1]! || (before !== 0 && before < times[at - 1]!);
}

/** Whether a sample says that it began within what the one before it counts. */
export function isOverlapping({ times, starts }: Started, at: number): boolean {
  if (starts === undefined) return false;
  return starts[at] !== 0 && starts[at]! < times[at - 1]! && starts[at] !== starts[at - 1];
}

/** The change of each window that has one. */
export function* extrapolatedChanges<Value, State extends Sum<Value>>(
  samples: CounterSamples<Value, State>,
  input: ChangeWindows,
  memory: FoldMemory,
): Generator<readonly [step: number, value: Value] | undefined, void> {
  const { moments, rangeMillis } = input;
  const { times, isCounter, scaled } = samples;
  const borders = new Float64Array(input.windows.first.length);
  for (let i = 0; i < borders.length; i++) borders[i] = moments.startMillis + i * moments.stepMillis;
  for (const one of eachChange(samples, input.windows, borders, rangeMillis, memory)) {
    if (one === undefined) {
      yield undefined;
      continue;
    }
    const { value, step, low, high, zeroMillis } = one;
    const end = borders[step]!;
    const firstMillis = zeroMillis ?? times[low]!;
    const sampled = (times[high - 1]! - firstMillis) / 1000;
    const average = high - low > 1 ? (times[high - 1]! - times[low]!) / 1000 / (high - low - 1) : 0;
    const threshold = average * NEIGHBOUR_FACTOR;
    let toStart = zeroMillis === undefined ? (firstMillis - (end - rangeMillis)) / 1000 : 0;
    let toEnd = (end - times[high - 1]!) / 1000;
    if (toStart >= threshold) toStart = zeroMillis === undefined ? average / 2 : 0;
    const [size, atFirst] = [samples.sizeOf(value), samples.sizeAt(low)];
    if (isCounter && size > 0 && atFirst >= 0) toStart = Math.min(toStart, sampled * (atFirst / size));
    if (toEnd >= threshold) toEnd = average / 2;
    const factor = (sampled + toStart + toEnd) / sampled / (input.isRate ? rangeMillis / 1000 : 1);
    yield [step, scaled(value, factor)];
  }
}

/** A change without extrapolation. */
interface Change<Value> {
  readonly value: Value;
  readonly step: number;
  readonly low: number;
  readonly high: number;
  /** When the counting began with nothing, where that is within the window. */
  readonly zeroMillis: number | undefined;
}

function* eachChange<Value, State extends Sum<Value>>(
  samples: CounterSamples<Value, State>,
  { first, end }: Windows,
  borders: Float64Array,
  rangeMillis: number,
  memory: FoldMemory,
): Generator<Change<Value> | undefined, void> {
  const { times, starts, isCounter, change } = samples;
  const resets = isCounter ? yield* resetsOf(samples) : undefined;
  const lost = lostSums(samples, resets, { first, end }, 1, memory);
  const lostFromStart = starts === undefined ? lost : lostSums(samples, resets, { first, end }, 0, memory);
  try {
    for (let i = 0; i < first.length; i++) {
      const [low, high] = [first[i]!, end[i]!];
      if (high <= low) continue;
      const start = starts === undefined || !isCounter ? 0 : starts[low]!;
      const zeroMillis = start > borders[i]! - rangeMillis && start < times[low]! && start !== 0 ? start : undefined;
      if (high - low < 2 && zeroMillis === undefined) continue;
      // Where the second sample is a reset, the first one cancels out: it need not go together with the others.
      const cancels = zeroMillis === undefined && resets?.[low + 1] === 1;
      const window = { first: cancels || zeroMillis !== undefined ? undefined : low, from: cancels ? low + 1 : low, last: high - 1 };
      const value = change(window, (zeroMillis === undefined ? lost : lostFromStart).at(i));
      if (value !== undefined) yield { value, step: i, low, high, zeroMillis };
    }
  } finally {
    lost.close();
    lostFromStart.close();
  }
}

/** By step, what was lost at resets of its window; steps may only grow. */
interface LostSums<State> {
  readonly at: (step: number) => State | undefined;
  /** Gives its memory back. */
  readonly close: () => void;
}

/**
 * See `LostSums`.
 *
 * @param skipped samples at the window's begin whose loss does not count
 */
export function lostSums<Value, State extends Sum<Value>>(
  { fold }: CounterSamples<Value, State>,
  resets: Uint8Array | undefined,
  { first, end }: Windows,
  skipped: number,
  memory: FoldMemory,
): LostSums<State> {
  if (resets?.includes(1) !== true) return { at: () => undefined, close: () => undefined };
  // Positions of the samples before a reset.
  const before = Int32Array.from(
    resets.keys().filter((at) => resets[at] === 1),
    (at) => at - 1,
  );
  const ofLost: ObjectFold<State> = { ...fold, push: (state, at) => fold.push(state, before[at]!) };
  return atSteps(slideObjects(ofLost, placesFrom(before, first, skipped), placesFrom(before, end, -1), memory));
}

function atSteps<State>(slid: Generator<readonly [step: number, state: State] | undefined, void>): LostSums<State> {
  let next = slid.next();
  const at = (step: number): State | undefined => {
    while (next.done !== true && (next.value === undefined || next.value[0] < step)) next = slid.next();
    return next.done !== true && next.value?.[0] === step ? next.value[1] : undefined;
  };
  return { at, close: () => void slid.return() };
}

/** By step the first place of `before` that is at least `bounds[step] + shift`. Bounds never fall. */
function placesFrom(before: Int32Array, bounds: Int32Array, shift: number): Int32Array {
  let place = 0;
  return bounds.map((bound) => {
    while (place < before.length && before[place]! < bound + shift) place++;
    return place;
  });
}
