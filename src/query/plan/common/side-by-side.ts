/** Relations side by side, as those of a chain of joins: which of them a column is of, and where it went. */

/** Where a column of a relation is in its plan. */
type Place = (index: number) => number;

/** Where columns of all went. Looks among the relations: through one join after the other, a chain of 200 would take as many looks. */
export class SideBySide {
  /** First column of each relation among those of all, ascending, the same of its plan among those of all plans, and its own places. */
  private readonly starts: number[] = [0];
  private readonly shifts: number[] = [0];
  private readonly places: Place[];

  constructor(first: Place) {
    this.places = [first];
  }

  /** Puts a relation behind the others. @param start columns of those, @param shift columns of their plans */
  add(start: number, shift: number, place: Place): void {
    this.starts.push(start);
    this.shifts.push(shift);
    this.places.push(place);
  }

  /** Where a column of all is among those of the plans. */
  readonly place: Place = (index) => {
    const at = lastNotAbove(this.starts, index);
    const own = this.places[at]?.(index - (this.starts[at] ?? 0)) ?? -1;
    return own + (this.shifts[at] ?? 0);
  };
}

/** Position of the last of some ascending numbers that is not above `value`; the first is not. */
export function lastNotAbove(numbers: readonly number[], value: number): number {
  let [low, high] = [0, numbers.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) <= value) low = middle;
    else high = middle;
  }
  return low;
}
