import { sessionOf } from "../../context.ts";
import type { HttpServerOptions } from "../../options.ts";
import type { Handler } from "../../router.ts";

/**
 * A handler for accounts that may do everything: what slows the server down, or shows its insides, is for who runs it. Without a user
 * provider that is everybody.
 */
export function mayAdminister({ db }: HttpServerOptions, handler: Handler): Handler {
  return (exchange) => {
    const session = sessionOf(exchange);
    db.authorize(session, "read");
    db.authorize(session, "write");
    return handler(exchange);
  };
}
