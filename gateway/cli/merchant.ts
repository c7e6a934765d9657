/** `gw merchant`: makes, lists, shows and changes merchants. */
import { loadConfiguration } from "../storage/configuration.ts";
import { StartProblem } from "../storage/embedded.ts";
import { inConfigured } from "./configured.ts";
import { findMerchantSet, findSandboxGates, openVault } from "./demonstration.ts";
import { complain, type House, inHouse } from "./house.ts";
import { createMerchantSet, type MerchantSet } from "./merchant-set.ts";
import { readSwitch } from "./option-values.ts";
import { print } from "./print.ts";

type Options = { readonly json?: boolean };

const loginForm = /^[A-Za-z0-9._-]{1,20}$/;

export function createMerchant(login: string, { json = false }: Options): Promise<void> {
  return inHouse(async (house) => {
    if (!loginForm.test(login)) {
      return complain(
        new StartProblem("A login is 1 to 20 letters, digits, dots, dashes or underscores."),
      );
    }
    const vault = await openVault(house);
    if ((await findMerchantSet(house, vault, login)) !== undefined) {
      return complain(
        new StartProblem(`There is a merchant ${login} already: choose another login.`),
      );
    }
    const gates = await findSandboxGates(house);
    if (gates === undefined) {
      return complain(new StartProblem("There is no gate yet: run `npm start` once."));
    }
    const set = await createMerchantSet(house.database, vault, { login, gates });
    printSet(set, json);
  });
}

export function listMerchants({ json = false }: Options): Promise<void> {
  return inHouse(async (house) => {
    const { openSecret } = await openVault(house);
    const { merchants, endpoints } = await loadConfiguration(house.database.query, openSecret);
    const rows = merchants.map(({ id, login, name }) => ({
      login,
      name,
      id,
      endpoints: [...endpoints.values()].filter(({ merchant }) => merchant.id === id).length,
    }));
    print(rows, json);
  });
}

export function showMerchant(login: string, { json = false }: Options): Promise<void> {
  return inHouse(async (house: House) => {
    const set = await findMerchantSet(house, await openVault(house), login);
    if (set === undefined) {
      return complain(new StartProblem(`There is no merchant ${login}: see \`gw merchant list\`.`));
    }
    printSet(set, json);
  });
}

export function setMerchant(
  login: string,
  { json = false, commissions }: Options & { readonly commissions?: string },
): Promise<void> {
  return inConfigured(async ({ configuration, administration }) => {
    const merchant = configuration.merchants.find((each) => each.login === login);
    if (merchant === undefined) {
      return complain(new StartProblem(`There is no merchant ${login}: see \`gw merchant list\`.`));
    }
    if (commissions === undefined) {
      return complain(new StartProblem("Nothing to change: see `gw merchant set --help`."));
    }
    const shown = readSwitch("--commissions")(commissions);
    if (shown instanceof StartProblem) return complain(shown);
    await administration.setMerchant(merchant.id, { ...merchant.settings, commissions: shown });
    print({ login, commissions }, json);
  });
}

function printSet({ login, controlKey, endpoints, group }: MerchantSet, json: boolean): void {
  if (json) {
    print({ login, controlKey, endpoints, group }, true);
    return;
  }
  const named = Object.entries(endpoints).map(([name, id]) => [`endpoint ${name}`, id]);
  print(
    Object.fromEntries([["login", login], ["control key", controlKey], ...named, ["group", group]]),
  );
}
