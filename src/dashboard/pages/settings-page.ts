/** The server's settings in force, and the page's own. */
import { problemOf, send } from "../api/client.ts";
import { signOut, userName } from "../api/credentials.ts";
import { button, type Child, fact, field, h, select, show } from "../page/dom.ts";
import type { Zone } from "../page/format.ts";
import { change, settings, type Theme } from "../page/settings.ts";
import type { Shown } from "./page.ts";

/** Shows the page. */
export function settingsPage(): Shown {
  const config = h("pre", { class: "code", tabIndex: 0 }, "…");
  const status = h("dl", { class: "facts" });
  const search = h("input", { type: "search", placeholder: "Find a key", "aria-label": "Find a key" });
  void showServer(config, status, search);
  const card = (title: string, control: Child, ...content: readonly Child[]): HTMLElement =>
    h("section", { class: "card" }, h("header", {}, h("h2", {}, title), h("span", { class: "grow" }), control), content);
  return {
    element: h(
      "div",
      { class: "page" },
      h("h1", {}, "Settings"),
      card("This page", undefined, ownSettings()),
      card("Server", undefined, status),
      card("Settings in force", search, config),
    ),
  };
}

/** What this page remembers. */
function ownSettings(): HTMLElement {
  const themes = [
    ["system", "As the system"],
    ["light", "Light"],
    ["dark", "Dark"],
  ] as const;
  const zones = [
    ["UTC", "UTC"],
    ["local", Intl.DateTimeFormat().resolvedOptions().timeZone],
  ] as const;
  const name = userName();
  const leave = (): void => {
    signOut();
    location.reload();
  };
  return h(
    "div",
    { class: "toolbar" },
    field(
      "Colours",
      select(themes, settings.theme, (value) => change({ theme: value as Theme })),
    ),
    field(
      "Times in",
      select(zones, settings.zone, (value) => change({ zone: value as Zone })),
    ),
    name !== undefined && h("span", {}, `Signed in as ${name}`),
    name !== undefined && button("Sign out", leave),
  );
}

/** Status and configuration of the server, of which `search` finds lines. */
async function showServer(config: HTMLElement, status: HTMLElement, search: HTMLInputElement): Promise<void> {
  try {
    const [facts, configuration] = await Promise.all([send("/status"), send("/config")]);
    const text = await configuration.text();
    const draw = (): void => {
      const wanted = search.value.toLowerCase();
      const fits = (line: string): boolean => line.startsWith("[") || line.toLowerCase().includes(wanted);
      show(config, wanted === "" ? text : text.split("\n").filter(fits).join("\n"));
    };
    search.addEventListener("input", draw);
    show(
      status,
      Object.entries((await facts.json()) as Record<string, string>).map(([name, value]) => fact(name, value)),
    );
    draw();
  } catch (error) {
    show(config, problemOf(error));
  }
}
