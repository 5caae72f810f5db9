/** The server's settings in force, and the page's own. */
import { problemOf, send } from "../api/client.ts";
import { signOut, userName } from "../api/credentials.ts";
import { button, field, h, select, show } from "../page/dom.ts";
import type { Zone } from "../page/format.ts";
import { change, settings, type Theme } from "../page/settings.ts";
import type { Shown } from "./page.ts";

/** Shows the page. */
export function settingsPage(): Shown {
  const config = h("pre", { class: "code", tabIndex: 0 }, "…");
  const status = h("dl", { class: "facts" });
  const search = h("input", { type: "search", placeholder: "Find a key", "aria-label": "Find a key" });
  let text = "";
  const draw = (): void => {
    const wanted = search.value.toLowerCase();
    show(
      config,
      wanted === ""
        ? text
        : text
            .split("\n")
            .filter((line) => line.toLowerCase().includes(wanted) || line.startsWith("["))
            .join("\n"),
    );
  };
  search.addEventListener("input", draw);
  const load = async (): Promise<void> => {
    try {
      const [facts, configuration] = await Promise.all([
        send("/status").then((response) => response.json()),
        send("/config").then((response) => response.text()),
      ]);
      text = configuration;
      show(
        status,
        Object.entries(facts as Record<string, unknown>).map(([name, value]) =>
          h("div", { class: "fact" }, h("dt", {}, name), h("dd", {}, String(value))),
        ),
      );
      draw();
    } catch (error) {
      show(config, problemOf(error));
    }
  };
  void load();
  const themes: readonly (readonly [string, string])[] = [
    ["system", "As the system"],
    ["light", "Light"],
    ["dark", "Dark"],
  ];
  const zones: readonly (readonly [string, string])[] = [
    ["UTC", "UTC"],
    ["local", Intl.DateTimeFormat().resolvedOptions().timeZone],
  ];
  const name = userName();
  return {
    element: h(
      "div",
      { class: "page" },
      h("h1", {}, "Settings"),
      h(
        "section",
        { class: "card" },
        h("header", {}, h("h2", {}, "This page")),
        h(
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
          name !== undefined &&
            button("Sign out", () => {
              signOut();
              location.reload();
            }),
        ),
      ),
      h("section", { class: "card" }, h("header", {}, h("h2", {}, "Server")), status),
      h("section", { class: "card" }, h("header", {}, h("h2", {}, "Settings in force"), h("span", { class: "grow" }), search), config),
    ),
  };
}
