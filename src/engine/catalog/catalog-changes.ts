/**
 * Changes of the catalogue that this process makes, one after the other. One is planned on what is in force; where somebody else's was
 * first, it is planned again.
 *
 *   plan ─► port ─► taken: followed, in force
 *     ▲        └──► outdated: what others did is in force now
 *     └───────────────┘
 *
 * Where the port answers at once, as on one machine, `make` does too.
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { MetaChange } from "../../storage/meta-store/meta-store.ts";
import { PromptTurns } from "../../base/scheduler/prompt-turns.ts";
import type { CatalogAnswer, CatalogPort } from "../schema/catalog-port.ts";
import type { SchemaStore } from "../schema/schema-store.ts";

/** Times that others may be first before a change gives up: each of them made one. */
const ROUNDS_MAX = 100;

/** What a change is to the entries on what is in force; undefined: it needs none. @throws DbError what refuses it */
export type MakePlan = () => readonly MetaChange[] | undefined;

/** See the file header. */
export class CatalogChanges {
  private readonly schemas: SchemaStore;
  private readonly port: CatalogPort;
  private readonly turns: PromptTurns = new PromptTurns();

  constructor(schemas: SchemaStore, port: CatalogPort) {
    this.schemas = schemas;
    this.port = port;
  }

  /**
   * Makes a change; undefined: it is made and in force, else the promise says when. What refuses it on what is in force now does so at
   * once.
   *
   * @throws DbError of the plan; StorageUnavailable
   */
  make(plan: MakePlan): Promise<void> | undefined {
    const { version } = this.schemas;
    const changes = plan();
    if (changes === undefined) return undefined;
    const made = this.turns.run(() => {
      const answer = version === this.schemas.version ? this.port.commit(changes, version) : this.planned(plan);
      return answer === "taken" ? undefined : this.rounds(plan, answer);
    });
    return made instanceof Promise ? made : undefined;
  }

  private planned(plan: MakePlan): CatalogAnswer | Promise<CatalogAnswer> {
    const changes = plan();
    return changes === undefined ? "taken" : this.port.commit(changes, this.schemas.version);
  }

  private async rounds(plan: MakePlan, first: CatalogAnswer | Promise<CatalogAnswer>): Promise<void> {
    let answer = await first;
    for (let round = 1; answer === "outdated" && round < ROUNDS_MAX; round++) answer = await this.planned(plan);
    if (answer === "taken") return;
    const why = `others changed it ${ROUNDS_MAX} times meanwhile; try again`;
    throw new DbError(StatusCode.StorageUnavailable, `cannot change the catalogue: ${why}`, { retryAfterSeconds: 1 });
  }
}
