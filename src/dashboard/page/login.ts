/** Asks for a name and a password when the server wants them. */
import { authorization, onAsked, signIn } from "../api/credentials.ts";
import { field, h, show } from "./dom.ts";

/** From now on a person is asked when a request is refused. */
export function installLogin(): void {
  onAsked(
    () =>
      new Promise<void>((resolve) => {
        const name = h("input", { type: "text", autocomplete: "username", required: true, name: "username" });
        const password = h("input", { type: "password", autocomplete: "current-password", required: true, name: "password" });
        const problem = h("p", { class: "problem", role: "alert" });
        if (authorization() === undefined) problem.hidden = true;
        else show(problem, "This name and password are not those of an account.");
        const form = h(
          "form",
          { class: "login", method: "dialog" },
          h("h2", {}, "Sign in"),
          problem,
          field("User", name),
          field("Password", password),
          h("button", { type: "submit", class: "primary" }, "Sign in"),
        );
        const dialog = h("dialog", { class: "dialog", "aria-label": "Sign in" }, form);
        dialog.addEventListener("cancel", (event) => event.preventDefault()); // Nothing works without.
        form.addEventListener("submit", (event) => {
          event.preventDefault();
          signIn(name.value, password.value);
          dialog.remove();
          resolve();
        });
        document.body.appendChild(dialog);
        dialog.showModal();
      }),
  );
}
