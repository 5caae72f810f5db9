/** Tags of series as codes, by the position of their column; `codesAt(p)[s]` is an index of `dictionaryAt(p)`. */
export interface TagCodes {
  codesAt(position: number): Uint32Array;
  dictionaryAt(position: number): readonly (string | undefined)[];
  /** The text of one code. */
  textAt(position: number, code: number): string | undefined;
}
