/**
 * The subject that a lease's messages have: its name, but for those of frontends.
 *
 * | name            | subject               |
 * |-----------------|-----------------------|
 * | `lease.<shard>` | the same              |
 * | `node.<id>`     | the same              |
 * | `frontend.<id>` | `lease.frontend-<id>` |
 *
 * A stream keeps the subjects that it was made with: whoever runs an earlier version refuses one that has more of them. That version passes
 * over leases of shards whose number is none, so that both may run side by side.
 */
import type { LeaseName } from "../port/leases.ts";

const NAME = /^(?:lease|node|frontend)\.[\w-]{1,64}$/;
const OF_FRONTEND = "frontend.";
const SUBJECT_OF_FRONTEND = "lease.frontend-";

/** Whether a text is the name of a lease. */
export function isLeaseName(text: string): text is LeaseName {
  return NAME.test(text);
}

/** See the file header. */
export function leaseSubject(name: LeaseName): string {
  return name.startsWith(OF_FRONTEND) ? SUBJECT_OF_FRONTEND + name.slice(OF_FRONTEND.length) : name;
}

/** The name of the lease whose messages have a subject. */
export function leaseNameOf(subject: string): string {
  return subject.startsWith(SUBJECT_OF_FRONTEND) ? OF_FRONTEND + subject.slice(SUBJECT_OF_FRONTEND.length) : subject;
}
