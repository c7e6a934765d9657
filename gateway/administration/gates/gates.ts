/** Gates, the connections to acquirers: list, show, create, set, test and remove them. */
import { lookup } from "node:dns/promises";
import { setTimeout as delay } from "node:timers/promises";
import { addressesOf, type Gate, type GateSettings } from "../../acquirers/gates.ts";
import { testGate } from "../../acquirers/iso8583-host/own-link.ts";
import type { Cells } from "../../storage/cells/cells.ts";
import { isGateNeeded } from "../../storage/configuration/administration.ts";
import type { Configuration } from "../../storage/configuration/configuration.ts";
import type { Query } from "../../storage/server/database.ts";
import { getCurrency } from "../../values/iso-codes.ts";
import { Problem } from "../../values/problem.ts";
import { systemClock } from "../../values/time.ts";
import { type Action, action } from "../action.ts";
import { flag, word } from "../field.ts";
import { findGate, onGate } from "../find.ts";
import { findNameFault, printSwitch } from "../readers.ts";
import { type Output, Report, readConfiguration, type Session } from "../session.ts";
import { fieldsOf, findNothing, showSettings } from "../settings.ts";
import {
  findTlsFault,
  gateTable,
  gateValuesOf,
  printAddresses,
  type ReadGate,
  readGate,
} from "./gate-settings.ts";
import { macKeyActions } from "./mac-keys.ts";

const settings = fieldsOf(gateTable());
const help = ["the name of the gate", "der Name des Gates"] as const;
const gate = word("gate", "name", help);

export const gateActions: readonly Action[] = [
  action("look", "see_configuration", {
    name: "gate list",
    does: ["list all gates"],
    commandLineOnly: "the portal lists gates on a screen of its own",
    async perform(session) {
      const configuration = await readConfiguration(session);
      const gates = [...configuration.gates.values()];
      return new Report(
        gates.map((each) => ({ ...each, endpoints: endpointsOf(each, configuration) })),
        gates.map((each) => ({
          name: each.name,
          id: each.id,
          kind: each.kind,
          host: printAddresses(each.settings),
          tls: printSwitch(each.settings.tls === true),
          currencies: each.settings.currencies?.join(",") ?? "all",
          endpoints: endpointsOf(each, configuration).length,
        })),
      );
    },
  }),
  action("look", "see_configuration", {
    name: "gate show",
    does: ["show a gate with its settings and the endpoints using it"],
    commandLineOnly: "the portal shows a gate on a screen of its own",
    fields: { gate },
    perform: onGate((known, { configuration }) => describe(known, configuration)),
  }),
  action("change", "change_acquiring", {
    name: "gate create",
    does: ["create a gate", "ein Gate anlegen"],
    inFile: "exported",
    fields: { name: word("text", "name", help), ...settings },
    async perform(session, given) {
      const nameFault = findNameFault(given.name);
      if (nameFault !== undefined) return nameFault;
      const configuration = await readConfiguration(session);
      if (!(findGate(configuration, given.name) instanceof Problem)) {
        return new Problem(`There is a gate ${given.name} already.`);
      }
      const read = readGate(given, undefined, session.config);
      if (read instanceof Problem) return read;
      const fault = await findTlsFault(read.settings, given);
      if (fault !== undefined) return fault;
      // A trial skips the DNS lookup: other changes wait while it locks the end of the audit.
      const unresolved = session.isTrial ? [] : await findUnresolved(read.settings);
      if (unresolved.length > 0) {
        const names = unresolved.join(", ");
        session.warn(`No address was found for ${names}: check the host and this machine's DNS.`);
      }
      const id = await session.administration.putGate({ name: given.name, ...read });
      return describe({ id, name: given.name, ...read }, configuration);
    },
  }),
  action("change", "change_acquiring", {
    name: "gate set",
    does: [
      "change the given settings of a gate",
      "die angegebenen Einstellungen eines Gates ändern",
    ],
    inFile: "exported",
    fields: {
      gate,
      ...settings,
      force: flag([
        "change the host although open orders need the present one",
        "den Host ändern, obwohl offene Zahlungen den bisherigen brauchen",
      ]),
    },
    perform: onGate(async (known, session, given) => {
      const nothing = given.force ? undefined : findNothing(gateTable(), given);
      const read = nothing ?? readGate(given, known, session.config);
      if (read instanceof Problem) return read;
      const fault = await findTlsFault(read.settings, given);
      if (fault !== undefined) return fault;
      const changed = await countHostChange(session, known, read, given);
      if (changed instanceof Problem) return changed;
      await session.administration.putGate({ name: known.name, ...changed });
      return describe({ ...known, ...changed }, session.configuration);
    }),
  }),
  action("keys", "change_acquiring", {
    name: "gate test",
    does: ["sign on at the host and ask for an echo, over a connection of its own"],
    commandLineOnly: "it tries the way from this machine to the host, also before a node runs",
    fields: { gate },
    perform: onGate(async (known, { config }) => {
      const { signOn = true } = known.settings;
      const tested = await testGate(known, systemClock, config.answerTimeoutMs);
      if (tested instanceof Problem) return tested;
      const { address: host, echoMs } = tested;
      const accepted = signOn ? "accepted" : "off";
      return { gate: known.name, host, "sign-on": accepted, echo: `${echoMs} ms` };
    }),
  }),
  action("change", "change_acquiring", {
    name: "gate remove",
    does: ["remove a gate that no endpoint uses", "ein Gate entfernen, das kein Endpunkt nutzt"],
    inFile: "exported",
    fields: { gate },
    perform: onGate(async (known, { administration, cells, configuration }) => {
      const endpoints = endpointsOf(known, configuration);
      if (endpoints.length > 0) {
        const used = `The gate ${known.name} is used by the endpoints ${endpoints.join(", ")}`;
        return new Problem(`${used}: give them others first.`);
      }
      const removed = await administration.removeGate(known.id, allQueriesOf(cells));
      if (removed === "removed") return { removed: known.name };
      return new Problem(
        `Orders in flight need the gate ${known.name}: try again when they are final.`,
      );
    }),
  }),
  ...macKeyActions,
];

