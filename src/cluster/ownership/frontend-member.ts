/** A frontend's life in the cluster: it holds `frontend.<id>`, so that others find it and no two have one name. */
import type { DbError } from "../../base/error.ts";
import type { FollowedDirectory } from "./followed-directory.ts";
import { encodeFrontendValue } from "./frontend-value.ts";
import { checkAddress, Membership, type MembershipParts } from "./membership.ts";
import { checkNodeId } from "./node-id.ts";

/** What a frontend is. */
export interface FrontendFacts {
  /** From its configuration: `isNodeId`. */
  readonly id: string;
  /** "host:port" of its internal listener, as others reach it. */
  readonly address: string;
  /** "host:port" where it speaks HTTP with clients. */
  readonly httpAddress: string;
  /** Of the server. */
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly startedAtMillis: number;
}

/** What a member is made of. */
export interface FrontendMemberParts extends MembershipParts {
  readonly directory: Pick<FollowedDirectory, "frontend">;
}

/** See the file header. */
export class FrontendMember {
  private readonly id: string;
  private readonly membership: Membership;
  private readonly parts: FrontendMemberParts;

  private constructor(id: string, membership: Membership, parts: FrontendMemberParts) {
    this.id = id;
    this.membership = membership;
    this.parts = parts;
  }

  /**
   * Joins the cluster.
   *
   * @param onOusted another process has the name, or the port is closed: the process should end
   * @throws DbError InvalidArguments: the id or address is none; as `Membership.join`
   */
  static async join(facts: FrontendFacts, parts: FrontendMemberParts, onOusted: (why: DbError) => void): Promise<FrontendMember> {
    const { id, ...told } = facts;
    checkNodeId(id, "a frontend");
    checkAddress(told.address);
    checkAddress(told.httpAddress);
    const value = encodeFrontendValue({ ...told, identity: parts.identity });
    const known = (): ReturnType<FollowedDirectory["frontend"]> => parts.directory.frontend(id);
    const membership = await Membership.join({ kind: "frontend", id, value: () => value, known, onOusted }, parts);
    parts.logger.info({ frontend: id, address: told.address }, "this frontend has joined the cluster");
    return new FrontendMember(id, membership, parts);
  }

  /** Leaves: others see and ask it no more. */
  async leave(): Promise<void> {
    await this.membership.leave();
    this.parts.logger.info({ frontend: this.id }, "this frontend has left the cluster");
  }
}
