/** Tables in plans: a plan holds the table, its bytes say which one that is. */
import type { ScannedTable, Table } from "../../../table/catalog.ts";
import { type Shape, text, whole } from "../../plan-format/shape.ts";
import { TAG } from "../../plan-format/tags.ts";

const id = whole(0);

/** A table that is read. */
export const scannedTable: Shape<ScannedTable> = {
  write: ({ schema }, to) => {
    to.tag(TAG.table);
    text.write(schema.database, to);
    text.write(schema.name, to);
    id.write(schema.id, to);
  },
  read: (from) => {
    from.expect(TAG.table, "a table");
    return from.table({ database: text.read(from), name: text.read(from), id: id.read(from) });
  },
};

/** A table of which sizes are known too. */
export const wholeTable: Shape<Table> = {
  write: (table, to) => scannedTable.write(table, to),
  read: (from) => {
    const table = scannedTable.read(from);
    return "statistics" in table ? (table as Table) : from.fail("a part of a table is there, and the whole is wanted"); // Tables have them.
  },
};
