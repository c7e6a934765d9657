/** `gw merchant`: makes, lists, shows and changes merchants. */

import { findMerchantSet, findSandboxGates } from "../staging/demonstration.ts";
import { loadConfiguration } from "../storage/configuration.ts";
import { Problem } from "../values/problem.ts";
import { inConfigured } from "./configured.ts";
import { complain, type Installation, openVault, withInstallation } from "./installation.ts";
import { createMerchantSet, type MerchantSet } from "./merchant-set.ts";
import { readSwitch } from "./option-values.ts";
import { print } from "./print.ts";

type Options = { readonly json?: boolean };

const loginForm = /^[A-Za-z0-9._-]{1,20}$/;

export function createMerchant(login: string, { json = false }: Options): Promise<void> {
  return withInstallation(async (installation) => {
    if (!loginForm.test(login)) {
      return complain(
        new Problem("A login is 1 to 20 letters, digits, dots, dashes or underscores."),
      );
    }
    const vault = await openVault(installation);
    if ((await findMerchantSet(installation, vault, login)) !== undefined) {
      return complain(new Problem(`There is a merchant ${login} already: choose another login.`));
    }
    const gates = await findSandboxGates(installation);
    if (gates === undefined) {
      return complain(new Problem("There is no gate yet: run `npm start` once."));
    }
    const set = await createMerchantSet(installation.database, vault, { login, gates });
    printSet(set, json);
  });
}

export function listMerchants({ json = false }: Options): Promise<void> {
  return withInstallation(async (installation) => {
    const { openSecret } = await openVault(installation);
    const { merchants, endpoints } = await loadConfiguration(
      installation.database.query,
      openSecret,
    );
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
  return withInstallation(async (installation: Installation) => {
    const set = await findMerchantSet(installation, await openVault(installation), login);
    if (set === undefined) {
      return complain(new Problem(`There is no merchant ${login}: see \`gw merchant list\`.`));
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
      return complain(new Problem(`There is no merchant ${login}: see \`gw merchant list\`.`));
    }
    if (commissions === undefined) {
      return complain(new Problem("Nothing to change: see `gw merchant set --help`."));
    }
    const shown = readSwitch("--commissions")(commissions);
    if (shown instanceof Problem) return complain(shown);
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
