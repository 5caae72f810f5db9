/** The mirror as one engine of this process has it. */
import type { DbError } from "../../base/error.ts";
import type { CatalogAnswer, CatalogPort } from "../../engine/schema/catalog-port.ts";
import type { MetaChange } from "../../storage/meta-store/meta-store.ts";
import { catalogueUnavailable } from "./catalogue-unavailable.ts";

/** What a port asks of its mirror. */
export interface EnginePortParts {
  commit(changes: readonly MetaChange[], version: number): Promise<CatalogAnswer>;
  /** The engine is told of changes from now on. */
  begun(port: EnginePort): void;
  ended(port: EnginePort): void;
}

/** See the file header. */
export class EnginePort implements CatalogPort {
  private readonly parts: EnginePortParts;
  private follow: (changes: readonly MetaChange[]) => void = () => undefined;
  /** Ends those who wait for an answer. */
  private readonly waiting: Set<(why: DbError) => void> = new Set();
  private ended: DbError | undefined;

  constructor(parts: EnginePortParts) {
    this.parts = parts;
  }

  async commit(changes: readonly MetaChange[], version: number): Promise<CatalogAnswer> {
    if (this.ended !== undefined) throw this.ended;
    const { promise, resolve, reject } = Promise.withResolvers<CatalogAnswer>();
    this.waiting.add(reject);
    this.parts.commit(changes, version).then(resolve, reject);
    try {
      return await promise;
    } finally {
      this.waiting.delete(reject);
    }
  }

  listen(follow: (changes: readonly MetaChange[]) => void): void {
    this.follow = follow;
    this.parts.begun(this);
  }

  async close(): Promise<void> {
    this.end(catalogueUnavailable("use", "it is closed"));
  }

  /** Tells the engine of a change. */
  tell(changes: readonly MetaChange[]): void {
    this.follow(changes);
  }

  /** Tells it of nothing any more, and those who wait why. */
  end(why: DbError): void {
    this.ended ??= why;
    this.parts.ended(this);
    for (const reject of this.waiting) reject(this.ended);
  }
}
