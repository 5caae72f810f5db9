/**
 * Decisions of a generator, read from a list of numbers: the list is what fast-check draws and shrinks, so that every decision shrinks.
 * 0 stands for the simplest answer, and so does the end of the list: a shorter list with smaller numbers is a simpler statement.
 */

/** A list of numbers being read. */
export class Choices {
  private readonly numbers: readonly number[];
  private at = 0;
  private names = 0;

  constructor(numbers: readonly number[]) {
    this.numbers = numbers;
  }

  /** A whole number in `[0, bound)`. */
  below(bound: number): number {
    return (this.numbers[this.at++] ?? 0) % bound;
  }

  /** True once in `of` times, never at the end of the list. */
  once(of: number): boolean {
    return this.below(of) === of - 1;
  }

  /** One of the list, the first one being the simplest. @throws Error when there is none */
  pick<T>(list: readonly T[]): T {
    const picked = list[this.below(list.length)];
    if (picked === undefined) throw new Error("cannot pick from an empty list");
    return picked;
  }

  /** Between `least` and `most` of what `make` makes. */
  some<T>(least: number, most: number, make: () => T): T[] {
    return Array.from({ length: least + this.below(most - least + 1) }, make);
  }

  /** A name that the statement has nowhere else. */
  name(prefix: string): string {
    return `${prefix}${++this.names}`;
  }
}
