/**
 * Files and folders that must stay where they were while the server runs: the meta store, the locks, the log, the folders of log and data.
 * Where one is deleted or replaced, the server would go on in what nobody finds again, so from then on nothing is acknowledged until it is
 * back.
 */
import type { Troubles } from "../../base/process/troubles.ts";
import { type FileIdentity, identityOf, lostLater } from "../../storage/file-identity.ts";

/** Something that must stay where it is. */
export interface Place {
  /** What it is, for the operator. */
  readonly what: string;
  readonly path: string;
}

/** After how many seconds a refused client should come back. */
export const LOST_PLACE_RETRY_SECONDS = 10;

/** See the file header. */
export class PlaceWatch {
  private readonly troubles: Troubles;
  private readonly places: readonly Place[];
  private watched: readonly (Place & { readonly identity: FileIdentity })[] = [];
  private looking = false;
  private reason: string | undefined;

  constructor(places: readonly Place[], troubles: Troubles) {
    this.troubles = troubles;
    this.places = places;
  }

  /** What is there now is what must stay: to be called once all of it is. @throws the system's error */
  begin(): void {
    this.watched = this.places.map((place) => ({ ...place, identity: identityOf(place.path) }));
  }

  /** Why writes are refused, or undefined. */
  get refusal(): string | undefined {
    return this.reason;
  }

  /** Looks at all places. A look that hangs, as on a network that is down, is not begun again. Never rejects. */
  async look(): Promise<void> {
    if (this.looking || this.watched.length === 0) return;
    this.looking = true;
    let lost: string | undefined;
    for (const { what, path, identity } of this.watched) {
      const why = await lostLater(identity);
      if (why === undefined) continue;
      lost = `${what} ${path}: ${why}; put it back, or restart the server, which goes on with what is there then`;
      break;
    }
    this.looking = false;
    this.reason = lost;
    if (lost === undefined) this.troubles.works("data_directory");
    else this.troubles.failed("data_directory", lost);
  }
}
