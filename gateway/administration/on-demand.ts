/**
 * The actions of the portal's forms and how screens print settings, loaded when a user first needs
 * them: a node starts without them.
 */
import type { Gate } from "../acquirers/gates.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { PortalActions } from "./portal-requests.ts";
import type { Opened } from "./session.ts";

/** The actions use the connections of the login that started the node, as `gw` does. */
export function makeLoadActions(opened: Opened | undefined): () => Promise<PortalActions> {
  let actions: Promise<PortalActions> | undefined;
  return () => {
    actions ??= loadActions(opened);
    return actions;
  };
}

async function loadActions(opened: Opened | undefined): Promise<PortalActions> {
  if (opened === undefined) throw new Error("this node was started without an installation");
  const { makePortalActions } = await import("./portal-requests.ts");
  return makePortalActions(opened);
}

/** Prints settings under the names of the options that set them. */
export function makePrintSettings(gates: () => ReadonlyMap<string, Gate>) {
  return {
    merchant: async (merchant: Endpoint["merchant"]) => (await loadSettings()).merchant(merchant),
    endpoint: async (endpoint: Endpoint) => (await loadSettings()).endpoint(endpoint),
    async gate(id: string) {
      const gate = gates().get(id);
      return gate === undefined ? {} : (await loadSettings()).gate(gate);
    },
  };
}

/** They belong to `gw export` and to forms as well. */
async function loadSettings() {
  return (await import("./configuration-file.ts")).settingsOf;
}
