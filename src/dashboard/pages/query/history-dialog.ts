/** The queries that were asked, to take one again. */
import { button, h, show } from "../../page/dom.ts";
import { forgetQueries, type PastQuery, pastQueries } from "./query-history.ts";

/** Shows them; `take` gets the one that was chosen. */
export function historyDialog(take: (past: PastQuery) => void): void {
  const list = h("ul", { class: "history" });
  const search = h("input", { type: "search", placeholder: "Search", "aria-label": "Search the history" });
  const dialog = h("dialog", { class: "dialog", "aria-label": "History" });
  const draw = (): void => {
    const found = pastQueries().filter(({ text }) => text.toLowerCase().includes(search.value.toLowerCase()));
    show(
      list,
      found.length === 0 && h("li", { class: "empty" }, "Nothing yet."),
      found.map((past) =>
        h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              class: "history-item",
              onclick: () => {
                dialog.close();
                take(past);
              },
            },
            h("span", { class: "history-when" }, `${past.language === "sql" ? "SQL" : "PromQL"}, ${new Date(past.at).toLocaleString()}`),
            h("code", {}, past.text.slice(0, 400)),
          ),
        ),
      ),
    );
  };
  search.addEventListener("input", draw);
  dialog.append(
    h(
      "div",
      { class: "dialog-head" },
      h("h2", {}, "History"),
      search,
      button(
        "Forget all",
        () => {
          forgetQueries();
          draw();
        },
        { class: "quiet" },
      ),
      button("Close", () => dialog.close()),
    ),
    list,
  );
  dialog.addEventListener("close", () => dialog.remove());
  draw();
  document.body.appendChild(dialog);
  dialog.showModal();
}
