/**
 * Which series of a shared region belong to which logical table, kept up as series come: a scan of one table never looks at the others'.
 */
import type { TableId } from "../../base/units.ts";
import { textAt } from "../../column/text-table.ts";
import type { SeriesRegistry } from "../../storage/series/series-registry.ts";
import { NumberList } from "../../base/bytes/number-list.ts";

/** Of a list that has grown by doubling. */
const BYTES_PER_SERIES = 6;

const NONE: NumberList = new NumberList();

/** Invariant: every series below `seen` is in the list of its table. */
export class SeriesByTable {
  private readonly registry: SeriesRegistry;
  /** By the code of the table's id, the first tag of the registry. */
  private readonly lists: (NumberList | undefined)[] = [];
  private readonly codeOf: Map<number, number> = new Map();
  private seen = 0;

  constructor(registry: SeriesRegistry) {
    this.registry = registry;
  }

  /** The region's numbers of a table's series, in the order in which they came. */
  seriesOf(tableId: TableId): NumberList {
    this.catchUp();
    const code = this.codeOf.get(tableId);
    return (code === undefined ? undefined : this.lists[code]) ?? NONE;
  }

  /** Bytes held, about. */
  get byteLength(): number {
    return this.seen * BYTES_PER_SERIES;
  }

  private catchUp(): void {
    const { registry } = this;
    const { count } = registry;
    if (this.seen === count) return;
    const codes = registry.codesAt(0);
    const ids = registry.textsAt(0);
    for (let series = this.seen; series < count; series++) {
      const code = codes[series] as number;
      let list = this.lists[code];
      if (list === undefined) {
        list = new NumberList();
        this.lists[code] = list;
        this.codeOf.set(Number(textAt(ids, code)), code);
      }
      list.push(series);
    }
    this.seen = count;
  }
}
