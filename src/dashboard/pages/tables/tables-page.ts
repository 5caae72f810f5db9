/** Databases and tables: columns, rows, bytes, series, indexes, files, some rows. */
import { Answers } from "../../api/answers.ts";
import { type SqlRow, named, problemOf, quoted, sql, sqlObjects } from "../../api/client.ts";
import { button, fact, h, show } from "../../page/dom.ts";
import { bytesText, countText } from "../../page/format.ts";
import { settings } from "../../page/settings.ts";
import { grid } from "../../results/grid.ts";
import { goTo, type Shown } from "../page.ts";

const TABLES_SHOWN_MAX = 500;
/** A figure that is NULL: in a cluster, nobody told it. */
const UNKNOWN: number = Number.NaN;

/** Shows the page. @param rest the table to begin with */
export function tablesPage([table]: readonly string[]): Shown {
  const list = h("ul", { class: "table-list" });
  const detail = h("section", { class: "table-detail", "aria-live": "polite" });
  const search = h("input", { type: "search", placeholder: "Find a table", "aria-label": "Find a table" });
  const answers = new Answers();
  let all: readonly SqlRow[] = [];
  const draw = (): void => {
    const wanted = search.value.toLowerCase();
    const found = all.filter((row) => String(row["table_name"]).toLowerCase().includes(wanted));
    show(
      list,
      found.length === 0 && h("li", { class: "empty" }, all.length === 0 ? "No tables yet." : "None of that name."),
      found.slice(0, TABLES_SHOWN_MAX).map((row) => {
        const name = String(row["table_name"]);
        return h(
          "li",
          {},
          h(
            "a",
            { href: `#/tables/${encodeURIComponent(name)}`, "aria-current": name === table ? "page" : undefined },
            name,
            h("span", { class: "count" }, countText(Number(row["table_rows"] ?? UNKNOWN))),
          ),
        );
      }),
      found.length > TABLES_SHOWN_MAX && h("li", { class: "hint" }, `and ${found.length - TABLES_SHOWN_MAX} more`),
    );
  };
  search.addEventListener("input", draw);
  const load = async (): Promise<void> => {
    try {
      all = await sqlObjects(
        "SELECT table_name, table_rows FROM information_schema.tables " +
          `WHERE table_schema = ${quoted(settings.database)} ORDER BY table_name`,
      );
      draw();
      if (table !== undefined) await showTable(detail, table, answers);
      else
        show(
          detail,
          h(
            "p",
            { class: "empty" },
            all.length === 0 ? "Nothing was written to this database yet. The page Ingest shows how." : "Choose a table.",
          ),
        );
    } catch (error) {
      show(detail, h("p", { class: "problem", role: "alert" }, problemOf(error)));
    }
  };
  void load();
  const element = h(
    "div",
    { class: "page split" },
    h("h1", { class: "sr-only" }, "Tables"),
    h("nav", { class: "side", "aria-label": "Tables" }, search, list),
    detail,
  );
  return { element, close: () => answers.close() };
}

/** What the catalogue says of a table. */
interface TableFacts {
  readonly facts: SqlRow;
  readonly columns: readonly SqlRow[];
  /** Constraints by column. */
  readonly indexes: ReadonlyMap<string, readonly string[]>;
  readonly creation: string;
}

/** Undefined: there is no such table. @throws as `sql` */
async function factsOf(table: string): Promise<TableFacts | undefined> {
  const where = `table_schema = ${quoted(settings.database)} AND table_name = ${quoted(table)}`;
  const [[facts], columns, constraints] = await Promise.all([
    sqlObjects(`SELECT table_id, engine, table_rows, data_length FROM information_schema.tables WHERE ${where}`),
    sqlObjects(
      "SELECT column_name, greptime_data_type, semantic_type, is_nullable, column_default FROM information_schema.columns " +
        `WHERE ${where} ORDER BY ordinal_position`,
    ),
    sqlObjects(`SELECT column_name, constraint_name FROM information_schema.key_column_usage WHERE ${where}`),
  ]);
  if (facts === undefined) return undefined;
  const [creation, [statistics]] = await Promise.all([
    sql(`SHOW CREATE TABLE ${named(table)}`),
    sqlObjects(
      "SELECT sum(region_rows) AS region_rows, sum(disk_size) AS disk_size, sum(memtable_size) AS memtable_size, sum(sst_num) AS sst_num " +
        `FROM information_schema.region_statistics WHERE table_id = ${Number(facts["table_id"])}`,
    ),
  ]);
  const indexes = new Map<string, string[]>();
  for (const row of constraints) {
    const name = String(row["column_name"]);
    indexes.set(name, [...(indexes.get(name) ?? []), String(row["constraint_name"]).toLowerCase()]);
  }
  return { facts: { ...facts, ...statistics }, columns, indexes, creation: String(creation.window(0, 1)[0]?.[1] ?? "") };
}

