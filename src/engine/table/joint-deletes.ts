/** Deletes from several parts of a table as one: what fits in a record is deleted in all of them or in none, whatever happens. */
import type { OverwriteWatch, RowKeys } from "../../table/delete.ts";
import type { PartDeletes } from "../joined/joined-table.ts";
import type { KeyDelete, RangeDelete, RowDeleter } from "./engine-table.ts";

/** A part that says where its rows are deleted. */
export interface DeletingPart {
  readonly deleter: RowDeleter;
  /** @throws DbError TableNotFound */
  keyDelete(keys: RowKeys, unless: OverwriteWatch | undefined): KeyDelete;
  /** @throws DbError TableNotFound */
  rangeDelete(): RangeDelete;
}

/** The deletes of these parts, at least one, which have one deleter. */
export function jointDeletes(parts: readonly DeletingPart[]): PartDeletes {
  const deleterOf = (): RowDeleter => (parts[0] as DeletingPart).deleter;
  return {
    async rows(keys, unless) {
      const deletes = parts.flatMap((part, i) => {
        const own = keys[i];
        return own === undefined ? [] : [part.keyDelete(own, unless?.[i])];
      });
      return deletes.length === 0 ? 0 : deleterOf().deleteRows(deletes);
    },
    async range(range) {
      return deleterOf().deleteRange(
        parts.map((part) => part.rangeDelete()),
        range,
      );
    },
  };
}
