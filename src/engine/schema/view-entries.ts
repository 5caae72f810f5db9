/** Views in force, in memory, and their entries in the meta store. */
import { tableId } from "../../base/units.ts";
import type { MetaChange, MetaStore, MetaValue } from "../../storage/meta-store/meta-store.ts";
import type { ViewInfo } from "../../table/view.ts";
import { arrayOf, numberOf, objectOf, textOf, viewKey } from "./meta-codec.ts";

/** Views by database and name. Changes nothing in the meta store: who commits takes the entries from here. */
export class ViewEntries {
  private readonly byDatabase: Map<string, Map<string, ViewInfo>> = new Map();

  /** Reads all views. @throws DbError StorageUnavailable for an entry that cannot be read */
  constructor(meta: MetaStore) {
    for (const { key, value } of meta.list(viewKey())) this.set(decodeView(key, value));
  }

  /** Views of a database, by name. */
  list(database: string): readonly ViewInfo[] {
    return [...(this.byDatabase.get(database)?.values() ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  find(database: string, name: string): ViewInfo | undefined {
    return this.byDatabase.get(database)?.get(name);
  }

  count(database: string): number {
    return this.byDatabase.get(database)?.size ?? 0;
  }

  set(view: ViewInfo): void {
    const views = this.byDatabase.get(view.database) ?? new Map<string, ViewInfo>();
    this.byDatabase.set(view.database, views.set(view.name, view));
  }

  delete({ database, name }: ViewInfo): void {
    this.byDatabase.get(database)?.delete(name);
  }

  /** Forgets the views of a database. */
  forget(database: string): void {
    this.byDatabase.delete(database);
  }

  /** The entry of a view. */
  entryOf(view: ViewInfo): MetaChange {
    return { key: viewKey(view.id), value: { ...view, sources: [...view.sources], columns: [...view.columns] } };
  }

  /** What takes the entry of a view away. */
  removalOf(view: ViewInfo): MetaChange {
    return { key: viewKey(view.id), value: undefined };
  }

  /** What takes the entries of a database's views away. */
  removals(database: string): MetaChange[] {
    return this.list(database).map((view) => this.removalOf(view));
  }
}

/** A view out of its entry. @throws DbError StorageUnavailable */
export function decodeView(key: string, value: MetaValue): ViewInfo {
  const entry = objectOf(key, value);
  const texts = (field: string): readonly string[] => arrayOf(key, entry[field]).map((text) => textOf(key, text));
  return {
    id: tableId(numberOf(key, entry["id"])),
    database: textOf(key, entry["database"]),
    name: textOf(key, entry["name"]),
    query: textOf(key, entry["query"]),
    queryDatabase: textOf(key, entry["queryDatabase"]),
    definition: textOf(key, entry["definition"]),
    sources: texts("sources"),
    columns: texts("columns"),
  };
}
