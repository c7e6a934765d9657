/** `gw gate`: makes, shows, changes and removes gates, the ways to the acquirers. */
import type { Gate } from "../acquirers/gates.ts";
import { Problem } from "../values/problem.ts";
import { type Configured, inConfigured } from "./configured.ts";
import { type GateOptions, readGate } from "./gate-settings.ts";
import { complain } from "./installation.ts";
import { printFee } from "./option-values.ts";
import { print } from "./print.ts";

type Output = { readonly json?: boolean };
type Options = GateOptions & Output;

/** No colon: a gate's name, rank and weight are written with colons between them. */
const nameForm = /^[A-Za-z0-9._-]{1,40}$/;

export function listGates({ json = false }: Output): Promise<void> {
  return inConfigured(async ({ configuration }) => {
    const gates = [...configuration.gates.values()];
    if (json)
      return print(
        gates.map((gate) => describe(gate, configuration)),
        true,
      );
    print(
      gates.map((gate) => ({
        name: gate.name,
        id: gate.id,
        kind: gate.kind,
        host: `${gate.settings.host}:${gate.settings.port}`,
        currencies: gate.settings.currencies?.join(",") ?? "all",
        endpoints: endpointsOf(gate, configuration).length,
      })),
    );
  });
}

export function showGate(name: string, { json = false }: Output): Promise<void> {
  return inConfigured(async ({ configuration }) => {
    const gate = findGate(name, configuration);
    if (gate === undefined) return complainOfUnknown(name);
    printGate(gate, configuration, json);
  });
}

export function createGate(name: string, { json = false, ...options }: Options): Promise<void> {
  return inConfigured(async ({ configuration, administration }) => {
    if (!nameForm.test(name)) {
      return complain(
        new Problem("A gate's name is 1 to 40 letters, digits, dots, dashes or underscores."),
      );
    }
    if (findGate(name, configuration) !== undefined) {
      return complain(new Problem(`There is a gate ${name} already: see \`gw gate set\`.`));
    }
    const read = readGate(options);
    if (read instanceof Problem) return complain(read);
    const id = await administration.putGate({ name, ...read });
    printGate({ id, name, ...read }, configuration, json);
  });
}

export function setGate(name: string, { json = false, ...options }: Options): Promise<void> {
  return inConfigured(async ({ configuration, administration }) => {
    const gate = findGate(name, configuration);
    if (gate === undefined) return complainOfUnknown(name);
    if (Object.keys(options).length === 0) {
      return complain(new Problem("Nothing to change: see `gw gate set --help`."));
    }
    const read = readGate(options, gate);
    if (read instanceof Problem) return complain(read);
    await administration.putGate({ name, ...read });
    printGate({ ...gate, ...read }, configuration, json);
  });
}

export function removeGate(name: string): Promise<void> {
  return inConfigured(async ({ configuration, administration }) => {
    const gate = findGate(name, configuration);
    if (gate === undefined) return complainOfUnknown(name);
    const endpoints = endpointsOf(gate, configuration);
    if (endpoints.length > 0) {
      return complain(
        new Problem(
          `The gate ${name} is used by the endpoints ${endpoints.join(", ")}: ` +
            "give them others first, with `gw endpoint gates`.",
        ),
      );
    }
    if ((await administration.removeGate(gate.id)) === "in_use") {
      return complain(
        new Problem(`Orders in hand still need the gate ${name}: try again when they are done.`),
      );
    }
    print({ removed: name });
  });
}

type Configuration = Configured["configuration"];

function printGate(gate: Gate, configuration: Configuration, json: boolean): void {
  const described = describe(gate, configuration);
  if (json) {
    print(described, true);
    return;
  }
  const { host, port, currencies, fee, recurrent, ...others } = gate.settings;
  print({
    name: gate.name,
    id: gate.id,
    kind: gate.kind,
    host: `${host}:${port}`,
    ...others,
    currencies: currencies?.join(", ") ?? "all",
    ...(fee === undefined ? {} : { fee: printFee(fee) }),
    ...(recurrent === undefined ? {} : { recurrent: Object.values(recurrent).join(", ") }),
    endpoints: described.endpoints.join(", ") || "none",
  });
}

function describe(gate: Gate, configuration: Configuration) {
  return { ...gate, endpoints: endpointsOf(gate, configuration) };
}

function endpointsOf({ id }: Gate, { endpoints }: Configuration): readonly string[] {
  const using = [...endpoints.values()].filter(({ gates }) => gates.some((each) => each.id === id));
  return using.map((endpoint) => endpoint.id);
}

function findGate(name: string, { gates }: Configuration): Gate | undefined {
  return [...gates.values()].find((gate) => gate.name === name);
}

function complainOfUnknown(name: string): void {
  complain(new Problem(`There is no gate ${name}: see \`gw gate list\`.`));
}
