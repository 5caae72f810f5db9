/** How long clients of real clusters wait. */
import type { Patience } from "./clients.ts";

/** An election of NATS takes up to 9 s, a lease ends after 3: a request that waits 30 s has to come through. */
export const PATIENCE: Patience = { attempt: 10_000, request: 30_000, pause: 50 };
