/**
 * Steps of two series that match.
 */
import type { Steps, StepSeries } from "../../scope.ts";

/** Series of the side where at most one may match, under one set of matching labels. */
export interface OneSide {
  /** Series in the order in which they came. */
  readonly members: StepSeries[];
  /** By step: which member has a value, from 1; 0: none. */
  readonly owner: Int32Array;
  /** Steps at which a series of the other side matched. */
  readonly used: Uint8Array;
}

/**
 * Takes a series in. At steps where a member has a value already that one stays.
 *
 * @param contested where steps are marked at which two have a value
 * @returns the index of the first such member; undefined: there is none
 */
export function addMember({ members, owner }: OneSide, series: StepSeries, contested: () => Uint8Array): number | undefined {
  const id = members.push(series);
  let rival: number | undefined;
  let marks: Uint8Array | undefined;
  for (let i = 0; i < owner.length; i++) {
    if (series.present[i] === 0) continue;
    if (owner[i] === 0) {
      owner[i] = id;
      continue;
    }
    rival ??= owner[i]! - 1;
    marks ??= contested();
    marks[i] = 1;
  }
  return rival;
}

const NOBODY: readonly number[] = [0];
/** With a step that it lacks, perhaps. */
const ONE: readonly number[] = [0, 1];

/** The members that have a step, from 1; 0 where a step has none. */
export function ownersOf({ owner, members }: OneSide): readonly number[] {
  if (members.length < 2) return members.length === 0 ? NOBODY : ONE;
  const owners = new Set<number>();
  let last = -1;
  for (let i = 0; i < owner.length; i++) {
    if (owner[i] !== last) owners.add(owner[i]!);
    last = owner[i]!;
  }
  return [...owners];
}

/** Whether a series has a value at a step that is marked. */
export function meetsMark({ present }: StepSeries, marks: Uint8Array): boolean {
  for (let i = 0; i < marks.length; i++) if (marks[i] === 1 && present[i] === 1) return true;
  return false;
}

/** How the values of a step become one; what it needs to know of the operation. */
export interface Combination {
  readonly combine: (left: number, right: number) => number;
  /** A comparison without `bool`: keeps the left value where it is true. */
  readonly filters: boolean;
  readonly isManyLeft: boolean;
  /** Values of a side that is missing. */
  readonly fillMany: number | undefined;
  readonly fillOne: number | undefined;
}

/** The steps of `many` and of one member (its index from 1; 0: steps that no member has, filled), undefined when there are none. */
export function matchSteps(many: StepSeries, one: OneSide | undefined, id: number, combination: Combination): Steps | undefined {
  const { combine, filters, isManyLeft, fillOne } = combination;
  const member = id === 0 ? undefined : one?.members[id - 1];
  const values = new Float64Array(many.values.length);
  const present = new Uint8Array(values.length);
  const { values: manyValues, present: manyPresent } = many;
  const owner = one?.owner;
  const others = member?.values;
  let any = false;
  for (let i = 0; i < values.length; i++) {
    if (manyPresent[i] === 0 || (owner === undefined ? 0 : owner[i]) !== id) continue;
    const other = others === undefined ? fillOne! : others[i]!;
    const left = isManyLeft ? manyValues[i]! : other;
    const right = isManyLeft ? other : manyValues[i]!;
    const result = combine(left, right);
    if (filters && result === 0) continue;
    values[i] = filters ? left : result;
    present[i] = 1;
    any = true;
  }
  return any ? { values, present, histograms: undefined } : undefined;
}

/** Whether another series matched a member at one of the steps; marks the steps as matched. @param id of the member, from 1; 0: none */
export function isMatchedTwice({ present }: StepSeries, { owner, used }: OneSide, id: number): boolean {
  for (let i = 0; i < used.length; i++) {
    if (present[i] === 0 || owner[i] !== id) continue;
    if (used[i] === 1) return true;
    used[i] = 1;
  }
  return false;
}

/** The steps of `one` at which `matched` is 0, with `fillMany` for the other side; undefined when there are none. */
export function unmatchedSteps(one: StepSeries, matched: Uint8Array, combination: Combination): Steps | undefined {
  const { combine, filters, isManyLeft, fillMany } = combination;
  const values = new Float64Array(matched.length);
  const present = new Uint8Array(matched.length);
  let any = false;
  for (let i = 0; i < values.length; i++) {
    if (one.present[i] === 0 || matched[i] === 1) continue;
    const [left, right] = isManyLeft ? [fillMany!, one.values[i]!] : [one.values[i]!, fillMany!];
    const result = combine(left, right);
    if (filters && result === 0) continue;
    values[i] = filters ? left : result;
    present[i] = 1;
    any = true;
  }
  return any ? { values, present, histograms: undefined } : undefined;
}
