/** The dashboard: menu, pages by the address behind `#`, keys. */
import "uplot/dist/uPlot.min.css";
import "./styles/page.css";
import "./styles/parts.css";
import "./styles/pages.css";
import { sqlObjects } from "./api/client.ts";
import { button, h, icon, select, show } from "./page/dom.ts";
import { installLogin } from "./page/login.ts";
import { applyTheme, change, settings } from "./page/settings.ts";
import { clusterPage } from "./pages/cluster/cluster-page.ts";
import { ingestPage } from "./pages/ingest/ingest-page.ts";
import { livePage } from "./pages/live/live-page.ts";
import { logsPage } from "./pages/logs/logs-page.ts";
import { goTo, type PageEntry, type Shown } from "./pages/page.ts";
import { panelsPage } from "./pages/panels/panels-page.ts";
import { queryPage } from "./pages/query/query-page.ts";
import { settingsPage } from "./pages/settings-page.ts";
import { tablesPage } from "./pages/tables/tables-page.ts";
import { tracesPage } from "./pages/traces/traces-page.ts";

const PAGES: readonly PageEntry[] = [
  { name: "query", title: "Query", icon: "M2 3h12v2H2zM2 7h8v2H2zM2 11h5v2H2zM11 10l4 2.5-4 2.5z", show: queryPage },
  { name: "tables", title: "Tables", icon: "M1 2h14v12H1zM3 4v2h4V4zM9 4v2h4V4zM3 8v2h4V8zM9 8v2h4V8z", show: tablesPage },
  { name: "panels", title: "Panels", icon: "M1 1h6v6H1zM9 1h6v4H9zM1 9h6v6H1zM9 7h6v8H9z", show: panelsPage },
  { name: "logs", title: "Logs", icon: "M2 2h12v2H2zM2 6h9v2H2zM2 10h12v2H2zM2 14h6v1H2z", show: logsPage },
  { name: "traces", title: "Traces", icon: "M1 2h8v3H1zM4 7h8v3H4zM7 12h8v3H7z", show: tracesPage },
  { name: "ingest", title: "Ingest", icon: "M7 1h2v7h3l-4 5-4-5h3zM2 14h12v1H2z", show: ingestPage },
  { name: "live", title: "Live", icon: "M1 8h3l2-6 3 12 2-6h4v1h-3l-3 7-3-12-1 5H1z", show: livePage },
  { name: "cluster", title: "Cluster", icon: "M1 2h14v4H1zM3 3v2h2V3zM1 8h14v4H1zM3 9v2h2V9zM7 13h2v2H7z", show: clusterPage },
  { name: "settings", title: "Settings", icon: "M2 4h7v1H2zM11 2h2v5h-2zM2 11h3v1H2zM7 9h2v5H7zM11 11h3v1h-3z", show: settingsPage },
];

let shown: Shown | undefined;

function start(): void {
  applyTheme();
  installLogin();
  const app = document.getElementById("app");
  if (app === null) return;
  const content = h("main", { id: "content", tabIndex: 0 });
  const menu = h("ul", { class: "menu" });
  const databases = h("span", { class: "database" });
  show(
    app,
    h(
      "a",
      {
        class: "skip",
        href: "#content",
        onclick: (event: Event) => {
          event.preventDefault();
          content.focus();
        },
      },
      "Skip the menu",
    ),
    h("header", { class: "top" }, h("a", { class: "brand", href: "#/query" }, "Varve"), databases),
    h("nav", { class: "menu-frame", "aria-label": "Pages" }, menu, button("Keys", keysDialog, { class: "quiet keys", title: "?" })),
    content,
  );
  app.removeAttribute("aria-busy");
  const route = (): void => {
    const [name = "", ...rest] = location.hash.replace(/^#\/?/, "").split("/").map(decoded);
    const page = PAGES.find((each) => each.name === name) ?? (PAGES[0] as PageEntry);
    shown?.close?.();
    shown = page.show(rest);
    document.title = `${page.title} – Varve`;
    show(content, shown.element);
    show(
      menu,
      PAGES.map(({ name: each, title, icon: path }, i) =>
        h(
          "li",
          {},
          h(
            "a",
            { href: `#/${each}`, "aria-current": each === page.name ? "page" : undefined, title: `${title} (Alt+${i + 1})` },
            icon(path),
            h("span", {}, title),
          ),
        ),
      ),
    );
  };
  addEventListener("hashchange", route);
  addEventListener("keydown", onKey);
  route();
  void showDatabases(databases, route);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // Typed by hand.
  }
}

async function showDatabases(target: HTMLElement, route: () => void): Promise<void> {
  try {
    const rows = await sqlObjects("SELECT schema_name FROM information_schema.schemata ORDER BY schema_name");
    const names = rows.map((row) => String(row["schema_name"]));
    if (!names.includes(settings.database)) change({ database: names.includes("public") ? "public" : (names[0] ?? "public") });
    const choice = select(
      names.map((name) => [name, name] as const),
      settings.database,
      (value) => {
        change({ database: value });
        route();
      },
    );
    choice.setAttribute("aria-label", "Database");
    show(target, choice);
  } catch {
    show(target, settings.database); // The page that is shown says why nothing answers.
  }
}

function onKey(event: KeyboardEvent): void {
  const isTyping =
    event.target instanceof HTMLElement && event.target.closest("input, textarea, select, [contenteditable='true']") !== null;
  const page = event.altKey && /^[1-9]$/.test(event.key) ? PAGES[Number(event.key) - 1] : undefined;
  if (page !== undefined) {
    event.preventDefault();
    goTo(page.name);
  } else if (event.key === "?" && !isTyping) keysDialog();
}

function keysDialog(): void {
  const keys: readonly (readonly [string, string])[] = [
    ["Ctrl-Enter", "Run the query, or the selected part of it"],
    ["Ctrl-Space", "Complete"],
    ["Ctrl-F", "Find in the editor"],
    ["Alt-1 … Alt-9", "Go to a page"],
    ["Arrows, Page, Home, End", "Move in a table"],
    ["Ctrl-C", "Copy a cell"],
    ["?", "This list"],
  ];
  const dialog = h("dialog", { class: "dialog", "aria-label": "Keys" });
  dialog.append(
    h(
      "div",
      { class: "dialog-head" },
      h("h2", {}, "Keys"),
      button("Close", () => dialog.close()),
    ),
    h(
      "dl",
      { class: "attributes" },
      keys.map(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)]),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.appendChild(dialog);
  dialog.showModal();
}

start();
