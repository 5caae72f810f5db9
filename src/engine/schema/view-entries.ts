/** Views in force, in memory, and their entries in the meta store. */
import { tableId } from "../../base/units.ts";
import type { MetaChange, MetaStore, MetaValue } from "../../storage/meta-store/meta-store.ts";
import type { ViewInfo } from "../../table/view.ts";
import { arrayOf, numberOf, objectOf, textOf, viewKey } from "./meta-codec.ts";

/** Views by database and name. Changes nothing in the meta store. */
export class ViewEntries {
  private readonly byDatabase: Map<string, Map<string, ViewInfo>> = new Map();
  private readonly byKey: Map<string, ViewInfo> = new Map();

  /** Reads all views. @throws DbError StorageUnavailable for an entry that cannot be read */
  constructor(meta: Pick<MetaStore, "list">) {
    for (const { key, value } of meta.list(viewKey())) this.follow(key, value);
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

  /** Puts what became of an entry in force; undefined: it is gone. */
  follow(key: string, value: MetaValue | undefined): void {
    const former = this.byKey.get(key);
    if (former !== undefined) this.byDatabase.get(former.database)?.delete(former.name);
    this.byKey.delete(key);
    if (value === undefined) return;
    const view = decodeView(key, value);
    const views = this.byDatabase.get(view.database) ?? new Map<string, ViewInfo>();
    this.byDatabase.set(view.database, views.set(view.name, view));
    this.byKey.set(key, view);
  }

  /** Forgets the views of a database. */
  forget(database: string): void {
    for (const { id } of this.list(database)) this.byKey.delete(viewKey(id));
    this.byDatabase.delete(database);
  }
}

/** The entry of a view. */
export function viewEntry(view: ViewInfo): MetaChange {
  return { key: viewKey(view.id), value: { ...view, sources: [...view.sources], columns: [...view.columns] } };
}

/** What takes the entry of a view away. */
export function viewRemoval(view: ViewInfo): MetaChange {
  return { key: viewKey(view.id), value: undefined };
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
