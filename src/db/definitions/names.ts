/** Names in messages: catalog and schema beside the table, each empty where the request's own stand for it. */
import type { ObjectName, Span } from "../../query/sql/syntax/ast.ts";
import { CATALOG_NAME } from "../../table/reserved-names.ts";

/** Where a message says what it says: it has no lines. */
export const NO_SPAN: Span = { line: 1, column: 1 };

/** A table, a view or their like. */
export function objectName(catalog: string, schema: string, name: string): ObjectName {
  if (catalog !== "") return [catalog, schema === "" ? "public" : schema, name];
  return schema === "" ? [name] : [CATALOG_NAME, schema, name];
}

/** Pairs as options; of equal keys the last one counts. */
export function optionsOf(pairs: readonly { readonly key: string; readonly value: string }[]): Readonly<Record<string, string>> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, value]));
}

/** Keys that lose their values. */
export function unsetOptions(keys: readonly string[]): Readonly<Record<string, undefined>> {
  return Object.fromEntries(keys.map((key) => [key, undefined]));
}
