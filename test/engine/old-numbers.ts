/** Series of tables as somebody found them at some time, who goes on to ask by their numbers: as a long statement does. */
import type { Random } from "../../bench/macro/random.ts";
import type { Table } from "../../src/table/catalog.ts";
import type { SeriesView } from "../../src/table/series-view.ts";

/** See the file header. */
export class OldNumbers {
  private readonly random: Random;
  private readonly known: WeakMap<Table, SeriesView> = new WeakMap();

  constructor(random: Random) {
    this.random = random;
  }

  /** The series of a table as they are, or as they were when they were remembered. */
  of(table: Table): SeriesView {
    if (this.random.below(4) === 0) this.known.set(table, table.series);
    return this.random.below(2) === 0 ? (this.known.get(table) ?? table.series) : table.series;
  }
}
