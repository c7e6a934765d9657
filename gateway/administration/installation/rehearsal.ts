/** A rehearsal is a production installation with a sandbox on the same machine. */
import { addressesOf, type Gate, leadsToSandbox } from "../../acquirers/gates.ts";
import type { Config } from "../../config/config.ts";
import type { DirectorySettings } from "../../threeds/directory-client.ts";
import { Problem } from "../../values/problem.ts";

export const rehearsalNotice =
  "This is a rehearsal with a sandbox bank (GW_REHEARSAL): no money moves, every page says so.";

type Mode = Pick<Config, "environment" | "rehearsal">;

/** Returns a sentence with the subject `what` if the installation's mode forbids the gate. */
export function findGateFault(mode: Mode, what: string, gate: Pick<Gate, "kind" | "settings">) {
  const hosts = addressesOf(gate.settings).map(({ host }) => host);
  return findWayFault(mode, what, { isSandbox: leadsToSandbox(gate), hosts });
}

export function findDirectoryFault(mode: Mode, what: string, own: DirectorySettings) {
  const hosts = [own.url, own.url102].flatMap((url) => (url ? [new URL(url).hostname] : []));
  return findWayFault(mode, what, { isSandbox: own.sandbox === true, hosts });
}

/** A rehearsal must use only sandboxes, so that no money moves. Production must use no sandbox. */
function findWayFault(
  { environment, rehearsal }: Mode,
  what: string,
  { isSandbox, hosts }: { readonly isSandbox: boolean; readonly hosts: readonly string[] },
): Problem | undefined {
  if (environment !== "production") return undefined;
  if (!rehearsal) {
    if (!isSandbox) return undefined;
    return new Problem(
      `${what} leads to a sandbox: production has none except in a rehearsal (GW_REHEARSAL).`,
    );
  }
  if (isSandbox && hosts.every(isLocalHost)) return undefined;
  const fault = isSandbox ? "leads to another machine" : "does not lead to a sandbox";
  return new Problem(
    `${what} ${fault}: in a rehearsal (GW_REHEARSAL) all have sandbox set and are on this machine.`,
  );
}

export function isLocalHost(host: string): boolean {
  return /^(127(\.\d{1,3}){3}|::1|\[::1\]|localhost)$/.test(host);
}
