import type { TagCodes } from "./tag-codes.ts";

/**
 * The values of one tag column that the batches of a scan have, numbered as they come. For scans of few series: whoever reads a batch may
 * keep something for each value of its dictionary, which must not be all values of the table then.
 */
export class ScanDictionary {
  readonly texts: (string | undefined)[] = [undefined];
  private readonly codes: Map<number, number> = new Map([[0, 0]]);
  private readonly tags: TagCodes;
  private readonly position: number;

  constructor(tags: TagCodes, position: number) {
    this.tags = tags;
    this.position = position;
  }

  /** The code in `texts` of a value with a code of the table. */
  codeOf(code: number): number {
    const known = this.codes.get(code);
    if (known !== undefined) return known;
    const made = this.texts.push(this.tags.textAt(this.position, code)) - 1;
    this.codes.set(code, made);
    return made;
  }
}