const resolveWithinMs = 3_000;

/** Returns host names that DNS does not resolve, because they are mistyped or DNS fails. */
async function findUnresolved(settings: GateSettings): Promise<readonly string[]> {
  const hosts = addressesOf(settings).map(({ host }) => host);
  const resolved = await Promise.all(
    hosts.map((host) => {
      const late = delay(resolveWithinMs, undefined, { ref: false });
      return Promise.race([lookup(host).catch(() => undefined), late]);
    }),
  );
  return hosts.filter((_, index) => resolved[index] === undefined);
}

/**
 * Refuses to change a gate's host while an open order needs the present one, because the new host
 * does not know the order's charge. The settings count such changes, so that the gateway never
 * trusts a host's "not found" about a charge that another host received.
 */
export async function countHostChange(
  { cells, reason, isTrial }: Pick<Session, "cells" | "reason" | "isTrial">,
  gate: Gate,
  read: ReadGate,
  { force }: { readonly force?: true | undefined },
): Promise<ReadGate | Problem> {
  const { hostChanges = 0 } = gate.settings;
  const withCount = (count: number): ReadGate =>
    count === 0 ? read : { ...read, settings: { ...read.settings, hostChanges: count } };
  if (!isOtherHost(gate, read)) return withCount(hostChanges);
  if (!force && (await isGateNeeded(gate.id, allQueriesOf(cells)))) {
    return new Problem(
      `Open orders need the host of the gate ${gate.name} as it is. Create another gate and give ` +
        "it to the endpoints, or repeat this with force and a reason: the doubt about those " +
        "orders is then settled by hand.",
    );
  }
  if (force && reason === undefined && !isTrial) {
    return new Problem("force also needs a reason.");
  }
  return withCount(hostChanges + 1);
}

/** Fails if one cell is unreachable, because orders in that cell may need the gate. */
export function allQueriesOf(cells: Cells): readonly Query[] {
  return cells.names().map((cell) => cells.databasesOf(cell).node.query);
}

/** The host counts as the same if at least one of its addresses stays. */
function isOtherHost(known: ReadGate, next: ReadGate): boolean {
  const addresses = addressesOf(known.settings).map(({ host, port }) => `${host}:${port}`);
  const stays = addressesOf(next.settings).some(({ host, port }) =>
    addresses.includes(`${host}:${port}`),
  );
  const isSame = (["merchantCode", "acquirerId"] as const).every(
    (name) => known.settings[name] === next.settings[name],
  );
  return known.kind !== next.kind || !stays || !isSame;
}

function describe(gate: Gate, configuration: Configuration): Output {
  const endpoints = endpointsOf(gate, configuration);
  const [first] = gate.settings.currencies ?? [];
  const table = gateTable(first === undefined ? undefined : getCurrency(first));
  return new Report(
    { ...gate, endpoints },
    {
      name: gate.name,
      id: gate.id,
      ...showSettings(table, gateValuesOf(gate), usualSettings),
      endpoints: endpoints.join(", ") || "none",
    },
  );
}

const usualSettings = {
  "sign-on": "on",
  tls: "off",
  "refund-after": "never",
  "partial-as": "reversal",
  currencies: "all",
  min: "none",
  max: "none",
  fee: "none",
};

function endpointsOf({ id }: Gate, { endpoints }: Configuration): readonly string[] {
  const using = [...endpoints.values()].filter(({ gates }) => gates.some((each) => each.id === id));
  return using.map((endpoint) => endpoint.id);
}
