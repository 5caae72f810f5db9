/**
 * A frontend's life in the cluster: it holds `frontend.<id>`, so that others find it and no two have one name.
 *
 *   join ──held──► told to others
 *     └─ denied: its user of NATS may not publish `lease.*`. It serves clients all the same, and others neither list nor kill its
 *        statements; it asks again, after 1 s at first and then ever later, for as long as it lives
 */
import { DbError, errorText } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { portFailureOf } from "../port/port-error.ts";
import type { FollowedDirectory } from "./followed-directory.ts";
import { encodeFrontendValue } from "./frontend-value.ts";
import { DENIED_MILLIS, DENIED_MILLIS_MAX } from "./limits.ts";
import { checkAddress, type Member, Membership, type MembershipParts } from "./membership.ts";
import { checkNodeId } from "./node-id.ts";
import { Waits } from "./timers.ts";

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
  private readonly member: Member;
  private readonly address: string;
  private readonly parts: FrontendMemberParts;
  private readonly waits: Waits;
  private membership: Membership | undefined;
  private isLeaving = false;

  private constructor(member: Member, address: string, parts: FrontendMemberParts) {
    this.member = member;
    this.address = address;
    this.parts = parts;
    this.waits = new Waits(parts.timers);
  }

  /**
   * Joins the cluster; where NATS denies that it goes on trying, and says so once.
   *
   * @param onOusted another process has the name, or the port is closed: the process should end
   * @throws DbError InvalidArguments: the id or address is none; as `Membership.join` but for "denied"
   */
  static async join(facts: FrontendFacts, parts: FrontendMemberParts, onOusted: (why: DbError) => void): Promise<FrontendMember> {
    const { id, ...told } = facts;
    checkNodeId(id, "a frontend");
    checkAddress(told.address);
    checkAddress(told.httpAddress);
    const value = encodeFrontendValue({ ...told, identity: parts.identity });
    const known = (): ReturnType<FollowedDirectory["frontend"]> => parts.directory.frontend(id);
    const frontend = new FrontendMember({ kind: "frontend", id, value: () => value, known, onOusted }, told.address, parts);
    await frontend.begin();
    return frontend;
  }

  /** Leaves: others see and ask it no more. */
  async leave(): Promise<void> {
    this.isLeaving = true;
    this.waits.wake();
    if (this.membership === undefined) return;
    await this.membership.leave();
    this.parts.logger.info({ frontend: this.member.id }, "this frontend has left the cluster");
  }

  private async begin(): Promise<void> {
    try {
      await this.joinNow();
    } catch (error) {
      if (portFailureOf(error) !== "denied") throw error;
      const what = "this frontend is not told to others, which neither list nor kill its statements";
      const why = `${what}: let its user of NATS publish lease.*; it is tried again until that is so`;
      this.parts.logger.error({ frontend: this.member.id, error: errorText(error) }, why);
      void this.joinLater(); // Ends with the process; what it throws is a mistake of ours, and ends that.
    }
  }

  private async joinNow(): Promise<void> {
    this.membership = await Membership.join(this.member, this.parts);
    const { id } = this.member;
    this.parts.logger.info({ frontend: id, address: this.address }, "this frontend has joined the cluster");
  }

  private async joinLater(): Promise<void> {
    for (let pause = DENIED_MILLIS; !this.isLeaving; pause = Math.min(pause * 2, DENIED_MILLIS_MAX)) {
      await this.waits.wait(pause);
      if (this.isLeaving) return;
      try {
        await this.joinNow();
        if (this.isLeaving) await this.membership?.leave();
        return;
      } catch (error) {
        if (this.isLeaving) return;
        if (!(error instanceof DbError)) throw error;
        const isOver = portFailureOf(error) === "closed" || error.code === StatusCode.InvalidArguments;
        if (isOver) return this.member.onOusted(error);
        // Denied again, or servers that are silent: the link says in the log when they are.
      }
    }
  }
}
