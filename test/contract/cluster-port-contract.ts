/**
 * What every port of a cluster must do, whatever it is made of. Clients of one fixture are as many machines: they share streams and leases.
 */
import { afterEach, describe, test } from "bun:test";
import type { It, Open, PortFixture } from "./cluster-port-fixture.ts";
import { leasesContract } from "./leases-contract.ts";
import { logServiceContract } from "./log-service-contract.ts";
import { orderedContract } from "./ordered-contract.ts";

/** Runs the contract. `skips` names tests that cannot hold for an implementation, each with the reason. */
export function clusterPortContract(name: string, make: () => Promise<PortFixture>, skips: Readonly<Record<string, string>> = {}): void {
  const fixtures: PortFixture[] = [];
  const open: Open = async () => {
    const fixture = await make();
    fixtures.push(fixture);
    return fixture;
  };
  const it: It = (title, body) => {
    const reason = skips[title];
    if (reason === undefined) test(title, body, 60_000);
    else test.skip(`${title} (${reason})`, body);
  };
  describe(`${name} as a port`, () => {
    afterEach(async () => {
      for (const fixture of fixtures.splice(0)) await fixture.dispose();
    });
    logServiceContract(it, open);
    orderedContract(it, open);
    leasesContract(it, open);
  });
}
