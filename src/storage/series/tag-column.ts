/** One tag column of a registry: its texts, and the code of each series. */
import type { DataType } from "../../column/data-type.ts";
import type { ColumnDefault } from "../../table/schema.ts";
import { newWords } from "./shared-array.ts";
import { TagDictionary } from "./tag-dictionary.ts";
import type { TagPostings } from "./tag-postings.ts";

/** A tag column as a table's schema has it. */
export interface TagDefinition {
  readonly id: number;
  readonly name: string;
  readonly type?: DataType;
  /** What a write that leaves the tag out means. `current_timestamp()` counts as NULL: it would make a series a write. */
  readonly default?: ColumnDefault;
  /** What series hold that are older than the tag, where that is no longer its default. */
  readonly initial?: ColumnDefault;
}

/** See the file header. `codes` has room for `capacity` series at least. */
export class TagColumn {
  readonly columnId: number;
  name: string;
  readonly type: DataType;
  /** Code in series that are older than the column. */
  initialCode = 0;
  /** What a tag set that leaves the column out means. */
  defaultText: string | undefined;
  readonly dictionary: TagDictionary = new TagDictionary();
  codes: Uint32Array<ArrayBufferLike>;
  postings: TagPostings | undefined;
  /** No series has this code or one above. NULL counts as had. */
  codeEnd = 1;

  constructor(columnId: number, name: string, type: DataType, capacity: number) {
    this.columnId = columnId;
    this.name = name;
    this.type = type;
    this.codes = newWords(capacity);
  }
}
