/**
 * Steps of two series that match.
 */
import type { StepSeries } from "../../scope.ts";

/** Series of the side where at most one may match, under one set of matching labels. */
export interface OneSide {
  /** Series in the order in which they came. */
  readonly members: StepSeries[];
  /** By step: which member has a value, from 1; 0: none. */
  readonly owner: Int32Array;
  /** Steps at which a series of the other side matched. */
  readonly used: Uint8Array;
}

/** Takes a series in. The index of the member that has a value at the same step; undefined: none has. */
export function addMember({ members, owner }: OneSide, series: StepSeries): number | undefined {
  const id = members.push(series);
  for (let i = 0; i < owner.length; i++) {
    if (series.present[i] === 0) continue;
    if (owner[i] !== 0) return owner[i]! - 1;
    owner[i] = id;
  }
  return undefined;
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
export function matchSteps(
  many: StepSeries,
  one: OneSide | undefined,
  id: number,
  { combine, filters, isManyLeft, fillOne }: Combination,
): { values: Float64Array; present: Uint8Array } | undefined {
  const values = new Float64Array(many.values.length);
  const present = new Uint8Array(values.length);
  const member = id === 0 ? undefined : one?.members[id - 1];
  let any = false;
  for (let i = 0; i < values.length; i++) {
    if (many.present[i] === 0 || (one?.owner[i] ?? 0) !== id) continue;
    const other = member === undefined ? fillOne! : member.values[i]!;
    const [left, right] = isManyLeft ? [many.values[i]!, other] : [other, many.values[i]!];
    const result = combine(left, right);
    if (filters && result === 0) continue;
    values[i] = filters ? left : result;
    present[i] = 1;
    any = true;
  }
  return any ? { values, present } : undefined;
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
export function unmatchedSteps(
  one: StepSeries,
  matched: Uint8Array,
  { combine, filters, isManyLeft, fillMany }: Combination,
): { values: Float64Array; present: Uint8Array } | undefined {
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
  return any ? { values, present } : undefined;
}