async function showTable(detail: HTMLElement, table: string, answers: Answers): Promise<void> {
  const found = await factsOf(table);
  if (found === undefined) {
    show(detail, h("p", { class: "problem", role: "alert" }, `There is no table ${table} in ${settings.database}.`));
    return;
  }
  const { facts, columns, creation } = found;
  const tags = columns.filter((column) => column["semantic_type"] === "TAG").map((column) => String(column["column_name"]));
  const cardinality = h("span", {}, "…");
  const sample = h("div", { class: "sample" }, h("p", { class: "empty" }, "Reading some rows …"));
  const query = button("Query", () => goTo("query", "sql", `SELECT *\nFROM ${named(table)}\nLIMIT 100`));
  show(
    detail,
    h("header", { class: "toolbar" }, h("h2", {}, table), h("span", { class: "grow" }), query),
    h(
      "dl",
      { class: "facts" },
      fact("Rows", countText(Number(facts["region_rows"] ?? facts["table_rows"] ?? UNKNOWN))),
      fact("On disk", bytesText(Number(facts["disk_size"] ?? facts["data_length"] ?? UNKNOWN))),
      fact("In memory", bytesText(Number(facts["memtable_size"] ?? UNKNOWN))),
      fact("Files", countText(Number(facts["sst_num"] ?? UNKNOWN))),
      fact("Series", cardinality),
      fact("Engine", String(facts["engine"] ?? "")),
    ),
    h("h3", {}, "Columns"),
    columnsTable(found),
    h("h3", {}, "Some rows"),
    sample,
    h("h3", {}, "Definition"),
    h("pre", { class: "code", tabIndex: 0 }, creation),
  );
  await Promise.all([showCardinality(cardinality, table, tags), showSample(sample, table, answers)]);
}

function columnsTable({ columns, indexes }: TableFacts): HTMLElement {
  const heads = ["Name", "Type", "Role", "Null", "Default", "Index"].map((name) => h("th", { scope: "col" }, name));
  const rows = columns.map((column) => {
    const name = String(column["column_name"]);
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, name),
      h("td", {}, String(column["greptime_data_type"])),
      h("td", {}, String(column["semantic_type"]).toLowerCase()),
      h("td", {}, String(column["is_nullable"]).toLowerCase()),
      h("td", {}, column["column_default"] === null ? "" : String(column["column_default"])),
      h("td", {}, (indexes.get(name) ?? []).join(", ")),
    );
  });
  return h(
    "div",
    { class: "scroll-x", tabIndex: 0, role: "region", "aria-label": "Columns" },
    h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows)),
  );
}

async function showCardinality(target: HTMLElement, table: string, tags: readonly string[]): Promise<void> {
  try {
    if (tags.length === 0) show(target, "1");
    else {
      const series = await sql(`SELECT count(*) FROM (SELECT DISTINCT ${tags.map(named).join(", ")} FROM ${named(table)}) AS series`);
      show(target, countText(Number(series.window(0, 1)[0]?.[0] ?? 0)));
    }
  } catch (error) {
    show(target, "–");
    target.title = problemOf(error);
  }
}

async function showSample(target: HTMLElement, table: string, answers: Answers): Promise<void> {
  try {
    const body = new URLSearchParams({ sql: `SELECT * FROM ${named(table)} LIMIT 50` }).toString();
    const head = await answers.fetch({ path: `/v1/sql?db=${encodeURIComponent(settings.database)}`, body, form: "sql" });
    show(target, head.rowCount === 0 ? h("p", { class: "empty" }, "No rows.") : grid(answers, head));
  } catch (error) {
    show(target, h("p", { class: "problem" }, problemOf(error)));
  }
}
