/** Makes tags of columns that the built-in pipeline found as fields: series are told apart by host, source, sourcetype and `fields`. */
import { scalarAt } from "../../column/scalar.ts";
import { tagKey } from "../../table/rows/row-collector.ts";
import type { ColumnDefinition } from "../../table/schema.ts";
import { SeriesDictionary } from "../../table/series-dictionary.ts";
import { tagText } from "../../table/tag-value.ts";
import type { FieldWrite, SchemaLookup, TableWrite, WriteBatch } from "../../table/write-batch.ts";

/**
 * The batch with tags for the columns named, in the order of `tags`, behind the time index. Columns that their table has as fields stay
 * fields.
 */
export function promoteTags(batch: WriteBatch, tags: readonly string[], database: string, schemas: SchemaLookup): WriteBatch {
  const dictionary = new SeriesDictionary();
  const tables = batch.tables.map((write) => {
    const isPromoted = (name: string): boolean =>
      tags.includes(name) && schemas.columnOf(database, write.table, name)?.semantic !== "field";
    const byName = new Map(write.fields.filter(({ name }) => isPromoted(name)).map((field) => [field.name, field]));
    const promoted = tags.map((name) => byName.get(name)).filter((field) => field !== undefined);
    return withTags(write, promoted, batch.dictionary, dictionary);
  });
  return { dictionary, tables };
}

function withTags(write: TableWrite, promoted: readonly FieldWrite[], from: SeriesDictionary, to: SeriesDictionary): TableWrite {
  const keys = new Uint32Array(write.rowCount);
  for (let row = 0; row < write.rowCount; row++) {
    const known = from.tagsOf(write.keys[row]!);
    const names = [...known.names];
    const values = [...known.values];
    for (const { name, type, vector } of promoted) {
      const text = tagText(scalarAt(vector, type, row), type);
      if (text === undefined || text === "") continue;
      names.push(name);
      values.push(text);
    }
    keys[row] = tagKey(to, write.table, names, values);
  }
  const isTag = new Set(promoted.map(({ name }) => name));
  const fields = write.fields.filter(({ name }) => !isTag.has(name));
  return { ...write, keys, fields, ...(write.shape === undefined ? {} : { shape: shapeOf(write.shape, promoted) }) };
}

function shapeOf(shape: readonly ColumnDefinition[], promoted: readonly FieldWrite[]): readonly ColumnDefinition[] {
  const isTag = new Set(promoted.map(({ name }) => name));
  const others = shape.filter(({ name }) => !isTag.has(name));
  const tags = promoted.map(({ name, type }): ColumnDefinition => ({ name, type, semantic: "tag", nullable: true }));
  const time = others.findIndex(({ semantic }) => semantic === "timestamp");
  return [...others.slice(0, time + 1), ...tags, ...others.slice(time + 1)];
}
