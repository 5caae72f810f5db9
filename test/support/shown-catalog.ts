/** A catalog whose tables are shown as others. */
import type { Catalog, Table } from "../../src/table/catalog.ts";

/** The catalog, but that `table` and `tables` give what `shown` makes of each of its tables. */
export function shownCatalog<T extends Table>(catalog: Catalog & CatalogOf<T>, shown: (table: T) => Table): Catalog {
  const own: CatalogOf<T> = catalog;
  return new Proxy<Catalog>(catalog, {
    get(target, name) {
      if (name === "table") {
        return (database: string, table: string): Table | undefined => {
          const found = own.table(database, table);
          return found === undefined ? undefined : shown(found);
        };
      }
      if (name === "tables") return (database: string): readonly Table[] => own.tables(database).map((table) => shown(table));
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

interface CatalogOf<T> {
  table(database: string, name: string): T | undefined;
  tables(database: string): readonly T[];
}
