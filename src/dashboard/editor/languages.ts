/** The languages of the editors, with completion from the catalogue. */
import { PostgreSQL, type SQLNamespace, sql } from "@codemirror/lang-sql";
import type { Extension } from "@codemirror/state";
import { PromQLExtension } from "@prometheus-io/codemirror-promql";
import { headersOf, quoted, sql as ask } from "../api/client.ts";
import { settings } from "../page/settings.ts";

/** Columns that completion knows: some thousand tables. */
const COLUMNS_MAX = 50_000;

/** SQL; names come from the database of the page. */
export async function sqlLanguage(): Promise<Extension> {
  const answer = await ask(
    "SELECT table_schema, table_name, column_name, greptime_data_type FROM information_schema.columns " +
      `ORDER BY CASE WHEN table_schema = ${quoted(settings.database)} THEN 0 ELSE 1 END, table_schema, table_name, ordinal_position ` +
      `LIMIT ${COLUMNS_MAX}`,
  );
  const schema: Record<string, Record<string, { label: string; detail: string }[]>> = {};
  for (const [database, table, column, type] of answer.window(0, answer.rowCount)) {
    ((schema[database ?? ""] ??= {})[table ?? ""] ??= []).push({ label: column ?? "", detail: type ?? "" });
  }
  return sqlOver(schema as unknown as SQLNamespace);
}

/** SQL without a catalogue, until that is there. */
export function plainSql(): Extension {
  return sqlOver({});
}

function sqlOver(schema: SQLNamespace): Extension {
  return sql({ dialect: PostgreSQL, upperCaseKeywords: true, schema, defaultSchema: settings.database });
}

/** PromQL; metrics and labels come from the server's Prometheus API. */
export function promqlLanguage(): Extension {
  const fetchFn = (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const path = input instanceof Request ? input.url : input.toString();
    const separator = path.includes("?") ? "&" : "?";
    const headers = headersOf(Object.fromEntries(new Headers(init.headers)));
    return fetch(`${path}${separator}db=${encodeURIComponent(settings.database)}`, { ...init, headers, credentials: "omit" });
  };
  return new PromQLExtension().setComplete({ remote: { url: "/v1/prometheus", fetchFn, httpErrorHandler: () => undefined } }).asExtension();
}
