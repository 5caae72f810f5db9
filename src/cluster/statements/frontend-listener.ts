/**
 * The internal listener of a frontend: for other frontends, never for clients. Who is let in says `serve/internal-listener.ts`.
 *
 *   POST /v1/statements/list, /v1/statements/kill    as FORMAT.md
 *   GET  /health                                     open to all: it tells nothing
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { MetricRegistry } from "../../base/metrics.ts";
import type { KnownStatements } from "../../db/known-statements.ts";
import { ValueError } from "../ownership/value-fields.ts";
import {
  bodyLengthOf,
  type InternalListenerOptions,
  type LetIn,
  type PartListener,
  plain,
  startInternalListener,
} from "../serve/internal-listener.ts";
import { ASK_BYTES_MAX, ASKED_MAX } from "./limits.ts";
import { decodeKillAsk, decodeListAsk, encodeKillAnswer, encodeListAnswer, type StatementsAsk } from "./messages.ts";

/** What a listener works with. */
export interface FrontendListenerParts {
  /** Name of this frontend. */
  readonly self: string;
  readonly statements: Pick<KnownStatements, "listHere" | "killHere">;
  readonly metrics: MetricRegistry;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Starts to listen. @throws DbError StorageUnavailable when the address cannot be listened on */
export function startFrontendListener(options: InternalListenerOptions, parts: FrontendListenerParts): PartListener {
  const { metrics, clock, logger } = parts;
  const help = "requests of other frontends that were not let in";
  const refused = metrics.counter("varve_frontend_requests_refused_total", help, "reason");
  const routes = new StatementRoutes(parts);
  const listener = startInternalListener(options, {
    answer: (asked) => routes.answer(asked),
    onRefused: (reason) => refused.inc({ reason }),
    bodyBytesMax: ASK_BYTES_MAX,
    clock,
    logger,
  });
  return {
    port: listener.port,
    renew: (tls) => listener.renew(tls),
    async stop(graceMs) {
      await listener.rest(graceMs);
      await listener.end();
    },
  };
}

/** Answers requests. */
class StatementRoutes {
  private readonly parts: FrontendListenerParts;
  /** Bodies that are read at the moment. */
  private underWay = 0;

  constructor(parts: FrontendListenerParts) {
    this.parts = parts;
  }

  async answer({ request, pathname }: LetIn): Promise<Response> {
    const { statements } = this.parts;
    switch (pathname) {
      case "/v1/statements/list":
        return await this.answered(request, decodeListAsk, ({ of, bytes }) => encodeListAnswer(statements.listHere(of), bytes));
      case "/v1/statements/kill":
        return await this.answered(request, decodeKillAsk, ({ id, of }) => encodeKillAnswer(statements.killHere(id, of)));
      default:
        return plain(404, "there is nothing here");
    }
  }

  private async answered<A extends StatementsAsk>(
    request: Request,
    decode: (body: Uint8Array) => A,
    answer: (ask: A) => Uint8Array<ArrayBuffer>,
  ): Promise<Response> {
    const length = bodyLengthOf(request, ASK_BYTES_MAX);
    if (length instanceof Response) return length;
    if (this.underWay === ASKED_MAX) return plain(429, `${ASKED_MAX} requests are under way at the frontend`);
    this.underWay++;
    let body: Uint8Array;
    try {
      body = new Uint8Array(await request.arrayBuffer());
    } catch {
      return plain(400, "the request did not come whole"); // Nobody is there any more, most likely.
    } finally {
      this.underWay--;
    }
    try {
      const ask = decode(body);
      const { self } = this.parts;
      if (ask.to !== self) return plain(421, `this is frontend ${self}`);
      return new Response(answer(ask), { headers: { "content-type": "application/json" } });
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      return plain(400, `cannot read the request: ${error.message}`);
    }
  }
}
