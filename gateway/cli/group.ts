/** `gw group create`: a group chooses one of its endpoints by the currency of the request. */

import { makeAdministration } from "../storage/administration.ts";
import { loadConfiguration } from "../storage/configuration.ts";
import { Problem } from "../values/problem.ts";
import { complain, openVault, withInstallation } from "./installation.ts";
import { print } from "./print.ts";

type Asked = { readonly name: string; readonly endpoints: readonly string[] };

export function createGroup(
  login: string,
  { name, endpoints: ids }: Asked,
  { json = false }: { readonly json?: boolean },
): Promise<void> {
  return withInstallation(async (installation) => {
    const { openSecret } = await openVault(installation);
    const { merchants, endpoints } = await loadConfiguration(
      installation.database.query,
      openSecret,
    );
    const merchant = merchants.find((each) => each.login === login);
    if (merchant === undefined) return complain(new Problem(`There is no merchant ${login}.`));

    const own = [...endpoints.values()].filter((each) => each.merchant.id === merchant.id);
    const members = ids.flatMap((id) => own.filter((each) => each.id === id));
    if (members.length !== ids.length) {
      return complain(new Problem(`Not all of these are endpoints of ${login}.`));
    }
    if (new Set(members.map(({ currency }) => currency)).size !== members.length) {
      return complain(new Problem("A group can have one endpoint per currency only."));
    }
    const id = await makeAdministration(installation.database.query).createGroup({
      merchantId: merchant.id,
      name,
      endpoints: members.map((member) => member.id),
    });
    print({ login, group: id, name, endpoints: ids.join(", ") }, json);
  });
}
